"""The power-cut promise: the journaled events alone rebuild the round, whatever was pressed."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from controller.core.felt import spot
from controller.core.round import commands
from controller.core.round.decide import RoundState, apply, decide, is_local
from protocol import numbers as kinds
from protocol.wire import events as wire
from tests.kit.half_made_entry import entry_values

HANDS = ["four-aces", "four-of-a-kind", "straight-flush", "three-of-a-kind", "seven-suited", "x"]
SEATS = st.integers(0, 4)
KEYS = st.sampled_from(["RUN", "JPH", "FAULT"])
NUMBERS = st.integers(1, 4)
VERDICTS = st.lists(
    st.sampled_from([spot.ACCEPT, spot.ACCEPT, spot.REFUSE, spot.EMPTY]),
    min_size=14,
    max_size=14,
)

# What a dealer, a supervisor, the felt and the Game Manager may do, in any order.
STEPS = st.one_of(
    st.tuples(st.just("start"), VERDICTS),
    st.tuples(st.just("end")),
    st.tuples(st.just("seat"), SEATS, st.sampled_from(["", "", "A", "B"])),
    st.tuples(st.just("hand"), st.sampled_from(HANDS)),
    st.tuples(st.just("select"), SEATS, st.sampled_from(HANDS)),
    st.tuples(st.just("reversed_win"), NUMBERS),
    st.tuples(st.just("reopen"), st.sampled_from([-1, 0, 29_999, 30_000])),
    st.tuples(st.just("tick"), SEATS, st.integers(0, 5_000)),
    st.tuples(st.just("confirm")),
    st.tuples(st.just("cancel")),
    st.tuples(st.just("jpot"), KEYS),
    st.tuples(st.just("key"), KEYS),
    st.tuples(st.just("card"), st.integers(0, 2)),
    st.tuples(st.just("award"), st.integers(0, 600_000), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("stray award"), NUMBERS),
    st.tuples(st.just("committed"), NUMBERS),
    st.tuples(st.just("stray committed"), NUMBERS),
    st.tuples(st.just("late"), SEATS, st.booleans(), st.integers(0, 5_000)),
    st.tuples(st.just("link"), st.booleans()),
    st.tuples(st.just("resume")),
)
# Pure chance seldom gets a win settled, so every other step does what the table waits for.
PROCEED = st.tuples(st.just("proceed"), SEATS, st.sampled_from(HANDS[:4]))
PLAY = st.booleans().flatmap(lambda as_expected: PROCEED if as_expected else STEPS)


class Bench:
    """Plays steps on a table and keeps its journal."""

    def __init__(self, table: Any) -> None:
        self.state = table.state
        self.rules = table.rules
        self.journal: list[Any] = []
        self.everything: list[Any] = []

    def play(self, name: str, *values: Any) -> None:
        if name == "link":
            self.rules.link_up = values[0]
        elif name == "select":
            self.do(commands.seat(values[0]))
            self.do(commands.hand(values[1]))
            self.do(commands.seat(values[0]))
        elif name == "proceed":
            self.proceed(*values)
        else:
            self.do(self.command(name, *values))

    def proceed(self, seat: int, hand: str) -> None:
        stage = self.state.stage() or self.state.phase()
        if stage == "preview":
            self.play("jpot", "JPH") if self.rules.is_keypad() else self.play("confirm")
        else:
            self.play(
                *{
                    "open": ("start", [spot.ACCEPT] * 14),
                    "locked": ("select", max(1, seat), hand),
                    "pricing": ("award", 5_000 * seat, 1, False),
                    "authorise": ("card", 2),
                    "return-key": ("key", "RUN"),
                    "recording": ("committed", 1),
                }[stage]
            )

    def command(self, name: str, *values: Any) -> Any:
        claim = self.state.claim
        if name == "start":
            return commands.start(list(zip(self.rules.sensors, values[0], strict=False)))
        if name == "key":
            self.rules.key = values[0]
        if name == "late":
            return commands.late(f"{max(1, values[0])}A", *values[1:])
        if name == "card":
            return commands.card(values[0], bytes(16))
        if name == "award" and claim is not None:
            lines = [[*pair, values[0], "main", 1] for pair in claim.lines]
            return commands.award(claim.number, lines, [["1A", 500]], values[1], values[2])
        if name == "committed" and claim is not None:
            return commands.committed(claim.number, values[0], claim.award_lines, claim.envy)
        if name in ("award", "stray award"):
            return commands.award(
                values[0] % 5 + 1, [["1A", "four-aces", 5, "main", 1]], [], 1, True
            )
        if name in ("committed", "stray committed"):
            return commands.committed(values[0], 1, [["1A", "four-aces", 5, "main", 1]], [])
        return getattr(commands, name)(*values)

    def do(self, command: Any) -> None:
        events, refusal = decide(self.state, self.rules, command)
        assert refusal == "" or all(is_local(kind) for kind, _body in events)
        for event in events:
            self.everything.append(copy.deepcopy(event))
            if not is_local(event[0]):
                self.journal.append(copy.deepcopy(event))
            apply(self.state, event)


def rebuilt(events: list[Any]) -> RoundState:
    state = RoundState()
    for event in events:
        apply(state, copy.deepcopy(event))
    return state


def check_promises(bench: Bench) -> None:
    state = bench.state
    assert rebuilt(bench.journal).durable_values() == state.durable_values()
    assert entry_values(rebuilt(bench.everything)) == entry_values(state)
    assert set(state.accepted).isdisjoint(state.refused)
    assert all(sensor in state.accepted for sensor, _hand in state.hands)
    assert len({sensor for sensor, _hand in state.hands}) == len(state.hands)
    assert all(not state.is_settled(sensor) for sensor, _hand in state.hands)
    won = sum(line[2] for win in state.wins for line in win.lines)
    won += sum(line[1] for win in state.wins for line in win.envy)
    assert sum(cents for _seat, cents, _ms in state.paid) <= won
    if state.claim is not None:
        assert sorted(state.claim.lines) == sorted(state.hands)


# Catches a change of the round that no event carries, for instance: `claims.card` setting
# `claim.authorised` instead of emitting COMMIT; `entry._choose` appending to `state.hands` instead
# of emitting HAND; `replay._settled` leaving the paid hands selected.
@settings(max_examples=400, deadline=None)
@given(steps=st.lists(PLAY, max_size=40), keypad=st.booleans(), two_games=st.booleans())
def test_replaying_the_journal_gives_the_same_round(make_table, steps, keypad, two_games):
    bench = Bench(make_table("keypad" if keypad else "touch", two_games))
    for step in steps:
        bench.play(*step)
        check_promises(bench)
    for kind, body in bench.journal:
        wire.parse(kind, body)


# Catches paying twice, for instance: `replay._claim` not remembering the number (drop
# `last_claim_number`); `state.unsettled_bets` offering a paid bet again; `claims.key` committing a
# claim that is committed already.
@settings(max_examples=200, deadline=None)
@given(steps=st.lists(PLAY, min_size=15, max_size=60), keypad=st.booleans())
def test_nothing_is_committed_or_settled_twice(make_table, steps, keypad):
    bench = Bench(make_table("keypad" if keypad else "touch"))
    bench.play("start", [spot.ACCEPT] * 14)
    for step in steps:
        bench.play(*step)
    numbers: dict[int, list[int]] = {kinds.CLAIM: [], kinds.COMMIT: [], kinds.SETTLED: []}
    paid: list[tuple[int, str]] = []
    round_number = 0
    for kind, body in bench.journal:
        if kind == kinds.ROUND_START:
            round_number = body[1]
        if kind in (kinds.CLAIM, kinds.COMMIT):
            numbers[kind].append(body[2])
        if kind == kinds.SETTLED:
            numbers[kind].append(body[1])
            paid += [(round_number, line[0]) for line in body[3]]
        if kind == kinds.REVERSED and body[1]:
            paid = []  # what was taken back may be paid anew; the claim numbers stay unique
    for seen in (*numbers.values(), paid):
        assert len(set(seen)) == len(seen)
    assert set(numbers[kinds.SETTLED]) <= set(numbers[kinds.COMMIT]) <= set(numbers[kinds.CLAIM])


ANY_EVENT = st.one_of(
    st.tuples(st.just(kinds.BOOT), st.just({1: 1, 2: "0.1", 3: ""})),
    st.tuples(
        st.just(kinds.ROUND_START),
        st.fixed_dictionaries(
            {
                1: NUMBERS,
                2: st.just(["1A", "2A"]),
                3: st.just(["3A"]),
                4: st.just([]),
                5: NUMBERS,
            }
        ),
    ),
    st.tuples(
        st.just(kinds.LATE_CHANGE),
        st.fixed_dictionaries({1: NUMBERS, 2: st.just("3A"), 3: st.booleans(), 4: NUMBERS}),
    ),
    st.tuples(
        st.just(kinds.HAND),
        st.fixed_dictionaries({1: NUMBERS, 2: st.just("1A"), 3: st.sampled_from(["", "x"])}),
    ),
    st.tuples(
        st.just(kinds.CLAIM),
        st.fixed_dictionaries(
            {1: NUMBERS, 2: NUMBERS, 3: st.just([["1A", "x"]]), 4: st.booleans()}
        ),
    ),
    st.tuples(
        st.just(kinds.AWARDED),
        st.fixed_dictionaries(
            {
                1: NUMBERS,
                2: st.just([["1A", "x", 5, "", 0]]),
                3: st.just([]),
                4: st.integers(0, 2),
                5: st.booleans(),
            }
        ),
    ),
    st.tuples(st.just(kinds.CANCEL), st.fixed_dictionaries({1: NUMBERS, 2: NUMBERS})),
    st.tuples(
        st.just(kinds.COMMIT),
        st.fixed_dictionaries(
            {1: NUMBERS, 2: NUMBERS, 3: st.just(1), 4: st.just(b""), 5: st.just(0)}
        ),
    ),
    st.tuples(
        st.just(kinds.SETTLED),
        st.fixed_dictionaries(
            {1: NUMBERS, 2: NUMBERS, 3: st.just([["1A", "x", 5, "", 0]]), 4: st.just([])}
        ),
    ),
    st.tuples(
        st.sampled_from([kinds.PAID, kinds.TAKEN_BACK]),
        st.fixed_dictionaries({1: NUMBERS, 2: NUMBERS, 3: NUMBERS, 4: NUMBERS}),
    ),
    st.tuples(st.just(kinds.REOPENED), st.fixed_dictionaries({1: NUMBERS, 2: NUMBERS, 3: NUMBERS})),
    st.tuples(
        st.just(kinds.VOIDED),
        st.fixed_dictionaries({1: NUMBERS, 2: NUMBERS, 3: NUMBERS, 4: st.just("misdeal")}),
    ),
    st.tuples(st.just(kinds.REVERSED), st.fixed_dictionaries({1: NUMBERS, 2: NUMBERS})),
    st.tuples(st.just(kinds.ROUND_END), st.fixed_dictionaries({1: NUMBERS})),
    st.tuples(st.just(kinds.FAULT), st.just({1: "bus", 2: "sense-1", 3: True, 4: "Stuck."})),
    st.tuples(st.just(kinds.SETTINGS), st.just({1: bytes(32)})),
    st.tuples(st.just(kinds.REFUSED), st.just({1: "START", 2: "No bets."})),
)


# Catches: an apply() that asserts or assumes an order, which would keep a unit from starting.
@settings(deadline=None)
@given(events=st.lists(ANY_EVENT, max_size=30))
def test_every_event_can_be_applied_in_every_state(events):
    assert rebuilt(events).durable_values() == rebuilt(events).durable_values()


def test_events_that_are_not_the_rounds_change_nothing(touch):
    touch.start("2A")
    before = touch.state.durable_values()
    silent = (kinds.BOOT, kinds.FAULT, kinds.SETTINGS, kinds.REFUSED, kinds.SEAL, kinds.SERVICE)
    for kind in silent:
        apply(touch.state, (kind, {}))
    assert touch.state.durable_values() == before
