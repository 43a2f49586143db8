"""Quoted words inside a person's message: they are shown to the planner and carry no authority."""

QUOTE = "> "


def quote(text: str, head: str) -> str:
    """`head` and below it every line of `text` behind the mark."""
    return quoting(f"{head}\n{text}")


def quoting(text: str) -> str:
    """Every line behind the mark."""
    return "\n".join(f"{QUOTE}{line}" for line in text.split("\n"))


def own_words(text: str) -> str:
    """What the person said themselves: the lines that are not quoted."""
    return "\n".join(line for line in text.split("\n") if not line.startswith(QUOTE.rstrip()))


def quoted(text: str) -> str:
    """What the person passed on or cited: the other lines, without their mark."""
    lines = (line for line in text.split("\n") if line.startswith(QUOTE.rstrip()))
    return "\n".join(line.removeprefix(QUOTE.rstrip()).removeprefix(" ") for line in lines)
