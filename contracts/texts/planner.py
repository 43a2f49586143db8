"""What the planners say: answers, questions, and why thinking failed."""

from contracts.texts.sentence import Sentence

HELP = Sentence(
    en="""This is what I can do without a language model:
/run COMMAND: run a command in the sandbox
/browse URL: open a page in a browser
/read URL: fetch a page and summarise it
/get PATH: send you a file of the sandbox
/remember TEXT: keep something in mind
/recall TEXT: tell what I was asked to keep in mind
/contacts [add NAME ADDRESS | remove NAME]: your address book
/plan FILE: run a playbook (attached, written below the command, or a path in /workspace)
/help: this list
Plain words work too, such as: open this page, summarise it, write the summary to report.md, and send it to me: \
https://example.com""",
    zh="""没有语言模型时，我可以做这些事：
/run 命令：在沙箱里运行命令
/browse 网址：用浏览器打开网页
/read 网址：抓取网页并总结
/get 路径：把沙箱里的文件发给您
/remember 内容：记住一件事
/recall 内容：说出我记住的事
/contacts [add 名字 地址 | remove 名字]：您的通讯录
/plan 文件：执行剧本（附件、写在命令下面的 YAML，或 /workspace 里的路径）
/help：显示这份说明
也可以直接说，例如：打开这个网页，总结它，把总结写到 report.md，然后发给我：https://example.com""",
)
UNKNOWN_COMMAND = Sentence(
    en="I do not know the command {command}. Did you mean {nearest}? /help lists them all.",
    zh="我不认识命令 {command}。您是不是想用 {nearest}？/help 会列出全部命令。",
)
UNKNOWN_COMMAND_ALONE = Sentence(
    en="I do not know the command {command}. /help lists what there is.",
    zh="我不认识命令 {command}。/help 会列出可用的命令。",
)
USAGE = Sentence(en="That command needs something after it: {usage}", zh="这个命令后面还需要内容：{usage}")
NOT_UNDERSTOOD = Sentence(
    en="I did not understand that, so I did nothing.\n\n{help}", zh="我没有听懂，所以什么都没有做。\n\n{help}"
)
PART_NOT_UNDERSTOOD = Sentence(
    en="I did not understand “{part}”, so I did nothing.\n\n{help}",
    zh="我没有听懂“{part}”，所以什么都没有做。\n\n{help}",
)
NO_MESSAGE = Sentence(en="There was no text in the message.\n\n{help}", zh="消息里没有文字。\n\n{help}")
BAD_ADDRESS = Sentence(en="“{text}” is not a web address that I can open.", zh="“{text}”不是我能打开的网址。")
TOO_MANY_ADDRESSES = Sentence(
    en="These are {count} addresses; I open at most {limit} in one request.",
    zh="这里有 {count} 个网址；一次请求最多打开 {limit} 个。",
)
TOOL_ABSENT = Sentence(
    en="This needs the tool “{tool}”, which this installation does not have.",
    zh="这需要工具“{tool}”，而当前安装中没有它。",
)
WHICH_PAGE = Sentence(en="Which page? Please send its address.", zh="哪个网页？请发来它的网址。")
WHICH_FILE = Sentence(en="Which file? Please send its path.", zh="哪个文件？请发来它的路径。")
NOTHING_TO_WRITE = Sentence(
    en="There is nothing yet that I could write to {path}: name a page or a command as well.",
    zh="还没有可以写入 {path} 的内容：请同时说明网页或命令。",
)
NO_PLAYBOOK = Sentence(
    en="Attach the playbook, write it below the command, or name one: {known}, or a file in /workspace.",
    zh="请附上剧本文件、把剧本写在命令下面，或指定名称：{known}，或 /workspace 里的文件。",
)
PLAYBOOK_UNREADABLE = Sentence(en="I could not read the playbook {name}: {reason}", zh="无法读取剧本 {name}：{reason}")

