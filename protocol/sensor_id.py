"""A sensor's id: the seat's number and the letter of the game it plays, as in "5A".

Unit, manager and simulator all read it here. It is portable: the unit's core imports it and runs on
MicroPython, so there is no `re` and nothing of Python's newer library. What is no id is refused: a
seat that was guessed would pay somebody else's win.
"""

DIGITS_MAX = 2
# Every id that was ever read; there are 2,574 at most, and a table asks for its own all the time.
_known: "dict[str, tuple[int, str]]" = {}


def seat_of(sensor: str) -> int:
    """5 of "5A"."""
    return _parts(sensor)[0]


def letter_of(sensor: str) -> str:
    """ "A" of "5A"."""
    return _parts(sensor)[1]


def pay_order(sensor: str) -> "tuple[int, str]":
    """Sort key: the dealer's right is the highest seat and is paid first, then by letter."""
    seat, letter = _parts(sensor)
    return -seat, letter


def seat_order(sensor: str) -> "tuple[int, str]":
    """Sort key: as a list of the table's spots reads, so that 2A comes before 10A."""
    return _parts(sensor)


def is_sensor_id(text: str) -> bool:
    # Compared character by character: "²".isdigit() is true, and MicroPython has no isascii.
    digits, letter = text[:-1], text[-1:]
    if not 1 <= len(digits) <= DIGITS_MAX or digits[0] == "0":
        return False
    return "A" <= letter <= "Z" and all("0" <= digit <= "9" for digit in digits)


def _parts(sensor: str) -> "tuple[int, str]":
    parts = _known.get(sensor)
    if parts is None:
        if not is_sensor_id(sensor):
            raise ValueError(
                f"{sensor!r} is no sensor: a seat's number and a game's letter, as in 5A."
            )
        parts = _known[sensor] = int(sensor[:-1]), sensor[-1]
    return parts
