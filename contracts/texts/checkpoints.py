"""What is said when the processes of a sandbox cannot be kept or brought back, and what to do about it."""

from contracts.texts.sentence import Sentence

ENGINE_KEEPS_NONE = Sentence(
    en="The Docker engine does not allow checkpoints, so a sleeping sandbox keeps its files but not its programs. Set "
    '"experimental": true in /etc/docker/daemon.json and restart Docker.',
    zh="Docker 引擎不允许检查点，因此休眠的沙箱只保留文件，不保留程序。请在 /etc/docker/daemon.json 中设置 "
    '"experimental": true 并重启 Docker。',
)
RUNTIME_KEEPS_NONE = Sentence(
    en="The runtime {runtime} cannot save the processes of a hardened sandbox, so that one keeps its files but not its "
    "programs. Only gVisor can: install `runsc` and register it in /etc/docker/daemon.json.",
    zh="运行时 {runtime} 无法保存加固沙箱的进程，因此沙箱只保留文件，不保留程序。只有 gVisor 可以："
    "请安装 `runsc` 并在 /etc/docker/daemon.json 中注册。",
)
NETWORK_KEEPS_NONE = Sentence(
    en="gVisor is registered with --network=host, with which it saves no processes. Replace it by --network=none in "
    "/etc/docker/daemon.json and restart Docker.",
    zh="gVisor 以 --network=host 注册，无法保存进程。请在 /etc/docker/daemon.json 中"
    "改为 --network=none 并重启 Docker。",
)
STREAMS_OPEN = Sentence(
    en="A program in {sandbox} still holds a connection to the outside open ({count}), so its processes cannot be "
    "saved. Close its terminals and forwards, or end what they started.",
    zh="{sandbox} 中的程序仍持有与外部的连接（{count}），无法保存其进程。"
    "请关闭终端和端口转发，或结束由它们启动的程序。",
)
DELETED_OPEN = Sentence(
    en="A program in {sandbox} uses {path}, which is deleted, so its processes cannot be saved. Let it close the file, "
    "or keep such files in /tmp.",
    zh="{sandbox} 中的程序正在使用已删除的 {path}，无法保存其进程。请让它关闭该文件，或把这类文件放在 /tmp。",
)
NO_ROOM = Sentence(
    en="The processes of {sandbox} take {megabytes} MB and {folder} has room for {free} MB. Make room there.",
    zh="{sandbox} 的进程占用 {megabytes} MB，而 {folder} 只剩 {free} MB。请清理空间。",
)
NOT_SAVED = Sentence(
    en="The processes of {sandbox} could not be saved: {cause}",
    zh="无法保存 {sandbox} 的进程：{cause}",
)
NOT_BROUGHT_BACK = Sentence(
    en="The saved processes do not go on in {sandbox}: {cause}",
    zh="已保存的进程无法在 {sandbox} 中继续：{cause}",
)
