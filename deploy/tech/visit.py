"""A technician at one unit, from sign-in to sign-out.

It alone knows which requests the service door takes. Whoever leaves gives the table back: at the
end, after an error and at Ctrl-C alike. Where the unit is gone, it gives itself back after two
minutes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from deploy.tech.door import Answer, Door, UnitGone
from kit.command_line import CommandRefused, say

View = dict[str, Any]
ACT_TRIES_MAX = 3
GONE = "The table opens again by itself two minutes after the tool was last heard."


class Visit:
    def __init__(self, door: Door) -> None:
        self._door = door
        self._is_signed_in = False
        self._is_starting_anew = False

    def sign_in(self, name: str, pin: str) -> None:
        """One try, whatever the unit answers: five wrong ones lock everybody out."""
        answer = self._door.ask("POST", "/sign-in", {"name": name, "pin": pin})
        if not answer.is_good:
            raise CommandRefused(answer.sentence())
        self._is_signed_in = True

    def close(self) -> None:
        try:
            if self._is_signed_in and not self._is_starting_anew:
                self._door.ask("POST", "/sign-out", {})
        except UnitGone as gone:
            say(f"{gone} {GONE}")
        finally:
            self._is_signed_in = False
            self._door.close()

    def starts_anew(self) -> None:
        """The unit does so by itself now: there is nothing left to leave."""
        self._is_starting_anew = True

    def get(self, path: str) -> Any:
        return self._good(self._door.ask("GET", path)).json()

    def get_bytes(self, path: str) -> bytes:
        return self._good(self._door.ask("GET", path)).body

    def act(self, action: str, argument: str = "") -> None:
        """Presses one of the page's buttons; a refusal is raised in the unit's words."""
        answer = self._door.ask("POST", "/act", {"action": action, "argument": argument})
        told = self._good(answer).json()
        if not told.get("accepted"):
            raise CommandRefused(str(told.get("sentence")))

    def act_surely(self, action: str, is_done: Callable[[View], bool]) -> None:
        """Presses it, and looks whether it was heard where the answer was lost on the way.

        Nothing is pressed twice that a view shows as done. Without any view the unit is gone.
        """
        for _ in range(ACT_TRIES_MAX):
            try:
                self.act(action)
                return
            except UnitGone as gone:
                lost = gone
            if is_done(self.view()):
                return
        raise lost

    def views(self) -> Iterator[View]:
        """What the page shows, about four times a second; each one proves that we are here."""
        return self._door.stream("/events")

    def frames(self) -> Iterator[View]:
        """The sensors, twenty times a second."""
        return self._door.stream("/live")

    def view(self) -> View:
        for view in self.views():
            return view
        raise UnitGone("The unit ended the stream.")

    @contextmanager
    def present(self) -> Iterator[None]:
        """Views are taken meanwhile, so that a person may think longer than two minutes."""
        is_over = threading.Event()

        def take() -> None:
            try:
                for _ in self.views():
                    if is_over.is_set():
                        return
            except CommandRefused:
                return  # whatever is asked next hears the same, and says it

        thread = threading.Thread(target=take, name="presence", daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    @contextmanager
    def in_service(self, command: str, close_table: bool) -> Iterator[None]:
        """The table closed for as long as this lasts, if the technician said that it may be."""
        view = self.view()
        mode = view["mode"]
        if not mode["on"]:
            if not close_table:
                raise CommandRefused(why_not(view, command))
            self.act_surely("enter", lambda shown: bool(shown["mode"]["on"]))
        try:
            yield
        finally:
            if not mode["on"] and not self._is_starting_anew:
                self._leave()

    def _leave(self) -> None:
        """Raises nothing: what ended the work is the news, and sign-out leaves as well."""
        try:
            self.act_surely("leave", lambda shown: not shown["mode"]["on"])
        except CommandRefused as refused:
            say(f"{refused} {GONE}")

    def _good(self, answer: Answer) -> Answer:
        if not answer.is_good:
            raise CommandRefused(answer.sentence())
        return answer


def why_not(view: View, command: str) -> str:
    """The running table as the reason, and what stops it."""
    name = view["name"]
    if view["round_open"]:
        return (
            f"A game is under way at {name}. Wait for END GAME; then "
            f"`underfelt-tech {command} --close-table` puts the table into service mode."
        )
    return (
        f"{name} is open for play, and this needs its board. "
        f"`underfelt-tech {command} --close-table` puts it into service mode meanwhile."
    )
