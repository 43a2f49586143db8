"""Database clients: SQL is data, but each client has commands that reach the shell or other files."""

import re

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, asked, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.rules import Rule

_REACHES_OUT = re.compile(
    r"^\s*\.|\n\s*\.|load_extension|readfile|writefile|edit\s*\(|attach|fts3_tokenizer|pragma|vacuum\s+into",
    re.IGNORECASE,
)


_ONLY_SHOWS = re.compile(
    r"\s*\.(?:tables?|schema|indexes|indices|databases|dbinfo|show|stats|help|"
    r"(?:mode|headers?|nullvalue|width|timer|separator|changes|eqp)\s+[\w ,|]+)(?:\s+[\w%]+)?;?\s*"
)
"""Commands of the client that reach no other file."""


def _sqlite(call: Call) -> Stream:
    parsed = call.judge(
        Spec(
            "-init:ask -cmd:ask -separator: -newline: -nullvalue: -header -noheader -csv -json -column -line "
            "-list -html -markdown -box "
            "-table -readonly -batch -bail -echo -version -help -safe -stats",
            "text",
            strict=True,
            single_dash=True,
        )
    )
    if parsed.operands and parsed.operands[0].text not in (":memory:", ""):
        call.apply("read" if parsed.has("-readonly") else "write", parsed.operands[0], "")
    statements = [word.text for word in parsed.operands[1:]]
    if not statements and call.stdin is not None:
        statements = [call.stdin.text] if call.stdin.text is not None else ["."]
    reaching = [text for text in statements if _REACHES_OUT.search(text) and not _ONLY_SHOWS.fullmatch(text)]
    if reaching or any(word.is_open for word in parsed.operands):
        call.ask(Rule.COMMAND_OPAQUE)
    return OPAQUE


PROGRAMS: dict[str, Program] = {
    **table("sqlite3 sqlite", judged(_sqlite)),
    **table(
        "psql mysql mariadb mongo mongosh duckdb sqlcmd pg_dump mysqldump pg_restore influx cqlsh",
        asked(Rule.COMMAND_NETWORK),
    ),
}
