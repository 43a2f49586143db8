"""The health page answers truly, and bad questions do not stop it."""

import asyncio

import httpx
import pytest

from runtime.health import Health, serve_health


@pytest.mark.parametrize(("healthy", "status"), [(True, 200), (False, 503)])
async def test_the_page_tells_what_the_process_reports(healthy: bool, status: int) -> None:
    report = Health(healthy=healthy, detail={"queues": 4})
    async with serve_health(0, lambda: report) as port, httpx.AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{port}/health?x=1")

    assert answer.status_code == status
    assert answer.json() == {"healthy": healthy, "detail": {"queues": 4}}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b"404"),
        (b"POST /health HTTP/1.1\r\n\r\n", b"405"),
        (b"GET /health\r\n\r\n", b"404"),
        (b"\x00\xff\r\n\r\n", b"404"),
        (b"x" * 20_000, b""),
        (b"GET /health HTTP/1.1\r\n", b""),
    ],
)
async def test_a_bad_question_gets_its_answer_and_the_page_goes_on(question: bytes, answer: bytes) -> None:
    async with serve_health(0, lambda: Health(healthy=True)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(question)
        writer.write_eof()
        try:
            got = await reader.read()
        except ConnectionResetError:
            got = b""
        writer.close()

        async with httpx.AsyncClient() as client:
            after = await client.get(f"http://127.0.0.1:{port}/health")

    assert got.partition(b" ")[2][:3] == answer
    assert after.status_code == 200


async def test_a_port_in_use_is_an_error_at_once() -> None:
    async with serve_health(0, lambda: Health(healthy=True)) as port:
        with pytest.raises(OSError, match=str(port)):
            async with serve_health(port, lambda: Health(healthy=True)):
                pass
