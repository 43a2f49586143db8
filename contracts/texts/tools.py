"""What tools say: their one-line summaries, the frame around their results, and what went wrong."""

from contracts.texts.sentence import Sentence

# Bounded output
LEFT_OUT = Sentence(
    en="[… {bytes} bytes are left out here; {where}]",
    zh="[… 此处省略 {bytes} 字节；{where}]",
)
WHOLE_IS_KEPT = Sentence(en="the whole is the file {name}", zh="完整内容见文件 {name}")
WHOLE_IS_NOT_KEPT = Sentence(en="the whole is not kept", zh="完整内容未保存")

# shell
SHELL_SUMMARY = Sentence(en="Run: {script}", zh="运行：{script}")
SHELL_EXITED = Sentence(en="Exit code {code} after {seconds:.1f} s", zh="退出码 {code}，用时 {seconds:.1f} 秒")
SHELL_SIGNALLED = Sentence(
    en="Killed by {signal} after {seconds:.1f} s", zh="被信号 {signal} 终止，用时 {seconds:.1f} 秒"
)
SHELL_TIMED_OUT = Sentence(en="Stopped: it did not end within {limit:g} s", zh="已停止：未能在 {limit:g} 秒内结束")
SHELL_SILENT = Sentence(en="(no output)", zh="（没有输出）")
SHELL_CLIPPED = Sentence(
    en="[It wrote more than the sandbox keeps; only the first part and the end are there.]",
    zh="[输出超过沙箱可保存的上限；只保留了开头和结尾。]",
)
FOLDER_REFUSED = Sentence(en="The folder cannot be used: {why}", zh="无法使用该文件夹：{why}")

# files
FILES_SUMMARY = {
    "read": Sentence(en="Read {path}", zh="读取 {path}"),
    "write": Sentence(en="Write {path}", zh="写入 {path}"),
    "list": Sentence(en="List {path}", zh="列出 {path}"),
    "send": Sentence(en="Send {path} to you", zh="把 {path} 发送给你"),
    "delete": Sentence(en="Delete {path}", zh="删除 {path}"),
}
FILE_READ = Sentence(en="Read {path} ({size:,} bytes)", zh="已读取 {path}（{size:,} 字节）")
FILE_BINARY = Sentence(
    en="{path} holds {size:,} bytes of {media_type}, which is not text; use the shell to look into it.",
    zh="{path} 是 {media_type}，共 {size:,} 字节，不是文本；请用 shell 查看。",
)
FILE_WRITTEN = Sentence(en="Wrote {path} ({size:,} bytes)", zh="已写入 {path}（{size:,} 字节）")
FILES_LISTED = Sentence(en="{count} entries in {path}", zh="{path} 中有 {count} 项")
FILES_MORE = Sentence(en="… and {count} more", zh="…… 另有 {count} 项")
FILE_SENT = Sentence(
    en="{name} ({size:,} bytes) goes to you with the answer", zh="{name}（{size:,} 字节）将随答复一起发给你"
)
FILE_DELETED = Sentence(en="Deleted {path}", zh="已删除 {path}")
FILE_NOT_FOUND = Sentence(en="There is no {path}", zh="找不到 {path}")
FILE_REFUSED = Sentence(en="{path} cannot be used: {why}", zh="无法使用 {path}：{why}")
FOLDER_NOT_EMPTY = Sentence(
    en="{path} is a folder that is not empty; delete what is in it first.",
    zh="{path} 是非空文件夹；请先删除其中的内容。",
)

