"""The cases of the sensing matrix: what happens on the felt, and what must not come of it.

Each case lets people and things act on a drawn table, says when START is pressed, and what lies
where at that moment. It knows the truth and what is required of sensing; how sensing works it does
not know. Times are seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sim.felt.physics.pad import Ramp
from sim.felt.physics.ranges import MATERIALS
from sim.felt.physics.table import PhysicalTable
from sim.felt.physics.things import Resting

TARGET = "3A"
PADS = ("1A", "2A", TARGET, "4A", "5A")
BEGIN_S = 1.0
SHORTED_COUNTS, OPEN_COUNTS = 0, 1_000_000
DAY_S = 86_400.0


@dataclass
class Scene:
    """What was arranged: when START is pressed, and the truth at that moment."""

    start_s: float
    chips: tuple[str, ...] = ()  # centred chips at rest: these have to be accepted
    maybe: tuple[str, ...] = ()  # chips in doubtful places: accepted or refused, both are right
    dead: tuple[str, ...] = ()  # spots that cannot know: they must never read as empty
    rest_s: float = 0.0  # from here on nothing moves on the target any more
    rounds: list[tuple[float, float]] = field(default_factory=list)  # open rounds before START
    bus_fault: str = ""  # what befalls the bus, from `bus_fault_s` on
    bus_fault_s: float = 0.0
    outage: tuple[float, float] | None = None  # the unit has no power from the first to the second
    early_start_s: float | None = None  # START is pressed then as well: what it refuses blinks


@dataclass(frozen=True)
class Case:
    """One row of the matrix. `weight` is its share of the trials."""

    name: str
    arrange: Callable[[PhysicalTable], Scene]
    weight: int = 4
    pads: tuple[str, ...] = PADS
    never_accepts: bool = False  # required: no false accept
    misses_max: float | None = None  # required: the part of centred chips that may be missed
    never_flickers: bool = False
    never_empty: bool = False  # required: a dead spot never reads as no bet
    material: str = ""
    through_registers: bool = False  # has no meaning on the short way
    trials_max: int | None = None  # for what takes hours of simulated time, on the short way only


def _begin(table: PhysicalTable) -> float:
    return BEGIN_S + table.draw.between(0.0, 1.0)


def _start_after(table: PhysicalTable, rest_s: float) -> float:
    return rest_s + table.draw.ms("START after the table is at rest, ms")


def _put(table: PhysicalTable, pad_id: str, at_s: float) -> float:
    """A chip in the middle of its spot: mostly put there, sometimes let fall."""
    if table.draw.chance(0.15):
        return table.drop(pad_id, at_s, table.one_chip_ff())
    return table.put_by_hand(pad_id, at_s, table.one_chip_ff())


# -- chips -----------------------------------------------------------------------------------


def _one_chip(table: PhysicalTable) -> Scene:
    rest_s = _put(table, TARGET, _begin(table))
    return Scene(_start_after(table, rest_s), chips=(TARGET,), rest_s=rest_s)


def _full_table(table: PhysicalTable) -> Scene:
    """Every seat bets within a few seconds, as they do when the dealer waits."""
    begin_s = _begin(table)
    rest_s = max(
        _put(table, pad_id, begin_s + table.draw.of("seats bet within, s")) for pad_id in PADS
    )
    return Scene(_start_after(table, rest_s), chips=PADS, rest_s=rest_s)


def _stack(table: PhysicalTable) -> Scene:
    count = 5
    at_s = _begin(table)
    rest_s = table.put_by_hand(TARGET, at_s, table.stack_ff(count), height_mm=3.3 * count)
    return Scene(_start_after(table, rest_s), maybe=(TARGET,), rest_s=rest_s)


def _half_off(table: PhysicalTable) -> Scene:
    ff = table.chip_ff * table.draw.of("half off, part of a chip")
    rest_s = table.put_by_hand(TARGET, _begin(table), ff)
    return Scene(_start_after(table, rest_s), maybe=(TARGET,), rest_s=rest_s)


def _on_edge(table: PhysicalTable) -> Scene:
    rest_s = table.put_on_edge(TARGET, _begin(table))
    return Scene(_start_after(table, rest_s), maybe=(TARGET,), rest_s=rest_s)


def _card_over_chip(table: PhysicalTable) -> Scene:
    laid_s = _put(table, TARGET, _begin(table)) + table.draw.of("card follows the chip after, s")
    rest_s = table.put_by_hand(TARGET, laid_s, table.draw.of("card, fF"), height_mm=4.0)
    return Scene(_start_after(table, rest_s), chips=(TARGET,), rest_s=rest_s)


def _chip_at_boot(table: PhysicalTable) -> Scene:
    """Chips lay there before the unit had power."""
    for pad_id in (TARGET, "4A"):
        table.pads[pad_id].things.append(Resting(table.one_chip_ff(), -10.0))
    return Scene(table.draw.of("START after power-up, s"), chips=(TARGET, "4A"))


def _new_felt(table: PhysicalTable) -> Scene:
    """Another layout, not calibrated: visible trouble is fine, a silent one is not."""
    table.change_felt()
    rest_s = _put(table, TARGET, _begin(table))
    return Scene(_start_after(table, rest_s), maybe=(TARGET,), rest_s=rest_s)


# -- hands and foreign things ----------------------------------------------------------------


def _hand(table: PhysicalTable) -> Scene:
    at_s = _begin(table)
    end_s = table.rest_hand(TARGET, at_s, whole=table.draw.chance(0.5))
    return Scene(table.draw.between(at_s, end_s + 0.5))


def _sleeve(table: PhysicalTable) -> Scene:
    at_s = _begin(table)
    end_s = table.rest_sleeve(TARGET, at_s)
    return Scene(table.draw.between(at_s, end_s + 0.5))


def _hover(table: PhysicalTable) -> Scene:
    at_s = _begin(table)
    end_s = table.hover(TARGET, at_s)
    return Scene(table.draw.between(at_s, end_s + 0.5))


def _wet_hover(table: PhysicalTable) -> Scene:
    """A wet hand over the spot, and in half of the trials it drips."""
    at_s = _begin(table)
    end_s = table.hover(TARGET, at_s, table.draw.of("wet hand, times a dry one"))
    if table.draw.chance(0.5):
        table.drip(TARGET, table.draw.between(at_s, end_s))
    return Scene(table.draw.between(at_s, end_s + 3))


def _card(table: PhysicalTable) -> Scene:
    count = table.draw.pick(1, 5)
    ff = table.draw.of("card, fF") * (1 + 0.5 * (count - 1))
    rest_s = table.put_by_hand(TARGET, _begin(table), ff, height_mm=0.3 * count)
    return Scene(table.draw.between(BEGIN_S, rest_s + 5))


def _thing(name: str) -> Callable[[PhysicalTable], Scene]:
    def arrange(table: PhysicalTable) -> Scene:
        ff = table.draw.of(name)
        if name == "lammer, part of a chip":
            ff *= table.chip_ff
        rest_s = table.put_by_hand(TARGET, _begin(table), ff, height_mm=5.0)
        return Scene(table.draw.between(BEGIN_S, rest_s + 5))

    return arrange


# -- liquid ----------------------------------------------------------------------------------


def _liquid(table: PhysicalTable) -> Scene:
    """A spill over one to four seats; a hand may be over one of three or more as it comes."""
    draw = table.draw
    count = draw.pick(1, 4)
    pads = PADS[draw.pick(0, len(PADS) - count) :][:count]
    at_s = _begin(table)
    hand_over = draw.one_of(pads) if count >= 3 and draw.chance(0.5) else ""
    end_s = table.spill(pads, at_s, hand_over)
    return Scene(draw.between(at_s, end_s + 8))


def _drying(table: PhysicalTable) -> Scene:
    """The spill dries up or is wiped, and passes every level on its way."""
    draw = table.draw
    count = draw.pick(1, 3)
    pads = PADS[draw.pick(0, len(PADS) - count) :][:count]
    end_s = table.spill(pads, _begin(table))
    if draw.chance(0.6):
        end_s = table.wipe(pads, end_s + draw.of("wiped after the spill, s"))
    return Scene(draw.between(end_s, end_s + 45))


def _chip_taken_from_wet_felt(table: PhysicalTable) -> Scene:
    """A drink runs over an accepted chip and its neighbours, and somebody saves the chip."""
    draw = table.draw
    rest_s = _put(table, TARGET, _begin(table))
    at_s = rest_s + draw.of("chip lies before the spill, s")
    first = draw.pick(0, 2)
    pads = PADS[first : draw.pick(3, len(PADS))]
    taken_s = table.spill(pads, at_s) + draw.of("chip is saved after the spill, s")
    gone_s = table.take_by_hand(TARGET, taken_s)
    return Scene(draw.between(gone_s, gone_s + 12), rest_s=gone_s)


# -- the room --------------------------------------------------------------------------------


def _drift(table: PhysicalTable) -> Scene:
    """Warmth and damp change for minutes, with rounds in between; then a chip may be put down."""
    draw = table.draw
    limit_s = 1800.0 if draw.chance(0.05) else draw.of("drift is watched for, s")
    end_s = table.drift(BEGIN_S, limit_s)
    rounds = []
    at_s = BEGIN_S + draw.of("rounds begin after, s")
    while at_s < end_s and draw.chance(0.7):
        length_s = draw.of("round lasts, s")
        rounds.append((at_s, min(at_s + length_s, end_s)))
        at_s += length_s + draw.of("between two rounds, s")
    if draw.chance(0.5):
        return Scene(end_s + draw.between(0, 5), rounds=rounds)
    rest_s = _put(table, TARGET, end_s + 1)
    return Scene(_start_after(table, rest_s), chips=(TARGET,), rest_s=rest_s, rounds=rounds)


def _drift_for_hours(table: PhysicalTable) -> Scene:
    """The whole range of warmth and damp, while a unit watches; then a chip is put down."""
    end_s = table.drift(BEGIN_S, limit_s=DAY_S)
    rest_s = _put(table, TARGET, end_s + 1)
    return Scene(_start_after(table, rest_s), maybe=(TARGET,), rest_s=rest_s)


# -- a unit without power --------------------------------------------------------------------


def _off_for_minutes(table: PhysicalTable) -> Scene:
    """Chips lie there when the power goes; in the dark some are taken and some are put down."""
    draw = table.draw
    lying = [pad_id for pad_id in PADS if draw.chance(0.4)]
    begin_s = _begin(table)
    put_s = [_put(table, each, begin_s + draw.of("seats bet within, s")) for each in lying]
    off_s = max(put_s or [3.0]) + draw.of("chips lie before the power goes, s")
    on_s = off_s + draw.of("power is off for minutes, s")
    table.drift(off_s, limit_s=on_s - off_s)
    there = []
    for pad_id in PADS:
        is_there = pad_id in lying
        if draw.chance(0.15):
            _change_in_the_dark(table, pad_id, is_there, draw.between(off_s + 0.5, on_s - 0.5))
            is_there = not is_there
        if is_there:
            there.append(pad_id)
    start_s = on_s + draw.of("START after minutes without power, s")
    return Scene(start_s, maybe=tuple(there), outage=(off_s, on_s))


def _change_in_the_dark(table: PhysicalTable, pad_id: str, is_there: bool, at_s: float) -> None:
    if is_there:
        table.lift(pad_id, at_s)
    else:
        table.pads[pad_id].things.append(Resting(table.one_chip_ff(), at_s))


def _off_for_hours(table: PhysicalTable) -> Scene:
    """A closed table in the night: nothing lies there, and the room changes as far as it may."""
    off_s = BEGIN_S + table.draw.of("empty felt before the power goes, s")
    on_s = table.drift(off_s, limit_s=DAY_S) + 60
    start_s = on_s + table.draw.of("START after hours without power, s")
    return Scene(start_s, outage=(off_s, on_s))


def _interference(table: PhysicalTable) -> Scene:
    draw = table.draw
    chips: tuple[str, ...] = ()
    at_s = _begin(table)
    if draw.chance(0.3):
        at_s = _put(table, "2A", at_s) + 1.0
        chips = ("2A",)
    pads = PADS if draw.chance(0.6) else (draw.one_of(PADS),)
    end_s = table.interfere(pads, at_s)
    if draw.chance(0.2):
        table.change_grounding(draw.between(at_s, end_s))
    return Scene(draw.between(at_s, end_s + 1.5), maybe=chips)


def _couple_lamps_worst(table: PhysicalTable) -> None:
    for pad in table.pads.values():
        pad.lamp_ff = 6.0 if table.draw.chance(0.5) else -6.0


def _lamps(table: PhysicalTable) -> Scene:
    """A chip under lamps that couple at their worst."""
    _couple_lamps_worst(table)
    rest_s = _put(table, TARGET, _begin(table))
    return Scene(_start_after(table, rest_s), chips=(TARGET,), rest_s=rest_s)


def _blinking(table: PhysicalTable) -> Scene:
    """START comes while a chip is being put down; refused, it blinks when START comes again."""
    _couple_lamps_worst(table)
    begin_s = _begin(table)
    rest_s = _put(table, TARGET, begin_s)
    early_s = table.draw.between(begin_s, rest_s + 0.1)
    start_s = _start_after(table, rest_s)
    return Scene(start_s, chips=(TARGET,), rest_s=rest_s, early_start_s=early_s)


def _dead_pad(table: PhysicalTable) -> Scene:
    """A lead breaks or shorts, before a chip is put down or after."""
    draw = table.draw
    pad = table.pads[TARGET]
    rest_s = _put(table, TARGET, _begin(table))
    broken = draw.pick(1, 3)
    if broken == 1:
        pad.dead_counts = SHORTED_COUNTS
    elif broken == 2:
        pad.dead_counts = OPEN_COUNTS
    else:
        part = draw.of("loose pad, part of the stray left")
        pad.ramps.append(Ramp(-pad.stray_ff * (1 - part), BEGIN_S, BEGIN_S + 0.001))
        pad.sensitivity *= 0.05
    return Scene(_start_after(table, rest_s), dead=(TARGET,), rest_s=rest_s)


def _dead_bus(table: PhysicalTable) -> Scene:
    """The bus or the chip goes silent at any moment around a chip being put down."""
    draw = table.draw
    at_s = _begin(table)
    rest_s = _put(table, TARGET, at_s)
    start_s = _start_after(table, rest_s)
    return Scene(
        start_s,
        dead=PADS,
        bus_fault=draw.one_of(("nack", "stuck")),
        bus_fault_s=draw.between(BEGIN_S, start_s - 0.05),
    )


CENTRED_MISSES_MAX = 1e-4


def _centred(name: str, arrange: Callable[[PhysicalTable], Scene], weight: int) -> Case:
    """Chips in the middle of their spots, which have to be accepted, and nothing else."""
    return Case(name, arrange, weight, never_accepts=True, misses_max=CENTRED_MISSES_MAX)


CASES: tuple[Case, ...] = (
    *(
        Case(
            f"one chip, {material}",
            _one_chip,
            weight=12,
            misses_max=CENTRED_MISSES_MAX,
            never_accepts=True,
            material=material,
        )
        for material in MATERIALS
    ),
    _centred("chips on every seat", _full_table, 1),
    _centred("one chip, lamps at their worst", _lamps, 2),
    _centred("one chip, refused and blinking", _blinking, 2),
    _centred("chips lying there at power-up", _chip_at_boot, 4),
    _centred("card laid over a chip", _card_over_chip, 4),
    Case("stack of five", _stack, 4, never_accepts=True),
    Case("chip half off", _half_off, 4, never_accepts=True, never_flickers=True),
    Case("chip on edge", _on_edge, 4, never_accepts=True, never_flickers=True),
    Case("felt changed, not calibrated", _new_felt, 2, never_accepts=True),
    Case("hand resting", _hand, 12, never_accepts=True),
    Case("hand hovering", _hover, 12, never_accepts=True),
    Case("wet hand hovering", _wet_hover, 6, never_accepts=True),
    Case("sleeve", _sleeve, 6),
    Case("card over the spot", _card, 8, never_accepts=True),
    Case("phone", _thing("phone, fF"), 2),
    Case("drink", _thing("glass, fF"), 2),
    Case("lammer", _thing("lammer, part of a chip"), 2),
    Case("liquid", _liquid, 8, never_accepts=True),
    Case("drying and wiping", _drying, 3, never_accepts=True),
    Case("chip taken from wet felt", _chip_taken_from_wet_felt, 3, never_accepts=True),
    _centred("drift", _drift, 1),
    Case("drift for hours", _drift_for_hours, 1, never_accepts=True, trials_max=20),
    Case("power off for minutes", _off_for_minutes, 4, never_accepts=True),
    Case("power off for hours", _off_for_hours, 4, never_accepts=True),
    Case("interference", _interference, 8, never_accepts=True),
    Case("dead pad", _dead_pad, 4, never_accepts=True, never_empty=True),
    Case("dead bus", _dead_bus, 1, never_accepts=True, never_empty=True, through_registers=True),
)
