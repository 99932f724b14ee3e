"""The dealer's keypad, the supervisor's key, the card reader and the tamper switch, as tasks.

Each waits for one device and passes on what a person did. None of them decides anything, and none
dies of a fault of its device: the fault is shown, and the device is tried again.
"""

from __future__ import annotations

import logging

from controller.inputs.cabinet import Cabinet
from controller.inputs.cards import SwipedCards
from controller.inputs.key import SupervisorKey
from controller.inputs.keypad_dialog import KeypadDialog
from controller.table.faults import FaultBoard
from hal import aio
from hal.devices.card_reader import CardReader
from hal.devices.keypad import KeyChord, Keypad, KeyPress
from hal.devices.keyswitch import KeySwitch
from hal.devices.lines import InputLine
from hal.devices.track2 import BadSwipe
from hal.errors import HardwareFault

log = logging.getLogger("controller.inputs.devices")

CODE = "input"  # of every fault of a device
RETRY_MS = 500
TAMPER_POLL_MS = 1000
# Keys that wait while one is being recorded. More of them is no dealer but something on the keypad.
KEYS_WAITING_MAX = 8
# No hand swipes faster; a reader that does is broken or hostile, and each swipe is kept for ever.
SWIPE_PAUSE_MS = 250


Keys = aio.Mailbox[KeyPress | KeyChord]


async def watch_keypad(keypad: Keypad, faults: FaultBoard, keys: Keys) -> None:
    """Reads on while a key is being acted on: a short press in that time must not be lost."""
    started = False
    while True:
        try:
            if not started:
                await keypad.start()
                started = True
                faults.set(CODE, "keypad", "")
            press = await keypad.next_press()
        except HardwareFault as fault:
            started = False
            faults.set(CODE, "keypad", str(fault))
            await aio.sleep_ms(RETRY_MS)
            continue
        try:
            keys.put_nowait(press)
        except aio.MailboxFull:
            log.error("%s was not taken: too many keys before it wait to be recorded", press)


async def pass_keys_on(keys: Keys, dialog: KeypadDialog) -> None:
    """One after another, in the order in which they were pressed."""
    while True:
        press = await keys.get()
        if isinstance(press, KeyChord):
            await dialog.pressed_together(press.names)
        else:
            await dialog.pressed(press.name)


async def watch_key(keyswitch: KeySwitch, faults: FaultBoard, key: SupervisorKey) -> None:
    known = ""
    while True:
        try:
            position = await keyswitch.changed() if known else keyswitch.position
        except HardwareFault as fault:
            known = ""
            faults.set(CODE, "key", str(fault))
            await aio.sleep_ms(RETRY_MS)
            continue
        known = position
        faults.set(CODE, "key", "")
        await key.turned(position)


async def watch_cards(reader: CardReader, faults: FaultBoard, cards: SwipedCards) -> None:
    while True:
        swipe = await reader.read()
        lost = isinstance(swipe, BadSwipe) and not reader.plugged
        faults.set(CODE, "card reader", "The card reader is unplugged." if lost else "")
        if isinstance(swipe, BadSwipe):
            await cards.unreadable(swipe.reason)
        else:
            await cards.swiped(swipe.account)
        await aio.sleep_ms(SWIPE_PAUSE_MS)


async def watch_tamper(line: InputLine, faults: FaultBoard, cabinet: Cabinet) -> None:
    while True:
        try:
            cabinet.changed(line.active)
        except HardwareFault as fault:
            faults.set(CODE, "tamper", str(fault))
        await line.changed_within_ms(TAMPER_POLL_MS)
