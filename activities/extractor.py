"""Read HTML on standard input and print its title and readable text as JSON; run as a child with tight limits.

Parsers written in C meet pages written by strangers here, so this happens in a process that holds nothing.
"""

import json
import resource
import sys

from trafilatura import bare_extraction, baseline, html2txt

CPU_SECONDS = 15
MEMORY_BYTES = 1024 * 1024 * 1024


def main(url: str) -> None:
    """Print `{"title": …, "text": …}`; both may be empty."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    html = sys.stdin.buffer.read()
    document = bare_extraction(html, url=url or None, output_format="markdown", with_metadata=True, include_tables=True)
    title = getattr(document, "title", None) or ""
    # Short pages give the extraction too little to go by; their paragraphs are better than everything on one line.
    text = getattr(document, "text", None) or baseline(html)[1] or html2txt(html)
    json.dump({"title": title, "text": text}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
