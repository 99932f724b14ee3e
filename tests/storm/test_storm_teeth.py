"""A promise broken on purpose is noticed by the storm, within a stated number of seeds.

Each case names the mutation, the kinds of fault that bring it to light, the rules that may name it
and the seeds it may take. Without a mutation the very same storms are silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sim.runs.storm.faults.deck import ACT_KINDS
from sim.runs.storm.options import DEPTHS, StormOptions
from sim.runs.storm.run import run_storm
from tests.storm import mutations

CUTS = ("power cut", "power cut at any await", "power cut inside the disk")
KILLS = ("manager killed", "manager killed at any await", "manager killed inside the disk")
LINKS = ("link cut", "connection reset")
LEDGERS = ("manager lease lost", "manager commits late", "manager commit unknown")
OPERATORS = ("operator adjusts", "operator sets a limit", "operator stops play")
VOIDS, REVERSALS = ("operator voids a game",), ("operator reverses a win",)
BACK_OUTS, DAMAGES = ("operator backs a win out",), ("journal damaged",)
AGAIN = (*REVERSALS, "operator records a win again")
GOES_ON = "a restored unit goes on where it was"
TOO_EARLY = ("acknowledged after the commit", "shown after the commit")

Mutation = Callable[[pytest.MonkeyPatch], None]
Case = tuple[Mutation, tuple[str, ...], tuple[str, ...], int]
PolicyCase = tuple[Mutation, tuple[str, ...], int]

CASES: tuple[Case, ...] = (
    (
        mutations.journal_syncs_less,
        CUTS,
        ("durable before acted on", "the journal survives"),
        2,
    ),
    (
        mutations.ledger_syncs_less,
        KILLS,
        ("durable before acknowledged", "honest units are believed"),
        3,
    ),
    (mutations.acknowledge_before_commit, (), ("acknowledged after the commit",), 1),
    (
        mutations.dedupe_off,
        ("connection overtaken",),
        ("counted once", "honest units are believed", "state is a fold of the log"),
        6,
    ),
    (mutations.light_before_journal, (), ("recorded before shown",), 1),
    (
        mutations.round_forgotten,
        CUTS,
        ("lights equal truth at rest", "no round lost", "honest units are believed"),
        2,
    ),
    (
        mutations.fork_check_off,
        ("disk copied",),
        ("chains verify", "a copied disk is caught", "honest units are believed"),
        3,
    ),
    (
        mutations.disks_lie,
        CUTS,
        ("durable before acted on", "the disk can be read", "the journal survives"),
        1,
    ),
    (
        mutations.resend_skipped,
        LINKS,
        ("honest units are believed", "everything drains in bounded time"),
        2,
    ),
    (mutations.gap_check_off, LINKS, ("chains verify", "no gap", "honest units are believed"), 2),
    (mutations.receipt_priced_anew, (), ("a committed amount never changes",), 1),
    (
        mutations.wager_booked_again_after_a_cut,
        CUTS,
        ("honest units are believed", "lights equal truth at rest"),
        2,
    ),
    (mutations.award_rounded_up, (), ("money as the rules say", "a fixed amount never changes"), 1),
    (
        mutations.answers_not_repeated,
        (*CUTS, *LINKS, *KILLS),
        ("everything drains in bounded time", "no win lost"),
        4,
    ),
    (mutations.starts_offline, ("link cut",), ("no game starts offline",), 8),
    (
        mutations.failed_write_acknowledged,
        ("manager disk fails",),
        ("acknowledged after the commit",),
        1,
    ),
    (
        mutations.fenced_owner_goes_on,
        ("manager lease lost",),
        (*TOO_EARLY, "the tail told is the ledger's"),
        2,
    ),
    (
        mutations.unknown_outcome_taken_for_done,
        ("manager commit unknown",),
        (*TOO_EARLY, "the tail told is the ledger's"),
        2,
    ),
    (mutations.sent_before_durable, ("manager commits late",), TOO_EARLY, 2),
    (mutations.limit_overlooked, ("operator sets a limit",), ("money as the rules say",), 2),
    (mutations.tail_of_memory, ("manager commits late",), ("the tail told is the ledger's",), 2),
    (mutations.reversal_leaves_the_meter, REVERSALS, ("money as the rules say",), 2),
    (mutations.reversal_not_told, REVERSALS, ("an order reaches its table",), 2),
    (mutations.void_order_not_told, VOIDS, ("an order reaches its table",), 2),
    (mutations.void_keeps_the_contribution, VOIDS, ("money as the rules say",), 2),
    (mutations.backed_out_win_stands, BACK_OUTS, ("counted once", "an order reaches its table"), 3),
    (mutations.counted_without_an_entry, (), ("state is a fold of the log",), 1),
    (mutations.entry_not_taken, (), ("state is a fold of the log",), 1),
    (mutations.recorded_again_as_of_today, AGAIN, ("money as the rules say",), 3),
    (mutations.restore_forgets_the_undelivered, DAMAGES, (GOES_ON,), 2),
    (mutations.restore_forgets_the_round, DAMAGES, (GOES_ON, "honest units are believed"), 2),
    (mutations.restored_records_count_again, DAMAGES, ("honest units are believed",), 2),
)

# Seeds that noticed where those before them did not: they are tried first.
NOTICED_BY = {mutations.starts_offline: 3}

# What only a floor with drawn games and award policies can notice, with a seed whose table has
# two winners of one shared award: that is rare.
WRONG_AMOUNT = (
    "money as the rules say",
    "amounts as the rules say",
    "a fixed amount never changes",
)
SHUFFLER = ("a shuffler's word is what it said",)  # of which the floor of seed 11 has one
POLICY_CASES: tuple[PolicyCase, ...] = (
    (mutations.shared_award_not_divided, WRONG_AMOUNT, 11),
    (mutations.second_share_taken, ("a shared award is divided once", "counted once"), 11),
    (mutations.measured_on_what_is_left, WRONG_AMOUNT, 1),
    (mutations.earlier_claims_of_the_round_forgotten, WRONG_AMOUNT, 1),
    (mutations.shuffler_shows_another_seat, SHUFFLER, 11),
    (mutations.every_hand_agrees, SHUFFLER, 11),
)


@pytest.mark.parametrize(
    "mutate",
    [mutations.counted_without_an_entry, mutations.entry_not_taken],
    ids=lambda it: it.__name__,
)
def test_books_that_leave_their_log_are_noticed_at_that_very_commit(
    mutate: Mutation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a fault no manager starts again, and the storm's end is far away."""
    mutate(monkeypatch)
    options = StormOptions(2, 0.025, 1, 1e9, {"power cut": 1}, "wide")
    found = run_storm(options).violations[0]
    assert found.rule == "state is a fold of the log"
    assert found.at_ms < 60_000


