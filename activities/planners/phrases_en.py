"""English clauses. A blank in a pattern is any run of blanks."""

from activities.planners.phrases import (
    CODE,
    FILE,
    Phrase,
    lists,
    lists_folder,
    opens,
    reads,
    runs,
    sends,
    sends_it,
    shows,
    summarises,
    writes,
)

_PAGES = r"(?:web ?)?(?:pages?|sites?|website|links?|urls?|articles?|address|one)"
_PAGE = rf"(?: (?:it|this|that|(?:(?:this|the|that|these|those|following) )*{_PAGES}))?"
_THING = r"(?:short )?(?:summary|results?|output|text|contents?|page)"
_IT = rf"(?:it|this|that|them|(?:(?:the|this|that|its|your|a) )?{_THING})"
_THE_FILE = r"(?:the|this|that) (?:file|report)"
_FILES = r"(?: all)?(?: (?:the|my))? files"

ENGLISH: tuple[Phrase, ...] = (
    (rf"(?:summari[sz]e|sum up|shorten){_PAGE}(?: (?:up|briefly|shortly))?", summarises),
    (
        r"(?:give|write|make|send)(?: me)? (?:a|the) (?:(?:short|brief|quick) )?summary"
        r"(?: of (?:it|this|that|the page|this page))?",
        summarises,
    ),
    (rf"(?:open|visit|browse(?: to)?|go to|load|look at|check(?: out)?|view){_PAGE}", opens),
    (rf"(?:read|fetch|get){_PAGE}", reads),
    (
        rf"(?:write|save|put|store)(?: {_IT})?(?: down)? (?:to|into|in|as) (?:(?:a|the) )?(?:file )?"
        rf"(?:called |named )?{FILE}",
        writes,
    ),
    (rf"(?:send|give) (?:me )?(?:the file )?{FILE}(?: to me)?", sends),
    (rf"(?:send|give) (?:{_IT}|{_THE_FILE})(?: to me)?", sends_it),
    (rf"(?:send|give) me (?:{_IT}|{_THE_FILE})", sends_it),
    (rf"(?:list|show)(?: me)?{_FILES}(?: there are)?", lists),
    (rf"(?:list|show)(?: me)?{_FILES} (?:in|of|under) {FILE}", lists_folder),
    (r"(?:which|what) files (?:are|do) (?:there|we have|you have|i have)", lists),
    (rf"(?:show|read|print|open|display)(?: me)?(?: the)?(?: file)? {FILE}", shows),
    (rf"(?:run|execute)(?: (?:the|this))?(?: command)? ?:? ?{CODE}", runs),
)
