"""The board of a sensing trial: sensing ICs of one kind, one lamp IC, five spots.

It is the smallest table on which neighbours exist; the ICs are wired as on the boards that ship:
one MPR121 with its interrupt line, or two FDC1004 behind a multiplexer.
"""

from __future__ import annotations

from collections.abc import Sequence

from hal.board.config import BoardConfig, parse_board
from hal.ics.kinds import ELECTRODE_COUNT_MAX, FDC1004, MPR121

SENSE = "sense-1"
BUS = 1
SENSE_GPIO = 17


def trial_board(pad_ids: Sequence[str], ic: str = MPR121) -> BoardConfig:
    lamps = {"name": "lights-1", "kind": "pca9685", "bus": BUS, "address": 0x40}
    return parse_board(
        {
            "backend": "simulated",
            "serial": "UF-TRIAL",
            "buses": [{"number": BUS, "frequency_hz": 400_000}],
            "ics": [*_sensing_ics(ic, len(pad_ids)), lamps],
            "sensors": [_sensor(number, pad_id, ic) for number, pad_id in enumerate(pad_ids)],
        }
    )


def _sensing_ics(ic: str, pad_count: int) -> list[dict[str, object]]:
    if ic == MPR121:
        return [
            {
                "name": SENSE,
                "kind": MPR121,
                "bus": BUS,
                "address": 0x5A,
                "interrupt_gpio": SENSE_GPIO,
            }
        ]
    mux = {"name": "mux-1", "kind": "tca9548a", "bus": BUS, "address": 0x71}
    count = -(-pad_count // ELECTRODE_COUNT_MAX[FDC1004])
    return [
        mux,
        *(
            {
                "name": f"sense-{number + 1}",
                "kind": FDC1004,
                "bus": BUS,
                "address": 0x50,
                "mux": "mux-1",
                "mux_channel": number,
            }
            for number in range(count)
        ),
    ]


def _sensor(number: int, pad_id: str, ic: str) -> dict[str, object]:
    ic_number, electrode = divmod(number, ELECTRODE_COUNT_MAX[ic])
    return {
        "id": pad_id,
        "ic": f"sense-{ic_number + 1}",
        "electrode": electrode,
        "lamp_ic": "lights-1",
        "white_channel": 2 * number,
        "amber_channel": 2 * number + 1,
    }
