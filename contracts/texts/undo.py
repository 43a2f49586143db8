"""What is said of things that are taken back."""

from contracts.texts.sentence import Sentence

NOTHING = Sentence(
    en="There is nothing that could be taken back.",
    zh="没有可以撤销的内容。",
)
RESTORED = Sentence(en="Step {step}: as it was before: {paths}", zh="第 {step} 步：已恢复原样：{paths}")
LEFT = {
    "changed": Sentence(en="Not touched, for it has been changed since: {path}", zh="之后又被修改，未改动：{path}"),
    "too_large": Sentence(en="Too large for a copy to have been kept: {path}", zh="文件过大，没有保留副本：{path}"),
    "other": Sentence(en="It was no file, so that no copy was kept: {path}", zh="它不是普通文件，没有保留副本：{path}"),
    "refused": Sentence(en="It can no longer be reached: {path}", zh="已无法访问：{path}"),
}
LIMITS = Sentence(
    en="Only what the file tool wrote and deleted is taken back; commands, messages and visits are not.",
    zh="只能撤销文件工具写入和删除的内容；命令、消息和访问无法撤销。",
)
NO_COPY = Sentence(
    en="No copy of what was there before could be kept, so this cannot be undone.",
    zh="无法保留原有内容的副本，因此不能撤销。",
)
BUSY = Sentence(
    en="The task works in its sandbox at this moment. Pause or stop it first.",
    zh="任务正在使用沙箱。请先暂停或停止它。",
)
