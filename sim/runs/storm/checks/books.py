"""The checkers' own books: what each event must do to the money, computed from the rules of play.

Every method returns the ledger entries that an event must cause, in order, and keeps balances of
its own. Micro-cents throughout. Written from the design's rules, not from the manager's code.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from sim.runs.storm.checks import kinds, operator_acts, recorded_again, reversals
from sim.runs.storm.checks.awards import MICRO, Earlier, Meter, Paid, pay
from sim.runs.storm.checks.claims import Claim, Expected, Line, Wagered
from sim.runs.storm.checks.operator_acts import Act
from sim.runs.storm.checks.terms import EQUAL_SHARE, TableTerms

PLAYERS = "players"
# What pays a win, and is undone when it is taken back.
PAYING = ("AWARD", "RESEED", "ENVY", "HANDED_OVER")


@dataclass
class Books:
    tables: dict[str, TableTerms] = field(default_factory=dict)
    meters: dict[str, Meter] = field(default_factory=dict)
    balances: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    claims: dict[tuple[str, int], Claim] = field(default_factory=dict)
    claims_of: defaultdict[tuple[str, int], list[Claim]] = field(
        default_factory=lambda: defaultdict(list)
    )  # by table and round
    accepted: dict[str, list[str]] = field(default_factory=dict)
    joined: dict[str, list[list[str]]] = field(default_factory=dict)  # seats of one player
    wagers: dict[str, list[Wagered]] = field(default_factory=dict)  # of each table's newest round
    drawn: defaultdict[str, list[Claim]] = field(
        default_factory=lambda: defaultdict(list)
    )  # the claim of each award that was paid from a meter
    refusals_due: deque[Claim] = field(default_factory=deque)  # which the manager must refuse
    win_count: int = 0
    log_count: int = 0

    # -- what events do ----------------------------------------------------------------------

    def open_table(self, terms: TableTerms) -> list[Expected]:
        self.tables[terms.table_id] = terms
        entries = []
        for name, meter in terms.meters.items():
            if name not in self.meters:
                opening = meter.opening_cents * MICRO
                self.meters[name] = Meter(meter, house=opening)
                moved = {"house/seed": -opening, f"meter/{name}/house": opening}
                entries.append(self._entry("OPENING", "", 0, "", 0, moved))
        return entries

    def event(self, table_id: str, kind: int, body: dict[int, Any]) -> list[Expected]:
        if kind == kinds.ROUND_START:
            return self._round_start(table_id, body)
        if kind == kinds.CLAIM:
            return self._claim(table_id, body)
        if kind == kinds.CANCEL:
            return self._cancel(self.claims[table_id, body[2]])
        if kind == kinds.COMMIT:
            return self._commit(self.claims[table_id, body[2]])
        if kind == kinds.VOIDED:
            return [self._give_back(each) for each in self.wagers.pop(table_id)]
        return []

    def operator(self, act: Act) -> dict[str, int]:
        """Carries an operator's act out; returns what it moves."""
        meter = self.meters[act.meter]
        postings = operator_acts.postings_of(act, meter)
        operator_acts.carry_out(act, meter, postings)
        self._entry(act.kind, "", 0, "", 0, postings)
        return postings

    def _round_start(self, table_id: str, body: dict[int, Any]) -> list[Expected]:
        self.accepted[table_id] = list(body[2])
        self.joined[table_id] = [list(map(str, seats)) for seats in body[4]]
        self.wagers[table_id] = []
        letters = dict.fromkeys(sensor[-1] for sensor in body[2])
        return [
            self._wagers(table_id, body[1], [each for each in body[2] if each[-1] == letter])
            for letter in letters
        ]

    def _wagers(self, table_id: str, round_number: int, sensors: list[str]) -> Expected:
        """One entry for a game's wagers of a round, each of them split by itself."""
        game = self.tables[table_id].games[sensors[0][-1]]
        moved: defaultdict[str, int] = defaultdict(int)
        for _ in sensors:
            left = game.wager_cents * MICRO
            moved[PLAYERS] -= left
            for name in game.meters:
                contribution, reserve = self.meters[name].wager(game.wager_cents)
                left -= contribution + reserve
                moved[f"meter/{name}/player"] += contribution
                moved[f"reserve/{name}"] += reserve
            moved["house/share"] += left
        entry = self._entry("WAGER", table_id, round_number, " ".join(sensors), 0, moved)
        drawn = {name: len(self.drawn[name]) for name in game.meters}
        self.wagers[table_id].append(Wagered(entry, drawn))
        return entry

    def _give_back(self, wagered: Wagered) -> Expected:
        """All of a void round's wagers; the house gives what is a winner's by now."""
        moved = {account: -amount for account, amount in wagered.entry.postings.items()}
        for name, drawn in wagered.drawn.items():
            parts = f"meter/{name}/player", f"reserve/{name}"
            is_paid = any(not claim.is_reversed for claim in self.drawn[name][drawn:])
            is_promised = is_paid or bool(self._fixed_unpaid({name}))
            for part in parts:
                amount = -moved.get(part, 0)
                if amount and (is_promised or self.balances[part] < amount):
                    moved["house/shortfall"] = moved.get("house/shortfall", 0) - amount
                    del moved[part]
            self.meters[name].take_back(-moved.get(parts[0], 0), -moved.get(parts[1], 0))
        entry = wagered.entry
        return self._entry("VOIDED", entry.table_id, entry.round_number, entry.sensor, 0, moved)

    def _claim(self, table_id: str, body: dict[int, Any]) -> list[Expected]:
        table = self.tables[table_id]
        hands = sorted(body[3], key=lambda pair: (-int(pair[0][:-1]), pair[0][-1]))
        lines = [Line(sensor, hand, table.hand(sensor, hand)) for sensor, hand in hands]
        locks = any(line.terms.meter and self._locks(line.terms.meter) for line in lines)
        claim = Claim(table_id, body[2], body[1], lines, [], [], body[4] or locks)
        if self._is_second_share(claim):
            claim.state = "refused"
            self.refusals_due.append(claim)
        else:
            claim.envy = self._envy(claim)
            claim.amounts_cents = self._quote(claim)
        self.claims[table_id, claim.number] = claim
        self.claims_of[table_id, claim.round_number].append(claim)
        if claim.state == "refused" or not claim.frozen:
            return []
        self.log_count += 1
        claim.log_order = self.log_count
        return [self._entry("CLAIM_LOGGED", table_id, claim.round_number, "", claim.number, {})]

    def _locks(self, meter: str) -> bool:
        return self.meters[meter].terms.freeze_claims

    def _cancel(self, claim: Claim) -> list[Expected]:
        owed, claim.state = claim.state == "owed", "cancelled"
        return [self._give_set_aside_back(claim)] if owed else []

    def _give_set_aside_back(self, claim: Claim) -> Expected:
        back = {account: -amount for account, amount in claim.set_aside.items()}
        for name in claim.meters:
            returned = back.get(f"meter/{name}/player", 0), back.get(f"meter/{name}/house", 0)
            self.meters[name].player += returned[0]
            self.meters[name].house += returned[1]
            self.meters[name].awarded -= sum(returned)
        return self._claim_entry("GIVEN_BACK", claim, "", back)

    def back_out(self, claim: Claim) -> list[Expected]:
        """Two people take a logged claim back before it is booked; its table will cancel it."""
        owed, claim.state = claim.state == "owed", "backed out"
        entries = [self._give_set_aside_back(claim)] if owed else []
        return [*entries, self._claim_entry("BACKED_OUT", claim, "", {})]

    def reverse(self, claim: Claim) -> Expected:
        """Two people take a win back: one entry undoes all that paid it, whatever came since."""
        moved = reversals.undone(each.postings for each in claim.paid_by)
        reversals.make_up(moved, self.balances, self.meters)
        for name, meter in self.meters.items():
            player, house, reserve = (moved[part] for part in reversals.parts_of(name))
            meter.player += player
            meter.house += house
            meter.reserve += reserve
            meter.taken_back += player + house
        claim.is_reversed = True
        return self._claim_entry("REVERSAL", claim, "", moved)

    def record_again(self, old: Claim, number: int) -> list[Expected]:
        """Two people record a reversed win again, as an operator's claim of this number."""
        claim = Claim(
            old.table_id, number, old.round_number, old.lines, old.envy, old.amounts_cents, False
        )
        claim.then, earlier = old.then, self._earlier(old)
        paid, claim.before = recorded_again.drawn_as_then(
            claim.terms, claim.amounts_cents, claim.then, self.meters, earlier
        )
        entries: list[Expected] = []
        for each in paid:
            if claim.lines[each.line].terms.meter:
                recorded_again.take(self.meters[claim.lines[each.line].terms.meter], each)
            entries += self._award(claim, each, PLAYERS)
        entries += self._pay_envy(claim, PLAYERS)
        old.is_recorded_again = True
        self.claims[claim.table_id, number] = claim
        self.claims_of[claim.table_id, claim.round_number].append(claim)
        self._win(claim)
        return entries

    def _commit(self, claim: Claim) -> list[Expected]:
        if claim.state in ("committed", "backed out"):
            return []
        owed = claim.state == "owed"
        entries = [self._hand_over(claim)] if owed else self._apply(claim, PLAYERS)
        self._win(claim)
        return entries

    def _win(self, claim: Claim) -> None:
        claim.state = "committed"
        self.win_count += 1
        claim.win_number = self.win_count

    # -- awards ------------------------------------------------------------------------------

    def _quote(self, claim: Claim) -> list[int]:
        """On copies of the meters from which every fixed, unpaid claim has been taken first."""
        copies = {name: meter.copy() for name, meter in self.meters.items()}
        for other in self._fixed_unpaid(claim.meters):
            pay(other.terms, copies, self._earlier(other), other.amounts_cents)
        return _in_pay_order(pay(claim.terms, copies, self._earlier(claim)))

    def policies_met(self, claim: Claim) -> set[str]:
        """By which policies a paid claim shared a meter's percentages with others of its round."""
        terms = [terms for other in self._standing(claim) for terms in other.terms]
        counts = Counter(each.meter for each in terms if each.percent_ppm)
        names = [each.meter for each in claim.terms if counts[each.meter] > 1]
        return {self.meters[name].terms.policy for name in names}

    def _standing(self, claim: Claim) -> list[Claim]:
        """The claims of the same round that were paid or set aside and still are, in order."""
        return [
            other
            for other in self.claims_of[claim.table_id, claim.round_number]
            if other.state in ("owed", "committed") and not other.is_reversed
        ]

    def _earlier(self, claim: Claim) -> dict[str, Earlier]:
        """What the claims of its round that stand did to each meter."""
        found: dict[str, Earlier] = {}
        for other in self._standing(claim):
            for name, total in other.before.items():
                first, emptied = found.get(name, (total, False))
                found[name] = Earlier(first, emptied or name in other.emptied)
        return found

    def _is_second_share(self, claim: Claim) -> bool:
        """The winners of a shared award are claimed together, or what was paid stands."""
        earlier = self._earlier(claim)
        return any(
            terms.takes_all
            and self.meters[terms.meter].terms.policy == EQUAL_SHARE
            and terms.meter in earlier
            and earlier[terms.meter].emptied
            for terms in claim.terms
        )

    def _fixed_unpaid(self, meters: set[str]) -> list[Claim]:
        waiting = [c for c in self.claims.values() if c.state == "open" and c.frozen]
        waiting = [claim for claim in waiting if claim.meters & meters]
        return sorted(waiting, key=lambda claim: claim.log_order)

    def _apply(self, claim: Claim, payee: str) -> list[Expected]:
        entries = []
        for earlier in self._fixed_unpaid(claim.meters):
            comes_first = not claim.frozen or earlier.log_order < claim.log_order
            if earlier is not claim and comes_first and earlier.state == "open":
                owed = f"owed/{earlier.table_id}/{earlier.number}"
                first = self._apply(earlier, owed)
                earlier.set_aside = _moved_by(earlier, first)
                earlier.state = "owed"
                entries += first
        claim.before = {name: self.meters[name].total for name in claim.meters}
        claim.then = {name: recorded_again.parts(self.meters[name]) for name in claim.meters}
        fixed = claim.amounts_cents if claim.frozen else None
        paid = pay(claim.terms, self.meters, self._earlier(claim), fixed)
        claim.amounts_cents = _in_pay_order(paid)
        for each in paid:
            entries += self._award(claim, each, payee)
        return entries + self._pay_envy(claim, payee)

    def _pay_envy(self, claim: Claim, payee: str) -> list[Expected]:
        entries = []
        for sensor, cents in claim.envy:
            moved = {f"tray/{claim.table_id}": -cents * MICRO, payee: cents * MICRO}
            entries.append(self._claim_entry("ENVY", claim, sensor, moved))
        return entries

    def _award(self, claim: Claim, paid: Paid, payee: str) -> list[Expected]:
        sensor, amount = claim.lines[paid.line].sensor, paid.cents * MICRO
        name = claim.lines[paid.line].terms.meter
        if not name:
            moved = {f"tray/{claim.table_id}": -amount, payee: amount}
            return [self._claim_entry("AWARD", claim, sensor, moved)]
        pocket = "house/prizes" if self.meters[name].terms.posted else "house/shortfall"
        moved = {
            f"meter/{name}/player": -paid.player,
            f"meter/{name}/house": -paid.house,
            pocket: -paid.pocket,
            payee: amount,
        }
        entries = [self._claim_entry("AWARD", claim, sensor, moved)]
        if paid.player or paid.house:
            self.drawn[name].append(claim)
        if paid.reseeds:
            claim.emptied.add(name)
            moved = {
                "house/seed": -paid.seed,
                f"meter/{name}/house": paid.seed,
                f"reserve/{name}": -paid.reserve,
                f"meter/{name}/player": paid.reserve,
            }
            entries.append(self._claim_entry("RESEED", claim, sensor, moved))
        return entries

    def _hand_over(self, claim: Claim) -> Expected:
        account = f"owed/{claim.table_id}/{claim.number}"
        owed = self.balances[account]
        return self._claim_entry("HANDED_OVER", claim, "", {account: -owed, PLAYERS: owed})

    def _envy(self, claim: Claim) -> list[tuple[str, int]]:
        sheet: list[tuple[str, int]] = []
        bets = sorted(self.accepted[claim.table_id], key=lambda s: (-int(s[:-1]), s[-1]))
        for sensor in bets:
            cents = sum(
                line.terms.envy_cents
                for line in claim.lines
                if line.sensor[-1] == sensor[-1] and not self._one_player(claim, sensor, line)
            )
            if cents:
                sheet.append((sensor, cents))
        return sheet

    def _one_player(self, claim: Claim, sensor: str, line: Line) -> bool:
        seats = {sensor[:-1], line.sensor[:-1]}
        together = any(seats <= set(group) for group in self.joined[claim.table_id])
        return len(seats) == 1 or together

    # -- entries -----------------------------------------------------------------------------

    def _claim_entry(self, kind: str, claim: Claim, sensor: str, moved: dict[str, int]) -> Expected:
        place = (claim.table_id, claim.round_number, sensor, claim.number)
        entry = self._entry(kind, *place, moved)
        if kind in PAYING:
            claim.paid_by.append(entry)
        return entry

    def _entry(
        self,
        kind: str,
        table_id: str,
        round_number: int,
        sensor: str,
        claim_number: int,
        moved: dict[str, int],
    ) -> Expected:
        postings = {account: amount for account, amount in moved.items() if amount}
        for account, amount in postings.items():
            self.balances[account] += amount
        return Expected(kind, table_id, round_number, sensor, claim_number, postings)


def _moved_by(claim: Claim, entries: list[Expected]) -> dict[str, int]:
    """What the awards and the envy of one claim moved, by account."""
    moved: defaultdict[str, int] = defaultdict(int)
    for entry in entries:
        own = (entry.table_id, entry.claim_number) == (claim.table_id, claim.number)
        if own and entry.kind in ("AWARD", "ENVY"):
            for account, amount in entry.postings.items():
                moved[account] += amount
    return dict(moved)


def _in_pay_order(paid: list[Paid]) -> list[int]:
    return [each.cents for each in sorted(paid)]
