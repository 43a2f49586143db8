"""What the terminal says about sandboxes, their files and their shells."""

from contracts.texts.sentence import Sentence

COLUMNS = (
    Sentence(en="sandbox", zh="沙箱"),
    Sentence(en="state", zh="状态"),
    Sentence(en="host", zh="主机"),
    Sentence(en="runtime", zh="运行时"),
    Sentence(en="age", zh="存在时间"),
    Sentence(en="idle", zh="空闲"),
    Sentence(en="disk", zh="磁盘"),
    Sentence(en="snapshots", zh="快照"),
    Sentence(en="goal", zh="目标"),
)
SNAPSHOT_COLUMNS = (
    Sentence(en="snapshot", zh="快照"),
    Sentence(en="kind", zh="类型"),
    Sentence(en="files", zh="文件数"),
    Sentence(en="size", zh="大小"),
    Sentence(en="added", zh="新增"),
    Sentence(en="age", zh="存在时间"),
    Sentence(en="name", zh="名称"),
)
FILE_COLUMNS = (
    Sentence(en="kind", zh="类型"),
    Sentence(en="size", zh="大小"),
    Sentence(en="changed", zh="修改时间"),
    Sentence(en="name", zh="名称"),
)
ARTIFACT_COLUMNS = (
    Sentence(en="sha256", zh="sha256"),
    Sentence(en="size", zh="大小"),
    Sentence(en="changed", zh="修改时间"),
    Sentence(en="file", zh="文件"),
)
TRANSITION_COLUMNS = (
    Sentence(en="at", zh="时间"),
    Sentence(en="state", zh="状态"),
    Sentence(en="why", zh="原因"),
)
SHOW_LINES: dict[str, Sentence] = {
    "state": Sentence(en="state", zh="状态"),
    "lease": Sentence(en="lease", zh="租约"),
    "next": Sentence(en="next", zh="接下来"),
    "problem": Sentence(en="problem", zh="问题"),
    "limits": Sentence(en="limits", zh="限额"),
    "files": Sentence(en="files", zh="文件"),
}
STATES: dict[str, Sentence] = {
    "queued": Sentence(en="queued", zh="排队中"),
    "leasing": Sentence(en="being made", zh="创建中"),
    "active": Sentence(en="active", zh="运行中"),
    "paused": Sentence(en="paused", zh="已暂停"),
    "asleep": Sentence(en="asleep", zh="休眠"),
    "waking": Sentence(en="waking", zh="唤醒中"),
    "reclaimed": Sentence(en="reclaimed", zh="已回收"),
    "destroyed": Sentence(en="destroyed", zh="已销毁"),
    "failed": Sentence(en="failed", zh="失败"),
    "warm": Sentence(en="warm", zh="预热"),
    "dead": Sentence(en="dead", zh="已死"),
}
STEPS: dict[str, Sentence] = {
    "save": Sentence(en="saved", zh="保存"),
    "freeze": Sentence(en="paused", zh="暂停"),
    "sleep": Sentence(en="put to sleep", zh="进入休眠"),
    "reclaim": Sentence(en="reclaimed; its project files are kept", zh="回收；保留项目文件"),
}
NEXT = Sentence(en="{step} in {time}, unless somebody needs it", zh="{time}后{step}，除非有人需要")
SINCE = Sentence(en="{state} for {time}", zh="{state}，已 {time}")
LEASE = Sentence(
    en="{sandbox_id} on host {host}, {runtime}, image {image}, lease {epoch}",
    zh="{sandbox_id}，主机 {host}，{runtime}，镜像 {image}，租约 {epoch}",
)
LIMITS = Sentence(
    en="{memory} memory, {cpus:g} processors, {processes} processes, {disk} disk, {wall} a command, {output} output",
    zh="内存 {memory}，处理器 {cpus:g}，进程 {processes}，磁盘 {disk}，每条命令 {wall}，输出 {output}",
)
FILES_ONLY_AWAKE = Sentence(
    en="not looked at: it is not active; `asos files list {owner}` wakes it",
    zh="未查看：沙箱未运行；`asos files list {owner}` 会唤醒它",
)
FILES_UNSEEN = Sentence(en="not looked at: {reason}", zh="未查看：{reason}")
NO_SANDBOXES = Sentence(
    en="No sandboxes yet: a task gets one when it first needs it.", zh="还没有沙箱：任务首次需要时才会创建。"
)
NO_SANDBOX = Sentence(
    en="{owner} has no sandbox; `asos sandboxes` lists them.", zh="{owner} 没有沙箱；`asos sandboxes` 可列出全部。"
)
SEVERAL = Sentence(en="{prefix} fits several sandboxes: {owners}", zh="{prefix} 匹配多个沙箱：{owners}")
NOT_AWAKE = Sentence(
    en="The sandbox of {owner} could not be had: it is {state}. {problem}",
    zh="无法使用 {owner} 的沙箱：当前状态为{state}。{problem}",
)
HOST_SILENT = Sentence(
    en="host {url} does not answer ({reason})",
    zh="主机 {url} 没有响应（{reason}）",
)
HOST_SAYS_NO = Sentence(en="The host refused: {text}", zh="主机拒绝：{text}")
IS_NOW = Sentence(en="The sandbox of {owner} is {state}.", zh="{owner} 的沙箱现在{state}。")
SAVED = Sentence(
    en="snapshot {digest} {name}: {files} files, {size}, {added} added",
    zh="快照 {digest} {name}：{files} 个文件，{size}，新增 {added}",
)
RESTORED = Sentence(
    en="The sandbox of {owner} is back at {digest} {name}; what was there is saved as `before-restore`.",
    zh="{owner} 的沙箱已回到 {digest} {name}；之前的内容保存为 `before-restore`。",
)
NO_SNAPSHOT = Sentence(
    en="{owner} has no snapshot {which!r}; `asos sandbox show {owner}` lists them.",
    zh="{owner} 没有快照 {which!r}；`asos sandbox show {owner}` 可列出全部。",
)
SEVERAL_SNAPSHOTS = Sentence(en="{which!r} fits several snapshots: {digests}", zh="{which!r} 匹配多个快照：{digests}")
REALLY = Sentence(
    en="Destroy the sandbox of {owner}, its files and its {count} snapshots? [y/N] ",
    zh="销毁 {owner} 的沙箱、其中的文件和 {count} 个快照？[y/N] ",
)
SAY_YES = Sentence(
    en="Nobody is here to be asked: say --yes to destroy the sandbox of {owner}.",
    zh="没有人可以确认：请用 --yes 销毁 {owner} 的沙箱。",
)
LEFT_ALONE = Sentence(en="left as it is", zh="保持原样")
EXISTS = Sentence(en="{path} exists already; --force replaces it.", zh="{path} 已存在；--force 可覆盖。")
NO_FOLDER = Sentence(en="There is no folder {path}.", zh="没有文件夹 {path}。")
CANNOT_WRITE = Sentence(en="{path} cannot be written: {reason}", zh="无法写入 {path}：{reason}")
CANNOT_READ = Sentence(en="{path} cannot be read: {reason}", zh="无法读取 {path}：{reason}")
A_FOLDER = Sentence(
    en="{path} is a folder. Pack it and unpack it there: tar -C {path} -cf - . | asos shell {owner} -- tar -xf -",
    zh="{path} 是文件夹。请打包并在沙箱中解开：tar -C {path} -cf - . | asos shell {owner} -- tar -xf -",
)
NOT_A_FILE = Sentence(en="{path} is not a plain file.", zh="{path} 不是普通文件。")
GOT = Sentence(en="{path}: {size}", zh="{path}：{size}")
GOT_FOLDER = Sentence(
    en="{path}: {size}, a folder as a tar file, made by what ran in the sandbox: unpack it where nothing else is",
    zh="{path}：{size}，这是文件夹的 tar 包，内容来自沙箱：请在空文件夹中解开",
)
PUT = Sentence(en="{path} in the sandbox of {owner}: {size}", zh="{owner} 的沙箱中的 {path}：{size}")
NO_FILES = Sentence(en="nothing there", zh="没有内容")
