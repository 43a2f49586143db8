"""What people say when they want something done: words and the effects that they ask for, English and Chinese."""

from contracts.provenance import Effect

PLAIN_VERBS: dict[str, tuple[Effect, ...]] = {
    "send": ("send",),
    "resend": ("send",),
    "forward": ("send",),
    "publish": ("send",),
    "notify": ("send",),
    "respond": ("send",),
    "submit": ("send",),
    "tweet": ("send",),
    "invite": ("share",),
    "pay": ("money",),
    "refund": ("money",),
    "reimburse": ("money",),
    "buy": ("money",),
    "purchase": ("money",),
    "donate": ("money",),
    "delete": ("delete",),
    "remove": ("delete",),
    "erase": ("delete",),
    "discard": ("delete",),
    "unsubscribe": ("delete", "account"),
    "create": ("write",),
    "add": ("write",),
    "append": ("write",),
    "insert": ("write",),
    "rename": ("write",),
    "edit": ("write",),
    "modify": ("write",),
    "reschedule": ("write",),
    "remind": ("write",),
    "save": ("write",),
    "write": ("write",),
    "install": ("execute",),
    "execute": ("execute",),
    "download": ("egress",),
    "browse": ("egress",),
    "visit": ("egress",),
}
"""Verbs that are seldom anything else; they count wherever they stand in their plain form."""

LED_VERBS: dict[str, tuple[Effect, ...]] = {
    "email": ("send",),
    "mail": ("send",),
    "message": ("send",),
    "post": ("send",),
    "reply": ("send",),
    "answer": ("send",),
    "text": ("send",),
    "dm": ("send",),
    "tell": ("send",),
    "share": ("share",),
    "grant": ("share",),
    "transfer": ("money",),
    "wire": ("money",),
    "order": ("money",),
    "subscribe": ("money", "account"),
    "reserve": ("send", "money"),
    "book": ("send", "money"),
    "make": ("write",),
    "update": ("write",),
    "adjust": ("write",),
    "change": ("write",),
    "set": ("write",),
    "schedule": ("write",),
    "arrange": ("write",),
    "plan": ("write",),
    "move": ("write",),
    "put": ("write",),
    "note": ("write",),
    "cancel": ("delete",),
    "clear": ("delete",),
    "drop": ("delete",),
    "run": ("execute",),
    "start": ("execute",),
    "build": ("execute",),
    "test": ("execute",),
    "open": ("egress",),
    "fetch": ("egress",),
    "register": ("account",),
}
"""Verbs that are as often nouns, as in `an email that I received`; they count where an order begins."""

TURNED: tuple[tuple[str, str, tuple[Effect, ...]], ...] = (
    (
        r"send|give|return|adjust|update|change|set|schedule|cancel|make|settle|move",
        r"\b(?:money|amount|difference|payments?|rent|bills?|transactions?|transfers?|standing orders?|fee|invoices?"
        r"|subscriptions?|donations?|deposit|balance|[$€£¥]\s?\d|\d+\s?(?:[$€£¥]|usd|eur|gbp|dollars?|euros?|pounds?))",
        ("money",),
    ),
    (
        r"update|change|set|reset|edit|modify|adjust|close|open|create|register",
        r"\b(?:accounts?|profile|password|passcode|settings"
        r"|personal (?:information|details|data)|my (?:new )?address)\b",
        ("account",),
    ),
    (
        r"update|change|set|reset|send|share|tell|give",
        r"\b(?:password|passcode|pin|api key|token|secret)s?\b",
        ("credential",),
    ),
    (
        r"add",
        r"\b(?:participants?|attendees?|members?|guests?|channels?|groups?|teams?|meeting|chat|workspace)\b",
        ("share",),
    ),
    (
        r"create|schedule|set|arrange|plan|make|add|organi[sz]e|book",
        r"\b(?:event|meeting|appointment|call|lunch|dinner|invitation)\b[^.!?]*?\b(?:with|for both|inviting)\b",
        ("share",),
    ),
    (
        r"write|leave|drop",
        r"^\W*(?:to\b|back\b|them\b|him\b|her\b|each\b|every|everyone\b|everybody\b)"
        r"|\b(?:messages?|e-?mails?|letters?|notes? to|comments?|repl(?:y|ies))\b",
        ("send",),
    ),
    (r"make|place", r"\b(?:reservations?|bookings?|orders?|purchases?)\b", ("send", "money")),
    (r"give|grant|allow", r"\b(?:access|permissions?|rights)\b", ("share",)),
    (r"sign|log", r"^\W*(?:up|in|me up|me in)\b", ("account",)),
)
"""Verbs that another word of their clause turns to something else: the verb, what follows, the effects."""

TURNED_LATER: tuple[tuple[str, str, tuple[Effect, ...]], ...] = (
    (
        r"create|schedule|set|arrange|plan|make|add|organi[sz]e|book|put|move",
        r"\b(?:participants?|attendees?|guests?|invitees?)\b",
        ("share",),
    ),
)
"""As above, but what turns them may stand in one of the next sentences: `It should have the same participants`."""

CHINESE: tuple[tuple[str, tuple[Effect, ...]], ...] = (
    (
        r"发送|发给|发邮件|发消息|发信|寄给|回复|回信|转发|转告|通知|告诉(?!我)|发布|张贴|提交|发到|写信|写邮件",
        ("send",),
    ),
    (r"发一?[封条个份]", ("send",)),
    (r"邀请|分享|共享|授权|加入|拉进|添加.{0,12}(?:参与者|成员|群|频道|会议)", ("share",)),
    (r"(?:创建|安排|新建|预约|约).{0,24}(?:和|与|跟).{0,24}(?:会议|活动|日程|见面|吃饭)?", ("share",)),
    (r"付款|支付|转账|汇款|退款|还钱|打款|购买|买下|下单|订购|捐款|缴费|交房租|付[给清]", ("money",)),
    (r"预订|预定|订[房票餐位]|订一", ("send", "money")),
    (r"删除|删掉|移除|清空|取消|撤销|抹掉", ("delete",)),
    (r"创建|新建|添加|写[入进到成下]|保存|修改|更新|编辑|安排|改[到成期]|重命名|记[下录]|提醒|追加|生成", ("write",)),
    (r"运行|执行|安装|启动|编译", ("execute",)),
    (r"访问|打开|下载|抓取|浏览", ("egress",)),
    (
        r"(?:修改|更新|更改|重置|设置|注册|注销|登录).{0,8}(?:账户|账号|帐户|帐号|密码|资料|个人信息)|注册|登录",
        ("account",),
    ),
    (r"(?:修改|更改|更新|重置|设置|发送|告诉).{0,8}(?:密码|口令|密钥|令牌|验证码)", ("credential",)),
)

DELEGATING = (
    r"\b(?:follow|do|perform|complete|carry out|execute|handle|work through|process)\b[^.!?\n]{0,40}?"
    r"\b(?:instructions?|steps|actions?|tasks?|to-?dos?|to-?do list|requests?|what (?:it|he|she|they) says?)\b"
    r"(?! (?:in the order|below|:))"
    r"|\b(?:as|like) (?:it|he|she|they) (?:says?|asks?|wants?)\b"
    r"|(?:按|按照|根据|照着?|依照).{0,24}(?:做|办|执行|操作|处理|完成)|(?:完成|执行|处理).{0,24}(?:待办|任务|指示|清单)"
)
"""The person hands the choice of what to do to a text that somebody else may have written."""
