"""The portable codec over the golden frames, RFC 8949's examples, and what is left after damage."""

import json
import os

from protocol.wire import portable_codec

TESTS = __file__.rsplit("/", 1)[0] + "/../.."
GOLDEN = TESTS + "/golden"
HEADER_BYTES = 4
FLIPS_PER_FRAME = 48

EDGES = (
    ("int64 largest", "1b7fffffffffffffff"),
    ("int64 too large", "1b8000000000000000"),
    ("int64 smallest", "3b7fffffffffffffff"),
    ("int64 too small", "3b8000000000000000"),
    ("key too large", "a11b800000000000000000"),
    ("key largest", "a11b7fffffffffffffff00"),
    ("text of 200", "78c8" + "61" * 200),
    ("text of 201", "78c9" + "61" * 201),
    ("eight deep", "81" * 8 + "00"),
    ("nine deep", "81" * 9 + "00"),
    ("nine deep and empty", "81" * 8 + "80"),
    ("maps nine deep", "a100" * 9 + "00"),
    ("array of 2**60", "9b1000000000000000"),
    ("map of 2**63", "bb8000000000000000"),
    ("bytes of 2**62", "5b4000000000000000"),
    ("text of 2**32", "7b0000000100000000"),
    ("UTF-8 overlong", "62c080"),
    ("UTF-8 surrogate", "63eda080"),
    ("UTF-8 last", "64f48fbfbf"),
    ("UTF-8 beyond the last", "64f4908080"),
    ("UTF-8 cut off", "62e282"),
    ("UTF-8 lone continuation", "6180"),
    ("4096 bytes", "590ffd" + "00" * 4093),
    ("4097 bytes", "590ffe" + "00" * 4094),
    ("nothing", ""),
)


class Odd:
    pass


VALUES = (
    0,
    -1,
    True,
    2**63 - 1,
    -(2**63),
    2**63,
    -(2**63) - 1,
    b"\x00\xff",
    "\u00e9\u6c34\U0001f0a1",
    "\ud800",
    [1, [2, {3: [b"", ""]}]],
    {70: 1, 3: 2, 256: 3, 24: 4},
    {-1: 0},
    {True: 0},
    {2**63: 0},
    {"a": 0},
    None,
    1.5,
    (1, 2),
    Odd(),
    "x" * 201,
    bytes(4094),
    [[[[[[[[]]]]]]]],
    [[[[[[[[[]]]]]]]]],
)


async def main():
    for version in sorted(os.listdir(GOLDEN)):
        if version.startswith("v"):
            read_golden_frames(version)
    read_the_examples()
    for name, data in EDGES:
        print("edge", name, verdict(bytes.fromhex(data)))
    for value in VALUES:
        print("write", show(value)[:60], written(value))


def read_golden_frames(version):
    folder = GOLDEN + "/" + version
    for name in sorted(each for each in os.listdir(folder) if each.endswith(".hex")):
        with open(folder + "/" + name) as file:
            payload = bytes.fromhex("".join(file.read().split()))[HEADER_BYTES:]
        value = portable_codec.decode(payload)
        print("golden", version, name, show(value))
        print("golden", version, name, "same bytes", portable_codec.encode(value) == payload)
        print("damaged", version, name, "".join(damage(payload)))


def damage(payload):
    """One character for each of many damaged copies: the code, or = for a value."""
    chance = 1
    for _ in range(FLIPS_PER_FRAME):
        chance = chance * 16807 % 2147483647
        data = bytearray(payload)
        data[chance % len(data)] ^= 1 << (chance >> 8) % 8
        yield verdict(bytes(data))[0]


def read_the_examples():
    with open(TESTS + "/fuzz/appendix_a.json") as file:
        rows = json.load(file)
    for row in rows:
        print("example", row["hex"], verdict(bytes.fromhex(row["hex"])))


def verdict(data):
    try:
        return "= " + show(portable_codec.decode(data))[:80]
    except portable_codec.CodecRefused as refused:
        return str(refused.code) + " " + refused.sentence


def written(value):
    try:
        data = portable_codec.encode(value)
    except portable_codec.CodecRefused as refused:
        return str(refused.code) + " " + refused.sentence
    return "= " + hex_digits(data[:40])


def hex_digits(data):
    return "".join("%02x" % byte for byte in data)


def show(value):
    """As repr, but the same on both interpreters."""
    if isinstance(value, dict):
        keys = sorted(value, key=str)
        return "{" + ", ".join(show(key) + ": " + show(value[key]) for key in keys) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(show(item) for item in value) + "]"
    if isinstance(value, bytes):
        return "h'" + hex_digits(value) + "'"
    if isinstance(value, str):
        return "text " + " ".join(str(ord(character)) for character in value)
    return type(value).__name__ if isinstance(value, (Odd, float)) else str(value)
