"""What the gateway says: the progress of a task, answers to commands, and why something was not taken."""

from contracts.texts.sentence import Sentence

QUEUED = Sentence(en="Waiting for its turn", zh="排队等待中")
LEASING = Sentence(en="Preparing a place to work", zh="正在准备工作环境")
PLANNING = Sentence(en="Thinking", zh="思考中")
ACTING = Sentence(en="Working", zh="执行中")
AWAITING_APPROVAL = Sentence(en="Waiting for your yes or no", zh="等待你的批准")
AWAITING_USER = Sentence(en="Waiting for your answer", zh="等待你的回答")
PAUSED = Sentence(en="Paused", zh="已暂停")
COMPLETED = Sentence(en="Done", zh="已完成")
FAILED = Sentence(en="Failed", zh="失败")
CANCELLED = Sentence(en="Stopped", zh="已停止")
PARTLY_FAILED = Sentence(en="Partly failed", zh="部分失败")

STEP = Sentence(en="step {step}", zh="第 {step} 步")
SECONDS = Sentence(en="{seconds} s", zh="{seconds} 秒")
MINUTES = Sentence(en="{minutes} min", zh="{minutes} 分钟")
HOURS = Sentence(en="{hours} h {minutes} min", zh="{hours} 小时 {minutes} 分钟")
EARLIER_STEPS = Sentence(en="… {count} earlier", zh="… 之前还有 {count} 步")

NOTE_SANDBOX_LOST = Sentence(
    en="The place to work was lost and has been made anew.", zh="工作环境曾经丢失，现已重新创建。"
)
NOTE_SANDBOX_RESTORED = Sentence(
    en="The place to work was brought back from what had been saved; programs that ran in it have ended.",
    zh="工作环境已从保存的状态恢复；其中运行的程序已结束。",
)
NOTE_HALTED = Sentence(
    en="Stopped by the kill switch; goes on by itself once it is lifted.", zh="已被紧急停止；解除后会自动继续。"
)
ALL_STOPPED = Sentence(
    en="Everything is stopped by the kill switch. Nothing new begins until it is lifted: /lift CODE, or "
    "`asos kill --lift` at the terminal.",
    zh="紧急停止已启动，一切已停止。解除之前不会开始新任务：发送 /lift 验证码，或在终端运行 `asos kill --lift`。",
)
NOTE_RESUMED = Sentence(en="Went on by itself after a restart.", zh="重启后已自动继续。")

MAY_I = Sentence(en="May I do this?", zh="可以执行这个操作吗？")
TOOL = Sentence(en="Tool: ", zh="工具：")
RISK = Sentence(en="Risk: {risk}/100", zh="风险：{risk}/100")
GOES_TO = Sentence(en="Goes to: ", zh="访问目标：")
EFFECTS = Sentence(en="Effects: ", zh="影响：")
WHY = Sentence(en="Why I ask: ", zh="询问原因：")
EXPIRES = Sentence(
    en="Open until {at} UTC. Without your yes it is not done.", zh="有效期至 {at}（UTC）。没有你的同意不会执行。"
)
BY_TEXT = Sentence(en="Or write /approve {short} or /deny {short}", zh="也可以发送 /approve {short} 或 /deny {short}")
PREVIEW_CLIPPED = Sentence(
    en="… {count} more characters are not shown here; deny if you must see them first.",
    zh="… 还有 {count} 个字符未显示；如需先看全部内容，请拒绝。",
)
ANSWER_BY_WRITING = Sentence(en="Write your answer, or choose:", zh="请直接回复，或选择：")

REMIND_APPROVAL = Sentence(
    en="🔔 “{goal}” waits for your yes or no: use the buttons above, or write /approve {short} or /deny {short}.",
    zh="🔔 “{goal}”正在等待你的批准：请使用上面的按钮，或发送 /approve {short} 或 /deny {short}。",
)
REMIND_QUESTION = Sentence(
    en="🔔 “{goal}” waits for your answer to the question above.", zh="🔔 “{goal}”正在等待你回答上面的问题。"
)

APPROVE = Sentence(en="✅ Approve", zh="✅ 批准")
DENY = Sentence(en="⛔ Deny", zh="⛔ 拒绝")
PAUSE = Sentence(en="⏸ Pause", zh="⏸ 暂停")
RESUME = Sentence(en="▶ Go on", zh="▶ 继续")
STOP = Sentence(en="⏹ Stop", zh="⏹ 停止")

