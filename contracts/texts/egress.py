"""What the way out of a sandbox answers: why a request was refused, and what to do about it."""

from contracts.texts.sentence import Sentence

EGRESS_NOT_ALLOWED = Sentence(
    en="This task may not reach {host}:{port}. Ask the person to approve this host.",
    zh="此任务不能访问 {host}:{port}。请让用户批准该主机。",
)
EGRESS_HALTED = Sentence(
    en="halted: {by} has pulled the kill switch at {at} UTC. Nothing leaves the sandbox until it is lifted.",
    zh="halted：{by} 已于 {at}（UTC）启动紧急停止。解除之前，沙箱不能访问网络。",
)
EGRESS_BLOCKED = Sentence(
    en="{host} is blocked by the policy file (egress.blocked: {rule}). Only the owner can change that; use another "
    "host.",
    zh="{host} 已被策略文件封锁（egress.blocked：{rule}）。只有所有者能更改；请改用其他主机。",
)
EGRESS_BLOCKLISTED = Sentence(
    en="{host} is on the list of malicious domains ({rule}) and cannot be reached. Use another host.",
    zh="{host} 在恶意域名列表中（{rule}），不能访问。请改用其他主机。",
)
EGRESS_PORT = Sentence(
    en="Port {port} is closed by the policy file (egress.ports: {known}). Use one of these ports.",
    zh="端口 {port} 已被策略文件关闭（egress.ports：{known}）。请使用这些端口之一。",
)
EGRESS_METHOD = Sentence(
    en="The method {method} is not permitted for {host}:{port}; permitted are {known}. Ask the person to permit it.",
    zh="{host}:{port} 不允许使用方法 {method}；允许的是 {known}。请让用户许可。",
)
EGRESS_TUNNEL = Sentence(
    en="Encrypted traffic to {host}:{port} is closed, since its methods cannot be seen; permitted are {known}. The "
    "owner can add CONNECT to the methods, or list the host under egress.inspect.",
    zh="到 {host}:{port} 的加密流量已关闭，因为看不到其中的方法；允许的是 {known}。所有者可以在方法中加入 CONNECT，"
    "或将该主机列入 egress.inspect。",
)
EGRESS_REQUEST_RATE = Sentence(
    en="This task makes more requests than it may ({count} a minute). Wait {seconds} seconds and try again.",
    zh="此任务的请求过于频繁（每分钟最多 {count} 次）。请等待 {seconds} 秒后重试。",
)
EGRESS_BYTES_UP = Sentence(
    en="This task has sent as much as it may ({count} bytes, egress.upload_limit). Only the owner can raise the limit.",
    zh="此任务发送的数据已达上限（{count} 字节，egress.upload_limit）。只有所有者能提高上限。",
)
EGRESS_BYTES_DOWN = Sentence(
    en="This task has received as much as it may ({count} bytes, egress.download_limit). Only the owner can raise the "
    "limit.",
    zh="此任务接收的数据已达上限（{count} 字节，egress.download_limit）。只有所有者能提高上限。",
)
EGRESS_NOT_PUBLIC = Sentence(
    en="{host} leads to {address}, which is not a public address. Only the owner can open it, by granting the host "
    "together with its address.",
    zh="{host} 指向 {address}，不是公网地址。只有所有者能开放它：授权该主机时一并写明地址。",
)
EGRESS_NO_ADDRESS = Sentence(
    en="No address is known for {host}: check the name, or the network of this machine.",
    zh="找不到 {host} 的地址：请检查名称或本机网络。",
)
EGRESS_UNREACHABLE = Sentence(
    en="{host}:{port} does not answer. Try again later.",
    zh="{host}:{port} 无应答。请稍后再试。",
)
EGRESS_BROKEN = Sentence(
    en="{host}:{port} ended the connection without a proper answer. Try again later.",
    zh="{host}:{port} 未给出正常应答就断开了连接。请稍后再试。",
)
EGRESS_CERTIFICATE = Sentence(
    en="{host}:{port} could not prove who it is ({cause}). Check the address; the owner can name further certificate "
    "authorities in the policy file (egress.authorities).",
    zh="{host}:{port} 无法证明其身份（{cause}）。请检查地址；所有者可在策略文件中指定更多证书颁发机构"
    "（egress.authorities）。",
)
EGRESS_UNINSPECTED = Sentence(
    en="{host} may only be reached with inspection (egress.inspect), and this host has no certificate authority for "
    "it. Ask the owner to look into the worker's log.",
    zh="{host} 只能在检查下访问（egress.inspect），而本主机没有相应的证书颁发机构。请让所有者查看工作进程的日志。",
)
EGRESS_MISDIRECTED = Sentence(
    en="This connection was opened for {host}:{port}; open another one for another host.",
    zh="此连接是为 {host}:{port} 打开的；访问其他主机请另开连接。",
)
EGRESS_BAD_REQUEST = Sentence(
    en="This proxy takes CONNECT host:port and requests for http:// addresses; it could not read this one.",
    zh="此代理只接受 CONNECT host:port 和 http:// 地址的请求；无法读懂该请求。",
)
EGRESS_BUSY = Sentence(
    en="This sandbox has too many connections open ({count}). Close some first.",
    zh="此沙箱打开的连接过多（{count}）。请先关闭一些。",
)
