"""What a manager must do, played by a unit. The cases follow one another: one journal, one round.

The last one locks the unit, as a copied disk would.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Sequence
from dataclasses import replace

from protocol.conformance.card_cases import NO_TICKET, a_card_nobody_swiped
from protocol.conformance.ledger_cases import the_ledgers_tail
from protocol.conformance.line import UNKNOWN_KEY, Line
from protocol.conformance.played_unit import PlayedUnit
from protocol.conformance.report import Broken, Case, expect
from protocol.numbers import METHOD_CARD, METHOD_DEALER, ROLE_DEALER
from protocol.secrets import tls
from protocol.wire import events, profile
from protocol.wire.errors import ErrorCode
from protocol.wire.framing import frame
from protocol.wire.messages import (
    Ack,
    Award,
    Committed,
    Error,
    Heartbeat,
    Message,
    Meters,
    Settings,
    Welcome,
)
from protocol.wire.rows import AwardLine, ClaimedHand
from protocol.wire.version import ALPN

BETS = ("1A", "2A")
UNKNOWN_KIND = 900
HEARTBEATS_FLOOD = 200
FRAME_AND_A_HALF_S = 9.0

BAD_FRAMES: tuple[tuple[bytes, ErrorCode], ...] = (
    (frame(b"\xff"), ErrorCode.MALFORMED),
    (frame(profile.encode({0: 1}) + b"\x00"), ErrorCode.TRAILING),
    (frame(profile.encode({0: 99})), ErrorCode.UNKNOWN_TYPE),
    (frame(profile.encode({0: 1})), ErrorCode.BAD_FIELD),
    (b"\x00\x00\x20\x00", ErrorCode.OVERSIZED),
    (b"\x00\x00\x00\x00", ErrorCode.MALFORMED),
)


async def no_certificate(unit: PlayedUnit) -> None:
    """Whoever shows no certificate gets no answer."""
    context = tls.enrolling_unit_context(unit.ca_der)
    context.set_alpn_protocols([ALPN])
    await _gets_nothing(unit, context)


async def other_protocol_name(unit: PlayedUnit) -> None:
    """Whoever speaks another protocol name gets no answer."""
    context = unit.context()
    context.set_alpn_protocols(["somebody-elses/1"])
    await _gets_nothing(unit, context)


async def hello_first(unit: PlayedUnit) -> None:
    """A first message that is no Hello is answered with UNEXPECTED, and the line ends."""
    async with unit.line() as line:
        await line.send(Heartbeat(1, "open"))
        await line.expect_refusal(ErrorCode.UNEXPECTED)


async def no_version_in_common(unit: PlayedUnit) -> None:
    """A Hello without a version in common is answered with VERSION, and the line ends."""
    async with unit.line() as line:
        await line.send(unit.hello(7, 9))
        await line.expect_refusal(ErrorCode.VERSION)


async def bad_frames(unit: PlayedUnit) -> None:
    """Each kind of bad frame is answered with its code, and the line ends."""
    for data, code in BAD_FRAMES:
        async with unit.line() as line:
            await line.send_raw(data)
            try:
                await line.expect_refusal(code)
            except Broken as broken:
                raise Broken(f"{data.hex()}: {broken}") from broken


async def another_name(unit: PlayedUnit) -> None:
    """A Hello under another name than the certificate's is answered with UNKNOWN_UNIT."""
    async with unit.line() as line:
        await line.send(replace(unit.hello(), unit_id="somebody-else"))
        await line.expect_refusal(ErrorCode.UNKNOWN_UNIT)


