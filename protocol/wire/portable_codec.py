"""The CBOR profile in plain Python, for CPython and MicroPython alike: a peripheral has no cbor2.

It imports nothing, so that this one file can be put on a microcontroller, and it shares no code
with `protocol.wire.profile`: the two are each other's check, byte for byte and refusal for refusal.
A refusal carries the wire's error code as a plain number. Work and memory are bounded by the
input's own length: what a head announces is compared with what is there before anything is made of
it.
"""

# The limits of protocol.wire.profile and the codes of protocol.wire.errors; a test compares them.
FRAME_MAX_BYTES = 4096
TEXT_MAX_BYTES = 200
DEPTH_MAX = 8
INT64_MAX = 2**63 - 1

MALFORMED = 1
OVERSIZED = 2
TRAILING = 3

_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(8)
_FALSE, _TRUE = 20, 21
_OTHER_SIMPLE = "simple values other than true and false are not allowed"
# After these first bytes of a UTF-8 sequence the second byte has a narrower range: no overlong
# forms, no surrogates, nothing above U+10FFFF. Not every interpreter checks this by itself.
_SECOND_BYTE = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}


class CodecRefused(Exception):  # noqa: N818
    """The bytes, or the value, are not in the profile."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def decode(data: bytes, bytes_max: int = FRAME_MAX_BYTES) -> object:
    """The value of exactly one item in its only encoding."""
    if len(data) > bytes_max:
        sentence = f"The item is {len(data)} bytes long; {bytes_max} is the most allowed."
        raise CodecRefused(OVERSIZED, sentence)
    value, end = _item(data, 0, 1)
    if end != len(data):
        sentence = f"{len(data) - end} bytes follow the one item that is allowed."
        raise CodecRefused(TRAILING, sentence)
    return value


def encode(value: object, bytes_max: int = FRAME_MAX_BYTES) -> bytes:
    """The only encoding of `value`."""
    out = bytearray()
    _write(out, value, 1)
    if len(out) > bytes_max:
        sentence = f"The value encodes to {len(out)} bytes; {bytes_max} is the most allowed."
        raise CodecRefused(OVERSIZED, sentence)
    return bytes(out)


# -- reading -----------------------------------------------------------------------------------


def _item(data: bytes, at: int, depth: int) -> "tuple[object, int]":
    """The item that begins at `at`, and where it ends; `depth` counts containers, its own too."""
    major, argument, at = _head(data, at)
    if major == _UNSIGNED:
        return _int64(argument, argument), at
    if major == _NEGATIVE:
        return _int64(-1 - argument, argument), at
    if major == _BYTES:
        return _cut(data, at, argument), at + argument
    if major == _TEXT:
        return _text(_cut(data, at, argument)), at + argument
    if major == _ARRAY:
        return _array(data, at, argument, depth)
    if major == _MAP:
        return _map(data, at, argument, depth)
    if major == _SIMPLE and argument in (_FALSE, _TRUE):
        return argument == _TRUE, at
    raise _malformed(_OTHER_SIMPLE)


def _head(data: bytes, at: int) -> "tuple[int, int, int]":
    """Major type, argument, and where the content begins; only the shortest form passes."""
    if at >= len(data):
        raise _malformed("it is cut off")
    major, short = data[at] >> 5, data[at] & 31
    if major == _TAG:
        raise _malformed("tags are not allowed")
    if short < 24:
        return major, short, at + 1
    if short > 27 or major == _SIMPLE:
        raise _malformed(_odd_head(short))
    width = 1 << (short - 24)
    argument = int.from_bytes(_cut(data, at + 1, width), "big")
    if argument < (24 if width == 1 else 1 << (4 * width)):
        raise _malformed("an integer or length is not in its shortest form")
    return major, argument, at + 1 + width


def _odd_head(short: int) -> str:
    if short == 31:
        return "indefinite lengths are not allowed"
    if short > 27:
        return "a head that CBOR keeps for the future is not allowed"
    return "floats are not allowed" if short > 24 else _OTHER_SIMPLE


def _cut(data: bytes, at: int, length_bytes: int) -> bytes:
    if length_bytes > len(data) - at:
        raise _malformed("it is cut off")
    return data[at : at + length_bytes]


def _array(data: bytes, at: int, count: int, depth: int) -> "tuple[list[object], int]":
    _check_container(depth, count, len(data) - at)
    items = []
    for _ in range(count):
        item, at = _item(data, at, depth + 1)
        items.append(item)
    return items, at


def _map(data: bytes, at: int, count: int, depth: int) -> "tuple[dict[int, object], int]":
    _check_container(depth, 2 * count, len(data) - at)
    items: dict[int, object] = {}
    last = -1
    for _ in range(count):
        major, key, at = _head(data, at)
        if major != _UNSIGNED or key > INT64_MAX:
            raise _malformed("map keys must be unsigned integers")
        if key <= last:
            raise _malformed("map keys must come in ascending order, each once")
        items[key], at = _item(data, at, depth + 1)
        last = key
    return items, at


def _check_container(depth: int, item_count: int, left_bytes: int) -> None:
    _check_depth(depth)
    if item_count > left_bytes:  # every item takes a byte at least
        raise _malformed("it is cut off")


def _int64(value: int, argument: int) -> int:
    if argument > INT64_MAX:
        raise _malformed("an integer does not fit in 64 bits with a sign")
    return value


def _text(content: bytes) -> str:
    _check_text(content)
    return content.decode()


# -- writing -----------------------------------------------------------------------------------


def _write(out: bytearray, value: object, depth: int) -> None:
    # By exact type: a bool is an int too, and a subclass could be anything.
    if type(value) is bool:
        out.append(_SIMPLE << 5 | (_TRUE if value else _FALSE))
    elif type(value) is int:
        argument = value if value >= 0 else -1 - value
        _int64(value, argument)
        _write_head(out, _UNSIGNED if value >= 0 else _NEGATIVE, argument)
    elif type(value) is bytes:
        _write_head(out, _BYTES, len(value))
        out.extend(value)
    elif type(value) is str:
        content = _encoded(value)
        _write_head(out, _TEXT, len(content))
        out.extend(content)
    elif type(value) is list:
        _check_depth(depth)
        _write_head(out, _ARRAY, len(value))
        for item in value:
            _write(out, item, depth + 1)
    elif type(value) is dict:
        _check_depth(depth)
        _write_map(out, value, depth)
    else:
        raise _malformed(f"a value of type {type(value).__name__} is not allowed")


def _write_map(out: bytearray, value: "dict[int, object]", depth: int) -> None:
    for key in value:
        if type(key) is not int or not 0 <= key <= INT64_MAX:
            raise _malformed("map keys must be unsigned integers")
    _write_head(out, _MAP, len(value))
    for key in sorted(value):
        _write_head(out, _UNSIGNED, key)
        _write(out, value[key], depth + 1)


def _write_head(out: bytearray, major: int, argument: int) -> None:
    if argument < 24:
        out.append(major << 5 | argument)
        return
    short, width = 24, 1
    while argument >> (8 * width):
        short, width = short + 1, 2 * width
    out.append(major << 5 | short)
    out.extend(argument.to_bytes(width, "big"))


def _encoded(text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeError:
        content = b"\xed"  # a lone surrogate, which only some interpreters refuse by themselves
    _check_text(content)
    return content


# -- both --------------------------------------------------------------------------------------


def _check_depth(depth: int) -> None:
    if depth > DEPTH_MAX:
        raise _malformed(f"containers are nested more than {DEPTH_MAX} deep")


def _check_text(content: bytes) -> None:
    if len(content) > TEXT_MAX_BYTES:
        raise _malformed(f"text is {len(content)} bytes long; {TEXT_MAX_BYTES} is the most allowed")
    at = 0
    while at < len(content):
        at += _character_bytes(content, at)


def _character_bytes(content: bytes, at: int) -> int:
    """How many bytes the character at `at` takes, if they are UTF-8."""
    first = content[at]
    if first < 0x80:
        return 1
    count = 2 if 0xC2 <= first <= 0xDF else 3 if 0xE0 <= first <= 0xEF else 4
    low, high = _SECOND_BYTE.get(first, (0x80, 0xBF))
    rest = content[at + 1 : at + count]
    if not 0xC2 <= first <= 0xF4 or len(rest) < count - 1 or not low <= rest[0] <= high:
        raise _malformed("text is not UTF-8")
    for byte in rest[1:]:
        if byte & 0xC0 != 0x80:
            raise _malformed("text is not UTF-8")
    return count


def _malformed(reason: str) -> CodecRefused:
    return CodecRefused(MALFORMED, f"Not in the CBOR profile: {reason}.")