# browse and read
BROWSE_SUMMARY = Sentence(en="Open {url}", zh="打开 {url}")
READ_SUMMARY = Sentence(en="Read {url}", zh="读取 {url}")
PAGE_SEEN = Sentence(en="{title} ({status})", zh="{title}（{status}）")
PAGE_FRAME = Sentence(
    en="Title: {title}\nAddress: {url}\nStatus: {status}", zh="标题：{title}\n地址：{url}\n状态：{status}"
)
PAGE_LINKS = Sentence(en="Links:", zh="链接：")
PAGE_UNTITLED = Sentence(en="(untitled)", zh="（无标题）")
PAGE_EMPTY = Sentence(en="(The page shows no text.)", zh="（页面没有显示文字。）")
PAGE_TIMED_OUT = Sentence(
    en="{url} did not finish loading within {limit:g} s; below is what was seen of it.",
    zh="{url} 未能在 {limit:g} 秒内加载完成；以下是已看到的内容。",
)
PAGE_STILL_LOADING = Sentence(en="Parts of the page were still loading.", zh="页面仍有部分内容在加载。")
PAGE_CUT = Sentence(en="The page is very long; only its beginning was read.", zh="页面很长；只读取了开头部分。")
PAGE_DIALOGS = Sentence(
    en="The page opened dialogs, which were dismissed: {words}", zh="页面弹出了对话框，已关闭：{words}"
)
PAGE_POPUPS = Sentence(
    en="The page opened other windows, which were closed: {urls}", zh="页面打开了其他窗口，已关闭：{urls}"
)
PAGE_BLOCKED = Sentence(
    en="Requests to hosts that are not permitted were refused: {hosts}", zh="已拒绝访问未获许可的主机：{hosts}"
)
PAGE_STATUS = Sentence(en="{host} answered with HTTP status {status}", zh="{host} 返回 HTTP 状态 {status}")
HOST_REFUSED = Sentence(
    en="{host} could not be reached: it is not permitted for this task, or it does not answer.",
    zh="无法访问 {host}：此任务未获许可访问它，或它没有响应。",
)
TLS_FAILED = Sentence(
    en="{host} has no valid TLS certificate ({detail}), so its content was not read.",
    zh="{host} 的 TLS 证书无效（{detail}），因此没有读取其内容。",
)
NETWORK_FAILED = Sentence(en="{host} could not be read: {detail}", zh="无法读取 {host}：{detail}")
PROXY_MISSING = Sentence(
    en="The sandbox has no way out at the moment: its proxy does not answer.", zh="沙箱目前无法联网：代理没有响应。"
)
IS_DOWNLOAD = Sentence(
    en="{url} is a download ({media_type}), not a page; the tool `read` or `curl` in the shell can fetch it.",
    zh="{url} 是下载文件（{media_type}），不是网页；可用 read 工具或在 shell 中用 curl 获取。",
)
IS_NOT_TEXT = Sentence(
    en="{url} is {media_type} and holds no readable text.", zh="{url} 是 {media_type}，没有可读的文字。"
)
IS_PDF_PAGE = Sentence(
    en="{url} is a PDF document; the tool `read` takes its text out.", zh="{url} 是 PDF 文档；可用 read 工具提取文字。"
)
PDF_UNREADABLE = Sentence(
    en="{url} is a PDF document that could not be turned into text here ({detail}); the file is kept as {name}.",
    zh="{url} 是 PDF 文档，此处无法转换为文字（{detail}）；文件已保存为 {name}。",
)
PDF_NEEDS_POPPLER = Sentence(
    en="the sandbox image has no pdftotext; add poppler-utils to it",
    zh="沙箱镜像中没有 pdftotext；请加入 poppler-utils",
)
TOO_LARGE = Sentence(
    en="{url} is larger than {limit:,} bytes, which is the most that is read.",
    zh="{url} 超过 {limit:,} 字节的读取上限。",
)
REDIRECTED_AWAY = Sentence(
    en="{url} leads on to another host, {location}. Nothing was read there; ask for that address if it is wanted.",
    zh="{url} 跳转到另一主机 {location}。没有读取那里的内容；如果需要，请直接请求该地址。",
)
TOO_MANY_REDIRECTS = Sentence(en="{url} redirects more than {limit} times.", zh="{url} 重定向超过 {limit} 次。")
CHROMIUM_MISSING = Sentence(
    en="The sandbox has no Chromium. Build the image that has it (`make images`), or use the tool `read`.",
    zh="沙箱中没有 Chromium。请构建包含它的镜像（make images），或使用 read 工具。",
)
CHROMIUM_FAILED = Sentence(
    en="Chromium does not start in the sandbox: {detail}", zh="Chromium 无法在沙箱中启动：{detail}"
)
CURL_MISSING = Sentence(
    en="The sandbox has no curl. Build its image anew (`make images`).",
    zh="沙箱中没有 curl。请重新构建镜像（make images）。",
)

# ask_user, remember, recall
ASK_SUMMARY = Sentence(en="Ask you: {question}", zh="向你提问：{question}")
ASK_NOT_RUN = Sentence(
    en="This question was not put to anybody: only the planner can ask, by ending its step with the question.",
    zh="这个问题没有发给任何人：只有规划器可以提问，方法是以该问题结束当前步骤。",
)
REMEMBER_SUMMARY = Sentence(en="Remember: {text}", zh="记住：{text}")
REMEMBERED = Sentence(en="Remembered: {text}", zh="已记住：{text}")
RECALL_SUMMARY = Sentence(en="Look up what is remembered about: {query}", zh="查找记忆：{query}")
RECALLED = Sentence(en="{count} notes fit", zh="找到 {count} 条记忆")
RECALLED_NOTHING = Sentence(en="Nothing that is remembered fits.", zh="没有相关的记忆。")

# Running a call
DENIED = Sentence(en="Not run: {why}", zh="未执行：{why}")
DENIED_BY_POLICY = Sentence(en="the policy refuses it ({rules})", zh="策略拒绝（{rules}）")
DENIED_WITHOUT_APPROVAL = Sentence(
    en="it needs an approval, and there is none for exactly these arguments", zh="需要批准，而没有针对这些参数的批准"
)
DENIED_EXPIRED = Sentence(en="the approval has expired", zh="批准已过期")
UNKNOWN_TOOL = Sentence(en="There is no tool named {tool}", zh="没有名为 {tool} 的工具")
BAD_ARGUMENTS = Sentence(en="The arguments do not fit: {problem}", zh="参数不符合要求：{problem}")
UNCERTAIN = Sentence(
    en="This call was started at {started} and its end was never recorded: what it does may or may not have happened. "
    "It was not run again. Please look before it is asked for once more.",
    zh="此调用于 {started} 开始，但没有记录其结束：其效果可能已经发生，也可能没有。"
    "系统没有再次执行它。再次请求之前请先检查。",
)
UNCERTAIN_HEADLINE = Sentence(en="It may or may not have happened", zh="可能已发生，也可能没有")
TOOL_FAILED = Sentence(en="The tool {tool} failed: {detail}", zh="工具 {tool} 失败：{detail}")
TOOL_TIMED_OUT = Sentence(
    en="The tool {tool} was stopped: it did not end within {limit:g} s",
    zh="工具 {tool} 已停止：未能在 {limit:g} 秒内结束",
)
