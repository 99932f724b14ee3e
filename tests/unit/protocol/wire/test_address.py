"""Where a manager listens: what is an address, and what is none."""

from __future__ import annotations

import pytest

from protocol.wire.address import join_address, split_address


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("game-manager.local:7411", ("game-manager.local", 7411)),
        ("10.0.0.1:1", ("10.0.0.1", 1)),
        ("[fe80::1]:65535", ("fe80::1", 65_535)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, place: tuple[str, int]) -> None:
    assert split_address(text) == place
    assert join_address(*place) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "host",
        "host:",
        ":7411",
        "[]:7411",
        "a b:7411",
        "host:0",
        "host:65536",
        "host:-1",
        "host:74x",
        "host:\u0663",
        "host: 7411",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert split_address(text) is None
