"""What is said when the next thought of a model would go over a budget: which one, what is left, what a yes does."""

from contracts.texts.sentence import Sentence

OVER = Sentence(
    en="The next step could cost up to {wanted} {unit}. Of the {most} {unit} {whose}, {used} are spent or reserved. "
    "{how}",
    zh="下一步最多可能需要 {wanted} {unit}。{whose}为 {most} {unit}，已花费或预留 {used}。{how}",
)
UNITS = {
    "money": Sentence(en="US dollars", zh="美元"),
    "tokens": Sentence(en="tokens", zh="令牌"),
}
WHOSE = {
    "task": Sentence(en="that this task may use", zh="本任务的预算"),
    "minute": Sentence(en="that all your tasks together may use in one minute", zh="您所有任务每分钟的总预算"),
    "hour": Sentence(en="that all your tasks together may use in one hour", zh="您所有任务每小时的总预算"),
    "day": Sentence(en="that all your tasks together may use in one day", zh="您所有任务每天的总预算"),
}
RAISES_TASK = Sentence(
    en="Shall I go on with a larger budget? It adds this task's first budget once more, for this task alone; "
    "task_budget_usd in the settings is what new tasks begin with.",
    zh="要提高预算并继续吗？这会为本任务再增加一份初始预算，仅限本任务；新任务的初始预算由设置 task_budget_usd 决定。",
)
LETS_BEYOND = Sentence(
    en="Shall I go on all the same? It lets this task alone go beyond, up to its own budget; the policy file says how "
    "much it is for all.",
    zh="仍要继续吗？这只允许本任务超出，且不超过其自身预算；总预算由策略文件规定。",
)
FREE_AGAIN = Sentence(
    en="If you say nothing, I go on by myself at {at:%Y-%m-%d %H:%M} UTC.",
    zh="如果您不回复，我将在 {at:%Y-%m-%d %H:%M} UTC 自行继续。",
)
GO_ON = Sentence(en="Go on beyond it", zh="超出并继续")
