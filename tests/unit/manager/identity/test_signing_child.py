"""A certificate signed beside the manager: the certificate, or one sentence why there is none."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from manager.identity import certificates, signing_child
from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder


class Beside(ThreadPoolExecutor):
    """Stands for the process of its own: a start of one costs a second."""

    def __init__(self, count: int, _context: object) -> None:
        super().__init__(count)


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing_child, "ProcessPoolExecutor", Beside)


def test_the_certificate_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    folder = IdentityFolder(tmp_path)
    folder.ensure()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "UF-1")])
    builder = x509.CertificateSigningRequestBuilder(name)
    request = builder.sign(certificates.new_key(), hashes.SHA256()).public_bytes(Encoding.DER)
    issued = asyncio.run(signing_child.sign_beside(tmp_path, "UF-1", request))
    certificates.check_issued(issued, folder.ca_der(), "UF-1", request)


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (PermissionError(13, "Permission denied"), "The CA's key cannot be used here: .*denied"),
        (BrokenProcessPool("it was killed"), "could not be signed; try it again"),
        (TimeoutError(), "could not be signed; try it again"),
        (IdentityError("The signing request cannot be read."), "request cannot be read"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_whatever_fails_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception, sentence: str
) -> None:
    """Catches: a failure that is passed over, and an answer without a certificate."""

    def failing(*_: object) -> bytes:
        raise failure

    monkeypatch.setattr(signing_child, "_sign", failing)
    with pytest.raises(IdentityError, match=sentence):
        asyncio.run(signing_child.sign_beside(tmp_path, "UF-1", b""))


@pytest.mark.parametrize("fails", [False, True])
def test_the_process_lives_for_one_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """Catches: processes that stay, each with the key that signs for the whole floor."""
    pools: list[Counted] = []

    class Counted(Beside):
        def __init__(self, count: int, context: object) -> None:
            super().__init__(count, context)
            pools.append(self)
            self.told: list[object] = [count]

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            self.told.append((wait, cancel_futures))
            super().shutdown(wait, cancel_futures=cancel_futures)

    def sign(*_: object) -> bytes:
        if fails:
            raise OSError("no key")
        return b"certificate"

    monkeypatch.setattr(signing_child, "ProcessPoolExecutor", Counted)
    monkeypatch.setattr(signing_child, "_sign", sign)
    signing = signing_child.sign_beside(tmp_path, "UF-1", b"")
    if fails:
        with pytest.raises(IdentityError, match="cannot be used here"):
            asyncio.run(signing)
    else:
        assert asyncio.run(signing) == b"certificate"
    (pool,) = pools
    # One process; and nobody waits for one that hangs, nor begins it after all.
    assert pool.told == [1, (False, True)]