async def welcome_and_settings(unit: PlayedUnit) -> None:
    """Hello is answered with Welcome, then the settings, whose digest is over their bytes."""
    async with unit.line() as line:
        await line.send(unit.hello())
        welcome = await line.expect(Welcome)
        expect(welcome.version == 0, f"version {welcome.version} was never offered")
        expect(welcome.last_sequence == 0, f"a new journal stands at {welcome.last_sequence}")
        sent = await line.expect(Settings)
        digest = hashlib.sha256(sent.body).digest()
        expect(sent.digest == digest, "The digest of Settings is not SHA-256 of its body")
        expect(welcome.settings_digest == digest, "Welcome and Settings differ in the digest")
        unit.adopt(sent)
        assert unit.settings is not None
        expect(unit.settings.table_id == welcome.table_id, "Welcome names another table")
        expect(bool(unit.settings.games), "the settings have no game")
        meters = await line.wait_for(Meters)
        told = {meter.id for meter in meters.meters}
        wanted = {meter.id for game in unit.settings.games for meter in game.meters}
        expect(wanted <= told, f"no amount was told of {', '.join(sorted(wanted - told))}")


async def heartbeats(unit: PlayedUnit) -> None:
    """A heartbeat and the meters come every second."""
    async with unit.greeted() as line:
        counts = {Heartbeat: 0, Meters: 0}
        end_s = asyncio.get_running_loop().time() + 5
        while (left_s := end_s - asyncio.get_running_loop().time()) > 0 and min(
            counts.values()
        ) < 3:
            message = await line.anything(left_s)
            if type(message) in counts:
                counts[type(message)] += 1
        expect(min(counts.values()) >= 3, f"in 5 s came {counts}")


async def events_are_acknowledged(unit: PlayedUnit) -> None:
    """Events are acknowledged, each once they are committed."""
    async with unit.greeted() as line:
        await unit.say(line, events.Boot(1, "underfelt conformance", ""))
        await unit.say(line, events.Settings(unit.settings_digest))


async def repeats_are_acknowledged(unit: PlayedUnit) -> None:
    """An event that comes twice is acknowledged twice and changes nothing."""
    async with unit.greeted() as line:
        await line.send(unit.events[0])
        ack = await line.expect(Ack)
        expect(ack.last_sequence == unit.last_sequence, f"Ack {ack.last_sequence} came")


async def a_gap(unit: PlayedUnit) -> None:
    """A skipped sequence is answered with GAP, and nothing of it is kept."""
    async with unit.greeted() as line:
        ahead = replace(unit.events[-1], sequence=unit.last_sequence + 3)
        await line.send(ahead)
        await line.expect_refusal(ErrorCode.GAP)
    async with unit.greeted():
        pass


async def unknown_kinds(unit: PlayedUnit) -> None:
    """An event of an unknown kind is kept, acknowledged and answered with UNKNOWN_TYPE."""
    async with unit.greeted() as line:
        event = unit.record_raw(UNKNOWN_KIND, {1: 7})
        await line.send(event)
        await unit.acknowledged(line)
        error = await line.expect(Error)
        expect(error.code == ErrorCode.UNKNOWN_TYPE, f"code {error.code} came")
        expect(error.sequence == event.sequence, "the Error names another sequence")
        await _still_there(unit, line)


async def keys_from_64_on(unit: PlayedUnit) -> None:
    """An unknown key from 64 on is passed over; one below is answered with BAD_FIELD."""
    async with unit.greeted() as line:
        await line.send_raw(frame(profile.encode({0: 9, 1: 1, 2: "open", UNKNOWN_KEY: [1, 2]})))
        await _still_there(unit, line)
        await line.send_raw(frame(profile.encode({0: 9, 1: 1, 2: "open", 40: 1})))
        await line.expect_refusal(ErrorCode.BAD_FIELD)


async def a_round(unit: PlayedUnit) -> None:
    """A round's start is booked, and the meters are told at once."""
    async with unit.greeted() as line:
        before = await line.wait_for(Meters)
        await line.send(unit.record(_round_start(unit)))
        after = await _ack_and_meters(unit, line)
        grown = [
            new.id
            for old, new in zip(before.meters, after.meters, strict=True)
            if new.shown_cents < old.shown_cents
        ]
        expect(not grown, f"{', '.join(grown)} went down at a bet")
        expect(after.version > before.version, "the version of the meters did not grow")


