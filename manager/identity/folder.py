"""Where the floor's keys lie: one folder beside the ledger, readable by the manager alone.

It makes the CA and the manager's own certificate once, all or nothing, and refuses keys that others
can read. The CA's key is needed only to issue a certificate: serving tables does not open it, so
it may be kept elsewhere and named when it is needed.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from kit.files import write_private
from manager.identity import certificates
from manager.identity.errors import IdentityError
from protocol.proof.tail import TailSigner
from protocol.secrets import tls

_log = logging.getLogger(__name__)

FOLDER_NAME = "identity"


class IdentityFolder:
    def __init__(self, data: Path) -> None:
        self.path = data / FOLDER_NAME
        self.ca = self.path / "ca.pem"
        self.ca_key = self.path / "ca.key"
        self.manager = self.path / "manager.pem"
        self.manager_key = self.path / "manager.key"
        self.web = self.path / "web.pem"
        self.web_key = self.path / "web.key"
        self.database = self.path / "identity.sqlite"

    def ensure(self) -> None:
        """Makes the folder with a new floor CA when there is none yet."""
        if not self.path.exists():
            self._make()
        check_private(self.manager_key)

    def ca_der(self) -> bytes:
        return certificates.der(self._load_ca())

    def ca_fingerprint(self) -> str:
        """What a unit is told, so that it can recognise this floor's manager."""
        return tls.fingerprint(self.ca_der())

    def load_issuer(
        self, key_path: Path | None = None
    ) -> tuple[x509.Certificate, certificates.Key]:
        """The CA's certificate and key, for issuing."""
        path = key_path or self.ca_key
        check_private(path)
        key = load_pem_private_key(path.read_bytes(), password=None)
        ca = self._load_ca()
        if not isinstance(key, certificates.Key) or key.public_key() != ca.public_key():
            raise IdentityError(f"{path} is not the key of this floor's CA.")
        return ca, key

    def tail_signer(self) -> TailSigner:
        """The manager's own key, for its word on the ledger's end."""
        check_private(self.manager_key)
        key = load_pem_private_key(self.manager_key.read_bytes(), password=None)
        if not isinstance(key, certificates.Key):
            raise IdentityError(f"{self.manager_key} is not a P-256 key.")
        return TailSigner(key)

    def issue(self, unit_id: str, signing_request: bytes, ca_key: Path | None = None) -> bytes:
        """A unit's certificate; the one thing that needs the CA's key."""
        ca, key = self.load_issuer(ca_key)
        public_key = certificates.read_request(signing_request, unit_id)
        return certificates.der(certificates.issue_unit(ca, key, unit_id, public_key))

    def ensure_web(self, names: Collection[str], now: datetime, ca_key: Path | None = None) -> None:
        """A certificate for the pages under these names, made anew before the old one ends.

        It needs the CA's key. Where that is kept elsewhere, an old certificate stays in use.
        """
        if self._web_is_good(names, now):
            return
        try:
            ca, issuer = self.load_issuer(ca_key)
        except IdentityError as error:
            if ca_key is None and self.web.exists():
                _log.warning("The pages keep their old certificate: %s", error)
                return
            raise
        key = certificates.new_key()
        issued = certificates.issue_web(ca, issuer, key, names, now)
        # The key first: a certificate whose key is not there yet would not be served.
        write_private(self.web_key, certificates.key_pem(key))
        write_private(self.web, certificates.pem(issued))

    def _web_is_good(self, names: Collection[str], now: datetime) -> bool:
        try:
            found = x509.load_pem_x509_certificate(self.web.read_bytes())
            key = load_pem_private_key(self.web_key.read_bytes(), password=None)
        except (OSError, ValueError):
            return False
        is_pair = key.public_key() == found.public_key()
        return is_pair and certificates.is_good_for(found, names, now)

    def _load_ca(self) -> x509.Certificate:
        try:
            return x509.load_pem_x509_certificate(self.ca.read_bytes())
        except (OSError, ValueError, x509.InvalidVersion) as error:
            raise IdentityError(f"The floor CA's certificate {self.ca} cannot be read.") from error

    def _make(self) -> None:
        # Under another name first: after a power cut there is a whole folder or none.
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".identity-", dir=self.path.parent))
        try:
            _write_keys(unfinished)
            unfinished.rename(self.path)
        except OSError:
            if not self.path.exists():  # another process may have been faster, which is as good
                raise
            shutil.rmtree(unfinished, ignore_errors=True)


def _write_keys(folder: Path) -> None:
    ca_key, manager_key = certificates.new_key(), certificates.new_key()
    ca = certificates.make_ca(ca_key)
    manager = certificates.issue_manager(ca, ca_key, manager_key)
    write_private(folder / "ca.key", certificates.key_pem(ca_key))
    write_private(folder / "manager.key", certificates.key_pem(manager_key))
    write_private(folder / "ca.pem", certificates.pem(ca))
    write_private(folder / "manager.pem", certificates.pem(manager))


def check_private(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise IdentityError(f"The key {path} cannot be read: {error.strerror}.") from error
    if mode & 0o077:
        raise IdentityError(f"The key {path} can be read by others; it must be mode 600.")
