"""The engine holds every container by the whole line of bounds, as it says itself."""

import json

import docker
import pytest

from sandbox.engine import engine_address
from sandbox.hardening import MASKED
from sandbox.session import OpenSandbox

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_container_is_held_by_the_whole_line(box: OpenSandbox) -> None:
    if box.lease.driver != "docker":
        pytest.skip("there is no engine that could say it")
    client = docker.APIClient(base_url=engine_address(""))
    try:
        facts = client.inspect_container(box.lease.sandbox_id)
    finally:
        client.close()
    config = facts["HostConfig"]

    assert (config["NetworkMode"], config["IpcMode"], config["CgroupnsMode"]) == ("none", "private", "private")
    assert (config["Privileged"], config["ReadonlyRootfs"], config["Init"]) == (False, True, True)
    assert (config["CapDrop"], config["CapAdd"], config["Devices"]) == (["ALL"], None, None)
    assert config["Memory"] == config["MemorySwap"] == 512 * 1_048_576
    assert config["NanoCpus"] > 0
    assert config["OomScoreAdj"] > 0
    assert set(config["MaskedPaths"]) == set(MASKED)
    assert facts["Config"]["User"] == "1000:1000"
    assert all("nosuid" in options and "nodev" in options for options in config["Tmpfs"].values())
    bounds = {one["Name"]: one["Hard"] for one in config["Ulimits"]}
    assert {"core", "fsize", "nofile"} <= set(bounds)
    assert bounds["core"] == 0
    # gVisor counts its own threads in a pids cgroup, so there it is the number of processes alone.
    assert bounds.get("nproc") == 200 if box.lease.runtime == "runsc" else config["PidsLimit"] == 200
    seccomp = next(option for option in config["SecurityOpt"] if option.startswith("seccomp="))
    assert json.loads(seccomp.removeprefix("seccomp="))["defaultAction"] == "SCMP_ACT_ERRNO"
    assert "no-new-privileges" in config["SecurityOpt"]
