"""What a host of sandboxes says to people when it cannot serve them."""

from contracts.texts.sentence import Sentence

USER_FULL = Sentence(
    en="This person already has {count} sandboxes, the most one may have (max_sandboxes_per_user). Wait until a task "
    "ends or falls asleep, or raise the setting.",
    zh="此用户已有 {count} 个沙箱，达到单个用户的上限（max_sandboxes_per_user）。请等待任务结束或休眠，或调高该设置。",
)
HOST_SERVED = Sentence(
    en="The sandboxes in {folder} are already served by process {pid}. Stop that one first, or set another data_dir.",
    zh="{folder} 中的沙箱已由进程 {pid} 管理。请先停止该进程，或另设 data_dir。",
)
REGISTRY_UNUSABLE = Sentence(
    en="The register of sandboxes {path} cannot be used: {cause}. Free some space, or move the file away: then all "
    "sandboxes of this host count as lost.",
    zh="无法使用沙箱登记文件 {path}：{cause}。请释放磁盘空间，或移走该文件：本主机的所有沙箱将视为丢失。",
)
OTHER_RUNTIME = Sentence(
    en="This task must run under {demanded}, but its sandbox runs under {runtime}. Its owner has to destroy that "
    "sandbox (`asos sandbox destroy`), then a new one is made.",
    zh="此任务必须在 {demanded} 下运行，但其沙箱运行于 {runtime}。请由所有者销毁该沙箱"
    "（`asos sandbox destroy`），随后会创建新的沙箱。",
)
RUNTIME_NOT_HERE = Sentence(
    en="This task must run under {demanded}, and this host has {runtime} only. Set up {demanded}, or ease the policy.",
    zh="此任务必须在 {demanded} 下运行，而本主机只有 {runtime}。请安装 {demanded}，或放宽策略。",
)
NO_STORE = Sentence(
    en="This host keeps no snapshots: no store was set up (snapshot_store).",
    zh="本主机不保存快照：未设置存储位置（snapshot_store）。",
)
