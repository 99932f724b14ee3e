"""The service door over the network: HTTP by TLS, and the certificate known by its fingerprint.

Nothing is sent before the certificate was compared, so that a stranger in the unit's place never
hears a PIN. Plain HTTP is spoken only with this machine itself, as on the unit or by an SSH tunnel.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from deploy.tech.door import SILENCE_MAX_S, Answer, UnitGone
from kit.command_line import CommandRefused
from protocol.secrets.tls import fingerprint

DEFAULT_PORT: Final = 8082
ANSWER_BYTES_MAX: Final = 32 * 1024 * 1024
LINE_BYTES_MAX: Final = 1024 * 1024
CHUNK_BYTES: Final = 65_536
FAR_PLAIN: Final = "Without TLS the PIN could be read on the way: use https://."

# Raises CommandRefused for a fingerprint that is not this unit's.
Check = Callable[[str], None]


class HttpsDoor:
    def __init__(
        self, host: str, port: int, check: Check | None, headers: Mapping[str, str] | None = None
    ) -> None:
        """Without `check` the door is plain, and must be on this machine."""
        if check is None and not _is_here(host):
            raise CommandRefused(FAR_PLAIN)
        self._host, self._port, self._check = host, port, check
        self._headers = dict(headers or {})
        self._cookies: dict[str, str] = {}

    def ask(self, method: str, path: str, fields: Mapping[str, str] | None = None) -> Answer:
        connection, response = self._send(method, path, fields)
        try:
            body = response.read(ANSWER_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            raise self._gone(error) from error
        finally:
            connection.close()
        return Answer(response.status, body)

    def stream(self, path: str) -> Iterator[dict[str, Any]]:
        connection, response = self._send("GET", path, None)
        try:
            if response.status != http.HTTPStatus.OK:
                raise CommandRefused(Answer(response.status, response.read(CHUNK_BYTES)).sentence())
            while line := response.readline(LINE_BYTES_MAX):
                if line.startswith(b"data: "):
                    yield Answer(response.status, line.removeprefix(b"data: ")).json()
        except (OSError, http.client.HTTPException) as error:
            raise self._gone(error) from error
        finally:
            connection.close()

    def close(self) -> None:
        """Each question has a connection of its own, and ended it."""

    def _send(
        self, method: str, path: str, fields: Mapping[str, str] | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = self._connection()
        headers = {"content-type": "application/json", **self._headers}
        if self._cookies:
            headers["cookie"] = "; ".join(
                f"{name}={value}" for name, value in self._cookies.items()
            )
        body = None if fields is None else json.dumps(dict(fields)).encode()
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self._gone(error) from error
        for cookie in response.headers.get_all("set-cookie", []):
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        return connection, response

    def _connection(self) -> http.client.HTTPConnection:
        if self._check is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=SILENCE_MAX_S)
        connection = http.client.HTTPSConnection(
            self._host, self._port, timeout=SILENCE_MAX_S, context=_context()
        )
        try:
            connection.connect()
            self._check(_fingerprint_of(connection))
        except OSError as error:
            connection.close()
            raise self._gone(error) from error
        except CommandRefused:
            connection.close()
            raise
        return connection

    def _gone(self, error: Exception) -> UnitGone:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        if isinstance(error, FileNotFoundError):
            # No file is meant: OpenSSL tells of a broken handshake by whatever errno stood there.
            reason = "it broke the connection off. Try again"
        return UnitGone(f"{self._host}:{self._port} does not answer: {reason}.")


def split_url(text: str) -> tuple[bool, str, int]:
    """By TLS or not, host and port of `host`, `host:port` or a URL."""
    url = urlsplit(text if "//" in text else f"https://{text}")
    try:
        port = url.port or DEFAULT_PORT
    except ValueError as error:
        raise CommandRefused(
            f"{text!r:.60} is no address such as 10.0.0.7:{DEFAULT_PORT}."
        ) from error
    if url.scheme not in ("http", "https") or not url.hostname:
        raise CommandRefused(f"{text!r:.60} is no address such as 10.0.0.7:{DEFAULT_PORT}.")
    return url.scheme == "https", url.hostname, port


def _context() -> ssl.SSLContext:
    """No authority signs this certificate (decision 056): its fingerprint is compared instead."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _fingerprint_of(connection: http.client.HTTPSConnection) -> str:
    socket = connection.sock
    assert isinstance(socket, ssl.SSLSocket)
    certificate = socket.getpeercert(binary_form=True)
    assert certificate is not None, "a TLS server always shows one"
    return fingerprint(certificate)


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
