"""One sample of every message and every event kind: what the golden frames are made from.

The values are chosen to cross the encodings' borders (23/24, 255/256, 65535/65536, 2**32), and
the events form one chain, so that a golden file also fixes the digests. What a later minor version
adds gets samples of its own; those of a released version never change.
"""

from __future__ import annotations

from dataclasses import replace

from protocol.numbers import PAY_FOR_ONE, PAY_PERCENT, ROLE_SUPERVISOR
from protocol.proof.chain import event_digest, first_digest
from protocol.proof.lineage import EarlierPlace, recorded_anew
from protocol.wire import events, messages
from protocol.wire.rows import (
    AwardLine,
    BundleWish,
    CheckedHand,
    ClaimedHand,
    ColumnRow,
    Counters,
    EnvyLine,
    LabelledMeter,
    LedgerTail,
    Mark,
    MeterValue,
    ProgramOffer,
    ProgramReport,
    SpotHealth,
    TailPlace,
    TakenJournal,
)
from protocol.wire.settings import (
    GameSetting,
    HandSetting,
    MeterSetting,
    NoteSetting,
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
            (MeterSetting("main", "Main", ROLE_SUPERVISOR, 25_000_000),),
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
    folded_hands_qualify=True,
)

COUNTERS = Counters(65_536, 6_553_600_000_000, 24, 4_295_767_371, 256)

EVENT_BODIES: tuple[events.EventBody, ...] = (
    events.Boot(24, "underfelt 0.1.0", "RUN"),
    events.Settings(SETTINGS.digest()),
    events.RoundStart(256, ("1A", "2A", "5A", "7B"), ("3A",), ((1, 2),), 800),
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
    events.Seal(23, "claim", bytes(range(64))),
    events.Service("calibrate", "Tech 3", "admitted"),
    events.Restored(bytes(range(16, 32)), 65_535, 256, 24, COUNTERS, 1, 0),
    events.Paid(256, 5, 800_075, 65_536),
    events.Reversed(256, 24),
    events.Reopened(256, events.METHOD_CARD, 1, bytes(range(16))),
    events.Dealt(256, 65_536, 6, "cover-all"),
    events.Shown(256, 65_536, 5, ("As", "Ah", "Ad", "Ac", "Jk")),
    events.Checked(24, (CheckedHand("5A", 2, "four-of-a-kind"), CheckedHand("7B", 1, "flush"))),
    events.Voided(256, events.METHOD_CARD, 1, "misdeal", bytes(range(16))),
    events.TakenBack(256, 5, 10_000, 4_000),
    events.LateEntry(
        24, 1, bytes(range(16)), "not-entered", ("1A", "5A", "12B"), ((1, 5),), ("1A",)
    ),
    events.Diverged(
        JOURNAL_ID, 65_536, bytes(range(32)), events.ROUND_END, b"\xa1\x01\x18\xff", 24, 256
    ),
)

# Everything a house may add: cards with an end, disabled cards, lock-out, techs, tampering, notes,
# and what the display posts and looks like.
SETTINGS_IN_FULL = replace(
    SETTINGS,
    wrong_cards_max=3,
    wrong_cards_within_s=60,
    card_lockout_s=300,
    techs=(TechSetting("Tech 3", bytes(range(16)), bytes(range(200, 232))),),
    tamper_stops=True,
    stop_sentence="Jackpot Main is suspended. No game can start.",
    notes=(NoteSetting("A", "Four Aces need a supervisor."),),
    notices=("Ask the dealer for the rules of the jackpot.",),
    accent="#e0b040",
    background="#101c3a",
    logo="M10 90L50 10L90 90Z",
    aggregate_limit_cents=2_500_000,
    aggregate_per_player=True,
)


TAIL = LedgerTail(0, 1240, bytes(range(32)), bytes(range(64)))


def event_chain() -> list[messages.Event]:
    """The event bodies above as one unit would send them."""
    digest = first_digest(JOURNAL_ID)
    chained = []
    for sequence, body in enumerate(EVENT_BODIES, start=1):
        monotonic_ms, wall_ms = 1_000 * sequence, 1_790_000_000_000 + 1_000 * sequence
        fields = (sequence, body.KIND, body.to_body(), monotonic_ms, wall_ms)
        digest = event_digest(digest, *fields)
        chained.append(messages.Event(*fields, digest))
    return chained


def samples() -> dict[str, messages.Message]:
    """Every sample by the name of its golden file."""
    told = {event_name(event): event for event in event_chain()}
    return {**_plain_messages(), **told, "event-recorded-anew": _recorded_anew()}


