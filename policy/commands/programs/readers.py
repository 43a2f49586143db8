"""Programs that read files and write to their output only, unless a flag says otherwise."""

import base64
import binascii
import re

from policy.commands.call import Call
from policy.commands.names import is_secret_name
from policy.commands.options import Spec
from policy.commands.program import Program, judged, specified, table
from policy.commands.stream import OPAQUE, Stream
from policy.commands.word import Word
from policy.rules import Rule

_READ = Spec("", "read")
_TEXT = Spec("", "text")
_LIST = Spec("", "list")


def _cat(call: Call) -> Stream:
    """Hands its input on as it is, if it is given no file."""
    parsed = call.judge(_READ)
    if not [word for word in parsed.operands if word.text != "-"] and call.stdin is not None:
        return call.stdin
    endless = any(word.text in ("/dev/zero", "/dev/urandom", "/dev/random") for word in parsed.operands)
    return call.ask(Rule.COMMAND_FILLS_DISK) if endless else _passed(call)


def _base64(call: Call) -> Stream:
    """Decodes text that is known, so that a script cannot hide in it."""
    parsed = call.judge(Spec("-w|--wrap: -d|-D|--decode -i", "read"))
    text = call.stdin.text if call.stdin else None
    if not parsed.has("-d", "-D") and not parsed.has("--decode"):
        return _passed(call)
    if text is None or parsed.operands:
        return _passed(call)
    try:
        decoded = base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, ValueError):
        return _passed(call)
    return Stream(text=decoded, fetched=bool(call.stdin and call.stdin.fetched))


def _grep(call: Call) -> Stream:
    """The first operand is a pattern, unless a flag gave one; the rest are files, and with -r whole trees."""
    spec = Spec(
        "-e|--regexp: -f|--file:read -A|--after-context: -B|--before-context: -C|--context: -m|--max-count: -d: -D: "
        "--include: --exclude: --exclude-dir: --exclude-from:read --label: -r -R -l -L --recursive "
        "--dereference-recursive --files-with-matches --files-without-match",
        "text",
    )
    parsed = call.judge(spec)
    given = parsed.has("-e", "--regexp", "-f", "--file")
    files = parsed.operands if given else parsed.operands[1:]
    whole = parsed.has("-r", "-R", "--recursive", "--dereference-recursive") or call.name == "rgrep"
    for word in files or ((Word("."),) if whole else ()):
        call.apply("tree" if whole else "read", word, "")
    if parsed.has("-l", "-L", "--files-with-matches", "--files-without-match"):
        return Stream(items=_below(files or (Word("."),)))
    return _passed(call)


def _rg(call: Call) -> Stream:
    spec = Spec(
        "--pre!ask --pre-glob: --hostname-bin!ask -e|--regexp: -f|--file:read -g|--glob: -t|--type: -T|--type-not: "
        "-A: -B: -C: -m|--max-count: -M: -j: --ignore-file:read -E: --sort: --color: -l|--files-with-matches "
        "--files --engine: "
        "-d|--max-depth: -r|--replace: --iglob: --max-filesize: --context:",
        "text",
    )
    parsed = call.judge(spec)
    given = parsed.has("-e", "--regexp", "-f", "--file", "--files")
    files = parsed.operands if given else parsed.operands[1:]
    for word in files or (Word("."),):
        call.apply("tree", word, "")
    listing = parsed.has("-l", "--files-with-matches", "--files")
    return Stream(items=_below(files or (Word("."),))) if listing else _passed(call)


def _ls(call: Call) -> Stream:
    parsed = call.judge(
        Spec("-I|--ignore: -w|--width: -T|--tabsize: --hide: --sort: --time: --format: --time-style:", "list")
    )
    return Stream(items=(Word("./*", glob=True),)) if not parsed.operands else OPAQUE


def _jq(call: Call) -> Stream:
    """`--arg NAME VALUE` takes two; the first operand is the filter unless -f names one."""
    words, at, filtered = list(call.arguments), 0, False
    while at < len(words):
        text = words[at].text
        if text in ("--arg", "--argjson"):
            at += 2
        elif text in ("--slurpfile", "--rawfile"):
            call.apply("read", words[at + 2] if at + 2 < len(words) else None, text)
            at += 2
        elif text in ("--from-file", "--indent") or (text[:1] == "-" and text[1:2] != "-" and text[-1] in "fL"):
            call.apply("text" if text == "--indent" else "read", words[at + 1] if at + 1 < len(words) else None, text)
            filtered = filtered or text == "--from-file" or text.endswith("f")
            at += 1
        elif text in ("--args", "--jsonargs"):
            break
        elif text.startswith("-L"):
            call.apply("read", words[at].after(2), text)
        elif not text.startswith("-") or words[at].is_open:
            if filtered:
                call.apply("read", words[at], "")
            elif re.search(r"\benv\b|\$ENV|\b(import|include)\b", text) or words[at].is_open:
                call.ask(Rule.COMMAND_FLAG)
            filtered = True
        at += 1
    return _passed(call)


def _passed(call: Call) -> Stream:
    """Something made of the input; what was fetched stays so."""
    return Stream(fetched=bool(call.stdin and call.stdin.fetched))


