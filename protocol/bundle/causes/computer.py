"""Rules about the unit's computer: supply, disk, clock, loop, and the journal on its disk."""

from __future__ import annotations

from protocol.bundle.causes.facts import Facts
from protocol.bundle.causes.rule import Finding, Rule

WEAR_MAX_PERCENT = 90
FREE_MIN_BYTES = 50 * 1024 * 1024
OFFSET_MAX_MS = 5000
HOLDS_MIN, HOLD_LONG_MS = 3, 1000
DISK_WORDS = (
    "I/O error",
    "mmc0: error",
    "mmcblk0: error",
    "EXT4-fs error",
    "Remounting filesystem",
)
# What the journal says of itself when its bytes are not those that were written.
DAMAGE_WORDS = (
    "damaged",
    "altered",
    "has lost its",
    "is missing",
    "does not follow",
    "is empty",
    "malformed",
    "not a database",
    "NotADBError",
    "CorruptError",
)
SUPPLY_WORDS = ("under-voltage", "throttled", "frequency capped")


def supply_dips(facts: Facts) -> Finding | None:
    evidence = []
    for diary in facts.diaries:
        computer = diary.get("computer", {})
        told = {**computer.get("supply_looks", {})}
        evidence += [
            f"{word}: seen in {count} of {computer['looks']} looks."
            for word, count in told.items()
            if word in SUPPLY_WORDS
        ]
        once = [word for word in computer.get("supply_since_start") or () if word in SUPPLY_WORDS]
        if once and not told:
            evidence.append(f"Since the start, the firmware has seen: {', '.join(once)}.")
    if not evidence:
        return None
    resets = sum(count for (_, why), count in facts.ic_failures().items() if "reset" in why)
    if resets:
        evidence.append(f"ICs lost their registers {resets} times.")
    return Finding(93, "The unit's supply is too weak: its voltage dips.", tuple(evidence))


def failing_disk(facts: Facts) -> Finding | None:
    evidence = [
        f"Kernel log: {line.partition(';')[2] or line}"
        for line in facts.kernel.splitlines()
        if any(word in line for word in DISK_WORDS)
    ]
    evidence += [
        f"{part}: {sentence}"
        for part, sentence in facts.faults("journal")
        if not _is_damage(sentence)
    ]
    wear = facts.unit.get("disk_wear_percent")
    if wear is not None and wear >= WEAR_MAX_PERCENT:
        evidence.append(f"The disk says that {wear} % of its life is used.")
    free = facts.unit.get("disk_free_bytes")
    if free is not None and free < FREE_MIN_BYTES:
        evidence.append(f"Only {free // 1024 // 1024} MB are free.")
    evidence += facts.logged("is kept in memory only")
    if not evidence:
        return None
    return Finding(94, "The unit's disk fails, is full or is worn out.", tuple(evidence[:8]))


def damaged_journal(facts: Facts) -> Finding | None:
    evidence = [
        f"{part}: {sentence}" for part, sentence in facts.faults("journal") if _is_damage(sentence)
    ]
    evidence += [f"{part}: {sentence}" for part, sentence in facts.faults("memory")]
    evidence += [line for line in facts.logged("the table stays closed") if _is_damage(line)]
    if not evidence:
        return None
    return Finding(96, "The journal on the unit's disk is damaged.", tuple(dict.fromkeys(evidence)))


def _is_damage(sentence: str) -> bool:
    return any(word in sentence for word in DAMAGE_WORDS)


def clock_jump(facts: Facts) -> Finding | None:
    jumps = [jump for diary in facts.diaries for jump in diary.get("clock_jumps", ())]
    evidence = [f"The date jumped by {jump_ms / 1000:+,.0f} s." for _, jump_ms in jumps]
    offset_ms = facts.unit.get("clock_offset_ms")
    if offset_ms is not None and abs(offset_ms) >= OFFSET_MAX_MS:
        evidence.append(f"The unit's clock is {offset_ms / 1000:+,.0f} s from the manager's.")
    if not evidence:
        return None
    return Finding(91, "The unit's clock jumped.", tuple(evidence))


def slow_loop(facts: Facts) -> Finding | None:
    holds = [hold for diary in facts.diaries for hold in diary.get("loop", {}).get("last", ())]
    longest_ms = max((hold[1] for hold in holds), default=0)
    if len(holds) < HOLDS_MIN and longest_ms < HOLD_LONG_MS:
        return None
    culprits = sorted({hold[2] for hold in holds})
    evidence = [f"The loop was held {len(holds)} times, for up to {longest_ms} ms."]
    evidence += [f"Held by {culprit}." for culprit in culprits[:4]]
    return Finding(
        88, "The unit's program is held up: presses and lights come late.", tuple(evidence)
    )


RULES = (
    Rule(
        "supply-dips",
        "The supply dips",
        "ICs start anew by themselves, lights flicker, the unit is slow or restarts.",
        (
            "Measure 5 V at the Pi's header while all lights burn: it must stay above 4.8 V.",
            "Change the power supply and its cable for the ones in the parts list.",
        ),
        supply_dips,
    ),
    Rule(
        "failing-disk",
        "The disk fails",
        'The table says that it "cannot record", or the kernel tells of I/O errors.',
        (
            "If the link is up, wait until the manager has acknowledged everything.",
            "Put in a new disk, install, and follow docs/recovery.md.",
        ),
        failing_disk,
    ),
    Rule(
        "damaged-journal",
        "The journal is damaged",
        "The table stays closed after a start and asks for service.",
        (
            "Keep this bundle, then `sudo underfelt restore --tech NAME` (docs/recovery.md).",
            "If it happens again on the same unit, change the disk.",
        ),
        damaged_journal,
    ),
    Rule(
        "clock-jump",
        "The clock jumped",
        "Times in the log do not fit; the manager has a clock alarm.",
        (
            "Look whether the time service is reachable: `timedatectl` must say synchronized.",
            "A clock that begins in 1970 after each start has no battery: change the clock's cell.",
        ),
        clock_jump,
    ),
    Rule(
        "slow-loop",
        "The program is held up",
        "Every press is answered late, with nothing wrong at the hardware.",
        (
            "Send this bundle to the makers: it names the part that holds the loop.",
            "Stop whatever else runs on the unit: nothing else should.",
        ),
        slow_loop,
    ),
)
