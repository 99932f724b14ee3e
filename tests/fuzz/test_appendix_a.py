"""RFC 8949's examples (appendix A): what cbor2 makes of each, and what the profile does with it.

The pairs are typed in `appendix_a.json` and each is proven against cbor2 here. An empty `refused`
means that the profile accepts it; otherwise it says why not.
"""

from __future__ import annotations

import ast
import json
import math
import re
from pathlib import Path
from typing import Any

import cbor2
import pytest

from protocol.wire import portable_codec, profile
from protocol.wire.errors import ErrorCode, ProtocolError

ROWS: list[dict[str, str]] = json.loads(Path(__file__).with_name("appendix_a.json").read_text())
ACCEPTED = [row for row in ROWS if not row["refused"]]
REFUSED = [row for row in ROWS if row["refused"]]
ILL_FORMED = "f818"

TAG = re.compile(r"(\d+)\((.*)\)")
SIMPLE = re.compile(r"simple\((\d+)\)")
NAMED = {"null": None, "undefined": cbor2.undefined, "true": True, "false": False}
FLOATS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def value_of(diagnostic: str) -> Any:
    """The value that diagnostic notation stands for; tags and indefinite lengths excepted."""
    if diagnostic in NAMED:
        return NAMED[diagnostic]
    if diagnostic in FLOATS:
        return FLOATS[diagnostic]
    if simple := SIMPLE.fullmatch(diagnostic):
        return cbor2.CBORSimpleValue(int(simple[1]))
    if diagnostic.startswith('"'):
        return json.loads(diagnostic)
    return ast.literal_eval(re.sub(r"h'([0-9a-f]*)'", _bytes_literal, diagnostic))


def _bytes_literal(match: re.Match[str]) -> str:
    return repr(bytes.fromhex(match[1]))


def same(left: Any, right: Any) -> bool:
    """Equal, with NaN equal to itself, and 1, 1.0 and true told apart."""
    return repr(left) == repr(right)


def tag_head(number: int) -> bytes:
    return bytes([0xC0 | number]) if number < 24 else bytes([0xD8, number])


def test_all_82_examples_are_there_once() -> None:
    assert len({row["hex"] for row in ROWS}) == len(ROWS) == 82


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["hex"][:40])
def test_cbor2_reads_what_was_typed(row: dict[str, str]) -> None:
    data = bytes.fromhex(row["hex"])
    if row["hex"] == ILL_FORMED:
        with pytest.raises(cbor2.CBORDecodeError):
            cbor2.loads(data)
    elif tag := TAG.fullmatch(row["diagnostic"]) if data[0] >> 5 == 6 else None:
        head = tag_head(int(tag[1]))
        assert data.startswith(head)
        assert same(cbor2.loads(data[len(head) :]), value_of(tag[2]))
    elif "same_as" in row:
        assert "_ " in row["diagnostic"]
        assert same(cbor2.loads(data), cbor2.loads(bytes.fromhex(row["same_as"])))
        assert same(cbor2.loads(data), value_of(_definite(row["diagnostic"])))
    else:
        assert same(cbor2.loads(data), value_of(row["diagnostic"]))


def _definite(diagnostic: str) -> str:
    """`[_ 1, [_ 2]]` as `[1, [2]]`; the chunks of a string as one string."""
    chunks = re.fullmatch(r"\(_ (h?)['\"](.*)['\"], h?['\"](.*)['\"]\)", diagnostic)
    if chunks:
        quote = "'" if chunks[1] else '"'
        return f"{chunks[1]}{quote}{chunks[2]}{chunks[3]}{quote}"
    return diagnostic.replace("_ ", "").replace("true", "True")


@pytest.mark.parametrize("row", ACCEPTED, ids=lambda row: row["hex"][:40])
def test_the_profile_accepts(row: dict[str, str]) -> None:
    data, value = bytes.fromhex(row["hex"]), value_of(row["diagnostic"])
    for codec in (profile, portable_codec):
        assert same(codec.decode(data), value)
        assert codec.encode(value) == data


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row["hex"][:40])
def test_the_profile_refuses(row: dict[str, str]) -> None:
    data = bytes.fromhex(row["hex"])
    with pytest.raises(ProtocolError) as strict:
        profile.decode(data)
    with pytest.raises(portable_codec.CodecRefused) as portable:
        portable_codec.decode(data)
    assert strict.value.code == portable.value.code == ErrorCode.MALFORMED
    if row["hex"] != ILL_FORMED:
        assert portable.value.sentence == f"Not in the CBOR profile: {row['refused']}."


def test_how_many_of_them_belong_to_the_profile() -> None:
    assert (len(ACCEPTED), len(REFUSED)) == (31, 51)
