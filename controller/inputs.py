"""The dealer's keypad, the supervisor's key, the card reader and the tamper switch, as tasks.

Each waits for one device and passes on what a person did. None of them decides anything, and none
dies of a fault of its device: the fault is shown, and the device is tried again.
"""

from __future__ import annotations

import logging
from typing import Protocol

from hal import aio
from hal.card_reader import CardReader
from hal.errors import HardwareFault
from hal.keypad import KeyChord, Keypad, KeyPress
from hal.keyswitch import KeySwitch
from hal.lines import InputLine
from hal.track2 import BadSwipe

log = logging.getLogger("controller.inputs")

RETRY_MS = 500
TAMPER_POLL_MS = 1000
# Keys that wait while one is being recorded. More of them is no dealer but something on the keypad.
KEYS_WAITING_MAX = 8
# No hand swipes faster; a reader that does is broken or hostile, and each swipe is kept for ever.
SWIPE_PAUSE_MS = 250


class InputOwner(Protocol):
    async def pressed(self, button: str) -> object: ...
    async def pressed_together(self, buttons: tuple[str, ...]) -> object: ...
    async def key_turned(self, position: str) -> object: ...
    async def card_swiped(self, account: str) -> object: ...
    async def card_unreadable(self, reason: str) -> object: ...
    def tamper_changed(self, opened: bool) -> None: ...
    def input_fault(self, part: str, sentence: str) -> None: ...


Keys = aio.Mailbox[KeyPress | KeyChord]


async def watch_keypad(keypad: Keypad, owner: InputOwner, keys: Keys) -> None:
    """Reads on while a key is being acted on: a short press in that time must not be lost."""
    started = False
    while True:
        try:
            if not started:
                await keypad.start()
                started = True
                owner.input_fault("keypad", "")
            press = await keypad.next_press()
        except HardwareFault as fault:
            started = False
            owner.input_fault("keypad", str(fault))
            await aio.sleep_ms(RETRY_MS)
            continue
        try:
            keys.put_nowait(press)
        except aio.MailboxFull:
            log.error("%s was not taken: too many keys before it wait to be recorded", press)


async def pass_keys_on(keys: Keys, owner: InputOwner) -> None:
    """One after another, in the order in which they were pressed."""
    while True:
        press = await keys.get()
        if isinstance(press, KeyChord):
            await owner.pressed_together(press.names)
        else:
            await owner.pressed(press.name)


async def watch_key(keyswitch: KeySwitch, owner: InputOwner) -> None:
    known = ""
    while True:
        try:
            position = await keyswitch.changed() if known else keyswitch.position
        except HardwareFault as fault:
            known = ""
            owner.input_fault("key", str(fault))
            await aio.sleep_ms(RETRY_MS)
            continue
        known = position
        owner.input_fault("key", "")
        await owner.key_turned(position)


async def watch_cards(reader: CardReader, owner: InputOwner) -> None:
    while True:
        swipe = await reader.read()
        lost = isinstance(swipe, BadSwipe) and not reader.plugged
        owner.input_fault("card reader", "The card reader is unplugged." if lost else "")
        if isinstance(swipe, BadSwipe):
            await owner.card_unreadable(swipe.reason)
        else:
            await owner.card_swiped(swipe.account)
        await aio.sleep_ms(SWIPE_PAUSE_MS)


async def watch_tamper(line: InputLine, owner: InputOwner) -> None:
    while True:
        try:
            owner.tamper_changed(line.active)
        except HardwareFault as fault:
            owner.input_fault("tamper", str(fault))
        try:
            await aio.wait_for_ms(line.changed(), TAMPER_POLL_MS)
        except aio.TimeoutError:
            continue
