"""What the address book says to people."""

from contracts.texts.sentence import Sentence

LIST_SUMMARY = Sentence(en="Look into the address book", zh="查看通讯录")
ADD_SUMMARY = Sentence(en="Add to the address book: {name}, {address}", zh="加入通讯录：{name}，{address}")
REMOVE_SUMMARY = Sentence(en="Remove from the address book: {name}", zh="从通讯录删除：{name}")

EMPTY = Sentence(en="The address book is empty.", zh="通讯录是空的。")
LISTED = Sentence(en="{count} contacts", zh="{count} 个联系人")
ADDED = Sentence(en="In the address book: {name}, {address}", zh="已在通讯录中：{name}，{address}")
REMOVED = Sentence(
    en="Removed {count} entries for {name}; approvals of that destination are forgotten, too.",
    zh="已删除 {name} 的 {count} 个条目；对该目的地的批准也一并清除。",
)
NOT_FOUND = Sentence(en="There is no entry {name} in the address book.", zh="通讯录里没有 {name}。")
NOT_THEIR_WORDS = Sentence(
    en="The address book takes only what the person said. They can add it themselves: /contacts add {name} {address}",
    zh="通讯录只接受本人说过的内容。本人可以自己添加：/contacts add {name} {address}",
)
