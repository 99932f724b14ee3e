"""The ledger's tail: signed, printed, found again, and when it contradicts what was told before."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from protocol.proof.seal import Sealer, is_genuine
from protocol.proof.tail import TailSigner, in_lines, is_signed, objection, printed, said, tails_in
from protocol.wire.rows import LedgerTail, SeenTail

DIGEST, OTHER = bytes(range(32)), bytes(32)
KEY = ec.generate_private_key(ec.SECP256R1())
TAIL = TailSigner(KEY).sign(1, 1234, DIGEST)


def test_only_the_managers_word_on_this_very_tail_is_signed() -> None:
    public_key = KEY.public_key()
    assert is_signed(public_key, TAIL)
    assert not is_signed(ec.generate_private_key(ec.SECP256R1()).public_key(), TAIL)
    for other in (
        TAIL._replace(era=2),
        TAIL._replace(number=1235),
        TAIL._replace(digest=OTHER),
        TAIL._replace(signature=bytes(64)),
        said(None, 1, 1234, DIGEST),
    ):
        assert not is_signed(public_key, other)


def test_a_printed_tail_is_found_again_whatever_stands_around_it() -> None:
    unsigned = said(None, 0, 7, OTHER)
    page = f"<p>Win 3</p>\n<code>{printed(TAIL)}</code> and {printed(unsigned)}, UFTAIL-1-2-3-4"
    assert tails_in(page) == [TAIL, unsigned]
    assert tails_in("UFTAIL-0-1-" + "0" * 63 + "-") == []


def test_a_tail_is_found_on_narrow_paper() -> None:
    """Catches: a scanned sheet whose tail loses its signature at the end of a line."""
    lines = in_lines(printed(TAIL))
    assert max(map(len, lines)) <= 64
    assert tails_in("Win 3\n" + "\r\n  ".join(lines) + "\nDealer") == [TAIL]
    assert not any(tails_in(line) for line in lines)


@pytest.mark.parametrize(
    ("told", "digest_then", "words"),
    [
        (TAIL, DIGEST, ""),
        (TAIL._replace(number=1300, digest=OTHER), DIGEST, ""),
        (TAIL._replace(number=1300, digest=OTHER), OTHER, "another transaction 1234"),
        (TAIL._replace(number=1300), b"", "another transaction 1234"),
        (TAIL._replace(number=1233), DIGEST, "went back to transaction 1233; 1234 was told here"),
        (TAIL._replace(era=0, number=2000), DIGEST, "went back to transaction 2000"),
        (TAIL._replace(era=2, number=10), b"", ""),
        (None, b"", "shows no ledger"),
    ],
)
def test_a_ledger_that_went_back_or_differs_is_objected_to(
    told: LedgerTail | None, digest_then: bytes, words: str
) -> None:
    """Catches: the era, the number or the digest not looked at."""
    said_of_it = objection(TAIL, told, digest_then)
    assert words in said_of_it
    assert bool(said_of_it) == bool(words)


def test_a_seal_countersigns_the_tail_that_was_told() -> None:
    """Catches: a tail that stands beside the seal, and not under its signature."""
    sealer = Sealer("UF-1", bytes(range(32)))
    seen = SeenTail(0, 12, DIGEST)
    seal = sealer.seal(bytes(16), 3, OTHER, "claim", (seen,))
    assert seal.tail == (seen,)
    assert is_genuine([sealer.public_key], "UF-1", bytes(16), OTHER, seal)
    for other in ((), (seen._replace(number=11),), (seen._replace(digest=OTHER),)):
        forged = type(seal)(seal.sealed_sequence, seal.reason, seal.signature, other)
        assert not is_genuine([sealer.public_key], "UF-1", bytes(16), OTHER, forged)
