"""What is said when a command meets a bound of its sandbox: which one, and how much of it there is."""

from contracts.texts.sentence import Sentence

ENDED = {
    "memory": Sentence(
        en="The command was ended: it used more than the {amount:g} MB of memory this sandbox may have.",
        zh="命令已被终止：它使用的内存超过了此沙箱允许的 {amount:g} MB。",
    ),
    "disk": Sentence(
        en="The command was ended: /workspace and home hold more than the {amount:g} MB this sandbox may have. Until "
        "something is deleted nothing more can be written.",
        zh="命令已被终止：/workspace 与主目录的内容超过了此沙箱允许的 {amount:g} MB。删除一些文件之前无法再写入。",
    ),
    "processes": Sentence(
        en="The command was ended: it wanted more than the {amount:g} processes and threads this sandbox may have.",
        zh="命令已被终止：它需要的进程和线程超过了此沙箱允许的 {amount:g} 个。",
    ),
    "output": Sentence(
        en="The command was ended: it wrote more than the {amount:g} MB of output that are kept of one command.",
        zh="命令已被终止：它的输出超过了单个命令可保存的 {amount:g} MB。",
    ),
    "wall_time": Sentence(
        en="The command was ended: it ran for the {amount:g} s that one command may take.",
        zh="命令已被终止：它已运行满单个命令允许的 {amount:g} 秒。",
    ),
    "open_files": Sentence(
        en="The command was ended: it had the {amount:g} files open that one process of this sandbox may have.",
        zh="命令已被终止：它打开的文件达到了此沙箱单个进程允许的 {amount:g} 个。",
    ),
    "file_size": Sentence(
        en="The command was ended: it wrote a file larger than the {amount:g} MB one file of this sandbox may have.",
        zh="命令已被终止：它写入的文件超过了此沙箱单个文件允许的 {amount:g} MB。",
    ),
}
"""For a command that did not live to say anything itself."""

MET = {
    "memory": Sentence(
        en="It ran out of memory: this sandbox may have {amount:g} MB.",
        zh="内存不足：此沙箱最多可用 {amount:g} MB。",
    ),
    "disk": Sentence(
        en="There was no space left to write: /workspace and home may hold {amount:g} MB together, /tmp less. Delete "
        "what is not needed.",
        zh="没有剩余空间可写：/workspace 与主目录合计最多 {amount:g} MB，/tmp 更少。请删除不需要的文件。",
    ),
    "processes": Sentence(
        en="It could not start another process: this sandbox may have {amount:g} processes and threads.",
        zh="无法再启动进程：此沙箱最多可有 {amount:g} 个进程和线程。",
    ),
    "output": Sentence(
        en="It wrote more than the {amount:g} MB of output that are kept of one command; the end and the beginning are "
        "there.",
        zh="输出超过了单个命令可保存的 {amount:g} MB；只保留了开头和结尾。",
    ),
    "wall_time": Sentence(
        en="It ran for the {amount:g} s that one command may take.",
        zh="它已运行满单个命令允许的 {amount:g} 秒。",
    ),
    "open_files": Sentence(
        en="It could not open another file: one process of this sandbox may have {amount:g} open.",
        zh="无法再打开文件：此沙箱单个进程最多可打开 {amount:g} 个。",
    ),
    "file_size": Sentence(
        en="It could not make a file larger: one file of this sandbox may have {amount:g} MB.",
        zh="无法继续增大文件：此沙箱单个文件最多 {amount:g} MB。",
    ),
}
"""For a command that went on, or gave up by itself."""

DISK_FULL = Sentence(
    en="nothing can be written: /workspace and home hold {used} MB of the {amount} MB this sandbox may have. Delete "
    "something first",
    zh="无法写入：/workspace 与主目录已占用 {used} MB，此沙箱最多 {amount} MB。请先删除一些文件",
)
DIED_OF_MEMORY = Sentence(
    en="the sandbox was ended by its machine: it used more than the {amount} MB of memory it may have",
    zh="沙箱已被所在主机终止：它使用的内存超过了允许的 {amount} MB",
)
DIED = Sentence(en="the sandbox has ended", zh="沙箱已结束")

VOLUME_SHARED = Sentence(
    en="sandbox_volume_options binds {device}, which all sandboxes would share. End the path with /{{volume}}: that "
    "stands for the name of each volume.",
    zh="sandbox_volume_options 绑定了 {device}，所有沙箱都会共用它。请让路径以 /{{volume}} 结尾：它代表各个卷的名称。",
)
VOLUME_FOLDER_ABSENT = Sentence(
    en="{folder}, where sandbox_volume_options puts the files of sandboxes, does not exist. Mount the file system that "
    "holds it, or make it there.",
    zh="sandbox_volume_options 指定的沙箱文件目录 {folder} 不存在。请挂载其所在的文件系统，或在其中创建该目录。",
)
RUNTIME_NEEDS_ENGINE = Sentence(
    en="The runtime {runtime} is demanded, and bubblewrap has none: it only separates programs on this machine's own "
    "kernel. Start a Docker engine that knows {runtime}, or do not demand it.",
    zh="要求使用运行时 {runtime}，而 bubblewrap 没有运行时：它只在本机内核上隔离程序。请启动支持 {runtime} 的 "
    "Docker 引擎，或取消该要求。",
)
RUNTIME_DEMANDED = Sentence(
    en="the policy demands the runtime {demanded} for it, and this sandbox runs under {found}",
    zh="策略要求使用运行时 {demanded}，而此沙箱运行在 {found} 下",
)

BOUNDS = Sentence(
    en="Without an engine sandboxes share this machine's kernel, Chromium in them runs without its own sandbox, and "
    "disk is only watched, not held back. {more}",
    zh="没有引擎时，沙箱共用本机内核，其中的 Chromium 不带自身沙箱，磁盘只受监视而不受硬性限制。{more}",
)
BOUNDS_BY_GROUP = Sentence(
    en="Memory, processors and processes are held by control groups.",
    zh="内存、处理器和进程数由控制组限制。",
)
BOUNDS_BY_PROCESS = Sentence(
    en="This user may not make control groups: memory is held for each process only, processes by their number for "
    "each sandbox, processors not at all. Run as root, or use Docker.",
    zh="当前用户不能创建控制组：内存只按单个进程限制，进程数按沙箱限制，处理器不受限制。"
    "请以 root 运行，或使用 Docker。",
)
