"""What a task itself says: questions it must ask to go on, and why it ended."""

from contracts.texts.sentence import Sentence

SAME_FAILURE = Sentence(
    en="“{summary}” has failed {count} times in the same way ({error}). What shall I do instead?",
    zh="“{summary}”已经以同样的方式失败了 {count} 次（{error}）。接下来我该怎么做？",
)
NO_SANDBOX = Sentence(
    en="I cannot get a place to work: {reason} Shall I try again?",
    zh="我无法获得工作环境：{reason} 要再试一次吗？",
)
PLANNER_SILENT = Sentence(
    en="The model does not answer: {reason} Shall I try again?",
    zh="模型没有回应：{reason} 要再试一次吗？",
)
MACHINE_FULL = Sentence(
    en="I cannot go on: {reason}. Shall I try again?",
    zh="我无法继续：{reason}。要再试一次吗？",
)
PLANNER_REFUSED = Sentence(
    en="The model's provider refused the request ({code}). {remedy}",
    zh="模型服务商拒绝了请求（{code}）。{remedy}",
)
TOO_MANY_STEPS = Sentence(
    en="This task has taken {steps} steps. Shall I go on?",
    zh="这个任务已经执行了 {steps} 步。要继续吗？",
)
NOT_PERMITTED = Sentence(en="Not permitted: {why}", zh="不允许：{why}")
TRY_AGAIN = Sentence(en="Try again", zh="再试一次")
GO_ON = Sentence(en="Go on", zh="继续")
GIVE_UP = Sentence(en="Stop", zh="停止")
GAVE_UP = Sentence(en="Stopped at your word: {reason}", zh="已按你的要求停止：{reason}")
NO_ANSWER = Sentence(
    en="I waited {hours:g} hours for your answer and stopped. Send /retry to go on from here.",
    zh="我等待你的回答 {hours:g} 小时后停止了。发送 /retry 可从这里继续。",
)
DEADLINE_PASSED = Sentence(
    en="The deadline of this task ({deadline}) has passed, so I stopped.",
    zh="这个任务的截止时间（{deadline}）已过，我停止了。",
)
STOPPED = Sentence(en="Stopped.", zh="已停止。")
