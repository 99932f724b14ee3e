"""The sentences of the guide, in English, each whole and by its name.

A translation is another table with the same names. Where a keypad table has other words for the
same thing, its sentence has ".keypad" behind the name.
"""

SENTENCES = {
    "said": "{0}",
    "locked-out": "Too many wrong cards. No card is taken for another {0} s.",
    "service": "This table is in service and takes no bets. Only a technician ends it.",
    "settings": "Waiting for the Game Manager's settings. No game can start.",
    "dead-felt": "No betting spot can be read. Call a technician.",
    "refused": "The chip at seat {0} is refused. Take it away, then put one chip down again.",
    "reopen-asked": "Swipe a supervisor's card to open the last game again, or press CANCEL.",
    "void-asked": (
        "Swipe a supervisor's card to void this game and give the bets back, or press CANCEL."
        " Reason: {0}."
    ),
    "void-asked.keypad": "Press CANCEL again to void this game and give the bets back.",
    "voided": "Game {0} is void. Give the bet of seat {1} back. Reason: {2}.",
    "voided-several": "Game {0} is void. Give each bet back: seats {1}. Reason: {2}.",
    "voided-at-jph": (
        "Game {0} is void. Turn the key to RUN and give the bet of seat {1} back. Reason: {2}."
    ),
    "voided-several-at-jph": (
        "Game {0} is void. Turn the key to RUN and give each bet back: seats {1}. Reason: {2}."
    ),
    "late-asked": (
        "Swipe a supervisor's card to enter a forgotten win of game {0}, or press CANCEL."
    ),
    "late-entry": "Forgotten win of game {0}: press the seat, then the hand. Done: END GAME.",
    "asked-offline": "No link to the Game Manager. Swipe when the link is back, or press CANCEL.",
    "train-asked": "Swipe a supervisor's card to begin the training, or press CANCEL.",
    "question": "{0} {1}: CONFIRM. Something else: CANCEL.",
    "joined": "Seats {0} are one player as long as they play. Join them again to part them.",
    "parted": "Seats {0} are different players.",
    "bets-down": "Press START GAME when all bets are down.",
    "bets-down.keypad": "Press COIN IN when all bets are down.",
    "waiting": "Waiting for bets.",
    "pricing": "The Game Manager is pricing the win.",
    "pricing-offline": "No link to the Game Manager. The win is priced when the link is back.",
    "swipe": "Check every amount, then swipe a card: {0}.",
    "swipe-limit": "Fixed pays pass the limit of {1}. Ask the house, then swipe a card: {0}.",
    "swipe-offline": "No link to the Game Manager. When it is back, swipe a card: {0}.",
    "return-key": "The win is logged. Turn the key back to RUN.",
    "recording": "The win is authorised and is being recorded. Please wait.",
    "recording-offline": "The win is authorised. It is recorded when the link is back.",
    "seat-of": "Press the seat of {0}, or the hand again to take it back.",
    "hand-of": "Press the hand of seat {0}, or the seat again to let it go.",
    "hand-or-confirm": "Press the hand of seat {0}, or CONFIRM.",
    "confirm": "Press CONFIRM. To change a hand, press its seat first.",
    "confirm.keypad": "Press CONFIRM. To take a hand back, press it again.",
    "confirm-or-again": "Press CONFIRM, or the same hand again to take it back.",
    "turn-key": "Turn the key to JPH, then press J-POT.",
    "press-jpot": "Check every amount, then press J-POT.",
    "key-unclear": "The key switch shows no clear position. Call service.",
    "fault-in-game": "{0} The bets of this game stand: finish it first, no new one can start.",
    "late": "The chip at seat {0} came too late. Give it back: it is not in this game.",
    "left-out": "The chip at seat {0} was not accepted. Give it back: it is not in this game.",
    "pay-first": "Pay each seat as shown and tick it off.",
    "take-back": "Take the money back as shown and tick it off.",
    "take-back.keypad": "Take the money back as shown, then press GAME OVER.",
    "pay": "Pay each seat as shown, then press GAME OVER.",
    "paid": "All is paid. Press END GAME.",
    "paid.keypad": "All is paid. Press GAME OVER.",
    "dead-felt-in-game": "No spot can be read. Bets in play stand: finish, then call a technician.",
    "offline-in-game": "No link to the Game Manager. The bets of this game are safe: play on.",
    "winners": "For a winner, press the seat, then the hand. No winner: press END GAME.",
    "winners.keypad": "For a winner, press the hand. No winner: press GAME OVER.",
}

# What waits for a supervisor.
ASKED = ("reopen-asked", "void-asked", "late-asked", "train-asked", "asked-offline")


def card_asked(name: str, link_up: bool) -> str:
    """The name of what asks for a supervisor's card: without the link nobody judges one."""
    return name if link_up else "asked-offline"


def sentence(name: str, arguments: "list[str]", is_keypad: bool) -> str:
    own = name + ".keypad"
    words = SENTENCES[own] if is_keypad and own in SENTENCES else SENTENCES[name]
    return words.format(*arguments)
