"""Links of the sandbox are followed before a call runs, and what they lead to is judged as well."""

import hashlib

import pytest
from temporalio.testing import ActivityEnvironment

from activities.acting import Acting
from activities.catalogue import Catalogue
from activities.examining import Examiner
from activities.resolving import fingerprint_of, is_stricter
from activities.tools.files import FileTool
from activities.tools.shell import Shell
from contracts.activities import Demands, FingerprintRequest, JudgeRequest
from contracts.tools import ToolResult
from contracts.values import JsonObject
from contracts.verdicts import Allow, Ask, Deny, Question, Reason, Verdict
from policy.judge import judge
from policy.roles import BrowserRules
from tests.policy.cases_file import reference_policy
from tests.tools.acting_parts import OneHost, Rig, approval, call, judged, request
from tests.tools.conftest import LEASE, MemoryBlobs
from tests.tools.local_sandbox import LocalSandbox
from tests.tools.test_binding import approved


class Reference:
    """The reference policy, and how often it was asked."""

    def __init__(self) -> None:
        self.policy = reference_policy()
        self.asked = 0

    def judge(self, question: Question) -> Verdict:
        self.asked += 1
        actor = question.actor.model_copy(update={"role": next(iter(self.policy.roles))})
        return judge(question.model_copy(update={"actor": actor}), self.policy)

    def browsing(self, role: str) -> BrowserRules:
        return BrowserRules()

    def demands(self, question: Question, verdict: Verdict) -> Demands:
        return Demands()


class Asks(Reference):
    """Asks about everything for the same reason, wherever it leads."""

    def judge(self, question: Question) -> Verdict:
        return Ask(reasons=(Reason(rule="outside_workspace", detail="somewhere"),))


@pytest.fixture
def rig(sandbox: LocalSandbox, blobs: MemoryBlobs) -> Rig:
    (sandbox.workspace / "own").mkdir()
    (sandbox.workspace / "own/file.txt").write_text("mine")
    keys = sandbox.workspace.parent / "home/.ssh"
    keys.mkdir()
    (keys / "id_rsa").write_text("TOP SECRET")
    (keys.parent / ".config/x").mkdir(parents=True)
    (sandbox.workspace / "own/a.lnk").symlink_to(SECRET)
    return Rig(blobs, OneHost(sandbox), policy=Reference(), tools=(Shell(), FileTool()))  # type: ignore[arg-type]  # another judge of the same protocol


def link(rig: Rig, name: str, target: str) -> None:
    assert rig.host.sandbox is not None
    (rig.host.sandbox.workspace / name).symlink_to(target)


async def ran(acting: Acting, rig: Rig, tool: str, args: JsonObject) -> ToolResult:
    outcome = await ActivityEnvironment().run(acting.run_tool, request(call(tool, args)))
    return await rig.whole(outcome.turn.result_ref)


SECRET = "/home/agent/.ssh/id_rsa"


@pytest.mark.parametrize(
    ("name", "target", "script"),
    [
        ("l", SECRET, "cat l"),
        ("l", SECRET, "cat ./own/../l"),
        ("l", SECRET, "cat *"),
        ("l", SECRET, "cat [k-m]"),
        ("l", SECRET, "cat < l"),
        ("l", SECRET, "base64 -- l | head -1"),
        ("d", "/home/agent", "cat d/.config/gh/hosts.yml"),
        ("d", "/home/agent", "cd d && cat .config/g?/hosts.yml"),
        ("d", "/home/agent/.ssh", "cat d/*"),
        ("d", "/home/agent/.ssh", "cd d && cat *"),
        ("d", "/home/agent/.config/x", "cat d/../gh/hosts.yml"),
        ("b", "/home/agent/.bashrc", "echo evil >> b"),
        ("b", "/home/agent/.bashrc", "echo evil | tee b"),
        ("b", "/home/agent", "cp own/file.txt b/.tmux.conf"),
        ("e", "/etc", "rm -rf e/passwd"),
        ("own/x", "../..", "cat own/x/etc/shadow"),
    ],
)
async def test_a_link_cannot_take_a_permitted_command_elsewhere(rig: Rig, name: str, target: str, script: str) -> None:
    link(rig, name, target)

    result = await ran(rig.acting, rig, "shell", {"script": script})

    assert (result.ok, result.error) == (False, "changed"), result.text
    assert "TOP SECRET" not in result.text
    assert f"{name} leads to" in result.text or f"/{name}/" in result.text


@pytest.mark.parametrize("operation", ["read", "send", "write"])
async def test_a_link_cannot_take_the_file_tool_elsewhere(rig: Rig, operation: str) -> None:
    link(rig, "l", SECRET)
    args: JsonObject = {"operation": operation, "path": "l"}
    if operation == "write":
        args["content"] = "x"

    result = await ran(rig.acting, rig, "files", args)

    assert (result.ok, result.error) == (False, "changed"), result.text


@pytest.mark.parametrize(
    ("target", "script"),
    [
        ("own/file.txt", "cat l"),
        ("/workspace/own", "cat l/file.txt"),
        ("/usr/bin/env", "head -c 4 l"),
        ("/nowhere", "rm l"),
        (SECRET, "rm l"),
        (SECRET, "rm -f own/*.lnk"),
        ("/etc", "rm -f l"),
    ],
)
async def test_a_link_to_what_may_be_touched_anyway_is_no_matter(rig: Rig, target: str, script: str) -> None:
    link(rig, "l", target)

    result = await ran(rig.acting, rig, "shell", {"script": script})

    assert result.ok, result.text


