"""Why an address was not fetched although its host was open."""

from contracts.texts.sentence import Sentence

ADDRESS_CLOSED = Sentence(
    en="{url} was not fetched: the policy closes it ({rule}). Use another address.",
    zh="未获取 {url}：策略禁止访问（{rule}）。请使用其他地址。",
)
EGRESS_ROLE_BLOCKED = Sentence(
    en="{host} is blocked by the policy file (permissions.browser.blocked: {rule}). Only the owner can change that; "
    "use another address.",
    zh="{host} 已被策略文件封锁（permissions.browser.blocked：{rule}）。只有所有者能更改；请改用其他地址。",
)
EGRESS_PART_BLOCKED = Sentence(
    en="A part of {host} is blocked by the policy file (permissions.browser.blocked: {rule}), and which part encrypted "
    "traffic asks for cannot be seen. The owner can list the host under egress.inspect: then the rest of it is open.",
    zh="{host} 的一部分已被策略文件封锁（permissions.browser.blocked：{rule}），而加密流量请求的是哪一部分无法看到。"
    "所有者可将该主机列入 egress.inspect：这样其余部分即可访问。",
)
