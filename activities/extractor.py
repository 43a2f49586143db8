"""Read HTML on standard input and print its title and readable text as JSON; run as a child with tight limits.

Parsers written in C meet pages written by strangers here, so this happens in a process that holds nothing.
"""

import json
import resource
import sys

from trafilatura import bare_extraction, load_html

CPU_SECONDS = 15
MEMORY_BYTES = 1024 * 1024 * 1024
BREAK = "\u2029"
"""Sets our line ends apart from those of the source, which mean no more than a blank."""
HIDDEN = ("head", "script", "style", "template", "noscript")
BLOCKS = (
    *("p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "blockquote", "pre", "br", "hr"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "dl", "dt", "dd", "table", "tr", "form", "fieldset"),
)


def main(url: str) -> None:
    """Print `{"title": …, "text": …}`; both may be empty."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    html = sys.stdin.buffer.read()
    document = bare_extraction(html, url=url or None, output_format="markdown", with_metadata=True, include_tables=True)
    title = getattr(document, "title", None) or ""
    text = getattr(document, "text", None) or _all_text(html)
    json.dump({"title": title, "text": text}, sys.stdout)


def _all_text(html: bytes) -> str:
    """What stands on a page that is too short to have a main part, a line for each of its blocks."""
    tree = load_html(html)
    if tree is None:
        return ""
    for element in list(tree.iter(*HIDDEN)):
        element.drop_tree()
    for element in tree.iter(*BLOCKS):
        element.text = f"{BREAK}{element.text or ''}"
        element.tail = f"{BREAK}{element.tail or ''}"
    lines = (" ".join(line.split()) for line in tree.text_content().split(BREAK))
    return "\n".join(line for line in lines if line)


if __name__ == "__main__":
    main(sys.argv[1])