def event_name(event: messages.Event) -> str:
    return f"event-{events.EVENT_TYPES[event.kind].__name__.lower()}"


def _plain_messages() -> dict[str, messages.Message]:
    digest = SETTINGS.digest()
    hello = ("UF-0001", 0, 0, JOURNAL_ID, 65_536, 23, digest, "underfelt 0.1.0")
    welcome = (0, "four-card-touch", 65_535, 32, 1_790_000_000_000, digest)
    return {
        "hello-first": messages.Hello("UF-0001", 0, 0, JOURNAL_ID, 0, 0, b"", "underfelt 0.1.0"),
        "hello": messages.Hello(*hello, (COUNTERS,)),
        "hello-uncounted": messages.Hello(*hello),
        "welcome": messages.Welcome(*welcome, (COUNTERS,)),
        "welcome-uncounted": messages.Welcome(*welcome),
        "settings": messages.Settings(digest, SETTINGS.encode()),
        "settings-in-full": messages.Settings(SETTINGS_IN_FULL.digest(), SETTINGS_IN_FULL.encode()),
        "ack": messages.Ack(255, 1_790_000_000_001),
        "hello-told": messages.Hello(*hello, (COUNTERS,), (TailPlace(0, 1234),)),
        "welcome-told": messages.Welcome(*welcome, (COUNTERS,), (TAIL,), bytes(range(32))),
        "ack-told": messages.Ack(255, 1_790_000_000_001, (TAIL,)),
        "award": messages.Award(1, LINES, ENVY, 2, False),
        "reversed": messages.Reversed(24, 256, 1, "Win 24 of $8,000.75 was reversed."),
        "swipe": messages.Swipe(1, 24, bytes(range(32))),
        "verdict": messages.Verdict(1, 24, 2, "EXECUTIVE-1", bytes(range(16)), False, ""),
        "verdict-wrong": messages.Verdict(
            1, 24, 0, "", b"", True, "This card is not known at this table."
        ),
        "hand-check": messages.HandCheck(24, (CheckedHand("5A", 1, "four-aces"),)),
        "cover-all": messages.CoverAll(256, 6, (ColumnRow("Royal Flush", "500 to 1"),)),
        "go-to": messages.GoTo("10.0.0.3:7411", "The manager south owns this table's ledger."),
        "void": messages.Void(256, "exposed-card", bytes(range(16))),
        "award-frozen": messages.Award(24, LINES[1:2], (), 1, True),
        "committed": messages.Committed(1, 1, LINES, ENVY, (MeterValue("main", 1_000_000),)),
        "meters": messages.Meters(
            7, (LabelledMeter("main", "Main", 1_234_567),), 1_790_000_000_002
        ),
        "heartbeat": messages.Heartbeat(2**31, "open"),
        "heartbeat-spots": messages.Heartbeat(
            2**31, "open", (SpotHealth("3A", 712, 0, "clean: a chip reads 71% of what it did"),)
        ),
        "heartbeat-bundle": messages.Heartbeat(
            2**31, "serving", bundle=(BundleWish(3, 7_168, "Ana"),)
        ),
        "bundle-part": messages.BundlePart(3, 7_168, 40_000, bytes(range(256))),
        "heartbeat-offer": messages.Heartbeat(
            2**31, "serving", offer=(ProgramOffer(9, 300_000_000, digest, "0.2.0+20260601.120000"),)
        ),
        "heartbeat-report": messages.Heartbeat(
            2**31, "open", report=(ProgramReport(9, 2, 229_376, ""),)
        ),
        "program-part": messages.ProgramPart(9, 229_376, bytes(range(256))),
        "error": messages.Error(8, "Sequence 12 was seen before with another digest.", 12, 0),
        "state": messages.State(
            JOURNAL_ID,
            65_535,
            digest,
            256,
            24,
            COUNTERS,
            2,
            (TakenJournal(bytes(16), 23),),
            (Mark(65_535, digest), Mark(65_534, bytes(32))),
        ),
    }


def _recorded_anew() -> messages.Event:
    """An event of a journal that is no more, as a restored unit sends it."""
    origin = EarlierPlace(JOURNAL_ID, 65_536, bytes(range(32)))
    body = recorded_anew(events.RoundEnd(256).to_body(), origin, known=True)
    fields = (2, events.ROUND_END, body, 1_000, 1_790_000_000_000)
    return messages.Event(*fields, event_digest(first_digest(bytes(range(16, 32))), *fields))
