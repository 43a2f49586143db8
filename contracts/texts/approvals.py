"""What is said about approvals: why one does not count, what the card adds, and what a person can do about them."""

from contracts.texts.sentence import Sentence

# Why a call does not run although it was approved
NOT_FOR_THIS = Sentence(
    en="the approval is for another call, or for other arguments", zh="该批准针对的是另一个调用或其他参数"
)
EDITED = Sentence(en="the approval is not as it was decided", zh="该批准与决定时的内容不一致")
USED = Sentence(en="the approval has been used", zh="该批准已被使用")
FILES_UNCLEAR = Sentence(
    en="the files that it would run or send cannot be looked at", zh="无法检查它将运行或发送的文件"
)
NEEDS_FACTOR = Sentence(
    en="it needs a second factor, and there is no valid proof of one", zh="需要第二因素，而没有有效的证明"
)
DIFFERENT = Sentence(en="since the approval {what}", zh="批准之后：{what}")
TOOL_DIFFERS = Sentence(en="the tool has changed", zh="工具已改变")
ARGS_DIFFER = Sentence(en="the arguments have changed", zh="参数已改变")
CWD_DIFFERS = Sentence(en="the working directory has changed to {now}", zh="工作目录变为 {now}")
ENV_DIFFERS = Sentence(en="the environment has changed", zh="环境变量已改变")
FILE_DIFFERS = Sentence(en="the file {path} has changed", zh="文件 {path} 已改变")
FILE_GONE = Sentence(en="the file {path} is gone", zh="文件 {path} 已不存在")
FILE_NEW = Sentence(en="the file {path} has appeared", zh="出现了文件 {path}")
POLICY_DIFFERS = Sentence(en="the policy has changed", zh="策略已改变")
TAINTED = Sentence(en="the task has read foreign content", zh="任务已读取外来内容")
UNTAINTED = Sentence(en="what the task has read counts otherwise", zh="任务读取内容的判定已不同")

# Why the task stops trying
DENIED_TWICE = Sentence(
    en="The person has said no to this twice ({aim}). Do not try it in another way; go on without it, or say that it "
    "cannot be done.",
    zh="对方已两次拒绝此事（{aim}）。不要换其他方式尝试；请在没有它的情况下继续，或说明无法完成。",
)
STOPS_TRYING = Sentence(en="You said no to it twice; it is not tried again.", zh="你已两次拒绝，不会再尝试。")

# The card
PLAN = Sentence(en="{count} steps: {first}, …", zh="{count} 个步骤：{first}……")
EVERY_ONE = Sentence(en="A yes is for exactly these {count} steps.", zh="同意仅针对这 {count} 个步骤。")
RISK_OF = Sentence(en="Risk: ", zh="风险：")
FACTOR_NEEDED = Sentence(
    en="It needs a second factor: /approve {short} and the code of your authenticator app. Without one set up, the "
    "owner runs `asos factor add` first.",
    zh="需要第二因素：发送 /approve {short} 加验证器应用中的验证码。若尚未设置，请所有者先运行 `asos factor add`。",
)
ALWAYS_HINT = Sentence(en="Always means: {shape}", zh="“始终允许”指：{shape}")
ALWAYS_TASK = Sentence(en="Always (this task)", zh="始终允许（此任务）")
ALWAYS = Sentence(en="Always", zh="始终允许")

# Answers to a decision
CODE_NEEDED = Sentence(
    en="This needs a code: write /approve {short} 123456, with the code of your authenticator app.",
    zh="需要验证码：请发送 /approve {short} 123456（换成验证器应用中的验证码）。",
)
CODE_OPTION = Sentence(
    en="A yes to {short} needs a code of your second factor: add --code 123456. Without one set up, run "
    "`asos factor add` first.",
    zh="同意 {short} 需要第二因素验证码：请加上 --code 123456。若尚未设置，请先运行 `asos factor add`。",
)
NO_STANDING = Sentence(
    en="This is asked every time; say yes to this one alone.", zh="此类操作每次都会询问，只能单独同意。"
)
ALLOWED_FROM_NOW = Sentence(
    en="Approved, and from now on without asking. /rules shows it, /revoke takes it back.",
    zh="已同意，今后不再询问。/rules 可查看，/revoke 可撤销。",
)
NOT_YOURS = Sentence(
    en="Only the person whose task it is, the owner, and whom the policy names may decide this.",
    zh="只有任务本人、所有者以及策略指定的人可以决定。",
)
FORWARDED = Sentence(
    en="A forwarded message decides nothing; write it yourself.", zh="转发的消息不能作出决定，请亲自发送。"
)
NOT_THE_CARD = Sentence(
    en="This answers no open question. Use the buttons, or /approve and the short id.",
    zh="这没有对应的待决问题。请使用按钮，或发送 /approve 加短编号。",
)

# Standing rules
RULE_COLUMNS = (
    Sentence(en="id", zh="编号"),
    Sentence(en="since (UTC)", zh="自（UTC）"),
    Sentence(en="holds", zh="范围"),
    Sentence(en="what passes unasked", zh="无需询问的操作"),
)
NO_RULES = Sentence(en="Nothing is allowed for good.", zh="没有长期允许的操作。")
RULE = Sentence(en="{rule_id} · since {at} · {scope} · {shape}", zh="{rule_id} · 自 {at} · {scope} · {shape}")
SCOPE_TASK = Sentence(en="in task {task_id}", zh="任务 {task_id} 内")
SCOPE_PERSON = Sentence(en="in all tasks of {user_id}", zh="{user_id} 的所有任务")
REVOKED = Sentence(en="Revoked: it is asked again from now on.", zh="已撤销：今后会再次询问。")
NO_RULE = Sentence(en="No rule {rule_id} of yours is in force.", zh="没有生效的规则 {rule_id}。")
LINK_DIFFERS = Sentence(en="{path} leads to {target} now", zh="{path} 现在指向 {target}")
RULES_SILENT = Sentence(
    en="The list of what is allowed for good cannot be read now; until it can, everything is asked.",
    zh="目前无法读取长期允许的操作列表；在此期间所有操作都会询问。",
)
REVOKE_USAGE = Sentence(en="Which one? /rules lists them: /revoke ID", zh="请指明规则：/rules 会列出，/revoke 编号。")

# The page of open approvals
PAGE_TITLE = Sentence(en="Open approvals", zh="待决批准")
PAGE_EMPTY = Sentence(en="Nothing waits for a decision.", zh="没有待决事项。")
PAGE_SILENT = Sentence(
    en="The tasks do not answer; `asos status` tells what runs.", zh="任务没有响应；可用 `asos status` 查看运行状态。"
)
PAGE_CODE = Sentence(en="Code of the second factor", zh="第二因素验证码")
PAGE_TASK = Sentence(en="Task", zh="任务")
ASK_CODE = Sentence(en="Code of your authenticator app", zh="验证器应用中的验证码")
