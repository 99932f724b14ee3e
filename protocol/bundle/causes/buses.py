"""Rules about ICs, their buses and their interrupt lines."""

from __future__ import annotations

from protocol.bundle.causes.facts import Facts, View
from protocol.bundle.causes.rule import Finding, Rule

ANSWERS, SILENT, STRANGER = "answers", "silent", "stranger"
NOT_ACKNOWLEDGED = "no IC acknowledged"
# A plug that was touched fails a few times; an IC that is gone fails at every look.
SILENT_FAULTS_MIN = 20
# Of all failures on the bus: a held bus fails with every address alike.
SILENT_PART_MIN = 0.8
# A line that calls is free again as soon as the keys are read.
LINE_HELD_MIN_S = 3


def held_bus(facts: Facts) -> Finding | None:
    evidence = []
    for bus in facts.buses():
        outcome = bus.get("last_recovery", "")
        if bus.get("freed") or "still held" in outcome:
            evidence.append(
                f"Bus {bus['bus']} was recovered {bus['recoveries']} times; last: {outcome}"
            )
            evidence.append(f"Its last fault: {bus['last_fault']}")
    evidence += [
        f"Self-test, {part}: {sentence}"
        for part, sentence in facts.failed("recovery of bus")
        if "held low" in sentence
    ]
    if not evidence:
        return None
    return Finding(
        95, "An IC or a wire holds the I2C bus, and the unit had to free it.", tuple(evidence)
    )


def wrong_board_file(facts: Facts) -> Finding | None:
    other = [sentence for _, sentence in facts.faults("references") if "board" in sentence]
    if other:
        return Finding(90, "The table's file belongs to another board.", tuple(other))
    silent, strangers = facts.scanned(SILENT), facts.scanned(STRANGER)
    if not silent or not strangers:
        return None
    evidence = [
        f"{row['name']} ({row['kind']}) should be at 0x{row['address']:02X} on {row['place']}, "
        "and nothing answers there."
        for row in silent
    ]
    evidence += [
        f"Something else answers at 0x{row['address']:02X} on {row['place']}." for row in strangers
    ]
    return Finding(
        96, "The table's file has an IC at another address than the board.", tuple(evidence)
    )


def missing_ics(facts: Facts) -> set[str]:
    """The names of the ICs that do not answer: what else is said of them follows from that."""
    silent = {row["name"] for row in facts.scanned(SILENT)}
    suspect = None if silent else _most_silent(facts)
    return {suspect[0]["name"]} if suspect else silent


def silent_ic(facts: Facts) -> Finding | None:
    silent = facts.scanned(SILENT)
    # On a bus that is held nothing answers. Once it is free again, the others do.
    if wrong_board_file(facts) or (held_bus(facts) and not facts.scanned(ANSWERS)):
        return None
    if silent:
        row = silent[0]
        evidence = [f"Bus scan: 0x{row['address']:02X} on {row['place']} does not answer."]
        evidence += _failures_at(facts, row["address"])
        return Finding(
            95, f"The IC {row['name']} ({row['kind']}) does not answer.", tuple(evidence)
        )
    suspect = _most_silent(facts)
    if suspect is None:
        return None
    ic, evidence = suspect
    return Finding(75, f"The IC {ic['name']} ({ic['kind']}) stopped answering.", tuple(evidence))


def _failures_at(facts: Facts, address: int) -> list[str]:
    counts = [bus["faults_at"].get(str(address), 0) for bus in facts.buses()]
    return [f"{sum(counts)} transfers with that address failed."] if sum(counts) else []


def _most_silent(facts: Facts) -> tuple[View, list[str]] | None:
    """Without a scan: one address that fails again and again while the others work."""
    for bus in facts.buses():
        if NOT_ACKNOWLEDGED not in bus["last_fault"]:
            continue
        for address, count in bus["faults_at"].items():
            ics = facts.ics_at(bus["bus"], int(address))
            if ics and count >= max(SILENT_FAULTS_MIN, SILENT_PART_MIN * bus["faults"]):
                return ics[0], [
                    f"{count} of {bus['faults']} failed transfers were with 0x{int(address):02X}.",
                    f"The last one: {bus['last_fault']}",
                ]
    return None


def shorted_interrupt(facts: Facts) -> Finding | None:
    missing = missing_ics(facts)
    evidence = [
        f"{part}: {sentence}" for part, sentence in facts.faults("interrupt") if part not in missing
    ]
    evidence += [
        f"Self-test, {part}: {sentence}"
        for part, sentence in facts.failed("interrupt of")
        if "short" in sentence and part.removeprefix("interrupt of ") not in missing
    ]
    if facts.keypad_ic not in missing:
        evidence += _keypad_line(facts)
    if not evidence:
        return None
    return Finding(
        94, "An interrupt line is held low: it is shorted, or its IC is broken.", tuple(evidence)
    )


def _keypad_line(facts: Facts) -> list[str]:
    evidence = [
        f"Self-test, {part}: {sentence}"
        for part, sentence in facts.failed("keypad")
        if "short" in sentence
    ]
    held_s = max((diary.get("keypad_line_held_s", 0) for diary in facts.diaries), default=0)
    if held_s >= LINE_HELD_MIN_S:
        evidence.append(f"The keypad's interrupt line was low for {held_s} s without a pause.")
    return evidence


RULES = (
    Rule(
        "silent-ic",
        "An IC does not answer",
        "Spots, lamps, keys or the text display are dead, all those of one IC at once.",
        (
            "Look at the plug and the cable of that IC's board; press the plug home.",
            "Measure its supply: 3.3 V between VDD and GND.",
            "Swap the board. If the new one is silent too, the cable is broken.",
        ),
        silent_ic,
    ),
    Rule(
        "held-bus",
        "The I2C bus is held",
        "Everything on the bus stops for seconds, or stays dead.",
        (
            "Unplug the boards of this bus, one after another, until it is free: the last held it.",
            "If it stays held without them, the data wire lies on ground: change the cable.",
            "A bus that is freed again and again has an IC that hangs: change the one named most.",
        ),
        held_bus,
    ),
    Rule(
        "shorted-interrupt",
        "An interrupt line is shorted",
        "Lights follow chips a little late; the unit polls instead.",
        (
            "Unplug the IC's board. Its interrupt wire must not conduct to ground: else change it.",
            "If the line is low only with the board plugged in, change the board.",
        ),
        shorted_interrupt,
    ),
    Rule(
        "wrong-board-file",
        "The table's file does not fit the board",
        "After an update or a change of boards a whole IC is dead.",
        (
            "Compare [board] in the table's file with the address jumpers of the IC that is named.",
            "Put the right file in place, or set the jumper, and start the unit again.",
        ),
        wrong_board_file,
    ),
)
