"""Promises about where values come from, and how each is broken: what strangers wrote gives no orders."""

from activities import acting
from activities.provenance import gathering, sources
from activities.provenance import tracing as tracing_calls
from contracts.provenance import TakenIn
from memory.notes import Note, PersonalNotes
from policy import judge
from policy.provenance import judging, outward, tracing, words
from policy.provenance.sources import Sources
from policy.provenance.words import Words
from tests.invariants.switch import Switch, always, replaced
from workflows.state import TaskState

_remember = PersonalNotes.remember


async def _as_if_the_person_wrote_it(notes: PersonalNotes, text: str, **given: object) -> Note:
    return await _remember(notes, text, **(given | {"trusted": True}))  # type: ignore[arg-type]  # as they came


def _keeps_nothing_in_mind(_: TaskState, __: TakenIn) -> None:
    """The task goes on as if it had read nothing."""


def _anybodys(texts: Sources, value: str) -> bool:
    return any(value in source.text for source in texts._all)


JUDGING = "tests/policy/provenance/test_judging.py"
TRACING = "tests/policy/provenance/test_tracing.py"
GATHERING = "tests/tools/test_gathering.py"
TAKEN = "tests/workflows/test_taken_in.py"

ORIGINS = (
    Switch(
        "what a page said becomes no command, no recipient and no destination",
        "tests/policy/test_judge.py::test_what_a_page_said_becomes_no_command_no_recipient_and_no_destination",
        replaced(judge, "judge_provenance", always(None)),
    ),
    Switch(
        "a recipient that a stranger wrote is asked",
        f"{JUDGING}::test_a_recipient_that_a_stranger_wrote_is_asked",
        replaced(judging, "judge_outward", always(None)),
    ),
    Switch(
        "an effect is the person's wish only if they said so",
        f"{JUDGING}::test_a_kind_of_effect_that_the_person_did_not_ask_for_is_denied_where_a_stranger_chose_the_recipient",
        replaced(outward, "_asked_for", always(True)),
    ),
    Switch(
        "nobody takes the place of the recipient whom the person named",
        f"{JUDGING}::test_a_recipient_beside_the_one_that_the_person_named_is_denied",
        replaced(outward, "_named_another", always(False)),
    ),
    Switch(
        "a stranger's link is not passed on",
        f"{JUDGING}::test_a_strangers_link_goes_to_others_only_out_of_a_text_that_the_person_pointed_to",
        replaced(outward, "_judge_carried", always(None)),
    ),
    Switch(
        "secrets go to nobody in words that a stranger may have steered",
        f"{JUDGING}::test_secrets_go_to_nobody_in_words_that_a_stranger_may_have_steered",
        replaced(outward, "_judge_text", always(None)),
    ),
    Switch(
        "money goes to no stranger's account",
        f"{JUDGING}::test_money_goes_to_an_account_of_a_text_only_if_the_person_pointed_to_that_text",
        replaced(outward, "_is_strange", always(False)),
    ),
    Switch(
        "one of a list is the person's choice where it cannot be brought back",
        f"{JUDGING}::test_what_cannot_be_brought_back_is_asked_unless_the_person_named_it",
        replaced(outward, "_judge_listed", always(None)),
    ),
    Switch(
        "an address that a stranger wrote is not fetched unasked",
        f"{JUDGING}::test_fetching_is_egress",
        replaced(judging, "_judge_address", always(None)),
    ),
    Switch(
        "an address that a stranger wrote is not fetched unasked by a service",
        f"{JUDGING}::test_what_a_service_fetches_is_egress_too",
        replaced(judging, "_judge_fetch", always(None)),
    ),
    Switch(
        "a write has to do with what the person said",
        f"{JUDGING}::test_a_write_that_has_nothing_of_the_persons_is_asked_and_a_date_alone_is_not_enough",
        replaced(judging, "_judge_own_write", always(None)),
    ),
    Switch(
        "a call that goes where no argument says is asked",
        f"{JUDGING}::test_a_call_that_goes_where_no_argument_says_is_asked_after_reading_strangers",
        replaced(judging, "_reaches_untraced", always(False)),
    ),
    Switch(
        "a command that a stranger may have steered is asked",
        f"{JUDGING}::test_a_command_that_a_stranger_may_have_steered_is_asked",
        replaced(judging, "_judge_command", always(None)),
    ),
    Switch(
        "a file goes to whom the person chose",
        f"{JUDGING}::test_a_file_goes_to_others_only_where_the_recipient_is_the_persons_choice",
        replaced(judging, "_judge_recipient", always(None)),
    ),
    Switch(
        "only the person's own words are theirs",
        f"{TRACING}::test_what_only_looks_like_the_persons_words_is_not_said",
        replaced(words, "holds", lambda text, value: value in text),
    ),
    Switch(
        "a value out of a stranger's text alone is nobody's word",
        f"{TRACING}::test_a_value_that_only_a_stranger_wrote_is_foreign_and_keeps_its_origin",
        replaced(Words, "say", always(True)),
    ),
    Switch(
        "free text never passes as typed",
        f"{TRACING}::test_only_what_cannot_say_anything_is_typed",
        replaced(tracing, "_is_typed", always(True)),
    ),
    Switch(
        "a stranger's text is no address book",
        f"{TRACING}::test_a_stranger_cannot_pretend_to_be_the_address_book",
        replaced(Sources, "resolves", _anybodys),
    ),
    Switch(
        "a forwarded message has no authority",
        f"{GATHERING}::test_a_forwarded_message_has_no_authority",
        replaced(sources, "own_words", lambda text: text),
    ),
    Switch(
        "the links of a page are no list of ids",
        f"{GATHERING}::test_the_links_of_a_page_and_the_names_in_an_archive_are_no_list_of_ids",
        replaced(sources, "_ids", lambda result, _: tuple(sources._named(result.data, sources._NAMES))),
    ),
    Switch(
        "what was too much to be looked into can have said anything",
        f"{GATHERING}::test_what_is_too_much_to_be_looked_into_can_have_said_anything",
        replaced(gathering, "is_whole", always(True)),
    ),
    Switch(
        "without a transcript a tainted task's arguments are nobody's",
        f"{GATHERING}::test_without_a_transcript_nobody_can_say_what_a_tainted_task_made_a_call_of",
        replaced(tracing_calls, "_unknown", lambda traced: traced),
    ),
    Switch(
        "what echoes a stranger stays untrusted",
        f"{GATHERING}::test_a_note_that_a_steered_call_writes_stays_untrusted_with_its_origins",
        replaced(acting, "echoing", lambda result, _: result),
    ),
    Switch(
        "a note keeps whose word it is",
        "tests/memory/test_notes.py::test_a_tainted_note_stays_tainted",
        replaced(PersonalNotes, "remember", _as_if_the_person_wrote_it),
    ),
    Switch(
        "what a task has read is known to its later calls",
        f"{TAKEN}::test_what_came_in_is_known_to_every_later_call_and_to_the_sandbox",
        replaced(TaskState, "takes_in", _keeps_nothing_in_mind),
    ),
)
