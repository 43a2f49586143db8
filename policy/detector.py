"""How much a foreign text looks like one that wants to give orders. It adds to a risk and decides nothing.

Rules alone, in English and Chinese. A text that says nothing of the kind can still be hostile, and one that only speaks
of such attacks scores as they do: that is why nothing hangs on it.
"""

import base64
import binascii
import re
from collections.abc import Iterator

READ_CHARACTERS = 262_144
"""Of a longer text the beginning and the end are read."""

_FLAGS = re.IGNORECASE | re.DOTALL

_ORDERS: tuple[tuple[float, re.Pattern[str]], ...] = tuple(
    (weight, re.compile(pattern, _FLAGS))
    for weight, pattern in (
        (
            0.7,
            r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}?\b(?:previous|prior|above|earlier|preceding|all|"
            r"any|your|system|other)\b[^.\n]{0,30}?\b(?:instructions?|prompts?|rules?|guidelines?|directions?|messages?|"
            r"tasks?|context)\b",
        ),
        (
            0.7,
            r"(?:忽略|无视|忘记|忘掉|不要理会|不用管|跳过)[^。\n]{0,12}?(?:指令|指示|提示|规则|要求|命令|说明|设定|对话)",
        ),
        (
            0.6,
            r"\b(?:new|real|actual|updated|additional|important)\s+(?:system\s+)?instructions?\s*(?:[:：]|for (?:the )?"
            r"(?:ai|assistant|agent|model)|from)",
        ),
        (0.6, r"(?:新的?|真正的?|最新的?|重要的?|附加的?)(?:系统)?(?:指令|指示|任务)\s*[：:]"),
        (0.6, r"\byou are (?:now|no longer)\b[^.\n]{0,60}"),
        (0.5, r"(?:从现在起|从现在开始|现在起)[^。\n]{0,10}?(?:你是|你将|你要|你必须)"),
        (
            0.6,
            r"\b(?:note|message|attention|notice|hello|hi|dear|hey|instructions?|info(?:rmation)?)\b[^.\n]{0,20}?\b(?:to|for)?"
            r"\s*(?:the |any |all )?(?:ai|a\.i\.|llm|language model|chatbot|(?:ai|virtual|digital) (?:assistant|agent)s?)\b",
        ),
        (
            0.6,
            r"(?:致|给|告诉|请|注意)[^。\n]{0,6}?(?:AI|人工智能|智能|大模型|语言模型)(?:助手|助理|代理|模型)?"
            r"[^。\n]{0,10}?(?:[：:，,]|必须|应该|需要|立即)",
        ),
        (
            0.5,
            r"\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention|mentioning|notify|notifying|"
            r"alert|alerting|ask|asking)\b[^.\n]{0,20}?\b(?:the )?(?:user|person|owner|human|anyone|them|him|her)\b",
        ),
        (
            0.5,
            r"(?:不要|别|无需|不用|请勿|切勿)(?:告诉|通知|提醒|询问|告知|惊动)[^。\n]{0,4}?(?:用户|主人|他|她|任何人|对方|本人)",
        ),
        (0.5, r"\b(?:system|developer|admin(?:istrator)?|security)\s+(?:override|prompt|mode|message)\b"),
        (0.5, r"(?:系统|管理员|开发者)(?:提示词?|消息|模式|指令|命令)\s*[：:]"),
        (
            0.5,
            r"\b(?:before|in order to|to) (?:you )?(?:continue|complete|finish|solve|proceed|do)\b[^.\n]{0,40}?"
            r"\byou (?:must|have to|need to|should)\b[^.\n]{0,40}?\b(?:first|send|transfer|run|execute|visit|open|delete|email)\b",
        ),
        (
            0.4,
            r"\b(?:the user|your (?:user|owner|principal|human)|my owner)\b[^.\n]{0,30}?\b(?:wants|asked|has (?:approved|authori[sz]ed|"
            r"agreed)|already (?:approved|agreed)|consents?|permits?)\b",
        ),
        (0.4, r"(?:用户|主人)(?:已经?)?(?:同意|授权|批准|允许|要求)(?:了|过)?"),
        (
            0.4,
            r"\b(?:send|forward|post|upload|e-?mail|leak|exfiltrate|transfer)\b[^.\n]{0,60}?\b(?:passwords?|secrets?|api[ _-]?keys?|"
            r"tokens?|credentials?|cookies?|private keys?|ssh keys?|\.env|(?:chat|conversation) history|system prompt)\b",
        ),
        (
            0.4,
            r"(?:发送|转发|上传|提交|泄露|发给|发到)[^。\n]{0,30}?(?:密码|密钥|令牌|凭证|口令|验证码|私钥|聊天记录|系统提示)",
        ),
        (
            0.3,
            r"\b(?:immediately|urgent(?:ly)?|at once|right now|asap|critical(?:ly)?)\b[^.\n]{0,60}?\b(?:run|execute|send|transfer|"
            r"pay|click|download|install|delete|wire)\b",
        ),
        (0.3, r"(?:立即|立刻|马上|紧急|务必)[^。\n]{0,16}?(?:执行|运行|发送|转账|付款|汇款|点击|下载|安装|删除)"),
        (
            0.3,
            r"\b(?:this is|i am|we are|message from)\b[^.\n]{0,20}?\b(?:your (?:administrator|developer|creator|owner|boss)|openai|"
            r"anthropic|the (?:system|administrator|developers?|security team|it department))\b",
        ),
        (
            0.4,
            r"(?:我是|这里是|来自)[^。\n]{0,6}?(?:系统管理员|管理员|开发者|安全团队|官方客服|你的主人)[^。\n]{0,20}?(?:请|必须|立即|命令|要求)",
        ),
        (0.4, r"\b(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b"),
    )
)

