"""The service page's door: closed unless opened, plain on this machine, by TLS on the network."""

from __future__ import annotations

import asyncio
import hashlib
import re
import ssl
from collections.abc import Coroutine
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from controller.__main__ import _service_page
from controller.config import WebSection, parse_unit_config
from controller.link.identity import IdentityFault
from controller.service.live.event_log import LogTail
from controller.service.page.door import open_service_door
from kit.config import ConfigError
from protocol.secrets.tls import fingerprint
from tests.kit.places import table_path

UPLOT = Path(open_service_door.__code__.co_filename).parent / "static" / "uplot"
# uPlot 1.6.32 as its author published it, and its licence.
PUBLISHED = {
    "uplot.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    "uplot.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
}


def test_every_shipped_table_keeps_it_closed() -> None:
    for path in table_path("four-card-touch").parent.glob("*.toml"):
        assert parse_unit_config(path.read_text()).web.service_port == 0, path.stem


def test_on_this_machine_it_is_plain(tmp_path: Path) -> None:
    door = open_service_door(WebSection(port=0, service_port=18082), "UF-1", tmp_path)
    with door.listener:
        assert door.url.startswith("http://127.0.0.1:")
        assert door.tls is None


def test_on_the_network_it_is_tls_by_a_certificate_that_stays(tmp_path: Path) -> None:
    (tmp_path / "identity").mkdir()
    web = WebSection(port=0, service_port=18082, service_host="0.0.0.0")
    doors = [open_service_door(web, "UF-1", tmp_path) for _ in range(2)]
    pem = tmp_path / "identity" / "service.pem"
    for door in doors:
        assert door.tls is not None
        with door.listener:
            assert door.url.startswith("https://")
            assert door.tls.minimum_version == ssl.TLSVersion.TLSv1_3
    text = pem.read_text()
    der = ssl.PEM_cert_to_DER_cert(text[text.index("-----BEGIN CERTIFICATE") :])
    assert doors[0].fingerprint == doors[1].fingerprint == fingerprint(der)
    assert pem.stat().st_mode & 0o077 == 0
    pem.chmod(0o644)
    with pytest.raises(IdentityFault, match="read by others"):
        open_service_door(web, "UF-1", tmp_path)


def test_it_needs_a_port_of_its_own() -> None:
    text = table_path("four-card-touch").read_text()
    opened = text.replace("display_port = 8081", "display_port = 8081\nservice_port = 8081")
    with pytest.raises(ConfigError, match="a port of its own"):
        parse_unit_config(opened)


def test_the_plotting_library_is_the_published_one() -> None:
    for name, digest in PUBLISHED.items():
        assert hashlib.sha256((UPLOT / name).read_bytes()).hexdigest() == digest
    assert "MIT" in (UPLOT / "LICENSE.txt").read_text()


def trusting(pem: Path) -> ssl.SSLContext | None:
    if not pem.exists():
        return None
    context = ssl.create_default_context(cafile=str(pem))
    context.check_hostname = False  # an address is no name; the certificate is pinned
    return context


async def first_page(coroutine: Coroutine[Any, Any, None], door: tuple[str, int], pem: Path) -> str:
    """What a browser that trusts the unit's own certificate is shown first."""
    serving = asyncio.create_task(coroutine, name="service page")
    reader, writer = await asyncio.open_connection(*door, ssl=trusting(pem))
    writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    page = await reader.read()
    writer.close()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    return page.decode()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_unit_whose_file_opens_it_serves_the_sign_in(
    tmp_path: Path, host: str, caplog: pytest.LogCaptureFixture
) -> None:
    """As `python -m controller run` opens it, plain and by TLS."""
    (tmp_path / "identity").mkdir()
    opened = f'display_port = 8081\nservice_port = 18083\nservice_host = "{host}"'
    text = table_path("four-card-touch").read_text().replace("display_port = 8081", opened)
    unit = MagicMock()
    unit.service.log, unit.service.name = LogTail(), "Four Card Poker 7"
    caplog.set_level("INFO", "controller")

    async def look() -> str:
        page = _service_page(parse_unit_config(text), unit, tmp_path)
        port = int(re.findall(r"http\S*:(\d+)/", caplog.text)[-1])
        return await first_page(page, ("127.0.0.1", port), tmp_path / "identity/service.pem")

    shown = asyncio.run(look())
    assert "Four Card Poker 7" in shown
    assert "PIN" in shown
    assert ("https://" in caplog.text) == (host == "0.0.0.0")