async def test_an_approval_does_not_cover_what_a_link_adds(rig: Rig) -> None:
    # given: a command that a person approved, and a link that they did not see
    what = call("shell", {"script": "cp l /opt/x"})
    given = await approved(rig, judged(what))
    link(rig, "l", "/home/agent/.netrc")

    outcome = await ActivityEnvironment().run(rig.acting.run_tool, request(what, approval=given))

    assert outcome.turn.error == "changed"
    assert "l leads to" in outcome.turn.headline or "/l leads to" in outcome.turn.headline


async def test_a_command_that_touches_no_path_is_not_looked_into(rig: Rig) -> None:
    await ran(rig.acting, rig, "shell", {"script": "echo hello"})

    assert rig.policy.asked == 1  # type: ignore[attr-defined]  # Reference
    assert rig.host.sandbox is not None
    assert [command.script for command in rig.host.sandbox.commands] == ["echo hello"]


async def test_an_ordinary_command_costs_one_look_and_is_not_judged_again(rig: Rig) -> None:
    await ran(rig.acting, rig, "shell", {"script": "cat own/file.txt own/*.txt"})

    assert rig.policy.asked == 1  # type: ignore[attr-defined]  # Reference
    assert rig.host.sandbox is not None
    assert len(rig.host.sandbox.commands) == 2


async def test_fingerprints_name_what_the_files_are_now(rig: Rig) -> None:
    link(rig, "run.sh", "own/file.txt")

    found = await rig.acting.fingerprint(
        FingerprintRequest(lease=LEASE, paths=("/workspace/run.sh", "/workspace/gone", "/workspace/own", "/dev/zero"))
    )

    assert found.real["/workspace/run.sh"] == "/workspace/own/file.txt"
    assert found.content == {
        "/workspace/own/file.txt": hashlib.sha256(b"mine").hexdigest(),
        "/workspace/gone": "absent",
        "/workspace/own": "folder",
        "/dev/zero": "unreadable",
    }


async def test_more_files_than_can_be_looked_at_are_named_as_such(rig: Rig) -> None:
    assert rig.host.sandbox is not None
    paths = [f"/workspace/{number}" for number in range(70)]

    found = await fingerprint_of(rig.host.sandbox.files, paths)

    assert found.content["/workspace/63"] == "absent"
    assert found.content["/workspace/64"] == "too_large"


def test_a_verdict_is_stricter_by_its_kind_and_by_its_reasons() -> None:
    one, other = Reason(rule="a"), Reason(rule="b")
    ask, more = Ask(reasons=(one,)), Ask(reasons=(one, other))

    assert is_stricter(ask, Allow())
    assert is_stricter(Deny(reasons=(one,)), ask)
    assert is_stricter(more, ask)
    assert not is_stricter(ask, more)
    assert not is_stricter(Allow(reasons=(one,)), Allow())


async def test_the_verdict_on_a_call_counts_links_that_are_known(rig: Rig) -> None:
    examiner = Examiner(Catalogue(rig.tools), rig.policy, rig.blobs)
    asked: JudgeRequest = judged(call("shell", {"script": "cat l"}))

    plain = await examiner.examine(asked)
    linked = await examiner.examine(asked, {"/workspace/l": SECRET})

    assert (plain.outcome.verdict.kind, linked.outcome.verdict.kind) == ("allow", "deny")


async def test_what_was_found_to_lead_elsewhere_is_not_final_and_is_said(rig: Rig) -> None:
    what = call("files", {"operation": "read", "path": "l"})
    link(rig, "l", SECRET)

    outcome = await ActivityEnvironment().run(rig.acting.run_tool, request(what))
    assert rig.host.sandbox is not None
    (rig.host.sandbox.workspace / "l").unlink()
    (rig.host.sandbox.workspace / "l").symlink_to("own/file.txt")
    again = await ActivityEnvironment().run(rig.acting.run_tool, request(what))

    assert outcome.real_paths == {"/workspace/l": SECRET}
    assert again.turn.ok, again.turn.headline


async def test_the_next_question_is_about_the_real_target(rig: Rig) -> None:
    link(rig, "l", SECRET)
    asked = judged(call("files", {"operation": "read", "path": "l"}))

    before = (await rig.examiner.examine(asked)).outcome
    after = (await rig.examiner.examine(asked.model_copy(update={"real_paths": {"/workspace/l": SECRET}}))).outcome

    assert isinstance(before.verdict, Allow)
    assert not isinstance(after.verdict, Allow)
    assert f"/workspace/l → {SECRET}" in after.preview
    assert before.bound is not None
    assert after.bound is not None
    assert before.bound.digest() != after.bound.digest()


@pytest.mark.parametrize(("now", "changed"), [("/opt/data/a", False), ("/opt/data/b", True), ("own/file.txt", True)])
async def test_a_yes_is_for_the_target_that_was_on_the_card(rig: Rig, now: str, changed: bool) -> None:
    # given: a yes to a link that led to /opt/data/a
    rig = Rig(rig.blobs, rig.host, policy=Asks(), tools=(FileTool(),))  # type: ignore[arg-type]  # another judge
    what, shown = call("files", {"operation": "read", "path": "l"}), {"/workspace/l": "/opt/data/a"}
    link(rig, "l", now)
    asked = request(what)
    asked = asked.model_copy(
        update={
            "judged": asked.judged.model_copy(update={"real_paths": shown}),
            "approval": approval(what, leads=shown),
        }
    )

    outcome = await ActivityEnvironment().run(rig.acting.run_tool, asked)

    assert outcome.turn.error != "denied", outcome.turn.headline
    assert (outcome.turn.error == "changed") is changed, outcome.turn.headline
