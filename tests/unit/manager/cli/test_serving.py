"""Under which names a manager's pages are asked for."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

import pytest
from cryptography import x509

from manager.cli.serving import _web_door
from manager.identity.folder import IdentityFolder

NAME = "north.house.example"


@pytest.mark.parametrize("is_plain", [False, True])
def test_the_address_that_others_are_told_is_a_name_of_the_pages(
    tmp_path: Path, is_plain: bool
) -> None:
    """Catches: links to a manager's pages, and what is handed over to it, that its pages refuse."""
    options = Namespace(
        data=tmp_path,
        web_name=["pages.example"],
        reached_at=NAME,
        web_plain=is_plain,
        web_host="127.0.0.1",
        entrance=None,
    )
    assert list(_web_door(options).names) == ["pages.example", NAME]
    if not is_plain:
        issued = x509.load_pem_x509_certificate(IdentityFolder(tmp_path).web.read_bytes())
        known = issued.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert NAME in known.get_values_for_type(x509.DNSName)
    options.reached_at = None
    assert list(_web_door(options).names) == ["pages.example"]
