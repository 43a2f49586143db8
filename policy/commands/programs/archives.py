"""Archives: packing reads whole trees, unpacking writes whatever names the archive holds, and tar takes commands."""

from policy.commands.call import Call
from policy.commands.options import Parsed, Spec
from policy.commands.program import Program, judged, specified, table
from policy.commands.stream import Stream
from policy.commands.word import Word, literal
from policy.rules import Rule

_TAR = Spec(
    "-f|--file:archive -C|--directory:folder -T|--files-from:read -X|--exclude-from:read "
    "-I|--use-compress-program:script "
    "--to-command:script --checkpoint-action:ask --rsh-command:script --rmt-command:script "
    "-F|--info-script|--new-volume-script:script "
    "--exclude: --transform|--xform:ask --strip-components: --owner: --group: --mode: --mtime: --format: -b: -H: "
    "-L: -N: -V: -K: "
    "--index-file:write --volno-file:write -g|--listed-incremental:write --one-top-level!write --checkpoint "
    "--sort: --level: --warning: "
    "-P|--absolute-names!ask --overwrite --unlink-first!ask --recursive-unlink!ask --remove-files!ask -U!ask "
    "-c|--create -x|--extract|--get -t|--list -r|--append -u|--update -A -d|--diff|--compare -v|--verbose "
    "-z|--gzip -j|--bzip2 -J|--xz --zstd -a|--auto-compress "
    "--lzma -Z -k|--keep-old-files -m -p|--preserve-permissions -O|--to-stdout -w -h|--dereference -S|--sparse "
    "-l -o -W -s -n -R -i "
    "--no-same-owner --no-same-permissions --exclude-vcs --totals --wildcards --anchored --numeric-owner "
    "--no-recursion --null "
    "--delete!ask --help --version --show-transformed-names --full-time --utc",
    "text",
    strict=True,
)


def _tar(call: Call) -> Stream | None:
    words = list(call.arguments)
    if words and words[0].text[:1] != "-" and not words[0].is_exact:
        call.scene.unresolved(words[0])
    elif words and words[0].text[:1] not in ("-", ""):
        words = _old_style(words)
    parsed = Call("tar", tuple(words), call.stdin, call.state, call.shell).judge(_without_roles())
    for use in parsed.uses:
        if use.role not in ("archive", "folder"):
            call.apply(use.role, use.value, f"tar {use.name}")
    packs = parsed.has("-c", "--create", "-r", "--append", "-u", "--update", "-A")
    unpacks = parsed.has("-x", "--extract", "--get") and not parsed.has("-O", "--to-stdout")
    for archive in parsed.values("-f", "--file"):
        _judge_archive(call, archive, writes=packs)
    folders = parsed.values("-C", "--directory") or [literal(".")]
    for folder in folders:
        call.apply("write" if unpacks else "list", folder, "")
    if packs:
        _judge_packed(call, parsed, folders)
    return Stream(fetched=bool(call.stdin and call.stdin.fetched))


def _without_roles() -> Spec:
    return Spec(_TAR.notation.replace(":archive", ":text").replace(":folder", ":text"), "text", strict=True)


def _judge_archive(call: Call, archive: Word, *, writes: bool) -> None:
    if ":" in archive.text and "/" not in archive.text.split(":", 1)[0]:
        call.ask(Rule.COMMAND_NETWORK)
    call.apply("write" if writes else "read", archive, "")


def _judge_packed(call: Call, parsed: Parsed, folders: list[Word]) -> None:
    for word in parsed.operands:
        for folder in folders:
            inside = (
                Word(f"{folder.text}/{word.text}", word.glob or folder.glob) if not word.text.startswith("/") else word
            )
            call.apply("tree", inside, "")


def _old_style(words: list[Word]) -> list[Word]:
    """`tar czf name …`: letters first, then their values in order."""
    letters, rest = words[0].text, words[1:]
    made: list[Word] = []
    for letter in letters:
        made.append(literal(f"-{letter}"))
        flag = _TAR.flags.get(f"-{letter}")
        if flag is not None and flag.takes_value and rest:
            made.append(rest.pop(0))
    return [*made, *rest]


def _zip(call: Call) -> None:
    parsed = call.judge(
        Spec(
            "-TT|--unzip-command:script -b:write -O:write -x: -i: -n: -t: -tt: -P:ask -r -q -9 -1 -0 -j -y -u -f "
            "-v -X -D -e!ask -T -@!ask "
            "-m!ask -d!ask -FS!ask -l -g -o",
            "text",
            strict=True,
        )
    )
    for index, word in enumerate(parsed.operands):
        call.apply("write" if index == 0 else "tree", word, "")


def _unzip(call: Call) -> None:
    parsed = call.judge(
        Spec("-d:write -x: -P:ask -l -t -v -Z -z -q -o -n -j -p -c -u -f -a -C -L -:!ask", "text", strict=True)
    )
    for word in parsed.operands[:1]:
        call.apply("read", word, "")
    if not parsed.has("-d", "-l", "-t", "-p", "-v", "-Z"):
        call.apply("write", literal("."), "")


def _compress(call: Call) -> Stream:
    """The file is replaced, unless it goes to the output."""
    parsed = call.judge(
        Spec(
            "-o:write -S|--suffix: --use-compress-program:script -T: -D:read --output-dir-flat:write --filelist:read",
            "read",
        )
    )
    if not parsed.has("-c") and not any(
        word.text in ("-c", "--stdout", "--to-stdout", "-l", "-t") for word in parsed.unknown
    ):
        for word in parsed.operands:
            call.apply("write", word, "")
    return Stream(fetched=bool(call.stdin and call.stdin.fetched))


PROGRAMS: dict[str, Program] = {
    **table("tar bsdtar gtar", judged(_tar)),
    "zip": judged(_zip),
    "unzip": judged(_unzip),
    "zipinfo": specified(Spec("", "read")),
    **table(
        "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 lzma brotli compress uncompress pigz", judged(_compress)
    ),
    **table("7z 7za 7zr rar unrar cpio pax ar", judged(lambda call: call.ask(Rule.COMMAND_FLAG))),
}