_ROLES = re.compile(
    r"<\|?(?:im_start|im_end|system|assistant|user|endoftext|eot_id|start_header_id)\|?>|\[/?(?:INST|SYS(?:TEM)?)\]|<</?SYS>>"
    r"|^\s{0,4}(?:#{1,4}\s*)?(?:system|assistant|developer|tool)\s*[:：]\s*\S|</?(?:data|tool_result|function_results|information)\b[^>]{0,40}>",
    re.IGNORECASE | re.MULTILINE,
)

_HIDDEN = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?![.\d]))[^<]{0,200}>[^<]{20,}"
    r"|<!--[^>]{0,400}\b(?:assistant|agent|instructions?|AI)\b[^>]{0,400}-->|<!--[^>]{0,200}(?:助手|指令|智能)[^>]{0,200}-->",
    _FLAGS,
)
_INVISIBLE = re.compile("[\u200b\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufeff]")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
"""Letters that nobody sees and a model may read."""

_ENCODED = re.compile(r"(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40,4096}={0,2}(?![A-Za-z0-9+/=])")
_WORDS = re.compile(r"[ -~\u4e00-\u9fff\s]+")

_ROLE_WEIGHT = 0.5
_HIDDEN_WEIGHT = 0.5
_INVISIBLE_WEIGHT = 0.4
_FEW_INVISIBLE = 8
"""Joiners and direction marks are ordinary in small numbers."""


def suspicion(text: str) -> float:
    """From 0 (nothing strange) to 1; every further sign counts for what is left."""
    text = text if len(text) <= READ_CHARACTERS else text[: READ_CHARACTERS // 2] + text[-READ_CHARACTERS // 2 :]
    innocent = 1.0
    for weight in _signs(text):
        innocent *= 1.0 - weight
    return round(1.0 - innocent, 3)


def _signs(text: str) -> Iterator[float]:
    seen = _INVISIBLE.sub("", text)
    yield from _orders(seen)
    if _ROLES.search(seen):
        yield _ROLE_WEIGHT
    if _HIDDEN.search(seen):
        yield _HIDDEN_WEIGHT
    if len(text) - len(seen) > _FEW_INVISIBLE or _splits_words(text):
        yield _INVISIBLE_WEIGHT
    for hidden in (*_decoded(text), *_untagged(text)):
        if any(True for _ in _orders(hidden)):
            yield _HIDDEN_WEIGHT
            yield from _orders(hidden)


def _orders(text: str) -> Iterator[float]:
    return (weight for weight, pattern in _ORDERS if pattern.search(text))


def _splits_words(text: str) -> bool:
    """Characters without width in the middle of Latin words serve only to hide them from a search."""
    return len(re.findall("[A-Za-z][\u200b\u2060\ufeff]+[A-Za-z]", text)) > 2


def _decoded(text: str) -> Iterator[str]:
    for found in _ENCODED.findall(text)[:50]:
        try:
            plain = base64.b64decode(found + "=" * (-len(found) % 4), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if _WORDS.fullmatch(plain):
            yield plain


def _untagged(text: str) -> Iterator[str]:
    for found in _TAGS.findall(text):
        yield "".join(chr(ord(letter) - 0xE0000) for letter in found)
