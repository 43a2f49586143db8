"""The agent of a sandbox, on every engine: its stream, kept shells, terminals, and what a host that died leaves behind."""

import asyncio
import marshal

import pytest

from contracts.sandbox import Command, LeaseRequest, SandboxLost
from sandbox.commands import Commands
from sandbox.host import SandboxHost
from sandbox.inside.wire import EVENT, MAGIC, NONCE_BYTES, REQUEST, frame, packed
from sandbox.kept import ShellEnded
from sandbox.limits import Limits
from sandbox.session import OpenSandbox

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


async def test_a_terminal_shows_what_is_typed_and_takes_its_new_size(box: OpenSandbox) -> None:
    shown = b""
    async with box.terminal(100, 40) as opened:
        await opened.write(b"stty size; echo $((6*7)); pwd\n")
        while b"42\r\n/workspace" not in shown:
            shown += await opened.read()
        opened.resize(90, 30)
        await opened.write(b"until [ \"$(stty size)\" = '30 90' ]; do sleep 0.1; done; echo re''sized; exit 7\n")
        while piece := await opened.read():
            shown += piece
        code = await opened.wait()

    assert b"40 100\r\n" in shown
    assert b"resized" in shown
    assert code == 7


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