NO_READABLE_TEXT = Sentence(en="the page has no text that could be summarised", zh="网页里没有可以总结的文字")
WRITTEN = Sentence(en="Written: {path}", zh="已写入：{path}")
SENT = Sentence(en="Sent: {path}", zh="已发送：{path}")
DELETED = Sentence(en="Deleted: {path}", zh="已删除：{path}")
REMEMBERED = Sentence(en="I will remember: {text}", zh="我记住了：{text}")
NO_OUTPUT = Sentence(en="The command ended without output.", zh="命令执行完毕，没有输出。")
FAILED_OPEN = Sentence(en="Could not open {what}: {reason}", zh="无法打开 {what}：{reason}")
FAILED_RUN = Sentence(en="The command failed: {reason}", zh="命令失败：{reason}")
FAILED_WRITE = Sentence(en="Could not write {what}: {reason}", zh="无法写入 {what}：{reason}")
FAILED_SEND = Sentence(en="Could not send {what}: {reason}", zh="无法发送 {what}：{reason}")
FAILED_STEP = Sentence(en="Could not do “{what}”: {reason}", zh="无法完成“{what}”：{reason}")
NOT_WRITTEN = Sentence(en="Therefore not written: {what}", zh="因此没有写入：{what}")
NOT_SENT = Sentence(en="Therefore not sent: {what}", zh="因此没有发送：{what}")
NOT_DONE = Sentence(en="Therefore not done: {what}", zh="因此没有执行：{what}")
UNVERIFIED = Sentence(
    en="(Not verified: no step of this task did what this answer says was {claim}.)",
    zh="（未经核实：本任务没有任何步骤证明答复中所说的“{claim}”。）",
)
CLAIM_SENT = Sentence(en="sent", zh="已发送")
CLAIM_WRITTEN = Sentence(en="written", zh="已写入")
CLAIM_REMEMBERED = Sentence(en="remembered", zh="已记住")

UNKNOWN_TOOL_CALL = Sentence(en="Call of a tool that does not exist: {tool}", zh="调用了不存在的工具：{tool}")
BAD_CALL = Sentence(en="Call of {tool} with arguments that do not fit", zh="调用 {tool} 的参数不合要求")

RAISE_BUDGET = Sentence(en="Raise the budget", zh="提高预算")
STOP_HERE = Sentence(en="Stop here", zh="到此为止")
MODEL_ASKS_BLANK = Sentence(
    en="I need more from you to go on. What exactly shall I do?", zh="我需要更多信息才能继续。具体要我做什么？"
)
CUT_SHORT = Sentence(
    en="(The model's answer was cut short by its length limit.)", zh="（模型的回答因长度限制被截断。）"
)

BUSY = Sentence(
    en="The model cannot answer just now: {reason}. Trying again.", zh="模型暂时无法回答：{reason}。正在重试。"
)
TRANSCRIPT_LOST = Sentence(
    en="The record of this task can no longer be read, so it cannot go on. Please start it anew.",
    zh="本任务的记录已无法读取，因此不能继续。请重新开始。",
)
REFUSED = {
    "bad_request": Sentence(
        en="The model's provider does not accept the request. {remedy}", zh="模型服务商不接受这个请求。{remedy}"
    ),
    "authentication": Sentence(
        en="The model's provider does not accept the key. {remedy}", zh="模型服务商不接受该密钥。{remedy}"
    ),
    "not_found": Sentence(en="The model or its address does not exist. {remedy}", zh="模型或其地址不存在。{remedy}"),
    "context_window": Sentence(
        en="The task has become too long for the model. {remedy}", zh="任务内容超出了模型的长度限制。{remedy}"
    ),
    "content_policy": Sentence(
        en="The model's provider refuses this request under its content policy. {remedy}",
        zh="模型服务商因内容政策拒绝了这个请求。{remedy}",
    ),
    "budget": Sentence(
        en="The account at the model's provider has no credit left. {remedy}", zh="模型服务商的账户余额不足。{remedy}"
    ),
}
REMEDY = {
    "bad_request": Sentence(
        en="Check that ASOS_MODEL ({model}) can call tools.", zh="请检查 ASOS_MODEL（{model}）是否支持工具调用。"
    ),
    "authentication": Sentence(en="Check ASOS_MODEL_API_KEY for {model}.", zh="请检查 {model} 的 ASOS_MODEL_API_KEY。"),
    "not_found": Sentence(
        en="Check ASOS_MODEL ({model}) and ASOS_MODEL_BASE_URL.",
        zh="请检查 ASOS_MODEL（{model}）和 ASOS_MODEL_BASE_URL。",
    ),
    "context_window": Sentence(
        en="Lower ASOS_MODEL_CONTEXT_TOKENS or take a model with a larger window than {model}.",
        zh="请调低 ASOS_MODEL_CONTEXT_TOKENS，或换用窗口比 {model} 更大的模型。",
    ),
    "content_policy": Sentence(
        en="Say it differently, or take another model than {model}.", zh="请换一种说法，或换用 {model} 以外的模型。"
    ),
    "budget": Sentence(en="Add credit for {model}, or take another model.", zh="请为 {model} 充值，或换用其他模型。"),
}
BUSY_REASON = {
    "rate_limit": Sentence(en="the provider asks to wait", zh="服务商要求等待"),
    "timeout": Sentence(en="there was no answer in time", zh="没有及时得到回答"),
    "connection": Sentence(en="the server cannot be reached", zh="无法连接服务器"),
    "server": Sentence(en="the server reports a fault", zh="服务器报告故障"),
    "empty": Sentence(en="the answer was empty", zh="回答是空的"),
    "unreadable": Sentence(en="the answer could not be read", zh="无法读懂回答"),
}
