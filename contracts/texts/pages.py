"""What the gateway's pages say in a browser."""

from contracts.texts.sentence import Sentence

LOG_IN = Sentence(en="Log in", zh="登录")
HOW_TO = Sentence(
    en="Open the login address that `asos status` prints, or paste the owner's token "
    "(the file gateway/owner-token of the data folder).",
    zh="请打开 `asos status` 显示的登录地址，或粘贴所有者令牌（数据目录中的文件 gateway/owner-token）。",
)
OWNERS_TOKEN = Sentence(en="Owner's token", zh="所有者令牌")
TICKET_OVER = Sentence(
    en="This login address is no longer valid; `asos status` prints a new one.",
    zh="此登录地址已失效；`asos status` 会显示新的地址。",
)
TOKEN_WRONG = Sentence(en="That is not the owner's token.", zh="令牌不正确。")
LOGGED_IN = Sentence(
    en="Done: the Temporal UI shows clear text to this browser.", zh="完成：此浏览器中的 Temporal 界面将显示明文。"
)
OWNER_ONLY = Sentence(
    en="Only the owner may use this; log in with the address that `asos status` prints.",
    zh="仅所有者可用；请用 `asos status` 显示的地址登录。",
)
FOREIGN_PAGE = Sentence(en="Another page may not do this.", zh="其他页面无权执行此操作。")
UI_SILENT = Sentence(
    en="The Temporal UI does not answer; `asos status` tells what runs.",
    zh="Temporal 界面没有响应；可用 `asos status` 查看运行状态。",
)
NOT_RECORDED = Sentence(
    en="This login cannot be written into the audit log, so it does not count; `asos audit verify` says why.",
    zh="此次登录无法写入审计日志，因此无效；`asos audit verify` 会说明原因。",
)
NO_RECORDING = Sentence(en="There is no recording of such a task.", zh="没有该任务的回放。")
NOT_READY = Sentence(
    en="The recording cannot be shown now; the gateway's log says why.", zh="暂时无法显示回放；网关日志中有原因。"
)
