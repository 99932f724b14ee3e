"""Which of seven lights a sensor shows, and how bright its white and amber lamps are at time t.

Each light has a pattern of its own, so that nobody needs to tell colours apart. It stores no time:
brightness follows from the pattern and the clock. Writing lamps is done elsewhere.
"""

from controller.core import sensing

MYPY = False
if MYPY:
    from controller.core.state import RoundState

OFF = "off"
DETECTED = "detected"
ACCEPTED = "accepted"
REFUSED = "refused"
LATE = "late"
WINNER = "winner"
FAULT = "fault"

LEVEL_FULL = 4095
LEVEL_DIM = 614  # 15 %
LEVEL_LOW = 1229  # 30 %
# Not at full: a lamp may move its own pad, and what blinks may be a chip that comes to rest.
LEVEL_BLINK = 819  # 20 %

PERIOD_MS = 1000
# Counted from when it began: how long what was taken from an accepted spot shows (the bet itself
# stands), and, from the lock on, how long a refused spot blinks on which nothing lies.
LATE_SHOWN_MS = 2000
# What came to lie on an accepted spot is certain only up to 1.8 s after it began, and a dealer has
# to see it after that.
ADDED_SHOWN_MS = 4000

# (duration_ms, white, amber), together one period; a single entry is steady.
_PATTERNS = {
    OFF: ((1000, 0, 0),),
    DETECTED: ((1000, LEVEL_DIM, 0),),
    ACCEPTED: ((1000, LEVEL_FULL, 0),),
    REFUSED: ((250, LEVEL_BLINK, 0), (250, 0, 0), (250, LEVEL_BLINK, 0), (250, 0, 0)),
    LATE: ((700, 0, LEVEL_FULL), (300, 0, 0)),
    WINNER: ((500, LEVEL_FULL, 0), (500, LEVEL_LOW, 0)),
    FAULT: (
        (100, 0, LEVEL_FULL),
        (100, 0, 0),
        (100, 0, LEVEL_FULL),
        (100, 0, 0),
        (100, 0, LEVEL_FULL),
        (500, 0, 0),
    ),
}
NAMES = (OFF, DETECTED, ACCEPTED, REFUSED, LATE, WINNER, FAULT)


def levels_at(name: str, t_ms: int) -> "tuple[int, int]":
    """(white, amber) of a light at a time of the common clock, each 0..4095."""
    _left_ms, white, amber = _segment(name, t_ms)
    return white, amber


def next_change_ms(name: str, t_ms: int) -> int:
    """How many milliseconds after `t_ms` the light changes next; 0 when it is steady."""
    if len(_PATTERNS[name]) == 1:
        return 0
    return _segment(name, t_ms)[0]


def _segment(name: str, t_ms: int) -> "tuple[int, int, int]":
    position_ms = t_ms % PERIOD_MS
    for duration_ms, white, amber in _PATTERNS[name]:
        if position_ms < duration_ms:
            return duration_ms - position_ms, white, amber
        position_ms -= duration_ms
    raise AssertionError(f"The pattern of {name} is shorter than its period.")


def light_of(sensor: str, presence: str, state: "RoundState", round_age_ms: int) -> str:
    """The light this sensor deserves; `round_age_ms` is the time since the lock.

    After a power cut the time of the lock is gone: pass any age above ADDED_SHOWN_MS. A sensor
    that fails in a game does not take its bet out of sight: the bet stands in the journal, not on
    the felt.
    """
    if state.is_winner(sensor):
        return WINNER
    if presence == sensing.FAULT:
        return ACCEPTED if sensor in state.accepted else FAULT
    if sensor in state.blinking and _still_blinks(sensor, presence, state, round_age_ms):
        return REFUSED
    if not state.round_open:
        return DETECTED if presence == sensing.PRESENT else OFF
    if sensor in state.accepted:
        return LATE if late_left_ms(sensor, state, round_age_ms) else ACCEPTED
    return LATE if presence == sensing.PRESENT else OFF


def _still_blinks(sensor: str, presence: str, state: "RoundState", round_age_ms: int) -> bool:
    if presence in (sensing.PRESENT, sensing.UNSURE) or not state.round_open:
        return True
    return late_left_ms(sensor, state, round_age_ms) > 0


def late_left_ms(sensor: str, state: "RoundState", round_age_ms: int) -> int:
    """How much longer this sensor shows what has passed; 0 when it shows what is."""
    if not state.round_open:
        return 0
    if sensor in state.blinking:
        return max(0, LATE_SHOWN_MS - round_age_ms)
    mark = state.late.get(sensor)
    if mark is None or sensor not in state.accepted:
        return 0
    shown_ms = ADDED_SHOWN_MS if sensor in state.added else LATE_SHOWN_MS
    return max(0, mark[1] + shown_ms - round_age_ms)
