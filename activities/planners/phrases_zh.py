"""Chinese clauses. Blanks may stand between a word and a file's name."""

from activities.planners.phrases import (
    CODE,
    FILE,
    Phrase,
    lists,
    opens,
    reads,
    runs,
    sends,
    sends_it,
    shows,
    summarises,
    writes,
)

_WHICH = r"(?:这|那|该|此|以下|下面)?一?(?:个|些|篇)?的?"
_PAGE = rf"(?:它|其|{_WHICH}(?:网页|页面|网站|链接|网址|文章)(?:的?内容)?|这个|内容)?"
_IT = r"(?:它|其|这个|总结|摘要|结果|内容|输出|网页|页面)(?:的?(?:内容|结果))?"
_SEND = r"(?:发送|发|传)"

CHINESE: tuple[Phrase, ...] = (
    (rf"(?:总结|概括|归纳|摘要|概述)(?:一下)?{_PAGE}", summarises),
    (rf"(?:给出?我?|写|做|生成)一?(?:个|份|篇)?(?:简短的?|简要的?)?{_PAGE}的?(?:总结|摘要|概要)", summarises),
    (rf"(?:把|将){_PAGE}(?:总结|概括)(?:一下)?", summarises),
    (rf"(?:打开|访问|浏览|进入|查看|看一?看|看一下){_PAGE}", opens),
    (rf"(?:阅读|读取|读一?读|读一下|读|抓取){_PAGE}", reads),
    (
        rf"(?:把|将)?(?:{_IT})?(?:写|保存|存)(?:到|入|进|成|为|在)?(?:文件)? ?{FILE} ?(?:文件)?(?:里面?|中)?",
        writes,
    ),
    (rf"(?:把|将)? ?(?:文件 ?)?{FILE} ?(?:文件)?{_SEND}(?:给|到)?我", sends),
    (rf"{_SEND}(?:给|到)?我 ?(?:文件 ?)?{FILE}", sends),
    (rf"给我{_SEND}(?:一下)?(?:文件)? ?{FILE}", sends),
    (rf"(?:把|将)?(?:{_IT}|这?个?(?:文件|报告))?{_SEND}(?:给|到)?我", sends_it),
    (r"(?:列出|显示|查看|看看)(?:一下)?(?:所有|全部)?的?文件(?:列表)?", lists),
    (r"(?:有哪些文件|文件有哪些|都有什么文件)", lists),
    (rf"(?:显示|查看|读取|阅读|打开|看看)(?:文件)? ?{FILE}(?:的?内容)?", shows),
    (rf"(?:运行|执行)(?:一下)?(?:这个|以下|下面的?)?(?:命令)? ?[:：]? ?{CODE}(?: ?命令)?", runs),
)
