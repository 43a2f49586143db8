"""Why a call did not run that would have gone through a link of its sandbox."""

from contracts.texts.sentence import Sentence

LINK_CHANGED = Sentence(
    en="{link} leads to {target}, and the policy says of that: {rules}. Nothing was done. If it is meant, name "
    "{target} itself.",
    zh="{link} 指向 {target}，而策略对其的规定是：{rules}。没有执行任何操作。如确有此意，请直接写 {target}。",
)
LINKS_UNCLEAR = Sentence(
    en="It cannot be told where the paths of this call lead: {why}. Nothing was done. Name fewer paths, or a folder "
    "below.",
    zh="无法确定此调用中的路径指向何处：{why}。没有执行任何操作。请减少路径，或改用下级文件夹。",
)
