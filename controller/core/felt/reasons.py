"""The words of sensing: what a spot may be found to hold, and why something there is no bet.

Nothing is decided here. The reasons are shown to people, so each says what to look for.
"""

NOTHING = 0
CHIP = 1
UNDECIDED = 2
FOREIGN = 3

TOO_LARGE = "a hand or something large is here"
TOO_LITTLE = "too little for a chip: partly on the spot, on edge, or a card"
RESTLESS = "something moves here"
UNKNOWN = "came slowly or unlike a chip: wet felt or a foreign object"
NEAR_LIQUID = "the felt is wet around here"
BELOW_EMPTY = "reads below empty felt: wet, or a loose pad"
DISTURBED = "something disturbs this spot"
CREPT = "the empty felt has drifted"
MOVED = "all sensors changed during the power cut"
