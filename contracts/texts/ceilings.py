"""Which budget or rate a call would go over; `detail` is `used + wanted / most`, and when it is free again."""

from contracts.texts.sentence import Sentence

CEILINGS: dict[str, Sentence] = {
    "limit.money.task": Sentence(
        en="It would go over the US dollars of this task that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的本任务美元上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.money.minute": Sentence(
        en="It would go over the US dollars of one minute that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每分钟美元上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.money.hour": Sentence(
        en="It would go over the US dollars of one hour that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每小时美元上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.money.day": Sentence(
        en="It would go over the US dollars of this day that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的当日美元上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.requests.task": Sentence(
        en="It would go over the requests of this task that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的本任务请求上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.requests.minute": Sentence(
        en="It would go over the requests of one minute that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每分钟请求上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.requests.hour": Sentence(
        en="It would go over the requests of one hour that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每小时请求上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.requests.day": Sentence(
        en="It would go over the requests of this day that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的当日请求上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.messages.task": Sentence(
        en="It would go over the messages of this task that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的本任务消息上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.messages.minute": Sentence(
        en="It would go over the messages of one minute that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每分钟消息上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.messages.hour": Sentence(
        en="It would go over the messages of one hour that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每小时消息上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.messages.day": Sentence(
        en="It would go over the messages of this day that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的当日消息上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.tokens.task": Sentence(
        en="It would go over the model tokens of this task that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的本任务模型令牌上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.tokens.minute": Sentence(
        en="It would go over the model tokens of one minute that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每分钟模型令牌上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.tokens.hour": Sentence(
        en="It would go over the model tokens of one hour that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的每小时模型令牌上限（已用 + 所需 / 上限）：{detail}。",
    ),
    "limit.tokens.day": Sentence(
        en="It would go over the model tokens of this day that your policy permits (used + wanted / most): {detail}.",
        zh="将超出您的策略允许的当日模型令牌上限（已用 + 所需 / 上限）：{detail}。",
    ),
}
