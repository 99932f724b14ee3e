"""A promise broken on purpose is noticed by the storm, within a stated number of seeds.

Each case names the mutation, the kinds of fault that bring it to light, the rules that may name it
and the seeds it may take. Without a mutation the very same storms are silent.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim.storm.options import StormOptions
from sim.storm.run import run_storm
from tests.storm import mutations

CUTS = ("power cut", "power cut at any await", "power cut inside the disk")
KILLS = ("manager killed", "manager killed at any await", "manager killed inside the disk")
LINKS = ("link cut", "connection reset")

Case = tuple[Callable[[pytest.MonkeyPatch], None], tuple[str, ...], tuple[str, ...], int]

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
        ("counted once", "honest units are believed"),
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
        ("card copied",),
        ("chains verify", "a copied card is caught", "honest units are believed"),
        3,
    ),
    (
        mutations.disks_lie,
        CUTS,
        ("durable before acted on", "the card can be read", "the journal survives"),
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
        3,
    ),
    (mutations.starts_offline, ("link cut",), ("no game starts offline",), 8),
    (
        mutations.failed_write_acknowledged,
        ("manager disk fails",),
        ("acknowledged after the commit",),
        1,
    ),
)


def storm(kinds: tuple[str, ...], seed: int) -> list[tuple[str, str]]:
    """The violations of one short storm of these kinds of fault."""
    every_s = 6.0 if kinds else 1e9
    weights = dict.fromkeys(kinds or ("power cut",), 1)
    options = StormOptions(tables=2, hours=0.025, seed=seed, fault_every_s=every_s, weights=weights)
    return [(found.rule, found.sentence) for found in run_storm(options).violations]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].__name__)
def test_the_storm_notices(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate, kinds, rules, seeds = case
    mutate(monkeypatch)
    for seed in range(1, seeds + 1):
        found = storm(kinds, seed)
        if found:
            assert found[0][0] in rules, found
            return
    pytest.fail(f"{seeds} storms did not notice it")


@pytest.mark.parametrize("kinds", [(), CUTS, KILLS, LINKS, ("card copied",)], ids=str)
def test_without_a_mutation_the_same_storms_are_silent(kinds: tuple[str, ...]) -> None:
    assert storm(kinds, seed=1) == []
