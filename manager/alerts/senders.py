"""How one message leaves the house: an HTTP request, or a mail by SMTP. Blocking, and bounded.

Each call either returns, and the other side has taken the message, or raises `NotTaken` with the
reason. Nothing of a secret is in a reason.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import smtplib
import ssl
from urllib.parse import urlsplit

from manager.alerts.message import Message
from manager.alerts.settings import PLAIN, TLS, Destination, Email, Webhook

TIMEOUT_S = 10.0
SIGNATURE = "X-Underfelt-Signature"  # sha256=HEX: HMAC of the body with the webhook's secret
REASON_MAX = 200


class NotTaken(Exception):  # noqa: N818
    """The other side has not taken a message; the sentence says why."""


def send(destination: Destination, message: Message, now_ms: int) -> None:
    try:
        if isinstance(destination, Webhook):
            _post(destination, message)
        else:
            _mail(destination, message, now_ms)
    except (OSError, http.client.HTTPException, smtplib.SMTPException, ValueError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise NotTaken(said[:REASON_MAX]) from error


def signature(secret: str, body: bytes) -> str:
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def _post(webhook: Webhook, message: Message) -> None:
    """Redirects are not followed: an alarm goes where the file says, or nowhere."""
    parts, body = urlsplit(webhook.url), message.as_json()
    host, port = parts.hostname or "", parts.port
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        connection = http.client.HTTPSConnection(host, port, timeout=TIMEOUT_S, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_S)
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Underfelt",
        "Idempotency-Key": message.key,
        SIGNATURE: signature(webhook.secret, body),
    }
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", target, body, headers)
        answer = connection.getresponse()
        answer.read(1)  # what else it says is nobody's business
        if not 200 <= answer.status < 300:
            raise NotTaken(f"it answered with status {answer.status}")
    finally:
        connection.close()


def _mail(settings: Email, message: Message, now_ms: int) -> None:
    mail = message.as_mail(settings, now_ms)
    context = ssl.create_default_context()
    with _smtp(settings, context) as server:
        if settings.security not in (PLAIN, TLS):
            server.starttls(context=context)
        if settings.user:
            server.login(settings.user, settings.password)
        refused = server.send_message(mail)
        if refused:  # somebody was told; trying again would tell them twice
            raise PartlyTaken(f"it refused {len(refused)} of {len(settings.to)} addresses")


def _smtp(settings: Email, context: ssl.SSLContext) -> smtplib.SMTP:
    if settings.security == TLS:
        return smtplib.SMTP_SSL(settings.host, settings.port, timeout=TIMEOUT_S, context=context)
    return smtplib.SMTP(settings.host, settings.port, timeout=TIMEOUT_S)


class PartlyTaken(NotTaken):
    """Some addresses were refused, and the others have it."""
