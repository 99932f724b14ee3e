"""One sample of every message and every event kind: what the golden frames are made from.

The values are chosen to cross the encodings' borders (23/24, 255/256, 65535/65536, 2**32), and
the events form one chain, so that a golden file also fixes the digests. What a later minor version
added has samples of its own; those of a released version never change.
"""

from __future__ import annotations

from dataclasses import replace

from protocol import events, messages
from protocol.chain import event_digest, first_digest
from protocol.lineage import Origin, recorded_anew
from protocol.rows import (
    AwardLine,
    ClaimedHand,
    Counters,
    EnvyLine,
    LabelledMeter,
    MeterValue,
    TakenJournal,
)
from protocol.settings import (
    PAY_FOR_ONE,
    PAY_PERCENT,
    CardSetting,
    GameSetting,
    HandSetting,
    MeterName,
    TableSettings,
    TechSetting,
)

JOURNAL_ID = bytes(range(16))

LINES = (
    AwardLine("7B", "royal-flush", 4_294_967_296, "mega", 1),
    AwardLine("5A", "four-aces", 800_075, "main", 1),
    AwardLine("2A", "three-of-a-kind", 700, "", 0),
)
ENVY = (EnvyLine("1A", 10_000), EnvyLine("2A", 10_000))

SETTINGS = TableSettings(
    table_id="four-card-touch",
    name="Four Card 12 – Nordseite",
    workflow="touch",
    seat_count=7,
    dealer_limit_cents=100_000,
    games=(
        GameSetting(
            "A",
            "FCP-01",
            "Four Card Progressive",
            100,
            (MeterName("main", "Main"),),
            (
                HandSetting("four-aces", "Four Aces", PAY_PERCENT, 1_000_000, "main", 10_000),
                HandSetting("straight-flush", "Straight Flush", PAY_PERCENT, 100_000, "main", 0),
                HandSetting("three-of-a-kind", "Three of a Kind", PAY_FOR_ONE, 7, "", 0),
            ),
        ),
        GameSetting("B", "FCP-02", "Second Spot", 500, (), ()),
    ),
    executive_from_cents=2_500_000,
    executive_percent_ppm=1_000_000,
    card_salt=bytes(range(100, 116)),
    cards=(
        CardSetting(bytes(range(16)), 1, "SUPERVISOR-7"),
        CardSetting(bytes(range(16, 32)), 2, "EXECUTIVE-1"),
    ),
    folded_hands_qualify=True,
)

EVENT_BODIES: tuple[events.EventBody, ...] = (
    events.Boot(24, "underfelt 0.1.0", "RUN"),
    events.Config(SETTINGS.digest()),
    events.RoundStart(256, ("1A", "2A", "5A", "7B"), ("3A",)),
    events.LateChange(256, "3A", True, 65_536),
    events.Hand(256, "5A", "four-aces"),
    events.Claim(256, 1, (ClaimedHand("5A", "four-aces"), ClaimedHand("7B", "royal-flush")), False),
    events.Awarded(1, LINES, ENVY, 2, False),
    events.Commit(256, 1, events.METHOD_CARD, bytes(range(16)), 2),
    events.Settled(1, 1, LINES, ENVY),
    events.Cancel(256, 2),
    events.Refused("END", "A hand is selected and not confirmed."),
    events.RoundEnd(256),
    events.Fault("sensor-open", "3A", True, "Sensor 3A does not answer."),
)


# 1.1: cards with an end, disabled cards, lock-out, techs, the tamper policy; seals and service.
SETTINGS_1_1 = replace(
    SETTINGS,
    card_last_days=(0, 20_818),
    disabled_cards=(bytes(range(32, 48)),),
    wrong_cards_max=3,
    wrong_cards_within_s=60,
    card_lockout_s=300,
    techs=(TechSetting("Tech 3", bytes(range(16)), bytes(range(200, 232))),),
    tamper_stops=True,
)

COUNTERS = Counters(65_536, 6_553_600_000_000, 24, 4_295_767_371, 256)

EVENT_BODIES_1_1: tuple[events.EventBody, ...] = (
    events.Seal(23, "claim", bytes(range(64))),
    events.Service("calibrate", "Tech 3", "admitted"),
    events.Restored(bytes(range(16, 32)), 65_535, 256, 24, COUNTERS, 1, 0),
    events.RoundStart(257, ("1A", "2A"), (), ((1, 2),), 200),
)


