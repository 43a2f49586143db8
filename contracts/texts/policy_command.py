"""What `asos policy` says: what a file means, what was decided and why, and what a draft would change."""

from contracts.texts.sentence import Sentence

NO_STEP = Sentence(
    en="Task {task} has no recorded question at step {step}; there are: {steps}.",
    zh="任务 {task} 在第 {step} 步没有记录的问题；已有的步骤：{steps}。",
)
ASKED = Sentence(en="{at} · call {call} · tool {tool}", zh="{at} · 调用 {call} · 工具 {tool}")
NO_QUESTION = Sentence(en="the question is not shown: {problem}", zh="无法显示该问题：{problem}")
RULES = Sentence(en="rules: {rules}", zh="规则：{rules}")
RISK = Sentence(en="risk {risk}: {parts}", zh="风险 {risk}：{parts}")
VERSION = Sentence(en="policy {version}", zh="策略 {version}")
REPLAYED = Sentence(
    en="{replayed} recorded questions were put to the draft: {flipped} would be decided otherwise. "
    "{unreadable} more could not be read. Nothing was changed.",
    zh="已用草案重放 {replayed} 个记录的问题：其中 {flipped} 个的结论会改变；"
    "另有 {unreadable} 个无法读取。未做任何更改。",
)
FLIPPED = (
    Sentence(en="task", zh="任务"),
    Sentence(en="step", zh="步骤"),
    Sentence(en="tool", zh="工具"),
    Sentence(en="before", zh="之前"),
    Sentence(en="after", zh="之后"),
    Sentence(en="why", zh="原因"),
)
