"""The protocol's numbers and words: event kinds, commit methods, roles, pay kinds, key positions.

They are said once, here. The wire's records are built on them, and so is the unit's core: this
module is portable, runs on MicroPython and imports nothing. A number that was ever sent keeps its
meaning for good; the journals of every unit are full of them.
"""

# The kinds of journal event.

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
SETTINGS = 12
REFUSED = 13
SEAL = 14
SERVICE = 15
RESTORED = 16
PAID = 17
REVERSED = 18
REOPENED = 19
VOIDED = 20
TAKEN_BACK = 21
LATE_ENTRY = 22
DEALT = 24
SHOWN = 25
CHECKED = 26
DIVERGED = 27

# Below this a kind is the wire's; from here on each end may number what it never sends.
LOCAL_KIND_MIN = 1000

# Whose word a win was paid on.
METHOD_DEALER = 1
METHOD_CARD = 2
METHOD_KEY = 3
METHOD_MANAGER = 4  # two people at the Game Manager

# What a card was swiped for.
SWIPE_CLAIM = 1
SWIPE_REOPEN = 2
SWIPE_CABINET = 3
SWIPE_VOID = 4
SWIPE_TRAINING = 5
SWIPE_LATE_ENTRY = 6

# Why a game was void, and why a win is entered after its game. People choose among these codes.
VOID_REASONS = ("misdeal", "exposed-card", "dealer-error", "other")
LATE_WIN_REASONS = ("not-entered", "misread", "malfunction")

# Who may authorise it; a higher role may do what a lower one may.
ROLE_DEALER = 0
ROLE_SUPERVISOR = 1
ROLE_EXECUTIVE = 2

# Whose card a share of a meter needs: a role, or this, which leaves it to the percentage.
AUTHORITY_BY_PERCENT = 0

PAY_PERCENT = 1
PAY_FOR_ONE = 2
WHOLE_METER_PPM = 1000000

# Where the money of an award line comes from.
SOURCE_TRAY = 0
SOURCE_METER = 1

# What a claimed hand is against the cards that a shuffler recognised.
HAND_AGREES = 1
HAND_DIFFERS = 2

WORKFLOW_TOUCH = "touch"
WORKFLOW_KEYPAD = "keypad"

KEY_RUN = "RUN"
KEY_JPH = "JPH"
KEY_FAULT = "FAULT"
