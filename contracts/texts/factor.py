"""What the second factor says: enrolling it, asking for its code, and refusing one."""

from contracts.texts.sentence import Sentence

NOT_ENROLLED = Sentence(
    en="No second factor is set up. The owner sets one up in the terminal: `asos factor add`.",
    zh="尚未设置第二因素。请由所有者在终端运行 `asos factor add` 进行设置。",
)
WRONG = Sentence(
    en="This code is wrong. Read the present one from your authenticator app, and check the clock of your phone.",
    zh="验证码错误。请从验证器应用读取当前验证码，并检查手机时间是否准确。",
)
USED = Sentence(
    en="This code was used before. Wait for the next one, at most 30 seconds.",
    zh="该验证码已经使用过。请等待下一个验证码，最多 30 秒。",
)
LOCKED = Sentence(
    en="Too many wrong codes. The next one is looked at after {until} UTC.",
    zh="错误次数过多。{until} UTC 之后才会再次检查验证码。",
)
UNREADABLE = Sentence(
    en="The second factor cannot be read ({reason}). Restore {path} from your backup, with the keyring beside it.",
    zh="无法读取第二因素（{reason}）。请从备份恢复 {path} 以及同处的密钥环。",
)
NOT_RECORDED = Sentence(
    en="This cannot be written into the audit log ({reason}), so it does not count.",
    zh="无法写入审计日志（{reason}），因此无效。",
)
NEEDS_OLD = Sentence(
    en="A second factor is set up already; replacing or removing it needs a code of it.",
    zh="已经设置了第二因素；更换或移除它需要它的一个验证码。",
)
ASK_OLD = Sentence(en="Code of the present factor", zh="当前第二因素的验证码")
ASK_NEW = Sentence(en="Code that the app shows now", zh="应用当前显示的验证码")
SCAN = Sentence(
    en="Scan this with an authenticator app, or type the secret into it. It is shown this one time.",
    zh="请用验证器应用扫描，或手动输入密钥。密钥只显示这一次。",
)
SECRET = Sentence(en="Secret: {secret}", zh="密钥：{secret}")
ADDED = Sentence(en="The second factor is set up.", zh="第二因素已设置。")
REMOVED = Sentence(
    en="The second factor is removed. What needs one cannot be approved until there is a new one.",
    zh="第二因素已移除。在重新设置之前，需要它的操作无法批准。",
)
ENROLLED_SINCE = Sentence(en="A second factor is set up since {at} UTC.", zh="第二因素已于 {at} UTC 设置。")
LOCKED_UNTIL = Sentence(
    en="It is locked until {until} UTC after {wrong} wrong codes.", zh="因 {wrong} 次错误，已锁定至 {until} UTC。"
)