async def an_award_is_repeated(unit: PlayedUnit) -> None:
    """A claim is priced; its Award is sent again after each Welcome until AWARDED."""
    hand = unit.fixed_hand()
    if hand is None:
        raise Broken("the settings have no fixed pay within the dealer's limit to try it with")
    async with unit.greeted() as line:
        await unit.say(line, events.Claim(1, 1, (ClaimedHand("1A", hand.id),), False))
        award = await line.expect(Award)
    cents = hand.pay_value * unit.game().wager_cents
    source = 1 if hand.meter_id else 0
    wanted = AwardLine("1A", hand.id, cents, hand.meter_id, source)
    expect(award.claim_number == 1, f"the Award is for claim {award.claim_number}")
    expect(award.lines == (wanted,), f"{award.lines} was awarded in place of {wanted}")
    expect(award.role == ROLE_DEALER, f"role {award.role} is asked for within the dealer's limit")
    async with unit.greeted() as line:
        expect(await line.expect(Award) == award, "the Award came back changed")
        await unit.say(line, _receipt(award))


async def a_win_is_booked_once(unit: PlayedUnit) -> None:
    """A commit is booked under a win number; Committed is sent again until SETTLED."""
    async with unit.greeted() as line:
        await unit.say(line, _commit_by_dealer(1))
        committed = await line.expect(Committed)
        expect(committed.win_number > 0, "the win has no number")
    async with unit.greeted() as line:
        again = await line.expect(Committed)
        expect(again.win_number == committed.win_number, "the win came back under another number")
        expect(again.lines == committed.lines, "the win came back with other amounts")
        await unit.say(
            line,
            events.Settled(1, committed.win_number, committed.lines, committed.envy),
        )
    async with unit.greeted() as line:
        await _nothing_of(line, (Award, Committed))


async def not_enough_authority(unit: PlayedUnit) -> None:
    """A share of a meter on the dealer's word, or by a card nobody swiped, is CARD_REFUSED."""
    hand = unit.share_hand()
    if hand is None:
        raise Broken("the settings have no share of a meter to try it with")
    async with unit.greeted() as line:
        await unit.say(line, events.Claim(1, 2, (ClaimedHand("2A", hand.id),), False))
        award = await line.expect(Award)
        expect(award.role > ROLE_DEALER, "a share of a meter needs nobody")
        await unit.say(line, _receipt(award))
        for commit in (_commit_by_dealer(2), events.Commit(1, 2, METHOD_CARD, NO_TICKET, 2)):
            await unit.say(line, commit)
            error = await line.expect(Error)
            expect(error.code == ErrorCode.CARD_REFUSED, f"code {error.code} came")
            expect(error.claim_number == 2, "the Error names another claim")
        if not award.frozen:
            await unit.say(line, events.Cancel(1, 2))


async def a_claim_without_a_bet(unit: PlayedUnit) -> None:
    """A claim for a bet that was not accepted is answered with CLAIM_REFUSED and its number."""
    hand = unit.fixed_hand() or unit.share_hand()
    assert hand is not None
    async with unit.greeted() as line:
        await unit.say(line, events.Claim(1, 3, (ClaimedHand("3A", hand.id),), False))
        error = await line.expect(Error)
        expect(error.code == ErrorCode.CLAIM_REFUSED, f"code {error.code} came")
        expect(error.claim_number == 3, "the Error names another claim")


async def the_round_ends(unit: PlayedUnit) -> None:
    """The end of the round is taken in."""
    async with unit.greeted() as line:
        await unit.say(line, events.RoundEnd(1))


async def newest_connection_counts(unit: PlayedUnit) -> None:
    """A second connection of the same unit ends the first."""
    async with unit.greeted() as older, unit.greeted() as newer:
        await older.expect_end()
        await _still_there(unit, newer)


