"""The board of a sensing trial: one sensing chip, one lamp chip, five spots.

It is the smallest table on which neighbours exist; the chips are wired as on the boards that ship.
"""

from __future__ import annotations

from collections.abc import Sequence

from hal.board_config import BoardConfig, parse_board

SENSE = "sense-1"
BUS = 1
SENSE_GPIO = 17


def trial_board(pad_ids: Sequence[str]) -> BoardConfig:
    return parse_board(
        {
            "backend": "simulated",
            "serial": "UF-TRIAL",
            "buses": [{"number": BUS, "frequency_hz": 400_000}],
            "chips": [
                {
                    "name": SENSE,
                    "kind": "mpr121",
                    "bus": BUS,
                    "address": 0x5A,
                    "interrupt_gpio": SENSE_GPIO,
                },
                {"name": "lights-1", "kind": "pca9685", "bus": BUS, "address": 0x40},
            ],
            "sensors": [_sensor(number, pad_id) for number, pad_id in enumerate(pad_ids)],
        }
    )


def _sensor(number: int, pad_id: str) -> dict[str, object]:
    return {
        "id": pad_id,
        "chip": SENSE,
        "electrode": number,
        "lamp_chip": "lights-1",
        "white_channel": 2 * number,
        "amber_channel": 2 * number + 1,
    }
