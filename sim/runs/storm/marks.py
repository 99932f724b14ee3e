"""What must have happened in a storm of sufficient size, or the storm proved nothing.

A mark fires when a checker saw the rare thing happen and end well. It alone holds the list; who
sees a thing happen says so here.
"""

from __future__ import annotations

from collections import Counter

UNACKNOWLEDGED_COMMIT_SURVIVED = "an unacknowledged commit survived a cut"
UNTOLD_APPEND_SURVIVED = "an append that the program never heard of survived a cut"
RESEND_DEDUPLICATED = "a resend was deduplicated"
AWARD_RESUMED = "an award resumed after a cut"
FORK_CAUGHT = "a fork was caught"
FROZEN_CLAIM_SURVIVED_AT_JPH = "a frozen claim survived a reboot with the key at JPH"
MANAGER_RESTARTED_WITH_CLAIM = "the manager restarted with a claim open"
START_REFUSED_OFFLINE = "a START was refused offline"
LATE_CHIP_RECORDED = "a late chip was recorded"
ROUND_RESUMED = "a round resumed after a cut"
BACKLOG_OVER_WINDOW = "more events than one window waited, and drained"
LEASE_TAKEN_OVER = "another manager took the ledger over"
STEPS_LOST_WITH_LEASE = "steps that were not durable went with the old owner"
UNKNOWN_COMMIT_DONE = "a commit without an answer was found done"
UNKNOWN_COMMIT_REPEATED = "a commit without an answer was found missing, and repeated"
METER_ADJUSTED = "an operator adjusted a meter in play"
VOID_ORDER_CARRIED_OUT = "a game was void because two people at the manager ordered it"
WIN_REVERSED_IN_ITS_GAME = "a win was taken back while its game was on"
WIN_RECORDED_AGAIN = "a win that was taken back was recorded again"
WIN_BACKED_OUT = "a logged win was backed out, and its table took it back"
UNIT_RESTORED = "a damaged unit was restored, and went on where it was"
RESTORED_UNDELIVERED = "a restored unit delivered what its damaged journal had not"
SHUFFLER_RECORDED = "a shuffler's word was recorded"
SHUFFLER_ADVICE = "a claimed hand was held against the cards that a shuffler had shown"
HELD_BUS_FREED = "a unit freed its held bus"
RESTED_LIGHTS_COMPARED = "the lights of a resting table were compared with the truth"
SEVERAL_AWARDS = {
    policy: f"several awards met on one meter ({policy})"
    for policy in ("sequential", "equal_share", "each_full")
}
SECOND_SHARE_REFUSED = "a second share of a divided award was refused"

MUST_FIRE = (
    UNACKNOWLEDGED_COMMIT_SURVIVED,
    UNTOLD_APPEND_SURVIVED,
    RESEND_DEDUPLICATED,
    AWARD_RESUMED,
    FORK_CAUGHT,
    FROZEN_CLAIM_SURVIVED_AT_JPH,
    MANAGER_RESTARTED_WITH_CLAIM,
    START_REFUSED_OFFLINE,
    LATE_CHIP_RECORDED,
    ROUND_RESUMED,
    LEASE_TAKEN_OVER,
    UNKNOWN_COMMIT_DONE,
    UNKNOWN_COMMIT_REPEATED,
    METER_ADJUSTED,
    VOID_ORDER_CARRIED_OUT,
    WIN_REVERSED_IN_ITS_GAME,
    WIN_BACKED_OUT,
    UNIT_RESTORED,
    RESTORED_UNDELIVERED,
    RESTED_LIGHTS_COMPARED,
)
# Below this a storm may miss a mark by chance; from here on a missing mark fails it.
FAULTS_MIN = 450


class Marks:
    def __init__(self) -> None:
        self.fired: Counter[str] = Counter()

    def fire(self, name: str) -> None:
        self.fired[name] += 1

    def missing(self) -> list[str]:
        return [name for name in MUST_FIRE if not self.fired[name]]

    def as_dict(self) -> dict[str, int]:
        names = [*MUST_FIRE, *sorted(set(self.fired) - set(MUST_FIRE))]
        return {name: self.fired[name] for name in names}
