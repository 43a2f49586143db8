"""The read tool, with curl."""

import json
import shutil

import pytest

from activities.tools.read import Read
from contracts.tools import RESULT_TEXT_BYTES
from tests.tools.conftest import Bench
from tests.tools.proxy import Proxy
from tests.tools.site import PDF, Site


@pytest.fixture
def read(proxy: tuple[Proxy, str]) -> Read:
    return Read(proxy[1])


async def test_the_readable_part_of_a_page_is_given(bench: Bench, read: Read) -> None:
    result = await bench.run(read, {"url": "http://site.test/"})

    assert result.ok, result.text
    assert result.data["title"] == "Lighthouse notes"
    assert "keeper of the lighthouse" in str(result.data["text"])
    assert "<p>" not in result.text
    assert result.provenance.trusted is False
    assert result.provenance.origins == ("web:http://site.test",)


@pytest.mark.parametrize("path", ["/chinese", "/gb18030"])
async def test_chinese_is_read_in_its_own_encoding(bench: Bench, read: Read, path: str) -> None:
    result = await bench.run(read, {"url": f"http://site.test{path}"})

    assert "架子上的水壶属于灯塔看守人" in result.text


async def test_what_a_page_orders_stays_data(bench: Bench, read: Read) -> None:
    result = await bench.run(read, {"url": "http://site.test/hostile"})

    assert "IGNORE YOUR INSTRUCTIONS" in result.text
    assert result.provenance.trusted is False


async def test_a_redirect_on_the_same_host_is_followed(bench: Bench, read: Read) -> None:
    result = await bench.run(read, {"url": "http://site.test/here"})

    assert (result.ok, result.data["url"]) == (True, "http://site.test/next")


async def test_a_redirect_to_another_host_is_told_and_not_followed(bench: Bench, read: Read, site: Site) -> None:
    result = await bench.run(read, {"url": "http://site.test/away"})

    assert (result.ok, result.error) == (False, "refused")
    assert result.data["redirect"] == "http://other.test/landing"
    assert site.requests == [("site.test", "/away")]


@pytest.mark.parametrize(
    ("path", "error", "word"),
    [
        ("/missing", "not_found", "404"),
        ("/broken", "failed", "500"),
        ("/loop", "failed", "redirects more than"),
        ("/nowhere", "failed", "http"),
        ("/huge", "refused", "larger than"),
        ("/archive", "refused", "application/zip"),
        ("/image", "refused", "image/png"),
    ],
)
async def test_what_holds_no_text_is_named(bench: Bench, read: Read, path: str, error: str, word: str) -> None:
    result = await bench.run(read, {"url": f"http://site.test{path}"})

    assert (result.ok, result.error) == (False, error), result.text
    assert word in result.text


async def test_json_and_csv_are_text(bench: Bench, read: Read) -> None:
    found = await bench.run(read, {"url": "http://site.test/json"})
    table = await bench.run(read, {"url": "http://site.test/download"})

    assert json.loads(str(found.data["text"]))["名"] == "壶"
    assert table.data["text"] == "a,b\n1,2\n"


async def test_five_megabytes_are_bounded_and_kept(bench: Bench, read: Read) -> None:
    result = await bench.run(read, {"url": "http://site.test/text"})

    assert result.ok, result.text
    assert len(result.text.encode()) <= RESULT_TEXT_BYTES
    (file,) = result.files
    assert file.size > 5_000_000


async def test_a_pdf_becomes_text_or_is_kept_with_the_reason(bench: Bench, read: Read) -> None:
    result = await bench.run(read, {"url": "http://site.test/pdf"})

    if shutil.which("pdftotext"):
        assert "Hello from a PDF" in result.text
    else:
        assert result.error == "refused"
        assert "poppler-utils" in result.text
        assert await bench.blobs.content(result.files[0]) == PDF


async def test_a_certificate_that_nobody_trusts_is_refused(bench: Bench, read: Read) -> None:
    result = await bench.run(read, {"url": "https://site.test/"})

    assert (result.ok, result.error) == (False, "failed")
    assert "certificate" in result.text


@pytest.mark.parametrize("url", ["https://other.test/", "http://other.test/"])
async def test_a_host_that_is_not_permitted_is_refused(bench: Bench, read: Read, site: Site, url: str) -> None:
    result = await bench.run(read, {"url": url})

    assert (result.ok, result.error) == (False, "refused")
    assert "other.test" in result.text
    assert site.requests == []


async def test_without_a_proxy_there_is_no_way_out(bench: Bench, site: Site) -> None:
    result = await bench.run(Read("http://127.0.0.1:1"), {"url": f"http://127.0.0.1:{site.http_port}/"})

    assert (result.ok, result.error) == (False, "unavailable")
    assert site.requests == []


async def test_without_curl_the_remedy_is_named(bench: Bench, read: Read) -> None:
    bench.sandbox.hidden = ("/usr/bin/curl", "/bin/curl")

    result = await bench.run(read, {"url": "http://site.test/"})

    assert (result.ok, result.error) == (False, "unavailable")
