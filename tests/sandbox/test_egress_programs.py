"""Real programs go through the proxy and its inspection without a setting of their own."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from contracts.egress import EgressRules
from contracts.messages import HostGrant
from contracts.sandbox import Command, LeaseRequest, SandboxUnavailable
from sandbox.authority import Authority
from sandbox.choice import make_host
from sandbox.egress import EgressRecord
from sandbox.engine import runtimes
from sandbox.house import HouseRules
from sandbox.inspection import Inspection
from sandbox.session import OpenSandbox
from tests.sandbox.packages import HOST, fill, serving
from tests.sandbox.proxies import proxy
from tests.sandbox.test_inspection import Ring, server_context

APT = (
    "mkdir -p {folder}/lists/partial {folder}/cache/archives/partial\n"
    "printf 'deb [trusted=yes] {scheme}://tools.test/apt ./\\n' > {folder}/sources.list\n"
    "options='-o Dir::State={folder} -o Dir::State::Lists={folder}/lists -o Dir::Cache={folder}/cache "
    "-o Dir::Etc::SourceList={folder}/sources.list -o Dir::Etc::SourceParts=- -o APT::Sandbox::User= -qq'\n"
    "apt-get $options update && cd {folder} && apt-get $options download demo-apt && ls *.deb"
)
PROGRAMS = {
    "curl": ("curl -fsS {scheme}://tools.test/hello.txt", b"hello"),
    "wget": ("wget -qO- {scheme}://tools.test/hello.txt", b"hello"),
    "python": (
        "python3 -c \"import urllib.request as r; print(r.urlopen('{scheme}://tools.test/hello.txt').read())\"",
        b"hello",
    ),
    "git": ("git clone -q {scheme}://tools.test/git/demo.git {folder}/c && cat {folder}/c/read.me", b"from git"),
    "pip": (
        "PYTHONPATH=$(ls /usr/share/python-wheels/pip-*.whl) python3 -m pip install -q --target {folder}/p "
        "--index-url {scheme}://tools.test/simple {trust} demo-pip && cat {folder}/p/demo_pip.py",
        b"from pip",
    ),
    "apt": (APT, b"demo-apt_1.0_all.deb"),
    "chromium": ("chromium --headless --dump-dom {scheme}://tools.test/", b"<p>shown</p>"),
}
BINARIES = {"python": "python3", "pip": "python3", "apt": "apt-get", "chromium": "certutil"}


@dataclass(frozen=True)
class Village:
    """A sandbox, and the web server that it may reach by both schemes."""

    box: OpenSandbox
    records: list[EgressRecord]


class World:
    """The server's certificate, our authority, and the grants that lead to the server."""

    def __init__(self, folder: Path) -> None:
        self.ours, world = Authority.load(folder / "ours", Ring()), Authority.load(folder / "world", Ring())
        (folder / "world.pem").write_bytes(world.certificate)
        self.context = server_context(world, HOST, folder)
        rules = EgressRules(inspect=(HOST,), authorities=str(folder / "world.pem"))
        self.house = HouseRules(rules=lambda: rules, inspection=Inspection(self.ours))
        self.files = folder / "files"
        self.files.mkdir()
        fill(self.files)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def village(world: World, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Village]:
    try:
        await runtimes("")
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    records: list[EgressRecord] = []
    host = await make_host(
        host_id="programs",
        state_dir=tmp_path_factory.mktemp("state"),
        driver="docker",
        runtime="runc",
        image="browser",
        memory_mb=512,
        on_egress=lambda _lease, record: records.append(record),
        house=world.house,
    )
    lease = await host.lease(LeaseRequest(task_id="programs", user_id="u"))
    with serving(world.files, world.context) as tls, serving(world.files) as plain:
        box = await host.open(lease)
        box.permit(grants(tls, plain))
        yield Village(box, records)
        await host.release(lease)
        await host.close()


def grants(tls: int, plain: int) -> list[HostGrant]:
    ports = {443: tls, 80: plain}
    return [HostGrant(host=HOST, port=port, address=f"127.0.0.1:{real}") for port, real in ports.items()]


@pytest.mark.engine
@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("scheme", ["https", "http"])
@pytest.mark.parametrize("program", PROGRAMS)
async def test_a_program_in_the_sandbox_needs_no_setting(village: Village, program: str, scheme: str) -> None:
    script, expected = PROGRAMS[program]
    found = await village.box.run(Command(argv=("which", BINARIES.get(program, program))))
    if found.exit_code != 0:
        pytest.skip(f"the image has no {program}")
    trust = f"--trusted-host {HOST}" if scheme == "http" else ""
    village.records.clear()
    outcome = await village.box.run(
        Command(script=script.format(scheme=scheme, folder=f"/tmp/{program}-{scheme}", trust=trust))
    )

    assert expected in outcome.stdout.head, outcome.stderr.head.decode()
    records = [record for record in village.records if record.host == HOST]
    assert all(record.allowed for record in records)
    assert any(record.path and record.status == 200 for record in records)
    assert {record.inspected for record in records if record.path} == {scheme == "https"}


@pytest.mark.parametrize("scheme", ["https", "http"])
async def test_npm_needs_no_setting(scheme: str, world: World, tmp_path: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    (tmp_path / "authority.pem").write_bytes(world.ours.certificate)
    with serving(world.files, world.context) as tls, serving(world.files) as plain:
        async with proxy(*grants(tls, plain), house=world.house) as it:
            process = await asyncio.create_subprocess_exec(
                *(npm, "install", "--no-audit", "--no-fund", "--fetch-retries", "0"),
                *("--registry", f"{scheme}://{HOST}", "demo-npm"),
                cwd=tmp_path,
                env={
                    "PATH": os.environ["PATH"], "HOME": str(tmp_path), "http_proxy": it.address,
                    "npm_config_globalconfig": str(tmp_path / "npmrc"),
                    "https_proxy": it.address, "NODE_EXTRA_CA_CERTS": str(tmp_path / "authority.pem"),
                },
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )  # fmt: skip
            said, _ = await process.communicate()

    assert process.returncode == 0, said.decode()
    assert (tmp_path / "node_modules" / "demo-npm" / "index.js").read_text() == "module.exports = 'from npm'\n"
    assert any(record.path == "/demo-npm-1.0.0.tgz" for record in it.records)
