"""What is said about the kill switch: at the terminal, in a chat, in a browser."""

from contracts.texts.sentence import Sentence

LEVELS: dict[str, Sentence] = {
    "task": Sentence(en="one task", zh="单个任务"),
    "tools": Sentence(en="all tools and models", zh="所有工具和模型"),
    "network": Sentence(en="all network traffic of sandboxes", zh="沙箱的所有网络访问"),
    "all": Sentence(en="everything", zh="全部"),
}
PULLED = Sentence(
    en="⛔ Stopped: {what}. Nothing of it acts any more. To lift it: /lift CODE, with the code of your second factor.",
    zh="⛔ 已停止：{what}。相关操作不会再执行。解除请发送 /lift 验证码（第二因素的验证码）。",
)
PULLED_HERE = Sentence(
    en="⛔ Stopped: {what}. Lift it with: asos kill --lift {kill_id} --code CODE",
    zh="⛔ 已停止：{what}。解除：asos kill --lift {kill_id} --code 验证码",
)
PULL_FAILED = Sentence(
    en="The stop could not be written down: {reason}. Stop the system with `asos down`.",
    zh="无法写入停止状态：{reason}。请用 `asos down` 停止系统。",
)
NOT_RECORDED = Sentence(
    en="The stop holds, but it could not be written into the audit log: {reason}",
    zh="停止已生效，但无法写入审计日志：{reason}",
)
LIFT_NOT_RECORDED = Sentence(
    en="Nothing is lifted: that cannot be written into the audit log ({reason}).",
    zh="未解除任何停止：无法写入审计日志（{reason}）。",
)
LIFTED = Sentence(en="Lifted: {what}. Work goes on.", zh="已解除：{what}。工作继续。")
NOTHING_STOPPED = Sentence(en="Nothing is stopped.", zh="当前没有任何停止。")
NO_SUCH_STOP = Sentence(en="No such stop is in force: {kill_id}", zh="没有生效的停止：{kill_id}")
KILL_USAGE = Sentence(
    en="Write /kill for everything, /kill network, /kill tools, or /kill task and the id of a task.",
    zh="发送 /kill 停止全部，或 /kill network、/kill tools、/kill task 加任务编号。",
)
LIFT_USAGE = Sentence(
    en="Write /lift and the code of your second factor. Without one, add it at the terminal: `asos factor add`.",
    zh="请发送 /lift 加第二因素的验证码。如果还没有，请在终端运行 `asos factor add` 添加。",
)
ONLY_OWN = Sentence(
    en="You may stop your own tasks (/kill task and its id); only the owner may stop more, or lift a stop.",
    zh="你可以停止自己的任务（/kill task 加编号）；只有所有者能停止更多或解除停止。",
)
MENU_KILL = Sentence(en="Stop everything at once", zh="紧急停止全部")
MENU_LIFT = Sentence(en="Lift the stop, with your second factor", zh="用第二因素解除停止")

PAGE_TITLE = Sentence(en="Kill switch", zh="紧急停止")
PAGE_FREE = Sentence(en="Nothing is stopped.", zh="没有任何停止。")
PAGE_IN_FORCE = Sentence(en="In force", zh="生效中")
PAGE_BUTTON = Sentence(en="STOP EVERYTHING", zh="停止全部")
PAGE_NETWORK = Sentence(en="Cut the network", zh="切断网络")
PAGE_TOOLS = Sentence(en="Hold all tools", zh="冻结所有工具")
PAGE_LIFT = Sentence(en="Lift all", zh="全部解除")
PAGE_CODE = Sentence(en="Code of the second factor", zh="第二因素验证码")
PAGE_STALE = Sentence(
    en="This page is too old, or not ours. Load it again.", zh="此页面已过期或不是本系统的页面。请重新加载。"
)
PAGE_DONE = Sentence(en="Done.", zh="完成。")

CLI_IN_FORCE = Sentence(
    en="⛔ {what} – stopped by {by} at {at} UTC, id {kill_id} {reason}",
    zh="⛔ {what} – 由 {by} 于 {at}（UTC）停止，编号 {kill_id} {reason}",
)
CLI_HOST = Sentence(
    en="{host}: sandboxes stopped: {count}, in {seconds:.1f} s", zh="{host}：{seconds:.1f} 秒内停止了 {count} 个沙箱"
)
CLI_LEFT = Sentence(en="✗ {host}: not stopped: {names}", zh="✗ {host}：未能停止：{names}")
CLI_PROBLEM = Sentence(en="✗ {host}: {problem}", zh="✗ {host}：{problem}")
CLI_TASKS = Sentence(en="Tasks told to end: {count}", zh="已通知 {count} 个任务结束")
CLI_NO_TASKS = Sentence(en="No task runs any more.", zh="已没有任务在运行。")
CLI_NO_TEMPORAL = Sentence(
    en="✗ Temporal does not answer: tasks end as soon as it does, and nothing of them acts until then",
    zh="✗ Temporal 没有响应：一旦恢复任务就会结束，在此之前不会执行任何操作",
)
CLI_DONE = Sentence(
    en="In force after {written:.2f} s, done after {seconds:.1f} s. Lift with: asos kill --lift {kill_id} --code CODE",
    zh="{written:.2f} 秒后生效，{seconds:.1f} 秒后完成。解除：asos kill --lift {kill_id} --code 验证码",
)
CLI_NO_CODE = Sentence(
    en="Lifting needs the code of your second factor: --code CODE. Without one, add it first: asos factor add",
    zh="解除需要第二因素验证码：--code 验证码。如果还没有，请先运行：asos factor add",
)
CLI_BAD_LEVEL = Sentence(
    en="--level {level}: use task, tools, network or all; a task goes with the level task",
    zh="--level {level}：请使用 task、tools、network 或 all；指定任务时级别为 task",
)
CLI_BAD_TASK = Sentence(
    en="{task!r} is no task's id: `asos tasks` shows them; while Temporal is away only the whole id of 26 "
    "characters is understood",
    zh="{task!r} 不是任务编号：可用 `asos tasks` 查看；Temporal 不可用时只能使用完整的 26 位编号",
)
CLI_LIFT_MISSED = Sentence(
    en="✗ {host} has not heard of the lift and stays stopped: {problem}",
    zh="✗ {host} 未收到解除通知，仍处于停止状态：{problem}",
)
