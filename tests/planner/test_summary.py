"""The extractive summary: whole sentences of the text, few, the weighty ones, in order."""

import random
import time

import pytest

from activities.planners.summary import excerpt, summarise

ENGLISH = (
    "Coral reefs are built by tiny animals called polyps. Reefs cover less than one percent of the ocean floor. "
    "A quarter of all marine species depend on coral reefs. Dr. Jones has studied reefs for 30.5 years. "
    "Warm water makes corals lose their algae and turn white. Scientists call this coral bleaching. "
    "Bleaching kills corals if the water stays warm. My aunt has a red bicycle and two cats. "
    "Marine reserves protect coral reefs from fishing. Some corals grow only one centimetre each year. "
    "Reefs also protect coasts from storms and waves."
)
CHINESE = (
    "珊瑚礁由叫做珊瑚虫的小动物建造。珊瑚礁覆盖的海底不到百分之一。四分之一的海洋物种依赖珊瑚礁生存。"
    "水温升高会让珊瑚失去藻类而变白。科学家把这种现象叫做珊瑚白化。如果水温长期偏高，白化会杀死珊瑚。"
    "我的阿姨有一辆红色的自行车。海洋保护区可以保护珊瑚礁不受捕捞破坏。有些珊瑚每年只生长一厘米。"
    "珊瑚礁还能保护海岸免受风暴和海浪侵袭。"
)


@pytest.mark.parametrize(("text", "off_topic", "ends"), [(ENGLISH, "bicycle", ".!?"), (CHINESE, "自行车", "。！？")])
def test_a_summary_is_five_to_eight_whole_sentences_of_the_text_in_their_order(
    text: str, off_topic: str, ends: str
) -> None:
    summary = summarise(text)

    sentences = [
        part
        for part in summary.replace("Dr. ", "Dr_ ")
        .replace("30.5", "30_5")
        .translate({ord(mark): f"{mark}\n" for mark in ends})
        .split("\n")
        if part.strip()
    ]
    places = [text.replace("Dr. ", "Dr_ ").replace("30.5", "30_5").index(part.strip()) for part in sentences]
    assert 5 <= len(sentences) <= 8
    assert places == sorted(places)
    assert off_topic not in summary
    assert summarise(text) == summary


def test_menus_and_notices_are_left_out() -> None:
    notices = "Home\nAbout us\nLog in\nWe use cookies to improve your experience on this site."
    page = f"{notices}\n{ENGLISH}\n© 2026 All rights reserved."

    summary = summarise(page)

    assert not any(word in summary for word in ("Home", "cookies", "rights"))


@pytest.mark.parametrize(("text", "summary"), [("", ""), (" \n\t", ""), ("Short.", "Short."), ("短。", "短。")])
def test_a_short_text_is_its_own_summary(text: str, summary: str) -> None:
    assert summarise(text) == summary


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "a. " * 60_000, "。" * 100_000, "词" * 100_000, "\n" * 100_000, ENGLISH * 200]
)
def test_even_absurd_texts_are_summarised_quickly(text: str) -> None:
    started = time.process_time()

    summary = summarise(text)

    assert time.process_time() - started < 4
    assert len(summary) < 4_000


def test_random_bytes_do_no_harm() -> None:
    junk = random.Random(7).randbytes(20_000).decode(errors="replace")  # noqa: S311  # the same junk each time

    assert isinstance(summarise(junk), str)


def test_an_excerpt_ends_where_a_sentence_does() -> None:
    assert excerpt("One. Two.") == "One. Two."
    assert excerpt(ENGLISH * 5).endswith((".…", ". …"))
    assert len(excerpt("字" * 9_000)) < 1_600
