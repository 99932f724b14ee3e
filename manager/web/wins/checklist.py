"""What a supervisor ticks on a win's page and on its slips."""

CHECKLIST = (
    "Winning hand and cards shown to the camera",
    "Hand verified by a second supervisor",
    "Deck counted and set aside, to be kept for 7 days",
    "Player's identification seen",
    "Tax form completed, where the law asks for one",
    "Surveillance told, with the time of the hand",
)
