"""Which of eight lights a sensor shows, and how bright its white and amber lamps are at time t.

Each light has a pattern of its own, so that nobody needs to tell colours apart. It stores no time:
brightness follows from the pattern and the clock, in a fade too. Writing lamps is done elsewhere.
"""

from controller.core.felt import spot

MYPY = False
if MYPY:
    from controller.core.round.state import RoundState

OFF = "off"
DETECTED = "detected"
ACCEPTED = "accepted"
REFUSED = "refused"
LATE = "late"
WINNER = "winner"
FAULT = "fault"
FIND = "find"

LEVEL_FULL = 4095
LEVEL_DIM = 614  # 15 %
LEVEL_DIMMEST = 205  # 5 %
LEVEL_LOW = 1229  # 30 %
# Not at full, and never in one step: a lamp may move its own pad, and what is refused may be a chip
# that comes to rest. docs/decisions/026 has the trials.
LEVEL_BLINK = LEVEL_LOW

# Counted from when it began: how long what was taken from an accepted spot shows (the bet itself
# stands), and, from the lock on, how long a refused spot blinks on which nothing lies.
LATE_SHOWN_MS = 2000
# What came to lie on an accepted spot is certain only up to 1.8 s after it began, and a dealer has
# to see it after that.
ADDED_SHOWN_MS = 4000

# (duration_ms, white, amber, frame_ms): steady without a frame. With one it fades to the levels of
# the next entry, written anew at each frame; a slow fade needs fewer of them.
_PATTERNS = {
    OFF: ((1000, 0, 0, 0),),
    DETECTED: ((1000, LEVEL_DIM, 0, 100), (1000, LEVEL_DIMMEST, 0, 100)),
    ACCEPTED: ((1000, LEVEL_FULL, 0, 0),),
    REFUSED: ((500, 0, 0, 50), (500, LEVEL_BLINK, 0, 50)),
    LATE: ((700, 0, LEVEL_FULL, 0), (300, 0, 0, 0)),
    WINNER: ((250, LEVEL_FULL, 0, 50), (250, LEVEL_LOW, 0, 50)),
    FAULT: (
        (150, 0, LEVEL_FULL, 0),
        (100, 0, 0, 0),
        (150, 0, LEVEL_FULL, 0),
        (100, 0, 0, 0),
        (150, 0, LEVEL_FULL, 0),
        (350, 0, 0, 0),
    ),
    FIND: ((125, LEVEL_FULL, 0, 0), (125, 0, LEVEL_FULL, 0)),
}
NAMES = (OFF, DETECTED, ACCEPTED, REFUSED, LATE, WINNER, FAULT, FIND)

# While people train, white and amber change places and an empty spot winks: no such table is live.
TRAINING = "training-"
_PATTERNS[TRAINING + OFF] = ((100, 0, LEVEL_LOW, 0), (900, 0, 0, 0))
for _name in (DETECTED, ACCEPTED, REFUSED, LATE, WINNER):
    _PATTERNS[TRAINING + _name] = tuple(
        (duration_ms, amber, white, frame_ms)
        for duration_ms, white, amber, frame_ms in _PATTERNS[_name]
    )

# While a technician has the table in service every spot blinks amber, low and even: no bet is lit.
SERVICE = "service"
_PATTERNS[SERVICE] = ((500, 0, LEVEL_LOW, 0), (500, 0, 0, 0))
# What a technician lets the lamps show one by one.
LAMP_WHITE, LAMP_AMBER = ACCEPTED, TRAINING + ACCEPTED

_PERIODS_MS = {_name: sum(entry[0] for entry in _pattern) for _name, _pattern in _PATTERNS.items()}

# What somebody has to notice is as bright in a dark room as in a lit one.
NEVER_DIMMED = (REFUSED, TRAINING + REFUSED, FAULT, FIND, SERVICE)
WHOLE_LIGHT_PERCENT = 100


def in_training(name: str) -> str:
    """The light's look while people train; a fault and a search are what they are."""
    return name if name in (FAULT, FIND) else TRAINING + name


def levels_at(name: str, t_ms: int, percent: int = WHOLE_LIGHT_PERCENT) -> "tuple[int, int]":
    """(white, amber) of a light at a time of the common clock, each 0..4095.

    `percent` is how bright the lights of this room are now.
    """
    index, passed_ms = _place(name, t_ms)
    pattern = _PATTERNS[name]
    duration_ms, white, amber, frame_ms = pattern[index]
    if frame_ms:
        _, next_white, next_amber, _ = pattern[(index + 1) % len(pattern)]
        passed_ms -= passed_ms % frame_ms
        white += (next_white - white) * passed_ms // duration_ms
        amber += (next_amber - amber) * passed_ms // duration_ms
    if name in NEVER_DIMMED or percent == WHOLE_LIGHT_PERCENT:
        return white, amber
    return white * percent // 100, amber * percent // 100


def next_change_ms(name: str, t_ms: int) -> int:
    """How many milliseconds after `t_ms` the light changes next; 0 when it is steady."""
    if len(_PATTERNS[name]) == 1:
        return 0
    index, passed_ms = _place(name, t_ms)
    duration_ms, _, _, frame_ms = _PATTERNS[name][index]
    left_ms = duration_ms - passed_ms
    return min(left_ms, frame_ms - passed_ms % frame_ms) if frame_ms else left_ms


def _place(name: str, t_ms: int) -> "tuple[int, int]":
    """Which entry of the pattern is due, and for how long it has been."""
    passed_ms = t_ms % _PERIODS_MS[name]
    for index, entry in enumerate(_PATTERNS[name]):
        if passed_ms < entry[0]:
            return index, passed_ms
        passed_ms -= entry[0]
    raise AssertionError(f"The pattern of {name} is shorter than its period.")


def light_of(sensor: str, presence: str, state: "RoundState", round_age_ms: int) -> str:
    """The light this sensor deserves; `round_age_ms` is the time since the lock.

    After a power cut the time of the lock is gone: pass any age above ADDED_SHOWN_MS. A sensor
    that fails in a game does not take its bet out of sight: the bet stands in the journal, not on
    the felt.
    """
    if state.is_winner(sensor):
        return WINNER
    if presence == spot.FAULT:
        return ACCEPTED if sensor in state.accepted else FAULT
    if sensor in state.blinking and _still_blinks(sensor, presence, state, round_age_ms):
        return REFUSED
    if not state.round_open and presence == spot.PRESENT:
        return DETECTED
    if not state.round_open:
        # The bet of a void round is to be given back here.
        return REFUSED if sensor in state.voided else OFF
    if sensor in state.accepted:
        return LATE if late_left_ms(sensor, state, round_age_ms) else ACCEPTED
    if state.aside is not None and presence == spot.PRESENT:
        return DETECTED  # a bet on the next game, while a forgotten win is entered
    return LATE if presence == spot.PRESENT else OFF


def finds(presence: str, state: "RoundState") -> bool:
    """Whether a spot of the seat that somebody looks for shows so.

    Only between games, and not where a chip lies or comes: its own light matters more, and a lamp
    that goes from dark to full may move the pad.
    """
    return not state.round_open and presence in (spot.ABSENT, spot.FAULT)


def _still_blinks(sensor: str, presence: str, state: "RoundState", round_age_ms: int) -> bool:
    if presence in (spot.PRESENT, spot.UNSURE) or not state.round_open:
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
