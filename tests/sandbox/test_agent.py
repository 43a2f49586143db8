"""The agent of a sandbox, on every engine: its stream, kept shells, and what a host that died leaves behind."""

import asyncio
import marshal

import pytest

from contracts.sandbox import Command, LeaseRequest, SandboxLost
from sandbox.commands import Commands
from sandbox.host import SandboxHost
from sandbox.inside.wire import EVENT, MAGIC, NONCE_BYTES, REQUEST, frame, packed
from sandbox.kept import ShellEnded
from sandbox.limits import Limits
from sandbox.session import OpenSandbox, call_key

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_content_that_looks_like_our_own_words_arrives_as_it_was(box: OpenSandbox) -> None:
    content = (MAGIC + b"0" * NONCE_BYTES + frame(EVENT, 3)) * 3_000

    await box.files.write("marks", content)
    outcome = await box.run(Command(argv=("cat",), stdin=content[:10_000]))

    assert await box.files.read("marks", max_bytes=len(content)) == content
    assert outcome.stdout.head == content[:10_000]


async def test_what_a_host_left_half_said_is_not_done(host: SandboxHost, box: OpenSandbox) -> None:
    # given: another host, which dies in the middle of a request
    await box.disconnect()
    attached = await host._driver.agent(box.lease.sandbox_id)
    words = frame(REQUEST, 3, packed(marshal.dumps({"do": "write", "path": b"half"}, 2), b"x" * 30_000))
    mark = MAGIC + b"f" * NONCE_BYTES
    await asyncio.get_running_loop().sock_sendall(attached.socket, attached.preface + mark + words[:-1])
    attached.socket.close()

    # when: the sandbox is used again
    outcome = await box.run(Command(script="ls half; echo there"))

    # then: nothing of it was done
    assert outcome.stdout.head == b"there\n"


async def test_a_command_goes_on_while_every_stream_is_closed(box: OpenSandbox) -> None:
    running = asyncio.create_task(box.run(Command(script="until [ -e go ]; do sleep 0.05; done; echo done")))
    await box.run(Command(script="until pgrep -f '[-]e go' >/dev/null; do sleep 0.05; done"))
    assert box.busy

    await box.disconnect()
    await box.run(Command(script="touch go"))

    outcome = await running
    assert (outcome.exit_code, outcome.stdout.head, outcome.joined) == (0, b"done\n", True)


async def test_an_ended_call_is_known_from_its_file_when_the_agent_has_forgotten_it(box: OpenSandbox) -> None:
    command = Command(script="echo once | tee -a forgotten.txt; echo err >&2; exit 4", call_id="forgotten")
    first = await box.run(command)
    for number in range(70):
        await box.run(Command(argv=("true",), call_id=f"another {number}"))

    again = await box.run(command)

    assert again == first.model_copy(update={"joined": True})
    assert await box.files.read("forgotten.txt", max_bytes=100) == b"once\n"


async def test_a_call_that_was_cut_off_with_its_sandbox_is_not_run_again(box: OpenSandbox) -> None:
    # What a snapshot holds that was taken while it ran.
    await box.files.write(f"/home/agent/.asos/calls/{call_key('cut')}.started", b"")
    await box.files.write(f"/home/agent/.asos/calls/{call_key('cut')}.stdout", b"so far")

    outcome = await box.run(Command(script="echo again", call_id="cut"))

    assert (outcome.exit_code, outcome.signal, outcome.joined) == (None, "KILL", True)
    assert outcome.stdout.head == b"so far"


async def test_everyday_words_that_end_other_programs_do_not_end_the_agent(box: OpenSandbox) -> None:
    for words in (("pkill", "python3"), ("pkill", "-f", "python3"), ("pkill", "-HUP", "-f", "asos")):
        await box.run(Command(argv=words))

    assert (await box.run(Command(script="echo there"))).stdout.head == b"there\n"


async def test_nothing_of_the_agent_is_inherited(box: OpenSandbox) -> None:
    script = "ls /proc/self/fd | wc -l; env | grep -c ASOS_; trap -p; grep -E 'Sig(Blk|Ign)' /proc/self/status"
    outcome = await box.run(Command(script=script))

    # The three, and the folder that ls looks at.
    assert outcome.stdout.head.split()[:2] == [b"4", b"1"]
    # The C library leaves two signals ignored that it alone uses.
    masks = [int(line.split()[1], 16) for line in outcome.stdout.head.splitlines()[2:]]
    assert not [mask for mask in masks if mask & ~0x180000000]


async def test_the_sandboxs_own_bound_ends_a_command_and_is_named(box: OpenSandbox) -> None:
    commands = Commands((await box.ready()).link, Limits(wall_seconds=0.5))

    outcome = await commands.run(Command(script="sleep 7400", timeout_seconds=60), "wall", None)

    assert (outcome.timed_out, outcome.exit_code, outcome.limit) == (True, None, "wall_time")


async def test_a_kept_shell_keeps_its_folder_and_variables(box: OpenSandbox) -> None:
    async with box.session() as shell:
        await shell.run('mkdir -p kept; cd kept; name=value; say() { echo "said $1"; }; export OUT=1')

        outcome = await shell.run('pwd; echo "$name"; say it; env | grep ^OUT; echo err >&2; false')

    assert outcome.exit_code == 1
    assert outcome.stdout.head == b"/workspace/kept\nvalue\nsaid it\nOUT=1\n"
    assert outcome.stderr.head == b"err\n"


async def test_scripts_of_a_kept_shell_do_not_see_each_others_output(box: OpenSandbox) -> None:
    async with box.session() as shell:
        outcomes = [await shell.run(f"echo {number}; head -c {number * 9_000} /dev/zero") for number in range(1, 8)]
        long = await shell.run("# " + "x" * 100_000 + "\ncat; echo long")

    assert [one.stdout.total_bytes for one in outcomes] == [2 + number * 9_000 for number in range(1, 8)]
    assert outcomes[-1].stdout.head.startswith(b"7\n\0")
    assert long.stdout.head == b"long\n"


@pytest.mark.parametrize(("script", "code"), [("sleep 7500 & exit 3", 3), ("setsid sleep 7500 & sleep 7501", None)])
async def test_a_kept_shell_that_ends_says_so(box: OpenSandbox, script: str, code: int | None) -> None:
    async with box.session() as shell:
        outcome = await shell.run(script, timeout_seconds=1)

        assert (outcome.exit_code, outcome.timed_out) == (code, code is None)
        with pytest.raises(ShellEnded):
            await shell.run("echo again")

    left = await box.run(Command(script="pgrep -fa '^sleep 750[01]'"))
    assert left.stdout.head == b""


async def test_an_agent_that_is_killed_takes_the_sandbox_with_it(host: SandboxHost) -> None:
    lease = await host.lease(LeaseRequest(task_id="killed", user_id="u"))
    opened = await host.open(lease)

    try:
        outcome = await opened.run(Command(script="kill -9 $PPID; sleep 1; echo on"))
    except SandboxLost:
        assert lease.driver == "docker"
    else:
        assert (lease.driver, outcome.stdout.head) == ("bubblewrap", b"on\n")
    await host.release(lease)