def storm(
    kinds: tuple[str, ...], seed: int, depth: str, tables: int = 2, hours: float = 0.025
) -> list[tuple[str, str]]:
    """The violations of one short storm of these kinds of fault."""
    every_s = 6.0 if kinds else 1e9
    weights = dict.fromkeys(kinds or ("power cut",), 1)
    options = StormOptions(tables, hours, seed, every_s, weights, depth, every_s)
    return [(found.rule, found.sentence) for found in run_storm(options).violations]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_the_storm_notices(case: Case, depth: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate, kinds, rules, seeds = case
    mutate(monkeypatch)
    first = NOTICED_BY.get(mutate, 1)
    in_turn = sorted(range(1, seeds + 1), key=lambda seed: seed != first)
    notice(rules, (storm(kinds, seed, depth) for seed in in_turn))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", POLICY_CASES, ids=lambda case: case[0].__name__)
def test_the_storm_notices_a_wrong_policy(
    case: PolicyCase, depth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutate, rules, seed = case
    mutate(monkeypatch)
    notice(rules, iter([storm((), seed, depth, tables=4, hours=0.04)]))


def notice(rules: tuple[str, ...], storms: Iterator[list[tuple[str, str]]]) -> None:
    """One of the storms names one of the rules, and none names another before."""
    for found in storms:
        if found:
            assert found[0][0] in rules, found
            return
    pytest.fail("no storm noticed it")


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize(
    "kinds",
    [
        (),
        CUTS,
        KILLS,
        LINKS,
        LEDGERS,
        OPERATORS,
        ("disk copied",),
        ACT_KINDS,
    ],
    ids=str,
)
def test_without_a_mutation_the_same_storms_are_silent(kinds: tuple[str, ...], depth: str) -> None:
    assert storm(kinds, seed=1, depth=depth) == []


@pytest.mark.parametrize("depth", DEPTHS)
def test_without_a_mutation_every_policy_is_kept(depth: str) -> None:
    assert storm((), seed=1, depth=depth, tables=4, hours=0.04) == []
