"""docs/frames.md: every golden frame in hex and in words, and the values that are not frames.

For whoever writes the other end and wants to see where a byte comes from. The page is written by
`python -m tests.golden.regenerate`, and a test compares it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from protocol.numbers import SWIPE_VOID
from protocol.proof.seal import Sealer, sealed_bytes
from protocol.proof.tail import tail_bytes
from protocol.secrets.cards import card_key, swipe_proof
from protocol.wire import enrolment, events, profile
from protocol.wire.framing import frame
from protocol.wire.in_words import in_words
from protocol.wire.messages import Message
from protocol.wire.rows import SeenTail
from tests.kit.message_samples import EVENT_BODIES, JOURNAL_ID, TAIL, event_chain, samples
from tests.kit.places import DOCS

PAGE = DOCS / "frames.md"
LINE_DIGITS = 96
UNIT_ID = "UF-0001"
# No key of anybody: an example must be the same each time.
SEAL_KEY = bytes(range(32))
NONCE = bytes(range(16))
CA_CERTIFICATE = b"(the CA's certificate, DER)"
SIGNING_REQUEST = b"(a signing request, DER)"
HEAD = """# Frames, in hex and in words

Written by `python -m tests.golden.regenerate`; a test compares it with the code. The first four
bytes of a frame are its length. What they mean is in [protocol.md](protocol.md). The words are
CBOR's diagnostic notation (RFC 8949, section 8), with the name of each field before its value.
"""


def wrapped(digits: str) -> Iterator[str]:
    for start in range(0, len(digits), LINE_DIGITS):
        yield digits[start : start + LINE_DIGITS]


def section(name: str, message: Message) -> Iterator[str]:
    yield f"\n## {name}\n\n```"
    yield from wrapped(frame(message.encode()).hex())
    yield "```\n\n```"
    yield from in_words(message)
    yield "```"


def value(name: str, sentence: str, shown: bytes | str) -> Iterator[str]:
    yield f"\n## {name}\n\n{sentence}\n\n```"
    yield from wrapped(shown if isinstance(shown, str) else shown.hex())
    yield "```"


def enrolment_samples() -> dict[str, Message]:
    sealer = Sealer(UNIT_ID, SEAL_KEY)
    request = enrolment.Request(UNIT_ID, "7-K3QX-9M2T", SIGNING_REQUEST, sealer.public_key)
    return {
        "enrolment: offer": enrolment.Offer(CA_CERTIFICATE),
        "enrolment: request": request,
        "enrolment: waiting": enrolment.Waiting(NONCE),
        "enrolment: granted": enrolment.Granted(b"(the unit's certificate, DER)"),
        "enrolment: denied": enrolment.Denied("This code is not known, or no longer good."),
    }


def page() -> str:
    lines = [HEAD]
    for name, message in (samples() | enrolment_samples()).items():
        lines.extend(section(name, message))
    lines.extend(_digests())
    lines.extend(_six_digits())
    lines.extend(_seal())
    lines.extend(_card())
    return "\n".join(lines) + "\n"


def _digests() -> Iterator[str]:
    first, second = event_chain()[:2]
    yield from value(
        "the digest before the first event",
        f"The journal id {JOURNAL_ID.hex()} and 16 zero bytes.",
        JOURNAL_ID + bytes(16),
    )
    for event in (first, second):
        covered = profile.encode(
            [event.sequence, event.kind, dict(event.body), event.monotonic_ms, event.wall_ms]
        )
        yield from value(
            f"what the digest of event {event.sequence} covers",
            "After the digest before it. SHA-256 over both is the digest of the frame above.",
            covered,
        )
    assert events.EVENT_TYPES[first.kind] is type(EVENT_BODIES[0])


def _six_digits() -> Iterator[str]:
    request = enrolment_samples()["enrolment: request"]
    assert isinstance(request, enrolment.Request)
    covered = b"".join((b"underfelt enrolment 1", NONCE, CA_CERTIFICATE, request.content()))
    yield from value(
        "what the six digits cover",
        "The frames above: nonce of waiting, certificate of offer, fields of request.",
        covered,
    )
    digits = enrolment.match_number(NONCE, CA_CERTIFICATE, request.content())
    eight = hashlib.sha256(covered).digest()[:8].hex()
    yield from value("the six digits", f"From the first eight bytes of SHA-256, {eight}.", digits)


def _seal() -> Iterator[str]:
    event = event_chain()[5]
    sealer = Sealer(UNIT_ID, SEAL_KEY)
    covered = sealed_bytes(UNIT_ID, JOURNAL_ID, event.sequence, event.digest, "claim")
    yield from value("what a seal's signature covers", "The seal of event 6, a claim.", covered)
    seal = sealer.seal(JOURNAL_ID, event.sequence, event.digest, "claim")
    yield from value(
        "the seal's signature",
        f"Ed25519 under the private key {SEAL_KEY.hex()}, whose public key is "
        f"{sealer.public_key.hex()}.",
        seal.signature,
    )
    seen = SeenTail(*TAIL[:3])
    covered = sealed_bytes(UNIT_ID, JOURNAL_ID, event.sequence, event.digest, "claim", (seen,))
    yield from value("the same with a tail", "Transaction 1240 was told before.", covered)
    yield from value(
        "what a tail's signature covers", "Era 0, transaction 1240.", tail_bytes(*TAIL[:3])
    )


def _card() -> Iterator[str]:
    salt, account = bytes(range(100, 116)), "6012345000000017"
    key = card_key(salt, account)
    sentence = f"Of the account number {account} under the salt {salt.hex()}."
    yield from value("a card's key", sentence, key)
    covered = f'["underfelt swipe 1", "{UNIT_ID}", {SWIPE_VOID}, 7, []]'
    sentence = f"HMAC-SHA-256 with that key over {covered}: round 7 is to be void."
    yield from value("a card's proof", sentence, swipe_proof(key, UNIT_ID, SWIPE_VOID, 7, []))
