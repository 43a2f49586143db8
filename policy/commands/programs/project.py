"""Tools of a project: they run what the project's own files say, so the policy must name them."""

from policy.commands.call import Call
from policy.commands.options import Spec
from policy.commands.program import Program, judged, table
from policy.commands.stream import OPAQUE, Stream
from policy.rules import Rule

_PATHS = Spec(
    "--rootdir:list --basetemp:write --junitxml|--junit-xml:write --log-file:write --confcutdir:list "
    "--cov-report: -C|--directory:write "
    "-f|--file|--makefile:read -o:text --output:write --out-dir|--outDir:write --target-dir:write "
    "--cache-dir:write -d: --config:read",
)


def _project_tool(call: Call) -> Stream:
    if any(word.is_open for word in call.arguments):
        call.scene.unresolved(next(word for word in call.arguments if word.is_open))
    parsed = _PATHS.parse(call.arguments)
    for use in parsed.uses:
        call.apply(use.role, use.value, use.name)
    files = tuple(word for word in parsed.values("-f", "--file", "--makefile") if word.text != "-")
    if call.name in ("make", "gmake") and any(word.text == "-" for word in parsed.values("-f", "--file", "--makefile")):
        return _from_input(call)
    if call.name in ("make", "gmake") and any(_sets_a_shell(word.text) for word in call.arguments):
        return call.ask(Rule.COMMAND_ENVIRONMENT)
    call.scene.run_code(call.name, call.arguments, files, call.state)
    _stay_inside(call)
    return OPAQUE


def _from_input(call: Call) -> Stream:
    return call.deny(Rule.COMMAND_FETCHED) if call.stdin and call.stdin.fetched else call.ask(Rule.COMMAND_OPAQUE)


def _sets_a_shell(text: str) -> bool:
    return text.startswith(("SHELL=", ".SHELLFLAGS=", "MAKEFLAGS=", "--eval", "-E")) or "$(" in text or ":=" in text


def _stay_inside(call: Call) -> None:
    """A path outside of the project is another project's code, and behind a flag perhaps a place to write to."""
    former = ""
    for word in call.arguments:
        value = word.after(word.text.index("=") + 1) if word.text.startswith("-") and "=" in word.text else word
        if value.text.startswith(("/", "..")) and not value.is_open:
            call.apply("read", value, "")
            if former.startswith("-") or value is not word:
                call.apply("write", value, "")
        former = word.text


def _compiler(call: Call) -> Stream:
    """Reads sources and writes a program, unless a flag makes it load or start something."""
    loads = (
        "-fplugin",
        "-wrapper",
        "-B",
        "-specs",
        "--specs",
        "@",
        "-Xclang",
        "-load",
        "-dumpdir",
        "-iplugindir",
        "--config",
        "-fuse-ld",
    )
    for index, word in enumerate(call.arguments):
        if word.text.startswith(loads) or word.is_open:
            call.ask(Rule.COMMAND_FLAG, word.text)
        elif word.text == "-o" and index + 1 < len(call.arguments):
            call.apply("write", call.arguments[index + 1], "-o")
        elif word.text.startswith("-o"):
            call.apply("write", word.after(2), "-o")
        elif word.text.startswith(("-MF", "-MJ", "-save-temps", "-dumpbase", "-aux-info", "-ftest")):
            call.ask(Rule.COMMAND_FLAG, word.text)
        elif not word.text.startswith("-"):
            call.apply("read", word, "")
    return OPAQUE


PROGRAMS: dict[str, Program] = {
    **table(
        "make gmake ninja cmake meson bazel just task rake pytest py.test unittest tox nox coverage mypy ruff "
        "black isort flake8 pylint "
        "pyright bandit pre-commit eslint prettier tsc jest vitest mocha webpack vite rollup esbuild next gulp "
        "grunt turbo nx venv "
        "virtualenv build sphinx-build mkdocs dotnet msbuild javac kotlinc gofmt golangci-lint rustfmt "
        "clippy-driver shellcheck shfmt "
        "yamllint hadolint alembic django-admin flask uvicorn gunicorn celery jupyter nbconvert pandoc latexmk "
        "pdflatex xelatex dot "
        "ffmpeg ffprobe convert magick identify protoc swagger openapi-generator cython f2py sam terraform "
        "ansible ansible-playbook",
        judged(_project_tool),
    ),
    **table(
        "gcc g++ cc c++ clang clang++ rustc ld as strip nm objdump readelf size ldd gfortran tcc", judged(_compiler)
    ),
}