def event_chain(
    bodies: tuple[events.EventBody, ...] = EVENT_BODIES,
) -> list[messages.Event]:
    """The event bodies above as one unit would send them."""
    digest = first_digest(JOURNAL_ID)
    chained = []
    for sequence, body in enumerate(bodies, start=1):
        monotonic_ms, wall_ms = 1_000 * sequence, 1_790_000_000_000 + 1_000 * sequence
        fields = (sequence, body.KIND, body.to_body(), monotonic_ms, wall_ms)
        digest = event_digest(digest, *fields)
        chained.append(messages.Event(*fields, digest))
    return chained


def _plain_messages() -> dict[str, messages.Message]:
    digest = SETTINGS.digest()
    return {
        "hello-first": messages.Hello("UF-0001", 0, 0, JOURNAL_ID, 0, 0, b"", "underfelt 0.1.0"),
        "hello": messages.Hello("UF-0001", 0, 0, JOURNAL_ID, 65_536, 23, digest, "underfelt 0.1.0"),
        "welcome": messages.Welcome(0, "four-card-touch", 65_535, 32, 1_790_000_000_000, digest),
        "config": messages.Config(digest, SETTINGS.encode()),
        "ack": messages.Ack(255, 1_790_000_000_001),
        "award": messages.Award(1, LINES, ENVY, 2, False),
        "award-frozen": messages.Award(24, LINES[1:2], (), 1, True),
        "committed": messages.Committed(1, 1, LINES, ENVY, (MeterValue("main", 1_000_000),)),
        "meters": messages.Meters(
            7, (LabelledMeter("main", "Main", 1_234_567),), 1_790_000_000_002
        ),
        "heartbeat": messages.Heartbeat(2**31, "open"),
        "error": messages.Error(8, "Sequence 12 was seen before with another digest.", 12, 0),
    }


def sample_messages() -> dict[str, messages.Message]:
    """Every sample of 1.0 by the name of its golden file."""
    return _plain_messages() | _events(EVENT_BODIES)


def samples_1_1() -> dict[str, messages.Message]:
    """What 1.1 added, by the name of its golden file."""
    digest = SETTINGS_1_1.digest()
    plain: dict[str, messages.Message] = {
        "hello": messages.Hello(
            "UF-0001", 0, 1, JOURNAL_ID, 65_536, 23, digest, "underfelt 0.1.0", (COUNTERS,)
        ),
        "hello-plain": messages.Hello(
            "UF-0001", 0, 1, JOURNAL_ID, 65_536, 23, digest, "underfelt 0.1.0"
        ),
        "welcome": messages.Welcome(
            1, "four-card-touch", 65_535, 32, 1_790_000_000_000, digest, (COUNTERS,)
        ),
        "config": messages.Config(digest, SETTINGS_1_1.encode()),
        "state": messages.State(
            JOURNAL_ID, 65_535, digest, 256, 24, COUNTERS, 2, (TakenJournal(bytes(16), 23),)
        ),
        "event-recorded-anew": _recorded_anew(),
    }
    return plain | _events(EVENT_BODIES_1_1)


def _recorded_anew() -> messages.Event:
    """An event of a journal that is no more, as a restored unit sends it."""
    origin = Origin(JOURNAL_ID, 65_536, bytes(range(32)))
    body = recorded_anew(events.RoundEnd(256).to_body(), origin, known=True)
    fields = (2, events.ROUND_END, body, 1_000, 1_790_000_000_000)
    return messages.Event(*fields, event_digest(first_digest(bytes(range(16, 32))), *fields))


def samples_by_version() -> dict[str, dict[str, messages.Message]]:
    return {"v1.0": sample_messages(), "v1.1": samples_1_1()}


def all_samples() -> dict[str, messages.Message]:
    """Every sample of every version, by version and name."""
    return {
        f"{version}-{name}": message
        for version, samples in samples_by_version().items()
        for name, message in samples.items()
    }


def _events(bodies: tuple[events.EventBody, ...]) -> dict[str, messages.Message]:
    return {f"event-{events.kind_name(event.kind).lower()}": event for event in event_chain(bodies)}
