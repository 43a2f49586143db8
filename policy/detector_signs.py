"""The phrases by which texts try to give orders to whoever reads them, in lower case: pieces that stand near one
another, and how much each phrase says. Adding a sign is adding a row."""

Sign = tuple[float, tuple[str, ...]]
"""A weight between 0 and 1, and the pieces in their order."""

ENGLISH: tuple[Sign, ...] = (
    (
        0.7,
        (
            "ignore|disregard|forget|override|bypass",
            "previous|prior|above|earlier|preceding|all|any|your|system|other",
            "instructions?|prompts?|rules?|guidelines?|directions?|messages?|context",
        ),
    ),
    (
        0.6,
        (
            "new|real|actual|updated|additional|important",
            r"instructions?\s*(?::|for (?:the )?(?:ai|assistant|agent|model))",
        ),
    ),
    (0.6, ("you are (?:now|no longer)",)),
    (0.5, ("from now on", "you (?:are|will|must|act|answer|obey)")),
    (
        0.6,
        (
            "note|message|attention|notice|hello|hi|dear|hey|instructions?|info(?:rmation)?|important",
            "to|for|,|:",
            "ai|llm|language models?|chatbot|(?:ai|virtual|digital) (?:assistant|agent)s?|assistants? reading",
        ),
    ),
    (
        0.5,
        (
            "(?:do not|don't|don’t|never|without) (?:tell|mention|notify|inform|alert|ask)(?:ing)?",
            "user|person|owner|human|anyone|them|him|her",
        ),
    ),
    (0.5, ("(?:system|developer|admin(?:istrator)?|security) (?:override|prompt|mode|message)",)),
    (
        0.5,
        (
            "(?:before|in order to|to) (?:you )?(?:continue|complete|finish|solve|proceed|do|view|read)",
            "you (?:must|have to|need to|should)",
            "first|send|transfer|run|execute|visit|open|delete|e-?mail",
        ),
    ),
    (
        0.4,
        (
            "the user|your (?:user|owner|principal|human)|my owner",
            "(?:wants|asked|has (?:approved|authori[sz]ed|agreed)|already (?:approved|agreed)|consents?|permits?)",
        ),
    ),
    (
        0.5,
        (
            "send|forward|post|upload|e-?mail|leak|exfiltrate|transfer",
            "passwords?|secrets?|api[ _-]?keys?|tokens?|credentials?|cookies?|(?:private|ssh) keys?|"
            "(?:chat|conversation) history|system prompt",
            "to|at|via",
        ),
    ),
    (
        0.3,
        (
            "immediately|urgent(?:ly)?|at once|right now|asap|critical(?:ly)?",
            "run|execute|send|transfer|pay|click|download|install|delete|wire",
        ),
    ),
    (
        0.4,
        (
            "this is|i am|we are|message from",
            "your (?:administrator|developer|creator|owner|boss)|"
            "the (?:system|administrator|developers?|security team|it department)",
        ),
    ),
    (0.4, (r"(?:curl|wget) [^\n|]{0,200}\|\s*(?:sudo )?(?:ba|z|da)?sh",)),
)

CHINESE: tuple[Sign, ...] = (
    (0.7, ("忽略|无视|忘记|忘掉|不要理会|不用管|跳过", "指令|指示|提示|规则|要求|命令|设定|对话")),
    (0.6, ("新|真正|最新|重要|附加", r"(?:指令|指示|任务)\s*[：:]")),
    (0.5, ("从现在起|从现在开始|现在起", "你是|你将|你要|你必须|你只")),
    (
        0.6,
        (
            "致|给|告诉|请|注意|阅读",
            "(?:ai|人工智能|智能|大模型|语言模型)(?:助手|助理|代理|模型)?",
            "[：:，,]|必须|应该|需要|立即",
        ),
    ),
    (0.5, ("(?:不要|别|无需|不用|请勿|切勿)(?:告诉|通知|提醒|询问|告知|惊动)", "用户|主人|他|她|任何人|对方|本人")),
    (0.5, (r"(?:系统|管理员|开发者)(?:提示词?|消息|模式|指令|命令)\s*[：:]",)),
    (0.4, ("(?:用户|主人)(?:本人)?(?:已经?)?(?:同意|授权|批准|允许)",)),
    (0.5, ("发送|转发|上传|提交|泄露|发给|发到", "密码|密钥|令牌|凭证|口令|验证码|私钥|聊天记录|系统提示")),
    (0.5, ("把|将", "密码|密钥|令牌|凭证|口令|验证码|私钥|聊天记录", "发送|转发|上传|提交|发给|发到")),
    (0.3, ("立即|立刻|马上|紧急|务必", "执行|运行|发送|转账|付款|汇款|点击|下载|安装|删除")),
    (0.4, ("我是|这里是|来自", "系统管理员|管理员|开发者|安全团队|官方客服|你的主人", "请|必须|立即|命令|要求")),
)
