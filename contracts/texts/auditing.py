"""What `asos audit` says."""

from contracts.texts.sentence import Sentence

WHOLE = Sentence(
    en="whole: {records} records, the last one {head}; signed with key {fingerprint}",
    zh="完整：共 {records} 条记录，最后一条为 {head}；签名密钥 {fingerprint}",
)
AFTER_HEAD = Sentence(
    en="{count} signed records are newer than the head: a process writes now, or was cut off and the next start notes "
    "it",
    zh="有 {count} 条已签名的记录比链头新：有进程正在写入，或曾被中断，下次启动时会记录",
)
COMPARE_KEY = Sentence(
    en="Compare the key with the fingerprint that you wrote down, or give it with --key: whoever can change all files "
    "can also sign with another key.",
    zh="请与您记下的指纹核对，或用 --key 给出指纹：能改动所有文件的人也能换一把密钥签名。",
)
BUNDLE_WHOLE = Sentence(
    en="whole: task {task_id}, {members} files, {records} audit records; signed with key {fingerprint}",
    zh="完整：任务 {task_id}，{members} 个文件，{records} 条审计记录；签名密钥 {fingerprint}",
)
NO_LOG = Sentence(
    en="{folder} holds no audit log; set ASOS_DATA_DIR to the data folder of the installation",
    zh="{folder} 中没有审计日志；请将 ASOS_DATA_DIR 设为安装的数据目录",
)
NO_BUNDLE = Sentence(en="cannot read {path}: {reason}", zh="无法读取 {path}：{reason}")
BAD_SINCE = Sentence(
    en="--since takes 30d, 12h, 45m, or a date such as 2026-01-31, not {said!r}",
    zh="--since 可为 30d、12h、45m 或日期（如 2026-01-31），不能是 {said!r}",
)
NO_RECORDS_OF = Sentence(en="the audit log has no task {task!r}", zh="审计日志中没有任务 {task!r}")
SEVERAL_TASKS = Sentence(en="{task!r} could be {tasks}; write more of it", zh="{task!r} 可能是 {tasks}；请写得更长一些")
NO_RECORDS = Sentence(en="no records", zh="没有记录")
COLUMNS = (
    Sentence(en="when (UTC)", zh="时间（UTC）"),
    Sentence(en="what", zh="事件"),
    Sentence(en="who", zh="人员"),
    Sentence(en="call", zh="调用"),
    Sentence(en="facts", zh="内容"),
    Sentence(en="policy", zh="策略"),
)
EXPORTED = Sentence(
    en="{path}: {members} files, {records} audit records; check it with: asos audit verify {path} --key {fingerprint}",
    zh="{path}：{members} 个文件，{records} 条审计记录；验证：asos audit verify {path} --key {fingerprint}",
)
SEALED_WORDS = Sentence(
    en="All words in it are sealed with this installation's keyring; --plain writes them out.",
    zh="其中的文字均以本安装的密钥环加密；--plain 可写出明文。",
)
NOT_EXPORTED = Sentence(en="the task cannot be exported: {reason}", zh="无法导出任务：{reason}")
REPLAY_WRITTEN = Sentence(
    en="{path}: steps: {steps}; the gateway shows it at {url}, too", zh="{path}：{steps} 个步骤；也可在 {url} 查看"
)
BROKEN: dict[str, Sentence] = {
    "missing": Sentence(en="record {sequence} is missing", zh="缺少第 {sequence} 条记录"),
    "altered": Sentence(
        en="record {sequence} is not as it was written {detail}", zh="第 {sequence} 条记录已被改动 {detail}"
    ),
    "moved": Sentence(
        en="record {sequence} stands where another one was written: {detail}",
        zh="第 {sequence} 条记录的位置被换过：{detail}",
    ),
    "unreadable": Sentence(
        en="record {sequence} cannot be read: {detail}", zh="第 {sequence} 条记录无法读取：{detail}"
    ),
    "forged": Sentence(
        en="record {sequence} was not signed by this installation's key",
        zh="第 {sequence} 条记录不是由本安装的密钥签名",
    ),
    "cut": Sentence(
        en="record {sequence} is missing: the signed head says that there are {detail}; the end was cut off, or an "
        "older copy was put back",
        zh="缺少第 {sequence} 条记录：签名的链头显示共有 {detail} 条；末尾被截断，或换回了旧副本",
    ),
    "diverged": Sentence(
        en="record {sequence} is not the one that the signed head names: another past was put in its place",
        zh="第 {sequence} 条记录与签名链头所指的不同：历史被替换",
    ),
    "head_missing": Sentence(en="the signed head is missing: {detail}", zh="缺少签名的链头：{detail}"),
    "head_broken": Sentence(en="the signed head was changed: {detail}", zh="签名的链头被改动：{detail}"),
    "key_missing": Sentence(en="the public key is missing: {detail}", zh="缺少公钥：{detail}"),
    "key_broken": Sentence(en="the public key was changed: {detail}", zh="公钥被改动：{detail}"),
    "key_swapped": Sentence(en="all is signed with another key: {detail}", zh="全部内容由另一把密钥签名：{detail}"),
    "file_missing": Sentence(en="the records' file is missing: {detail}", zh="缺少记录文件：{detail}"),
    "file_damaged": Sentence(en="the records' file is damaged: {detail}", zh="记录文件已损坏：{detail}"),
    "schema_changed": Sentence(
        en="the records are as they were written, but tables, triggers or index of their file are not",
        zh="记录未变，但其文件中的表、触发器或索引被改动",
    ),
    "bundle_unreadable": Sentence(en="the bundle cannot be read: {detail}", zh="无法读取该包：{detail}"),
    "manifest_broken": Sentence(en="the bundle's manifest was changed: {detail}", zh="包的清单被改动：{detail}"),
    "member_missing": Sentence(en="{detail} is missing in the bundle", zh="包中缺少 {detail}"),
    "member_altered": Sentence(en="{detail} in the bundle was changed", zh="包中的 {detail} 被改动"),
    "member_unlisted": Sentence(
        en="{detail} is in the bundle, and its manifest does not know it", zh="包中有清单之外的 {detail}"
    ),
}
