"""The keys in a manager's folder: which one signs the ledger's tail."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from manager.identity.errors import IdentityError
from manager.identity.folder import IdentityFolder
from protocol.proof.tail import is_signed


def test_the_ledgers_tail_is_signed_with_the_managers_own_private_key(tmp_path: Path) -> None:
    """Catches: a tail signed with another key, which neither unit nor auditor could check."""
    folder = IdentityFolder(tmp_path)
    folder.ensure()
    public_key = x509.load_pem_x509_certificate(folder.manager.read_bytes()).public_key()
    assert isinstance(public_key, ec.EllipticCurvePublicKey)
    assert is_signed(public_key, folder.tail_signer().sign(1, 7, bytes(32)))
    other = ed25519.Ed25519PrivateKey.generate()
    encoded = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    folder.manager_key.write_bytes(encoded)
    with pytest.raises(IdentityError, match="not a P-256 key"):
        folder.tail_signer()
    folder.manager_key.chmod(0o640)
    with pytest.raises(IdentityError, match="can be read by others"):
        folder.tail_signer()
