"""A table's pads drawn from a seed, and the acts of people and things upon them.

Each act puts one or more things on pads, with human timing drawn from the same seed, and says when
it is over. It knows what happens on the felt, never what a sensing IC or the controller makes of
it. Times are seconds since the table was drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, pi

from sim.felt.physics.motion import Unsteadiness
from sim.felt.physics.pad import Interference, PhysicalPad, Ramp
from sim.felt.physics.ranges import MATERIALS, Draw
from sim.felt.physics.things import FAR_MM, HumanHand, Liquid, Pose, Resting

CHIP_MM = 3.3
# Sensitivity falls with the overlay: 1.0 at 0.8 mm.
OVERLAY_SCALE_MM, OVERLAY_OFFSET_MM = 1.9, 1.1


class PhysicalTable:
    """`seed` decides everything: pads, people, and how steady their hands are."""

    def __init__(self, pad_ids: Sequence[str], seed: int, material: str = "") -> None:
        """`material` names what the house's chips are made of; else the seed decides that too."""
        self.seed = seed
        self.draw = draw = Draw(seed)
        self.material = material or draw.one_of(MATERIALS)
        self.chip_ff = draw.of(f"{self.material} chip, fF")
        self._stack_growth = draw.of("stack growth, chips")
        self._grounding = draw.of("grounding, share of the body's effect")
        overlay = OVERLAY_SCALE_MM / (OVERLAY_OFFSET_MM + draw.of("overlay thickness, mm"))
        mains_hz = 50.0 if draw.chance(0.5) else 60.0
        self.pads = {pad_id: _new_pad(draw, overlay, mains_hz) for pad_id in pad_ids}

    def describe(self) -> str:
        """The table in a line: what it is played with, and what each pad makes of it."""
        pads = ", ".join(
            f"{pad_id} {pad.stray_ff:.0f} fF x{pad.sensitivity:.2f} +-{pad.noise_ff:.1f}"
            for pad_id, pad in self.pads.items()
        )
        return f"{self.material} chips of {self.chip_ff:.0f} fF; {pads}"

    # -- chips -------------------------------------------------------------------------------

    def one_chip_ff(self) -> float:
        """One of the house's chips, laid in the middle of the spot."""
        return self.chip_ff * self.draw.of("chip to chip") * self.draw.of("centred, part of a chip")

    def put_by_hand(self, pad_id: str, at_s: float, ff: float, height_mm: float = CHIP_MM) -> float:
        """A hand brings a dead thing, lets go and leaves; returns when the thing lies alone."""
        draw = self.draw
        reach_s, hold_s = self._reach_s(), draw.ms("hand holds the chip, ms")
        let_go_s = at_s + reach_s + hold_s
        poses = [
            Pose(at_s, reach_s, height_mm),
            Pose(let_go_s, self._reach_s(), FAR_MM),
        ]
        hand = self._new_hand(draw.of("fingers holding a chip, fF"), poses)
        self.pads[pad_id].things += [hand, self._resting(ff, at_s + reach_s - 0.02, 0.03)]
        return hand.gone_s

    def drop(self, pad_id: str, at_s: float, ff: float) -> float:
        """A thing let fall from above: there is no hand near the pad."""
        self.pads[pad_id].things.append(self._resting(ff, at_s, self.draw.ms("drop, ms")))
        return at_s

    def lift(self, pad_id: str, at_s: float) -> None:
        """Every dead thing that lies on the pad is taken away."""
        pad = self.pads[pad_id]
        pad.things = [
            replace(thing, lifted_s=min(at_s, thing.lifted_s))
            if isinstance(thing, Resting)
            else thing
            for thing in pad.things
        ]

    def take_by_hand(self, pad_id: str, at_s: float) -> float:
        """A hand takes what lies there; returns when the hand is gone."""
        gone_s = self._grab(pad_id, at_s)
        self.lift(pad_id, at_s + 0.35)
        return gone_s

    def stack_ff(self, count: int) -> float:
        """Further chips lie further from the pad, so each adds less than the one below."""
        growth = self._stack_growth
        return self.one_chip_ff() * sum(exp(-each / growth) for each in range(count))

    def put_on_edge(self, pad_id: str, at_s: float) -> float:
        """A chip that stands on its rim, and rocks when it is let go."""
        draw = self.draw
        ff = self.chip_ff * draw.of("on edge, part of a chip")
        alone_s = self.put_by_hand(pad_id, at_s, ff, height_mm=39.0)
        still = self.pads[pad_id].things.pop()
        assert isinstance(still, Resting)
        dies_s = draw.ms("rocking dies, ms")
        rocking = replace(
            still,
            rock_part=draw.of("rocking, part"),
            rock_hz=draw.of("rocking, Hz"),
            rock_s=dies_s,
        )
        self.pads[pad_id].things.append(rocking)
        return max(alone_s, still.lands_s + 5 * dies_s)

    # -- hands -------------------------------------------------------------------------------

    def rest_hand(self, pad_id: str, at_s: float, whole: bool) -> float:
        """A palm or a finger comes to rest here, may shift, and leaves; returns when it is gone."""
        draw = self.draw
        contact = draw.of("palm, fF") if whole else draw.of("finger, fF")
        reach_s = self._reach_s()
        poses = [Pose(at_s, reach_s, 0.0, draw.of("hand on felt covers the pad"))]
        end_s = at_s + reach_s + draw.ms("hand rests, ms")
        begin_s = at_s + reach_s
        while draw.chance(0.4):
            begin_s += draw.of("resting hand shifts after, s")
            if begin_s + 0.3 >= end_s:
                break
            poses.append(Pose(begin_s, 0.25, 0.0, draw.of("hand on felt covers the pad")))
        poses.append(Pose(end_s, self._reach_s(), FAR_MM, poses[-1].cover))
        self.pads[pad_id].things.append(self._new_hand(contact, poses))
        return end_s

    def rest_sleeve(self, pad_id: str, at_s: float) -> float:
        """A forearm in cloth lies beside or on the spot."""
        reach_s = self._reach_s()
        end_s = at_s + reach_s + self.draw.ms("hand rests, ms")
        height_mm = self.draw.of("sleeve, mm above the felt")
        cover = self.draw.of("hand on felt covers the pad")
        poses = [
            Pose(at_s, reach_s, height_mm, cover),
            Pose(end_s, self._reach_s(), FAR_MM, cover),
        ]
        self.pads[pad_id].things.append(self._new_hand(self.draw.of("palm, fF"), poses))
        return end_s

    def hover(self, pad_id: str, at_s: float, wet: float = 1.0) -> float:
        """A free hand over the spot, at one height and then another; `wet` times a dry one."""
        draw = self.draw
        poses, begin_s = [], at_s
        for _ in range(draw.pick(1, 3)):
            move_s = self._reach_s()
            poses.append(Pose(begin_s, move_s, draw.of("hover height, mm")))
            begin_s += move_s + draw.of("hand hovers at one height, s")
        poses.append(Pose(begin_s, self._reach_s(), FAR_MM))
        shiver_mm = Unsteadiness(
            draw,
            draw.of("hovering hand wanders, mm rms"),
            draw.of("hovering hand trembles, mm rms"),
        )
        self.pads[pad_id].things.append(self._new_hand(wet * draw.of("palm, fF"), poses, shiver_mm))
        return begin_s

    def drip(self, pad_id: str, at_s: float) -> None:
        """A few drops fall from a wet hand or glass."""
        drops = self._liquid(at_s, self.draw.of("drips from a wet hand, fF"))
        self.pads[pad_id].things.append(replace(drops, flow_ff=0.0, flow_s=0.0))

    # -- liquid ------------------------------------------------------------------------------

    def spill(self, pad_ids: Sequence[str], at_s: float, hand_over: str = "") -> float:
        """Liquid runs over neighbours in order; a hand may be over one of them as it arrives."""
        draw = self.draw
        arrives_s, ff = at_s, draw.of("liquid, fF")
        for pad_id in pad_ids:
            own_ff = ff * draw.of("liquid, seat to seat")
            self.pads[pad_id].things.append(self._liquid(arrives_s, own_ff))
            if pad_id == hand_over:
                self._grab(pad_id, arrives_s - draw.of("hand is there before the liquid, s"))
            arrives_s += draw.ms("liquid reaches the next seat, ms")
        return arrives_s

    def wipe(self, pad_ids: Sequence[str], at_s: float) -> float:
        """A hand with a cloth goes over the pads and leaves each drier than it was."""
        for pad_id in pad_ids:
            pad = self.pads[pad_id]
            left = self.draw.of("wipe leaves, part")
            pad.things = [
                replace(thing, wiped_s=at_s + 0.3, left_part=left)
                if isinstance(thing, Liquid)
                else thing
                for thing in pad.things
            ]
            at_s = self._grab(pad_id, at_s)
        return at_s

    # -- the room ----------------------------------------------------------------------------

    def drift(self, at_s: float, limit_s: float) -> float:
        """Temperature and humidity change together; returns when they have arrived."""
        draw = self.draw
        kelvin, percent = draw.of("temperature change, K"), draw.of("humidity change, %")
        kelvin_s = abs(kelvin) / draw.of("temperature change, K per minute") * 60
        percent_s = abs(percent) / draw.of("humidity change, % per minute") * 60
        part_k, part_p = min(1.0, limit_s / kelvin_s), min(1.0, limit_s / percent_s)
        per_kelvin, per_percent = draw.of("temperature, fF per K"), draw.of("humidity, fF per %")
        for pad in self.pads.values():
            own = draw.of("pad to pad drift") * pad.sensitivity
            pad.ramps += [
                Ramp(kelvin * part_k * per_kelvin * own, at_s, at_s + kelvin_s * part_k),
                Ramp(percent * part_p * per_percent * own, at_s, at_s + percent_s * part_p),
            ]
        return at_s + max(kelvin_s * part_k, percent_s * part_p)

    def warm(self, at_s: float, ff: float, over_s: float) -> None:
        """The same slow change on every pad, however large."""
        for pad in self.pads.values():
            pad.ramps.append(Ramp(ff, at_s, at_s + over_s))

    def interfere(self, pad_ids: Sequence[str], at_s: float) -> float:
        """A transmitter, a charger, a dimmer: noise and a shift on some pads for a while."""
        draw = self.draw
        rms_ff, shift_ff = draw.of("interference, fF rms"), draw.of("interference shift, fF")
        end_s = at_s + draw.ms("interference lasts, ms")
        for pad_id in pad_ids:
            part = draw.of("interference, pad to pad")
            self.pads[pad_id].interferences.append(
                Interference(rms_ff * part, shift_ff * part, at_s, end_s, draw.key())
            )
        return end_s

    def age(self) -> None:
        """Months since the calibration."""
        for pad in self.pads.values():
            pad.sensitivity *= 1 - self.draw.of("ageing, loss of sensitivity")
            pad.stray_ff += self.draw.of("ageing, shift, fF")

    def change_grounding(self, at_s: float) -> None:
        """The unit's supply or the people's shoes change: a small step everywhere."""
        step_ff = self.draw.of("grounding step, fF")
        for pad in self.pads.values():
            pad.ramps.append(Ramp(step_ff, at_s, at_s + 0.001))

    def change_felt(self) -> None:
        """A new layout was laid and nobody calibrated."""
        shift_ff, factor = (
            self.draw.of("new felt shifts, fF"),
            self.draw.of("new felt, sensitivity"),
        )
        for pad in self.pads.values():
            pad.stray_ff += shift_ff
            pad.sensitivity *= factor

    def loosen(self, pad_id: str) -> None:
        """The pad's lead breaks: what is left of the trace is a smaller capacitor, and deaf."""
        pad = self.pads[pad_id]
        pad.stray_ff *= self.draw.of("loose pad, part of the stray left")
        pad.sensitivity *= 0.05

    # -- inside ------------------------------------------------------------------------------

    def _reach_s(self) -> float:
        return self.draw.ms("movement of the hand, ms")

    def _new_hand(
        self, contact_ff: float, poses: list[Pose], shiver_mm: Unsteadiness | None = None
    ) -> HumanHand:
        draw = self.draw
        shiver = Unsteadiness(
            draw,
            draw.of("resting hand wanders, part rms"),
            draw.of("resting hand trembles, part rms"),
        )
        reach_mm, power = draw.of("hand reach, mm"), draw.of("hand falls off with power")
        return HumanHand(contact_ff * self._grounding, reach_mm, power, poses, shiver, shiver_mm)

    def _resting(self, ff: float, lands_s: float, drop_s: float) -> Resting:
        settle_part, settle_s = self.draw.of("felt settles, part"), self.draw.ms("felt settles, ms")
        return Resting(ff, lands_s, drop_s, settle_part, settle_s)

    def _liquid(self, arrives_s: float, ff: float) -> Liquid:
        draw = self.draw
        flows = draw.chance(0.25)
        return Liquid(
            ff,
            arrives_s,
            draw.ms("liquid front crosses, ms"),
            draw.of("liquid arrives, part at once"),
            draw.of("liquid soaks in, s"),
            draw.of("drying, s"),
            draw.of("flowing water lowers, fF") if flows else 0.0,
            draw.of("water flows, s") if flows else 0.0,
        )

    def _grab(self, pad_id: str, at_s: float) -> float:
        """A hand passes over the pad and is gone again; returns when."""
        draw = self.draw
        stay_s = draw.of("passing hand stays, s")
        height_mm = draw.of("passing hand, mm above the felt")
        poses = [Pose(at_s, 0.3, height_mm), Pose(at_s + 0.3 + stay_s, 0.3, FAR_MM)]
        hand = self._new_hand(draw.of("palm, fF"), poses)
        self.pads[pad_id].things.append(hand)
        return hand.gone_s


def _new_pad(draw: Draw, overlay: float, mains_hz: float) -> PhysicalPad:
    return PhysicalPad(
        stray_ff=draw.of("pad stray, fF"),
        sensitivity=overlay * draw.of("pad to pad sensitivity"),
        noise_ff=draw.of("pad noise, fF rms"),
        noise_key=draw.key(),
        mains_ff=draw.of("mains pick-up, fF"),
        mains_omega=2 * pi * (mains_hz + draw.of("mains, Hz off")),
        lamp_ff=draw.of("lamp pick-up, fF at full"),
    )