async def a_flood(unit: PlayedUnit) -> None:
    """Two hundred heartbeats at once are answered with RATE, and the line ends."""
    async with unit.greeted() as line:
        beat = frame(Heartbeat(1, "open").encode())
        await line.send_raw(beat * HEARTBEATS_FLOOD)
        await line.expect_refusal(ErrorCode.RATE)


async def half_a_frame(unit: PlayedUnit) -> None:
    """A frame that was begun and never finished is not waited for longer than 5 s."""
    async with unit.greeted() as line:
        await line.send_raw(frame(Heartbeat(1, "open").encode())[:6])
        await line.expect_end(FRAME_AND_A_HALF_S)


async def a_fork(unit: PlayedUnit) -> None:
    """A known sequence with another digest is answered with FORK, and locks the unit."""
    async with unit.greeted() as line:
        await line.send(replace(unit.events[0], digest=bytes(32)))
        await line.expect_refusal(ErrorCode.FORK)
    async with unit.line() as line:
        await line.send(unit.hello())
        await line.expect_refusal(ErrorCode.LOCKED)


CASES: Sequence[Case[PlayedUnit]] = (
    no_certificate,
    other_protocol_name,
    hello_first,
    no_version_in_common,
    bad_frames,
    another_name,
    welcome_and_settings,
    heartbeats,
    events_are_acknowledged,
    repeats_are_acknowledged,
    the_ledgers_tail,
    a_gap,
    unknown_kinds,
    keys_from_64_on,
    a_round,
    an_award_is_repeated,
    a_win_is_booked_once,
    not_enough_authority,
    a_card_nobody_swiped,
    a_claim_without_a_bet,
    the_round_ends,
    newest_connection_counts,
    a_flood,
    half_a_frame,
    a_fork,
)


async def _gets_nothing(unit: PlayedUnit, context: ssl.SSLContext) -> None:
    """Refused in the handshake, or hung up on right after it."""
    try:
        async with unit.line(context) as line:
            await line.send(unit.hello())
            payload = await line.payload()
    except (ssl.SSLError, ConnectionError):
        return
    expect(payload is None, "it was answered")


async def _still_there(unit: PlayedUnit, line: Line) -> None:
    await unit.say(line, events.Refused("conformance", "Is anybody there?"))


async def _ack_and_meters(unit: PlayedUnit, line: Line) -> Meters:
    """The Ack, and the Meters that belong to what was booked."""
    meters: Meters | None = None
    while unit.acked_sequence < unit.last_sequence or meters is None:
        message: Message = await line.anything()
        if isinstance(message, Ack):
            unit.acked_sequence, meters = message.last_sequence, None
        elif isinstance(message, Meters):
            meters = message
        elif not isinstance(message, Heartbeat):
            raise Broken(f"{type(message).__name__} came")
    return meters


async def _nothing_of(line: Line, kinds: tuple[type[Message], ...]) -> None:
    """For two seconds none of these comes."""
    end_s = asyncio.get_running_loop().time() + 2
    while (left_s := end_s - asyncio.get_running_loop().time()) > 0.01:
        try:
            message = await line.anything(left_s)
        except Broken:
            return
        expect(not isinstance(message, kinds), f"{type(message).__name__} came once more")


def _round_start(unit: PlayedUnit) -> events.RoundStart:
    cents = len(BETS) * unit.game().wager_cents
    return events.RoundStart(1, BETS, (), (), cents)


def _receipt(award: Award) -> events.Awarded:
    return events.Awarded(award.claim_number, award.lines, award.envy, award.role, award.frozen)


def _commit_by_dealer(claim_number: int) -> events.Commit:
    """By its keys: what a card would add is empty here."""
    body = {1: 1, 2: claim_number, 3: METHOD_DEALER, 4: b"", 5: ROLE_DEALER}
    return events.Commit.from_body(body)
