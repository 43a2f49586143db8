"""What is read off a page: a script that runs in it, and the model that its answer must fit."""

from contracts.values import Value

LONGEST_HTML = 4_000_000
LONGEST_TEXT = 2_000_000
MOST_LINKS = 100

LOOK = """([longestHtml, longestText, mostLinks]) => {
    const root = document.documentElement;
    const body = document.body;
    const html = root ? root.outerHTML : "";
    const text = body ? body.innerText : (root ? root.textContent || "" : "");
    const links = [];
    const seen = new Set();
    for (const anchor of document.querySelectorAll("a[href]")) {
        const url = String(anchor.href);
        if (!/^https?:/.test(url) || url.length > 2000 || seen.has(url)) continue;
        seen.add(url);
        links.push({text: (anchor.innerText || anchor.title || "").trim().slice(0, 200), url});
        if (links.length >= mostLinks) break;
    }
    return JSON.stringify({
        title: String(document.title).slice(0, 500),
        html: html.length <= longestHtml ? html : "",
        text: text.slice(0, longestText),
        cut: text.length > longestText,
        links,
    });
}"""


class Link(Value):
    """One link of a page."""

    text: str
    url: str


class Looked(Value):
    """What the page shows. The page can lie in every field, so nothing here is more than text."""

    title: str = ""
    html: str = ""
    """The rendered document, or nothing if it is longer than LONGEST_HTML."""
    text: str = ""
    cut: bool = False
    links: tuple[Link, ...] = ()
