"""What the terminal says."""

from contracts.texts.sentence import Sentence

ABOUT = Sentence(
    en="Durable agent tasks: each request is a workflow that thinks, acts in a sandbox, asks, and answers.",
    zh="本机上的持久智能体任务：每个请求都是一个工作流，会思考、在沙箱中行动、提问并回答。",
)
STARTED = Sentence(en="task {task_id}", zh="任务 {task_id}")
QUEUED_BEHIND = Sentence(
    en="It waits: {ahead} before it. /tasks shows when it goes on; `asos show last` has its answer.",
    zh="排队中：前面还有 {ahead} 个。/tasks 可查看进度，`asos show last` 可查看回答。",
)
TASK_COLUMNS = (
    Sentence(en="task", zh="任务"),
    Sentence(en="phase", zh="阶段"),
    Sentence(en="started", zh="开始"),
    Sentence(en="channel", zh="渠道"),
    Sentence(en="goal", zh="目标"),
)
SEE_TEMPORAL = Sentence(en="in the Temporal UI: {url}", zh="Temporal 界面：{url}")
APPROVED_BY_YES = Sentence(en="approved by --yes", zh="已由 --yes 批准")
MAY_I = Sentence(en="May I do this? Risk {risk}/100.", zh="可以执行这个操作吗？风险 {risk}/100。")
YES_OR_NO = Sentence(en="[y]es, [n]o, or leave it [w]aiting? ", zh="[y] 批准，[n] 拒绝，[w] 先等着？")
STILL_WAITS = Sentence(
    en="It waits for your decision: asos approve {task_id}   or   asos deny {task_id}",
    zh="任务正在等待你的决定：asos approve {task_id}   或   asos deny {task_id}",
)
STILL_ASKS = Sentence(
    en="It waits for your answer: asos answer {task_id} TEXT",
    zh="任务正在等待你的回答：asos answer {task_id} 文字",
)
YOUR_ANSWER = Sentence(en="Your answer: ", zh="你的回答：")
OUTCOMES: dict[str, Sentence] = {
    "done": Sentence(en="done in {seconds:.1f} s", zh="已完成，用时 {seconds:.1f} 秒"),
    "partly_failed": Sentence(en="partly failed after {seconds:.1f} s", zh="部分失败，用时 {seconds:.1f} 秒"),
    "failed": Sentence(en="failed after {seconds:.1f} s", zh="失败，用时 {seconds:.1f} 秒"),
    "cancelled": Sentence(en="stopped after {seconds:.1f} s", zh="已停止，用时 {seconds:.1f} 秒"),
}
FILE_SAVED = Sentence(en="file: {path} ({size} bytes)", zh="文件：{path}（{size} 字节）")
TOO_LONG = Sentence(
    en="The request has {size} bytes; at most {limit} are taken. Put it into a file and attach that with --file.",
    zh="请求有 {size} 字节，最多接受 {limit} 字节。请放入文件并用 --file 附上。",
)
FILE_TOO_LARGE = Sentence(
    en="{name} has {size} bytes; at most {limit} are taken.", zh="{name} 有 {size} 字节，最多接受 {limit} 字节。"
)
EMPTY = Sentence(en="The request is empty: say what you want done.", zh="请求是空的：请说明要做什么。")
NO_FILE = Sentence(en="There is no file {path}.", zh="没有文件 {path}。")
NO_TASK = Sentence(
    en="There is no task {task_id}; `asos tasks` lists them.", zh="没有任务 {task_id}；`asos tasks` 可列出全部。"
)
AMBIGUOUS = Sentence(en="{prefix} fits several tasks: {tasks}", zh="{prefix} 匹配多个任务：{tasks}")
NO_APPROVAL = Sentence(en="Task {task_id} waits for no approval.", zh="任务 {task_id} 没有等待批准的操作。")
OTHER_APPROVAL = Sentence(
    en="Task {task_id} waits for approval {open_id}, not {asked}.",
    zh="任务 {task_id} 等待的是批准 {open_id}，不是 {asked}。",
)
NO_QUESTION = Sentence(en="Task {task_id} asks nothing.", zh="任务 {task_id} 没有提问。")
APPROVED = Sentence(en="approved {approval_id}", zh="已批准 {approval_id}")
DENIED = Sentence(en="denied {approval_id}", zh="已拒绝 {approval_id}")
ANSWERED = Sentence(en="answered", zh="已回答")
PAUSED = Sentence(en="paused; `asos resume {task_id}` goes on", zh="已暂停；`asos resume {task_id}` 可继续")
RESUMED = Sentence(en="goes on", zh="继续执行")
STOPPED = Sentence(en="stopping {task_id}", zh="正在停止 {task_id}")
RETRIED = Sentence(en="{task_id} goes on again from step {step}", zh="{task_id} 从第 {step} 步重新继续")
REFUSED = Sentence(en="Refused: {text}", zh="已拒绝：{text}")
UNREACHABLE = Sentence(
    en="The system does not answer ({reason}). Start it with `asos up`, or see `asos status`.",
    zh="系统没有响应（{reason}）。请用 `asos up` 启动，或查看 `asos status`。",
)
SILENT = Sentence(en="Temporal at {address} is silent", zh="{address} 的 Temporal 没有回应")
NO_SERVER = Sentence(
    en="Temporal at {address} does not answer. Start that server, or correct ASOS_TEMPORAL_ADDRESS.",
    zh="{address} 的 Temporal 没有响应。请启动该服务器，或更正 ASOS_TEMPORAL_ADDRESS。",
)
DISK_FULL = Sentence(
    en="The disk is full: {folder} has {free} MB left, so nothing new is taken. Free some space, or move the data"
    " folder (ASOS_DATA_DIR).",
    zh="磁盘已满：{folder} 只剩 {free} MB，因此不再接受新请求。请释放空间，或移动数据文件夹（ASOS_DATA_DIR）。",
)
REPLAYED = Sentence(
    en="{events} events of {runs} run(s) replay against the present code without a difference.",
    zh="{runs} 次运行的 {events} 个事件与当前代码重放一致。",
)
DIFFERS = Sentence(en="First difference, in run {run_id}: {difference}", zh="第一处差异，运行 {run_id}：{difference}")
HISTORY_WRITTEN = Sentence(en="{events} events written to {path}", zh="已将 {events} 个事件写入 {path}")
NOT_WRITTEN = Sentence(en="{path} cannot be written: {reason}", zh="无法写入 {path}：{reason}")
NOT_A_HISTORY = Sentence(en="{path} holds no workflow history: {reason}", zh="{path} 不是工作流历史：{reason}")
CHAT_WELCOME = Sentence(
    en="Write what you want done; /help shows what works without a model, /quit leaves. Tasks go on without you.",
    zh="写下你要做的事；/help 显示无需模型即可使用的功能，/quit 离开。任务会自行继续。",
)
DETACHED = Sentence(en="left; the task goes on: asos show {task_id}", zh="已离开；任务继续执行：asos show {task_id}")
NO_TASKS = Sentence(en="No tasks yet.", zh="还没有任务。")
DEMO_SITE = Sentence(en="serving a small site of our own at {url}", zh="正在提供一个本地小网站：{url}")
BAD_HOST = Sentence(
    en="{text!r} is not a host: write NAME, NAME:PORT, or NAME:PORT=ADDRESS:PORT",
    zh="{text!r} 不是主机：请写成 NAME、NAME:PORT 或 NAME:PORT=ADDRESS:PORT",
)