def _below(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return tuple(Word(f"{word.text.rstrip('/') or '/'}/**", glob=True, many=True) for word in words)


def _which(call: Call) -> Stream:
    return OPAQUE


def _tail(call: Call) -> Stream:
    call.judge(Spec("-n|--lines: -c|--bytes: -s|--sleep-interval: --pid: --max-unchanged-stats:", "read"))
    return _passed(call)


def _sort(call: Call) -> Stream:
    call.judge(
        Spec(
            "-o|--output:write --compress-program:script -T|--temporary-directory:write --files0-from:read -k|--key: "
            "-t|--field-separator: -S|--buffer-size: --parallel: --batch-size: --sort: --random-source:read",
            "read",
        )
    )
    return _passed(call)


def _last_is_written(call: Call) -> None:
    """`uniq in out`, `xxd in out`: the second operand is written."""
    flags = (
        "-f: -s: -w: --skip-fields: --skip-chars: --check-chars:"
        if call.name == "uniq"
        else "-l: -c: -g: -o: -s: -n: -R:"
    )
    parsed = call.judge(Spec(flags, "text"))
    for index, word in enumerate(parsed.operands):
        call.apply("read" if index == 0 else "write", word, "")


def _less(call: Call) -> None:
    """`+command` runs something inside of the pager."""
    parsed = call.judge(Spec("-o|-O|--log-file|--LOG-FILE:write -k|--lesskey-file!ask -p: -P: -t!ask -T!ask", "text"))
    for word in parsed.operands:
        if word.text.startswith("+") or word.is_open:
            call.ask(Rule.COMMAND_FLAG)
        call.apply("read", word, "")


def _date(call: Call) -> None:
    parsed = call.judge(Spec("-d|--date: -f|--file:read -r|--reference:list -s|--set!ask", "text"))
    if any(not word.text.startswith("+") for word in parsed.operands):
        call.ask(Rule.COMMAND_FLAG)


def _ps(call: Call) -> None:
    """With `e` in the BSD form it shows the environment of every process."""
    if any(not word.text.startswith("-") and "e" in word.text.lower() for word in call.arguments):
        call.ask(Rule.APPROVAL_CREDENTIAL)


def _hostname(call: Call) -> None:
    if any(not word.text.startswith("-") for word in call.arguments):
        call.ask(Rule.COMMAND_FLAG)


def _printenv(call: Call) -> None:
    """All of the environment, or a part that is named like a secret."""
    if not call.arguments or any(is_secret_name(word.text) or word.is_open for word in call.arguments):
        call.ask(Rule.APPROVAL_CREDENTIAL)


def _man(call: Call) -> None:
    call.judge(Spec("-k|-f|-w|-a -s|--sections|--section:", "text", strict=True))


PROGRAMS: dict[str, Program] = {
    "cat": judged(_cat),
    "base64": judged(_base64),
    **table("grep egrep fgrep rgrep zgrep", judged(_grep)),
    "rg": judged(_rg),
    **table("ls dir vdir exa eza", judged(_ls)),
    "jq": judged(_jq),
    "sort": judged(_sort),
    "less": judged(_less),
    "date": judged(_date),
    "ps": judged(_ps),
    "hostname": judged(_hostname),
    "printenv": judged(_printenv),
    "man": judged(_man),
    **table("head tail", judged(_tail)),
    **table("which whereis whatis apropos", judged(_which)),
    **table("uniq xxd", judged(_last_is_written)),
    **table(
        "tac rev nl cut paste join comm tr fold fmt expand unexpand od hexdump strings cmp zcat bzcat xzcat "
        "zstdcat column "
        "hd look tsort base32 basenc colrm pr bc uuencode zless zmore more",
        specified(_READ),
    ),
    "diff": specified(
        Spec("--to-file:read --from-file:read -X|--exclude-from:read -x: -I: -F: -U: -C: --label:", "tree")
    ),
    **table(
        "wc du", specified(Spec("--files0-from:read -X|--exclude-from:read -d|--max-depth: -t: -B: --exclude:", "list"))
    ),
    **table(
        "stat realpath readlink basename dirname md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum "
        "cksum sum "
        "pathchk namei lsattr getfacl",
        specified(Spec("--printf: --suffix: --check!ask", "list")),
    ),
    "df": specified(Spec("-B: -t: -x:", "list")),
    "iconv": specified(Spec("-f: -t: -o|--output:write", "read")),
    **table("bat batcat", specified(Spec("--pager!ask --config-file!ask --diff!ask -l: -r: -H:", "read"))),
    "file": specified(Spec("-f|--files-from:read -m|--magic-file:read -C!ask -F: -P: -e:", "list")),
    "tree": specified(Spec("-o:write -L: -P: -I: --filelimit: --fromfile!ask -H: -T:", "list")),
    **table(
        "true false : sleep seq id whoami groups uname arch nproc uptime free cal tty users who w lscpu lsblk "
        "locale getconf factor expr numfmt tput clear reset stty pgrep pidof top vmstat iostat lsb_release "
        "dircolors mesg logname hostid ncal lsmod",
        specified(_TEXT),
    ),
}
