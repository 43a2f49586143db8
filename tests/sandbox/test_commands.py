"""Commands in a sandbox, on every engine."""

import asyncio
import time
from itertools import pairwise

import pytest

from contracts.sandbox import Command, LeaseRequest, SandboxLost
from sandbox.host import SandboxHost
from sandbox.session import OpenSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_script_gives_its_output_and_exit_code(box: OpenSandbox) -> None:
    outcome = await box.run(Command(script="echo out; echo err >&2; pwd; exit 7"))

    assert outcome.exit_code == 7
    assert outcome.stdout.head == b"out\n/workspace\n"
    assert outcome.stderr.head == b"err\n"
    assert not outcome.joined


async def test_an_argv_reaches_the_program_unchanged(box: OpenSandbox) -> None:
    words = ("a b", "$HOME", "'", '"', "*", "\\", "\n", "中文", "", "-n")

    outcome = await box.run(Command(argv=("printf", "[%s]", *words)))

    assert outcome.stdout.head.decode() == "".join(f"[{word}]" for word in words)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("http_proxy", "http://127.0.0.1:3128"), ("HTTPS_PROXY", "http://127.0.0.1:3128"), ("LANG", "C.UTF-8"),
     ("HOME", "/home/agent"), ("OWN", "it's $1")],
)  # fmt: skip
async def test_the_environment_is_set(box: OpenSandbox, name: str, expected: str) -> None:
    outcome = await box.run(Command(argv=("printenv", name), env={"OWN": "it's $1"}))

    assert outcome.stdout.head.decode() == f"{expected}\n"


async def test_it_runs_as_a_user_without_rights(box: OpenSandbox) -> None:
    outcome = await box.run(Command(script="id -u; grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; touch /usr/x"))

    assert outcome.stdout.head.decode().split()[:3] == ["1000", "CapEff:", "0000000000000000"]
    assert outcome.exit_code != 0


async def test_binary_standard_input_comes_back_as_it_was(box: OpenSandbox) -> None:
    content = bytes(range(256)) * 40

    outcome = await box.run(Command(argv=("cat",), stdin=content))

    assert outcome.stdout.head == content


async def test_a_script_larger_than_the_kernel_takes_in_one_argument_runs(box: OpenSandbox) -> None:
    outcome = await box.run(Command(script="# " + "x" * 300_000 + "\necho done"))

    assert outcome.stdout.head == b"done\n"


async def test_an_argv_of_many_words_runs(box: OpenSandbox) -> None:
    words = tuple(f"word-{number:05d}" for number in range(20_000))

    outcome = await box.run(Command(argv=("echo", *words)))

    assert outcome.stdout.total_bytes == len(" ".join(words)) + 1
    assert outcome.stdout.head.startswith(b"word-00000 ")
    assert outcome.stdout.tail.endswith(b"word-19999\n")


async def test_a_missing_folder_is_named(box: OpenSandbox) -> None:
    outcome = await box.run(Command(script="echo never", cwd="/nowhere/at all"))

    assert outcome.exit_code == 127
    assert b"/nowhere/at all" in outcome.stderr.head
    assert outcome.stdout.total_bytes == 0


async def test_a_missing_program_is_an_outcome(box: OpenSandbox) -> None:
    outcome = await box.run(Command(argv=("no-such-program",)))

    assert outcome.exit_code == 127
    assert b"no-such-program" in outcome.stderr.head


@pytest.mark.parametrize(
    "command",
    [
        Command(),
        Command(argv=()),
        Command(script="echo a\0b"),
        Command(argv=("echo", "a\0b")),
        Command(script="true", env={"a b": "1"}),
        Command(script="true", env={"X;touch /workspace/hacked": "1"}),
        Command(script="echo \ud800"),
    ],
)
async def test_what_no_shell_could_run_as_meant_is_refused(box: OpenSandbox, command: Command) -> None:
    outcome = await box.run(command)

    assert outcome.exit_code == 126
    assert outcome.stderr.head


@pytest.mark.parametrize(("name", "number"), [("KILL", 9), ("TERM", 15), ("SEGV", 11)])
async def test_a_signal_is_told_from_an_exit_code(box: OpenSandbox, name: str, number: int) -> None:
    killed = await box.run(Command(script=f"kill -{number} $$; sleep 5"))
    left = await box.run(Command(script=f"exit {128 + number}"))

    assert (killed.exit_code, killed.signal) == (None, name)
    assert (left.exit_code, left.signal) == (128 + number, None)