NO_ANSWER_TEXT = Sentence(en="It ended without an answer.", zh="任务结束，但没有给出回答。")
ANSWER_IN_FILE = Sentence(
    en="… The whole answer is too long for a message and follows as {name}.", zh="… 完整回答过长，见附件 {name}。"
)
ANSWER_INCOMPLETE = Sentence(en="The rest of the answer cannot be read any more.", zh="回答的其余部分已无法读取。")
FILE_NOT_SENT = Sentence(
    en="📎 {name} ({size} MB) is larger than this chat takes ({limit} MB): get it with `asos show {task}`.",
    zh="📎 {name}（{size} MB）超过了此聊天的上限（{limit} MB）：请用 `asos show {task}` 获取。",
)
FILE_REFUSED = Sentence(en="📎 {name} was not taken by this chat: {reason}", zh="📎 此聊天未接受 {name}：{reason}")
FILE_GONE = Sentence(en="📎 {name} cannot be read any more.", zh="📎 {name} 已无法读取。")

STRANGER = Sentence(
    en="This is a private assistant. If it is yours, send the code that it shows on your computer.",
    zh="这是一个私人助理。如果它属于你，请发送它在你的电脑上显示的配对码。",
)
CODE_WRONG = Sentence(en="That code is not valid (any more).", zh="配对码无效或已过期。")
CODE_TOO_MANY = Sentence(en="Too many tries. Try again later.", zh="尝试次数过多，请稍后再试。")
PAIRED = Sentence(
    en="Welcome, {name}. From now on I listen to you here. Write what you need, or /help.",
    zh="欢迎你，{name}。从现在起我会在这里听你的吩咐。直接写下你的需求，或发送 /help。",
)
GREETING = Sentence(en="I am here. Write what you need, or /help.", zh="我在。直接写下你的需求，或发送 /help。")

HELP = Sentence(
    en=(
        "Write what you need in your own words, or:\n"
        "/run COMMAND – run a command in the sandbox\n"
        "/browse URL – open a page\n"
        "/read URL – fetch and summarise a page\n"
        "/get PATH – send me a file of the task\n"
        "/remember TEXT, /recall TEXT – memory\n\n"
        "/tasks – what runs and what ran\n"
        "/status [TASK] – how it stands\n"
        "/stop [TASK] – stop it\n"
        "/pause [TASK], /resume [TASK]\n"
        "/retry [TASK] [STEP] – go on again from a step\n"
        "/undo [TASK] [STEP] – take back what a step wrote or deleted\n"
        "/approve ID, /deny ID – answer a question\n"
        "/rules, /revoke ID – what passes without a question\n"
        "/mode queue|steer – whether new messages wait or join the running task"
    ),
    zh=(
        "直接写下你的需求，或使用：\n"
        "/run 命令 – 在沙箱中运行命令\n"
        "/browse 网址 – 打开网页\n"
        "/read 网址 – 抓取并总结网页\n"
        "/get 路径 – 发送任务中的文件\n"
        "/remember 内容、/recall 内容 – 记忆\n\n"
        "/tasks – 正在运行和已完成的任务\n"
        "/status [任务] – 任务状态\n"
        "/stop [任务] – 停止任务\n"
        "/pause [任务]、/resume [任务]\n"
        "/retry [任务] [步骤] – 从某一步重新继续\n"
        "/undo [任务] [步骤] – 撤销某一步写入或删除的内容\n"
        "/approve 编号、/deny 编号 – 回答批准请求\n"
        "/rules、/revoke 编号 – 无需询问的操作\n"
        "/mode queue|steer – 新消息是排队还是加入当前任务"
    ),
)

MENU_TASKS = Sentence(en="What runs and what ran", zh="查看任务")
MENU_STATUS = Sentence(en="How the running task stands", zh="当前任务状态")
MENU_STOP = Sentence(en="Stop the running task", zh="停止当前任务")
MENU_PAUSE = Sentence(en="Pause the running task", zh="暂停当前任务")
MENU_RESUME = Sentence(en="Go on with a paused task", zh="继续已暂停的任务")
MENU_RETRY = Sentence(en="Go on again from a step", zh="从某一步重试")
MENU_MODE = Sentence(en="Queue new messages, or steer with them", zh="新消息排队或加入当前任务")
MENU_RUN = Sentence(en="Run a command in the sandbox", zh="在沙箱中运行命令")
MENU_BROWSE = Sentence(en="Open a page", zh="打开网页")
MENU_READ = Sentence(en="Fetch and summarise a page", zh="抓取并总结网页")
MENU_HELP = Sentence(en="What I understand", zh="使用帮助")

