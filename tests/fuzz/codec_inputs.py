"""Bytes and values to try on the codecs: random ones, damaged golden frames, near misses.

It only makes inputs; what must come of them is said in the tests.
"""

from __future__ import annotations

import cbor2
from hypothesis import strategies as st

from tests.kit.message_samples import samples

GOLDEN = [message.encode() for message in samples().values()]

# Edges on purpose: lengths around each head's width, and numbers around each limit.
EDGES = sorted(
    {
        sign * (edge + step)
        for edge in (0, 23, 24, 2**8, 2**16, 2**32, 2**63, 2**64)
        for step in (-1, 0, 1)
        for sign in (1, -1)
    }
)
integers = st.sampled_from(EDGES) | st.integers(-(2**65), 2**65)
texts = st.text(max_size=60) | st.integers(196, 204).map(lambda count: "x" * count)
surrogates = st.text(st.characters(codec=None), max_size=8)  # lone surrogates too
foreign = (
    st.none()
    | st.floats()
    | st.just(cbor2.undefined)
    | st.builds(cbor2.CBORTag, st.integers(0, 300), st.just(b"1"))
)
leaves = integers | st.binary(max_size=40) | texts | st.booleans()
any_leaves = leaves | foreign | surrogates


def nested(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    keys = st.integers(-2, 80) | st.sampled_from(EDGES) | st.text(max_size=2) | st.booleans()
    return st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5)


def in_profile(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    keys = st.integers(0, 80) | st.integers(0, 2**63 - 1)
    return st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5)


anything = st.recursive(any_leaves, nested, max_leaves=20)
profile_values = st.recursive(
    st.integers(-(2**63), 2**63 - 1)
    | st.binary(max_size=40)
    | st.text(max_size=50)
    | st.integers(196, 200).map(lambda count: "x" * count)
    | st.booleans(),
    in_profile,
    max_leaves=30,
)


@st.composite
def chains(draw: st.DrawFn) -> object:
    """One container in the other, around the depth limit."""
    value: object = draw(st.sampled_from([0, [], {}, b"", "", True]))
    for is_map in draw(st.lists(st.booleans(), min_size=6, max_size=11)):
        value = {draw(st.integers(0, 30)): value} if is_map else [value]
    return value


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A golden payload with a few bytes replaced, removed or put in, or with its end missing."""
    data = bytearray(draw(st.sampled_from(GOLDEN)))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        data[start : start + draw(st.integers(0, 3))] = draw(st.binary(max_size=3))
    return bytes(data[: draw(st.integers(0, len(data)))] if draw(st.booleans()) else data)


@st.composite
def heads(draw: st.DrawFn) -> bytes:
    """A few CBOR heads of any kind and width, with something after them."""
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        major, short = draw(st.integers(0, 7)), draw(st.integers(0, 31))
        width = 1 << (short - 24) if 24 <= short <= 27 else 0
        argument = draw(st.integers(0, 2 ** (8 * width) - 1)) if width else 0
        parts.append(bytes([major << 5 | short]) + argument.to_bytes(width, "big"))
        parts.append(draw(st.binary(max_size=6)))
    return b"".join(parts)


@st.composite
def loosely_encoded(draw: st.DrawFn) -> bytes:
    """Any value as a less strict sender would write it."""
    value = draw(anything | chains())
    try:
        return cbor2.dumps(value, canonical=draw(st.booleans()))
    except (cbor2.CBORError, UnicodeError):
        return b""  # a lone surrogate: no sender can write it
