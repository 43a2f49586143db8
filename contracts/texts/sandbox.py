"""What sandboxes say to people: why something cannot be had, and what to do about it."""

from contracts.texts.sentence import Sentence

ENGINE_ABSENT = Sentence(
    en="No Docker engine answers at {address} ({cause}). Start it (`systemctl start docker`) or install one "
    "(`apt-get install docker.io`), or set sandbox_driver to bubblewrap.",
    zh="{address} 没有 Docker 引擎应答（{cause}）。请启动它（`systemctl start docker`）或安装一个"
    "（`apt-get install docker.io`），或将 sandbox_driver 设为 bubblewrap。",
)
ENGINE_FAILED = Sentence(
    en="The Docker engine could not make the sandbox: {cause}",
    zh="Docker 引擎无法创建沙箱：{cause}",
)
IMAGE_ABSENT = Sentence(
    en="The sandbox image {image} has not been built. Run `make images`.",
    zh="沙箱镜像 {image} 尚未构建。请运行 `make images`。",
)
RUNTIME_ABSENT = Sentence(
    en="The Docker engine has no runtime named {runtime}; it has {known}. Register it in /etc/docker/daemon.json, or "
    "set sandbox_runtime to one of these.",
    zh="Docker 引擎没有名为 {runtime} 的运行时；现有 {known}。请在 /etc/docker/daemon.json 中注册它，"
    "或将 sandbox_runtime 设为其中之一。",
)
GVISOR_ABSENT = Sentence(
    en="gVisor (runsc) is not registered with the Docker engine: sandboxes share the machine's kernel. "
    "Install `runsc` and register it in /etc/docker/daemon.json.",
    zh="Docker 引擎未注册 gVisor（runsc）：沙箱与本机共用内核。请安装 `runsc` 并在 /etc/docker/daemon.json 中注册。",
)
PROGRAM_ABSENT = Sentence(
    en="{program} is not installed. Run `apt-get install {package}`.",
    zh="未安装 {program}。请运行 `apt-get install {package}`。",
)
NAMESPACES_CLOSED = Sentence(
    en="This machine does not let bubblewrap make user namespaces ({cause}). Set kernel.unprivileged_userns_clone=1 "
    "and user.max_user_namespaces above 0, or use Docker.",
    zh="本机不允许 bubblewrap 创建用户命名空间（{cause}）。请设置 kernel.unprivileged_userns_clone=1 且 "
    "user.max_user_namespaces 大于 0，或改用 Docker。",
)
BUBBLEWRAP_FAILED = Sentence(
    en="bubblewrap could not make the sandbox: {cause}",
    zh="bubblewrap 无法创建沙箱：{cause}",
)
HOST_FULL = Sentence(
    en="This host already holds {count} sandboxes, the most it may (max_sandboxes). Wait until a task ends, or "
    "raise the setting.",
    zh="本主机已有 {count} 个沙箱，达到上限（max_sandboxes）。请等待任务结束，或调高该设置。",
)
