"""What is inside the sandbox images, seen from a container that is hardened as sandboxes are."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docker
import pytest
from docker.models.containers import Container

from tests.deploy.scripts import SETUP, run

BASE = "agent-sandbox-os/base:latest"
BROWSER = "agent-sandbox-os/browser:latest"
HARDENED: dict[str, Any] = {
    "network_mode": "none",
    "user": "1000:1000",
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "read_only": True,
    "tmpfs": {"/tmp": "mode=1777", "/run": "uid=1000", "/home/agent": "uid=1000,mode=700", "/workspace": "uid=1000"},
    "init": True,
}

pytestmark = pytest.mark.engine


@pytest.fixture(scope="session", autouse=True)
def built(docker_host: str) -> None:
    """Both images are those of the folders; with unchanged folders this takes no time."""
    done = run(SETUP / "images.sh", "base", "browser", variables={"DOCKER_HOST": docker_host}, timeout=900)
    assert done.code == 0, done.told


@contextmanager
def container_of(engine: docker.DockerClient, image: str, runtime: str = "runc") -> Iterator[Container]:
    if runtime not in engine.info()["Runtimes"]:
        pytest.skip(f"the engine has no runtime {runtime}")
    container = engine.containers.run(image, detach=True, runtime=runtime, **HARDENED)
    try:
        yield container
    finally:
        container.remove(force=True)


def output_of(container: Container, *command: str) -> bytes:
    code, output = container.exec_run(list(command))
    assert code == 0, output
    assert isinstance(output, bytes)
    return output


@pytest.mark.parametrize("image", [BASE, BROWSER])
def test_no_file_of_an_image_lends_its_owners_rights(engine: docker.DockerClient, image: str) -> None:
    found = engine.containers.run(
        image, ["find", "/", "-xdev", "-type", "f", "-perm", "/6000"], remove=True, network_mode="none", user="0:0"
    )

    assert found == b""


@pytest.mark.parametrize("image", [BASE, BROWSER])
def test_an_image_runs_as_a_user_without_rights_who_can_write_only_its_own_folders(
    engine: docker.DockerClient, image: str
) -> None:
    script = "id -u; whoami; pwd; find / -xdev -not -path '/proc/*' -writable -type d 2>/dev/null | sort"
    found = engine.containers.run(image, ["bash", "-c", script], remove=True, network_mode="none").decode().split()

    assert found[:3] == ["1000", "agent", "/workspace"]
    assert set(found[3:]) <= {"/home/agent", "/run/lock", "/tmp", "/var/tmp", "/workspace"}


@pytest.mark.parametrize(
    "program",
    [
        "bash",
        "curl",
        "file",
        "git",
        "jq",
        "less",
        "ps",
        "python3",
        "rg",
        "unzip",
        "xz",
        "zip",
    ],
)
def test_the_base_has_the_usual_tools(engine: docker.DockerClient, program: str) -> None:
    found = engine.containers.run(BASE, ["which", program], remove=True, network_mode="none")

    assert found.strip().endswith(program.encode())


@pytest.mark.parametrize("image", [BASE, BROWSER])
def test_an_image_has_what_the_agent_needs(engine: docker.DockerClient, image: str) -> None:
    asked = (
        "import subprocess, sys; assert sys.version_info >= (3, 9); subprocess.run(['/bin/bash', '-c', 'echo ready'])"
    )
    command = ["/usr/bin/python3", "-I", "-S", "-c", asked]

    assert engine.containers.run(image, command, remove=True, network_mode="none") == b"ready\n"


@pytest.mark.parametrize("runtime", ["runc", "runsc"])
def test_a_login_shell_knows_the_proxy_even_if_its_environment_is_empty(
    engine: docker.DockerClient, runtime: str
) -> None:
    with container_of(engine, BASE, runtime) as container:
        script = "id -u; echo $http_proxy; git config --system http.proxy"
        told = output_of(container, "env", "-i", "bash", "-lc", script)

    assert told.split() == [b"1000", b"http://127.0.0.1:3128", b"http://127.0.0.1:3128"]


def test_pip_and_apt_go_to_the_proxy_and_nowhere_else(engine: docker.DockerClient) -> None:
    with container_of(engine, BASE) as container:
        pip = output_of(container, "cat", "/etc/pip.conf")
        apt = output_of(container, "apt-config", "dump", "Acquire::http::Proxy")
        code, curl = container.exec_run(["curl", "-sS", "http://example.com"])

    assert b"proxy = http://127.0.0.1:3128" in pip
    assert b"http://127.0.0.1:3128" in apt
    assert code == 7
    assert b"127.0.0.1 port 3128" in curl


def shot(container: Container, text: str) -> bytes:
    """A picture of a page that says this."""
    output_of(
        container,
        "bash",
        "-c",
        f"cd /workspace && printf '<meta charset=utf-8><h1>%s</h1>' '{text}' >page.html && "
        "chromium --headless --user-data-dir=/tmp/profile --window-size=300,120 --screenshot=/workspace/page.png "
        "file:///workspace/page.html >/tmp/log 2>&1",
    )
    # The engine's own copy does not reach into a tmpfs.
    return output_of(container, "cat", "/workspace/page.png")


@pytest.mark.chromium
def test_chromium_draws_chinese_japanese_korean_and_emoji_with_real_glyphs(engine: docker.DockerClient) -> None:
    with container_of(engine, BROWSER) as container:
        unknown = {shot(container, text) for text in ("\ue123", "\ue124")}
        known = [shot(container, text) for text in ("中", "国", "ひ", "한", "국", "😀", "Ж")]

    assert all(picture.startswith(b"\x89PNG") for picture in known)
    assert len(unknown) == 1, "a character that no font has is drawn as one and the same box"
    assert len({*known, *unknown}) == 8


@pytest.mark.chromium
@pytest.mark.parametrize("runtime", ["runc", "runsc"])
async def test_chromium_answers_on_its_debugging_port(engine: docker.DockerClient, runtime: str) -> None:
    start = "chromium --headless --user-data-dir=/tmp/profile --remote-debugging-port=9222 about:blank >/tmp/log 2>&1 &"
    ask = "curl -sS --retry 60 --retry-delay 1 --retry-connrefused http://127.0.0.1:9222/json/version"
    with container_of(engine, BROWSER, runtime) as container:
        container.exec_run(["bash", "-c", start], detach=True)
        told = output_of(container, *ask.split())

    assert b"webSocketDebuggerUrl" in told


def test_a_folder_that_is_unchanged_is_not_built_again(engine: docker.DockerClient, docker_host: str) -> None:
    before = [engine.images.get(image).id for image in (BASE, BROWSER)]

    again = run(SETUP / "images.sh", "base", "browser", variables={"DOCKER_HOST": docker_host})

    assert [engine.images.get(image).id for image in (BASE, BROWSER)] == before
    assert "docker build" not in again.told


def test_an_image_that_cannot_be_built_ends_in_one_line_that_says_why(copied_project: Path, docker_host: str) -> None:
    broken = copied_project / "sandbox_images" / "broken"
    broken.mkdir()
    (broken / "Dockerfile").write_text("FROM scratch\nCOPY no-such-file /\n")
    script = copied_project / "deploy" / "setup" / "images.sh"

    told = run(script, "broken", variables={"DOCKER_HOST": docker_host})
    unknown = run(script, "nothing", variables={"DOCKER_HOST": docker_host})
    nowhere = run(script, "base", variables={"DOCKER_HOST": ""})

    assert (told.code, unknown.code, nowhere.code) == (1, 1, 1)
    assert "no-such-file" in told.last_line
    assert "'nothing'" in unknown.last_line
    assert "DOCKER_HOST" in nowhere.last_line
