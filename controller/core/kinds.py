"""The numbers of the journal's event kinds, of commit methods, roles and pay kinds.

They are the protocol's numbers, repeated here because the portable core imports nothing of it; a
contract test holds the two together. Kinds from LOCAL_KIND_MIN up are the core's own: they change
what the dealer has half entered, and are no records: nobody else hears of them.
"""

BOOT = 1
ROUND_START = 2
LATE_CHANGE = 3
HAND = 4
CLAIM = 5
AWARDED = 6
CANCEL = 7
COMMIT = 8
SETTLED = 9
ROUND_END = 10
FAULT = 11
CONFIG = 12
REFUSED = 13
SEAL = 14
SERVICE = 15
RESTORED = 16

LOCAL_KIND_MIN = 1000
ENTRY = 1000  # what the dealer has pressed so far: 1 seat, 2 letter, 3 hand
BLINK = 1001  # spots refused although no round began: 1 sensors
JOINED = 1002  # seats that one player will hold in the next round: 1 groups of seats

METHOD_DEALER = 1
METHOD_CARD = 2
METHOD_KEY = 3

ROLE_DEALER = 0
ROLE_SUPERVISOR = 1
ROLE_EXECUTIVE = 2

PAY_PERCENT = 1
PAY_FOR_ONE = 2

SOURCE_TRAY = 0
SOURCE_METER = 1

WORKFLOW_TOUCH = "touch"
WORKFLOW_KEYPAD = "keypad"

KEY_RUN = "RUN"
KEY_JPH = "JPH"
KEY_FAULT = "FAULT"


def is_local(kind: int) -> bool:
    """True for an event that is no record: nobody but this unit ever hears of it."""
    return kind >= LOCAL_KIND_MIN
