"""Which updates a unit takes: the same board, not older, not failed before, and with a way back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from deploy.update.bundle import Program, objection, program_here
from deploy.update.machine import BundleRefused, _code_of, program_of
from kit.command_line import CommandRefused
from kit.program_news import (
    DAMAGED,
    EXPIRED,
    FAILED_BEFORE,
    NO_WAY_BACK,
    NOT_TRUSTED,
    OLDER,
    WRONG_BOARD,
)

HERE = Program("0.2.0+20260601.120000", "underfelt-unit-arm64", {"journal": 2, "wire": 0})


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"version": "0.2.0+20260601.120001"}, ""),
        ({"version": "0.10.0+20260601.120000"}, ""),
        ({"version": "0.2.0+20260601.115959"}, OLDER),
        ({"version": "0.1.9+20270101.000000"}, OLDER),
        ({"board": "underfelt-unit-amd64"}, WRONG_BOARD),
        ({"formats": {"journal": 3, "wire": 0}}, NO_WAY_BACK),
        ({"formats": {"journal": 2, "wire": 0, "meters": 1}}, NO_WAY_BACK),
        ({"formats": {"journal": 1, "wire": 0}}, ""),
    ],
)
def test_each_reason_not_to_take_it(change: dict[str, Any], code: str) -> None:
    """Catches versions compared as text: 0.10 comes after 0.2."""
    assert objection(replace(HERE, **change), HERE, has_failed=False) == code


def test_what_failed_once_is_not_tried_again() -> None:
    newer = replace(HERE, version="0.3.0+20260601.120000")
    assert objection(newer, HERE, has_failed=True) == FAILED_BEFORE


def test_a_bundle_is_read_as_rauc_prints_it() -> None:
    told = {
        "update": {
            "compatible": HERE.board,
            "version": HERE.version,
            "build": "journal=2 wire=0",
        }
    }
    assert program_of(told) == HERE


@pytest.mark.parametrize(
    "update",
    [
        {},
        {"compatible": "b", "version": "0.2.0", "build": "journal=1"},
        {"compatible": "b", "version": HERE.version, "build": ""},
        {"compatible": "b", "version": HERE.version, "build": "journal=one"},
        {"compatible": "b", "version": HERE.version},
    ],
)
def test_a_signed_manifest_that_says_too_little_is_refused(update: dict[str, str]) -> None:
    """Without its formats nobody knows whether there is a way back."""
    with pytest.raises(BundleRefused) as refusal:
        program_of({"update": update})
    assert refusal.value.code == DAMAGED


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (
            "signature verification failed: Verify error: unable to get local issuer certificate",
            NOT_TRUSTED,
        ),
        ("signature verification failed: Verify error: certificate has expired", EXPIRED),
        ("signature verification failed: Verify error: certificate is not yet valid", EXPIRED),
        ("Invalid bundle format: Signature size (154030) exceeds bundle size", DAMAGED),
    ],
)
def test_raucs_words_become_ours(said: str, code: str) -> None:
    """As RAUC 1.13 of Debian 13 says them."""
    assert _code_of(said) == code


def test_a_damaged_description_of_the_running_program_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "program.json"
    file.write_text('{"version": ')
    with pytest.raises(CommandRefused, match="cannot be read"):
        program_here(file)