async def test_output_beyond_the_limit_is_dropped_but_counted(box: OpenSandbox) -> None:
    # The limit of this suite is 4 MiB; the command writes 100 MB and must not notice.
    outcome = await box.run(Command(script="yes 0123456789abcde | head -c 100000000; echo last; echo $? >&2"))

    assert outcome.exit_code == 0
    assert outcome.stdout.total_bytes == 100_000_005
    assert outcome.stdout.clipped
    assert outcome.limit == "output"
    assert outcome.stdout.head == b"0123456789abcde\n" * 1_024
    assert outcome.stdout.tail.endswith(b"cde\nlast\n")
    assert outcome.stdout.path is not None
    assert len(await box.files.read(outcome.stdout.path, max_bytes=8_000_000)) == 4 * 1_048_576


async def test_head_and_tail_do_not_overlap(box: OpenSandbox) -> None:
    outcome = await box.run(Command(script="head -c 20000 /dev/zero | tr '\\0' x; printf END"))

    assert len(outcome.stdout.head) + len(outcome.stdout.tail) == outcome.stdout.total_bytes == 20_003
    assert outcome.stdout.tail.endswith(b"END")
    assert outcome.stdout.path is None


async def test_a_background_process_does_not_hold_the_command(box: OpenSandbox) -> None:
    began = time.monotonic()

    outcome = await box.run(Command(script="sleep 47 & echo started"))

    assert outcome.stdout.head == b"started\n"
    assert time.monotonic() - began < 20
    assert (await box.run(Command(script="pkill -f '^sleep 47'"))).exit_code == 0


async def test_a_time_out_kills_the_whole_tree(box: OpenSandbox) -> None:
    script = "setsid sleep 7001 & (setsid nohup sleep 7002 &) ; env -i setsid sleep 7003 & sleep 7004"

    outcome = await box.run(Command(script=script, timeout_seconds=3))

    assert outcome.timed_out
    assert outcome.exit_code is None
    left = await box.run(Command(script="pgrep -fa '^sleep 700[0-9]'"))
    assert left.stdout.head == b""


async def test_cancelling_kills_the_whole_tree(box: OpenSandbox) -> None:
    running = asyncio.create_task(box.run(Command(script="setsid sleep 7101 & sleep 7102")))
    await box.run(Command(script="until [ $(pgrep -fc '^sleep 710[12]') = 2 ]; do sleep 0.1; done"))

    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running
    left = await box.run(Command(script="pgrep -fa '^sleep 710[0-9]'"))
    assert left.stdout.head == b""


async def test_progress_is_told_while_it_runs(box: OpenSandbox) -> None:
    seen: list[tuple[float, int]] = []

    await box.run(
        Command(script="for i in 1 2 3 4; do echo 12345; sleep 1; done"),
        lambda count: seen.append((time.monotonic(), count)),
    )

    assert len(seen) >= 2
    assert seen[-1][1] > 0
    assert max(later - sooner for (sooner, _), (later, _) in pairwise(seen)) < 2.5


async def test_the_same_call_runs_once_and_is_joined(box: OpenSandbox) -> None:
    command = Command(script="echo once >> joined.txt; sleep 2; cat joined.txt; exit 3", call_id="call/1")

    first, second = await asyncio.gather(box.run(command), box.run(command))
    third = await box.run(command)

    assert [outcome.exit_code for outcome in (first, second, third)] == [3, 3, 3]
    assert [outcome.stdout.head for outcome in (first, second, third)] == [b"once\n"] * 3
    assert [first.joined or second.joined, third.joined] == [True, True]


async def test_a_killed_call_is_not_run_again(box: OpenSandbox) -> None:
    command = Command(script="echo once >> killed.txt; sleep 7200", timeout_seconds=2, call_id="call/2")
    await box.run(command)

    again = await box.run(command)

    assert again.timed_out
    assert again.joined
    assert (await box.files.read("killed.txt", max_bytes=100)) == b"once\n"


async def test_a_command_that_kills_all_it_can_reach_is_not_run_again(host: SandboxHost) -> None:
    lease = await host.lease(LeaseRequest(task_id="massacre", user_id="u"))
    sandbox = await host.open(lease)
    command = Command(script="echo once >> massacre.txt; sleep 7300 & kill -9 -1", call_id="call/3")

    # Under Docker the agent falls too, and with it the sandbox; as the first process of all it cannot.
    try:
        outcome = await sandbox.run(command)
    except SandboxLost:
        assert lease.driver == "docker"
    else:
        assert (outcome.exit_code, (await sandbox.run(command)).joined) == (0, True)
        assert (await sandbox.files.read("massacre.txt", max_bytes=100)) == b"once\n"
    await host.release(lease)


async def test_a_fork_bomb_ends_with_its_time_out(box: OpenSandbox) -> None:
    bomb = "bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done"

    outcome = await box.run(Command(script=bomb, timeout_seconds=3))

    assert outcome.timed_out
    after = await box.run(Command(script="echo alive", timeout_seconds=30))
    assert (after.exit_code, after.stdout.head) == (0, b"alive\n"), after
