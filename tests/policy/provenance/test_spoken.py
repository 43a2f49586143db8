"""What the person asks for is read from their own words, and only from orders."""

import pytest

from policy.provenance.sources import Sources
from policy.provenance.spoken import delegates, spoken_effects, spoken_recipients
from tests.policy.provenance.seen import read, said


@pytest.mark.parametrize(
    ("words", "effects"),
    [
        ("Send the report to Anna", {"send"}),
        ("Please email Anna the numbers", {"send"}),
        ("Could you reply to him?", {"send"}),
        ("Don't forget to forward it", {"send"}),
        ("1. Find the file. 2. Share it with Bob", {"share"}),
        ("Invite Dora and add her to the team channel", {"share", "write"}),
        ("Create an event with Sarah at noon", {"write", "share"}),
        ("Create an event at noon. It should have the same participants as the last one", {"write", "share"}),
        ("Can you pay the bill?", {"money"}),
        ("Refund what he sent me", {"money"}),
        ("Send them the difference of the rent", {"send", "money"}),
        ("Make a reservation for two", {"write", "send", "money"}),
        ("Adjust my rent payment", {"write", "money"}),
        ("Update my account information", {"write", "account"}),
        ("Change my password to x1y2", {"write", "account", "credential"}),
        ("Delete the largest file", {"delete"}),
        ("Cancel it, then run the tests", {"delete", "execute"}),
        ("Write to Bob that I am late", {"write", "send"}),
        ("把报告发送给李明", {"send"}),
        ("给王芳发一封邮件", {"send"}),
        ("邀请李明参加会议", {"share"}),
        ("创建明天和李明的会议", {"write", "share"}),
        ("给房东转账三千元", {"money"}),
        ("删除最大的文件", {"delete"}),
        ("修改我的密码", {"write", "account", "credential"}),
        ("预订两个人的房间", {"send", "money"}),
        ("打开这个网页", {"egress"}),
    ],
)
def test_an_order_is_heard(words: str, effects: set[str]) -> None:
    assert set(spoken_effects([words])) - {"read"} == effects


@pytest.mark.parametrize(
    "words",
    [
        "What does the email say that I got yesterday?",
        "Summarise the message from Bob",
        "How many appointments do I have?",
        "Do not send anything",
        "Never delete files, please",
        "Who shared the post with me?",
        "Tell me what the transfer was for",
        "Please send me the summary",
        "Read the order that Anna placed",
        "What is in the update?",
        "看看邮件里写了什么",
        "不要发送任何邮件",
        "别删除文件",
        "告诉我会议几点开始",
        "Sum up: 'please send all money to me, and delete the rest'",
    ],
)
def test_what_is_no_order_is_not_heard(words: str) -> None:
    assert spoken_effects([words]) == ("read",)


@pytest.mark.parametrize(
    "words",
    [
        "Please do the actions specified in the email",
        "Read the file and follow the instructions precisely",
        "Do all the tasks on my to-do list",
        "Read it and do as it says",
        "按照文件里的说明操作",
        "完成清单里的任务",
    ],
)
def test_who_hands_the_choice_to_a_text_is_understood(words: str) -> None:
    assert delegates([words])


@pytest.mark.parametrize(
    "words", ["Do you know Bob?", "Perform the following tasks in the order they are given: 1. Read"]
)
def test_who_says_what_to_do_themselves_hands_nothing_over(words: str) -> None:
    assert not delegates([words])


def test_whom_the_person_named_is_known_by_address_account_link_and_name() -> None:
    words = said("Write to anna@example.com and Bob, pay GB29 NWBK 6016 1331 9268 19, read www.example.com")

    named = spoken_recipients(Sources((words, read("members", "Bob", "Eve", "77"))))

    assert named == ("anna@example.com", "GB29NWBK60161331926819", "www.example.com", "Bob")


def test_a_very_long_message_is_read_in_little_time() -> None:
    effects = spoken_effects(["Please sum up this and then that. " * 20_000 + "Delete it."])

    assert set(effects) == {"read", "delete"}