AHEAD = Sentence(
    en="Noted. {ahead} before it; /mode steer makes messages join the running task.",
    zh="已记下。前面还有 {ahead} 个；/mode steer 可让消息加入当前任务。",
)
JOINED = Sentence(en="Passed on to the running task.", zh="已转达给正在运行的任务。")
NOT_TAKEN = Sentence(en="I did not take this: {reason}", zh="无法受理：{reason}")
QUEUE_FULL = Sentence(
    en="Too many requests are waiting in this chat already. Send it again when some are done.",
    zh="此聊天中等待的请求过多。请等部分完成后再发送。",
)
DELAYED = Sentence(
    en="I have your message, but my engine does not answer at the moment. I handle it as soon as it is back.",
    zh="已收到你的消息，但引擎暂时没有响应。恢复后我会立即处理。",
)
NOT_HANDLED = Sentence(
    en="Something went wrong on my side with this message, and it was not handled. The log says more.",
    zh="处理这条消息时我这边出了问题，未能处理。详情见日志。",
)
EMPTY = Sentence(en="There is nothing in this message that I can work with.", zh="这条消息里没有我能处理的内容。")
TEXT_TOO_LONG = Sentence(
    en="This text has {size} KB; at most {limit} KB fit into a message. Please send it as a file.",
    zh="这段文字有 {size} KB，消息最多 {limit} KB。请改为发送文件。",
)
FILE_TOO_LARGE = Sentence(
    en="{name} has {size} MB; I can fetch at most {limit} MB here. Send a smaller one, or a link to it.",
    zh="{name} 有 {size} MB，此处最多可接收 {limit} MB。请发送更小的文件或链接。",
)
FILE_UNKNOWN_SIZE = Sentence(
    en="{name} is larger than the {limit} MB that I can fetch here. Send a smaller one, or a link to it.",
    zh="{name} 超过了此处可接收的 {limit} MB。请发送更小的文件或链接。",
)
FILE_NOT_STORED = Sentence(
    en="I could not store {name} ({reason}). Please send it again later.",
    zh="无法保存 {name}（{reason}）。请稍后重新发送。",
)
FORWARDED = Sentence(
    en="Forwarded from {origin}; not the sender's own words:", zh="转发自 {origin}；并非发送者本人的话："
)
CORRECTION = Sentence(en="Correction of my message: {text}", zh="更正我的消息：{text}")
EDIT_TOO_LATE = Sentence(
    en="That request has ended already, so your edit changes nothing. Send it as a new message to have it done.",
    zh="该请求已经结束，编辑不会产生任何作用。如需执行，请作为新消息发送。",
)

NO_TASK = Sentence(en="There is no such task here.", zh="没有这样的任务。")
NOTHING_RUNS = Sentence(en="Nothing is running here.", zh="当前没有正在运行的任务。")
STOPPING = Sentence(en="Stopping: {goal}", zh="正在停止：{goal}")
STOPPED_WAITING = Sentence(en="{count} waiting requests dropped.", zh="已取消 {count} 个等待中的请求。")
STOP_DELAYED = Sentence(
    en="Understood: stop. My engine does not answer at the moment; I stop it as soon as it does.",
    zh="明白：停止。引擎暂时没有响应，恢复后立即停止。",
)
PAUSING = Sentence(en="Paused: {goal}", zh="已暂停：{goal}")
RESUMED = Sentence(en="Going on: {goal}", zh="继续：{goal}")
RETRIED = Sentence(en="Going on again from step {step}: {goal}", zh="从第 {step} 步重新继续：{goal}")
NOTHING_TO_RETRY = Sentence(en="It has not got as far as that step.", zh="任务还没有进行到该步骤。")
NO_TASKS_YET = Sentence(en="No tasks yet.", zh="还没有任务。")
MODE_QUEUE = Sentence(en="New messages wait for the end of the running task.", zh="新消息将等待当前任务结束。")
MODE_STEER = Sentence(en="New messages join the running task.", zh="新消息将加入当前任务。")
MODE_USAGE = Sentence(en="Write /mode queue or /mode steer.", zh="请发送 /mode queue 或 /mode steer。")
APPROVAL_USAGE = Sentence(en="Write /approve ID or /deny ID.", zh="请发送 /approve 编号 或 /deny 编号。")

APPROVED = Sentence(en="Approved.", zh="已批准。")
DENIED = Sentence(en="Denied.", zh="已拒绝。")
ANSWERED = Sentence(en="Answered.", zh="已回答。")
NO_APPROVAL = Sentence(en="No question with that id is open.", zh="没有该编号的待批准请求。")
OUT_OF_DATE = Sentence(
    en="That question is no longer open: it was answered, has expired, or has changed.",
    zh="该请求已失效：已回答、已过期或已变更。",
)
UNKNOWN_BUTTON = Sentence(en="I do not know this button.", zh="无法识别此按钮。")
NOT_ALLOWED = Sentence(en="You cannot do that.", zh="你无权执行此操作。")
NOT_REACHABLE = Sentence(
    en="Noted. My engine does not answer at the moment; I pass it on as soon as it does.",
    zh="已记下。引擎暂时没有响应，恢复后我会立即转达。",
)
HAS_ENDED = Sentence(en="That task has ended.", zh="这个任务已经结束。")
POLICY_REFUSED = Sentence(
    en="⚠ A change to your policy file is not in force; the former rules stay. {problem}",
    zh="⚠ 策略文件的更改未生效，仍使用先前的规则。{problem}",
)
POLICY_IN_FORCE = Sentence(en="✓ Your policy file is in force again.", zh="✓ 您的策略文件已重新生效。")
