"""Why policy asks or denies: one sentence for every rule id; `detail` is the value that matters."""

from contracts.texts.sentence import Sentence

REASONS: dict[str, Sentence] = {
    "action.none": Sentence(
        en="The tool {detail} does not say what it would do, so it may do nothing.",
        zh="工具 {detail} 没有说明它要做什么，因此不允许执行。",
    ),
    "role.unknown": Sentence(en="The policy knows no role {detail}.", zh="策略中没有角色 {detail}。"),
    "role.no_browser": Sentence(
        en="The role {detail} may not visit any address.", zh="角色 {detail} 不允许访问任何网址。"
    ),
    "role.no_cli": Sentence(
        en="The role {detail} may not run commands or touch files.", zh="角色 {detail} 不允许运行命令或接触文件。"
    ),
    "provenance.untrusted": Sentence(
        en="What it would do was not said by you, but came from {detail}.", zh="这个操作不是您说的，而是来自 {detail}。"
    ),
    "provenance.amount": Sentence(
        en="You did not name this amount; somebody else may have: {detail}.",
        zh="这个金额不是您说的，可能出自他人：{detail}。",
    ),
    "provenance.command": Sentence(
        en="Somebody else may have written what would run: {detail}.", zh="要运行的内容可能出自他人：{detail}。"
    ),
    "provenance.credential": Sentence(
        en="A password or key that somebody else wrote is never set: {detail}.",
        zh="绝不使用他人写下的密码或密钥：{detail}。",
    ),
    "provenance.destination": Sentence(
        en="You did not name this address; somebody else did: {detail}.",
        zh="这个网址不是您说的，而是出自他人：{detail}。",
    ),
    "provenance.link": Sentence(
        en="The text for others holds an address that a stranger put there: {detail}.",
        zh="发给他人的内容中含有外人写入的地址：{detail}。",
    ),
    "provenance.listed": Sentence(
        en="You did not choose this one of your list: {detail}.", zh="列表中的这一项不是您选定的：{detail}。"
    ),
    "provenance.not_asked_for": Sentence(
        en="You asked for nothing of this kind ({detail}), and what it would do may come from somebody else.",
        zh="您没有要求过这类操作（{detail}），其内容可能出自他人。",
    ),
    "provenance.other_recipient": Sentence(
        en="You named who it is for, and this is somebody else: {detail}.",
        zh="您已指明对象，而这是另一个对象：{detail}。",
    ),
    "provenance.recipient": Sentence(
        en="You did not name this recipient; somebody else did: {detail}.",
        zh="这个收件方不是您说的，而是出自他人：{detail}。",
    ),
    "provenance.secret": Sentence(
        en="It would give to others what may hold your secrets: {detail}.", zh="它可能会把您的机密交给他人：{detail}。"
    ),
    "provenance.stranger": Sentence(
        en="Money goes to nobody whom only a stranger's text names: {detail}. Name the account if you mean it.",
        zh="不会向仅在外人文字中出现的账户付款：{detail}。如确有需要，请亲自写出该账户。",
    ),
    "provenance.thing": Sentence(
        en="Somebody else may have chosen what this is done to: {detail}.", zh="操作的对象可能由他人选定：{detail}。"
    ),
    "provenance.unanchored": Sentence(
        en="Nothing in it is what you said: {detail}.", zh="其中没有任何内容是您说的：{detail}。"
    ),
    "provenance.unlabelled": Sentence(
        en="Nobody has said what kind of tool {detail} is, so it may do nothing.",
        zh="没有人说明过工具 {detail} 属于哪一类，因此不允许执行。",
    ),
    "provenance.words": Sentence(
        en="The words that others would get may come from a stranger: {detail}.",
        zh="将发给他人的文字可能出自外人：{detail}。",
    ),
    "approval.external_communication": Sentence(
        en="It speaks with somebody outside: {detail}.", zh="它会与外部联系：{detail}。"
    ),
    "approval.credential_access": Sentence(
        en="It may show a password, key or other secret: {detail}.", zh="它可能会暴露密码、密钥或其他机密：{detail}。"
    ),
    "approval.data_deletion": Sentence(
        en="It deletes data that cannot be brought back: {detail}.", zh="它会删除无法恢复的数据：{detail}。"
    ),
    "command.blocked": Sentence(
        en="Your policy blocks commands like this: {detail}.", zh="您的策略禁止这类命令：{detail}。"
    ),
    "command.arithmetic_code": Sentence(
        en="A value that is not known would be computed, and could run a command: {detail}.",
        zh="未知的值会参与计算，其中可能藏有命令：{detail}。",
    ),
    "command.too_complex": Sentence(
        en="The command is too long or too deeply nested to be followed: {detail}.",
        zh="命令过长或嵌套过深，无法分析：{detail}。",
    ),
    "command.control_character": Sentence(
        en="The command holds a control character, which can hide what it does: {detail}.",
        zh="命令中含有控制字符，可能隐藏真实操作：{detail}。",
    ),
    "command.line_continuation": Sentence(
        en="The command is continued over lines, which can hide a word.", zh="命令跨行续写，可能隐藏其中的词。"
    ),
    "command.environment": Sentence(
        en="It sets a variable that other programs obey: {detail}.", zh="它设置了会影响其他程序的变量：{detail}。"
    ),
    "command.fetched_code": Sentence(
        en="It would run what it gets from the network, unseen: {detail}.",
        zh="它会直接运行从网络取得的内容：{detail}。",
    ),
    "command.fills_disk": Sentence(en="It could fill the disk: {detail}.", zh="它可能会占满磁盘：{detail}。"),
    "command.flag": Sentence(
        en="It uses an option that can run or change something else: {detail}.",
        zh="它使用了可能运行或更改其他内容的选项：{detail}。",
    ),
    "command.fork_bomb": Sentence(
        en="The function {detail} starts itself again and again.", zh="函数 {detail} 会不断地启动自己。"
    ),
    "command.grammar": Sentence(
        en="A part of the command cannot be read for certain: {detail}", zh="命令中有一部分无法确切解析：{detail}"
    ),
    "command.installs": Sentence(
        en="It installs or downloads code, which may run at once: {detail}.",
        zh="它会安装或下载可能立即运行的代码：{detail}。",
    ),
    "command.invisible_character": Sentence(
        en="The command holds a character that cannot be seen or looks like another one: {detail}.",
        zh="命令中含有看不见或易混淆的字符：{detail}。",
    ),
    "command.kill": Sentence(en="It ends processes: {detail}.", zh="它会结束进程：{detail}。"),
    "command.network": Sentence(
        en="It reaches the network in a way that is not followed: {detail}.",
        zh="它以无法跟踪的方式访问网络：{detail}。",
    ),
    "command.opaque_code": Sentence(
        en="It runs code that policy cannot look into: {detail}.", zh="它会运行策略无法检查的代码：{detail}。"
    ),
    "command.persistence": Sentence(
        en="It changes what happens later or elsewhere: {detail}.", zh="它会改变以后或别处的行为：{detail}。"
    ),
    "command.privilege": Sentence(
        en="It gains rights or leaves the sandbox: {detail}.", zh="它会提升权限或脱离沙箱：{detail}。"
    ),
    "command.runs_what_it_wrote": Sentence(
        en="It runs what the same command has just written: {detail}.", zh="它会运行同一命令刚刚写入的内容：{detail}。"
    ),
    "command.sends_data": Sentence(en="It sends data out: {detail}.", zh="它会向外发送数据：{detail}。"),
    "command.socket": Sentence(
        en="It opens a network connection past the proxy: {detail}.", zh="它会绕过代理打开网络连接：{detail}。"
    ),
    "command.shell_state": Sentence(
        en="It changes how the shell reads everything after it: {detail}.",
        zh="它会改变 shell 对后续内容的解读：{detail}。",
    ),
    "command.unknown_program": Sentence(en="The program {detail} is not known.", zh="未知的程序 {detail}。"),
    "command.unresolved": Sentence(
        en="It cannot be said beforehand what this stands for: {detail}", zh="事先无法确定它代表什么：{detail}"
    ),
    "file.blocked": Sentence(en="Your policy blocks this path: {detail}.", zh="您的策略禁止此路径：{detail}。"),
    "file.runs_later": Sentence(
        en="The file is run by other programs without anybody calling it: {detail}.",
        zh="该文件会被其他程序自动运行：{detail}。",
    ),
    "file.destroys": Sentence(en="It destroys the system or a home: {detail}.", zh="它会破坏系统或主目录：{detail}。"),
    "file.protected": Sentence(en="It changes a part of the system: {detail}.", zh="它会更改系统部分：{detail}。"),
    "file.read_outside": Sentence(
        en="It reads outside of the folders that your policy names: {detail}.",
        zh="它读取策略所列文件夹之外的内容：{detail}。",
    ),
    "file.bad_path": Sentence(en="The path cannot be used as it stands: {detail}", zh="路径无法直接使用：{detail}"),
    "file.secret": Sentence(en="It reaches for secrets: {detail}.", zh="它会接触机密：{detail}。"),
    "file.startup": Sentence(
        en="It changes a file that is run at the next start: {detail}.", zh="它会更改下次启动时运行的文件：{detail}。"
    ),
    "file.write_outside": Sentence(
        en="It writes outside of the folders that your policy names: {detail}.",
        zh="它写入策略所列文件夹之外的位置：{detail}。",
    ),
    "send.others": Sentence(en="It sends something to {detail}.", zh="它会向 {detail} 发送内容。"),
    "url.ip_literal": Sentence(
        en="The address is a bare number instead of a name: {detail}.", zh="网址是数字地址而不是域名：{detail}。"
    ),
    "url.approved": Sentence(en="You opened {detail} for this task.", zh="您已为此任务开放 {detail}。"),
    "url.backslash": Sentence(
        en="The address holds a backslash, which programs read differently: {detail}",
        zh="网址中含有反斜杠，各程序解读不同：{detail}",
    ),
    "url.blocked": Sentence(en="Your policy blocks this address: {detail}.", zh="您的策略禁止此网址：{detail}。"),
    "url.control_character": Sentence(
        en="The address holds a blank or control character: {detail}", zh="网址中含有空白或控制字符：{detail}"
    ),
    "url.invalid": Sentence(
        en="This is no address that a browser could visit: {detail}", zh="这不是浏览器可访问的网址：{detail}"
    ),
    "url.listed": Sentence(en="Your policy lists {detail}.", zh="您的策略已列出 {detail}。"),
    "url.local_name": Sentence(
        en="The name belongs to this machine or its own network: {detail}.", zh="该名称属于本机或内部网络：{detail}。"
    ),
    "url.not_encrypted": Sentence(en="The connection would not be encrypted: {detail}.", zh="连接不会加密：{detail}。"),
    "url.port": Sentence(en="The port is not listed: {detail}.", zh="端口未列出：{detail}。"),
    "url.private_address": Sentence(
        en="The address leads into a private network: {detail}.", zh="该地址通向私有网络：{detail}。"
    ),
    "url.too_many_redirects": Sentence(en="The address redirects {detail} times.", zh="网址重定向了 {detail} 次。"),
    "url.scheme": Sentence(en="Addresses of the kind {detail}: are not visited.", zh="不访问 {detail}: 类型的网址。"),
    "url.spoken": Sentence(en="You named {detail} yourself.", zh="您亲自提到了 {detail}。"),
    "url.unlisted": Sentence(
        en="Neither your policy nor you have named {detail}.", zh="您和您的策略都没有提到 {detail}。"
    ),
    "url.user_info": Sentence(
        en="The address holds a user name or password before {detail}.", zh="网址在 {detail} 之前含有用户名或密码。"
    ),
    "url.write": Sentence(en="It submits something to {detail}.", zh="它会向 {detail} 提交内容。"),
}
