"""The command that proves a capture: which public keys it takes."""

from __future__ import annotations

import pytest

from protocol.proof.check_seals import _key, main


@pytest.mark.parametrize("text", ["ab" * 31, "ab" * 33, "xy" * 32])
def test_what_is_no_public_key_is_refused(text: str) -> None:
    """Catches: a key that was cut off, and seals called false because of it."""
    with pytest.raises(ValueError, match=r"32 bytes|hexadecimal"):
        _key(text)
    assert _key("ab" * 32) == b"\xab" * 32


def test_nothing_is_proven_without_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["events.bin"])
    assert ended.value.code == 2
    assert "--key" in capsys.readouterr().err
