"""What a table plays and may do: its games and hands, its limits, and what surrounds it right now.

It holds the settings as the Game Manager gave them and
the context of the moment (link, meters, key, faults); it decides nothing about a round.
"""

from protocol import numbers
from protocol.sensor_id import letter_of, seat_of


class Hand:
    """A winning hand: what its button says and what it pays."""

    __slots__ = ("envy_cents", "hand_id", "label", "meter_id", "pay_kind", "pay_value")

    def __init__(
        self,
        hand_id: str,
        label: str,
        pay_kind: int,
        pay_value: int,  # parts per million of the meter, or N of "N for 1"
        meter_id: str,  # the meter it is paid from, "" for the tray
        envy_cents: int,
    ) -> None:
        self.hand_id = hand_id
        self.label = label
        self.pay_kind = pay_kind
        self.pay_value = pay_value
        self.meter_id = meter_id
        self.envy_cents = envy_cents


class Game:
    """One jackpot game: one sensor letter, one fixed wager, its hands in the buttons' order."""

    __slots__ = ("hands", "letter", "title", "wager_cents")

    def __init__(self, letter: str, title: str, wager_cents: int, hands: "list[Hand]") -> None:
        self.letter = letter
        self.title = title
        self.wager_cents = wager_cents
        self.hands = hands

    def find(self, hand_id: str) -> "Hand | None":
        for hand in self.hands:
            if hand.hand_id == hand_id:
                return hand
        return None


class Rules:
    """The settings, fixed while they are in force, and the context, which the owner keeps current.

    `key` is "" on a table without a key switch. `stopping_faults` are sentences.
    """

    __slots__ = (
        "aggregate_limit_cents",
        "aggregate_per_player",
        "dealer_limit_cents",
        "executive_from_cents",
        "executive_percent_ppm",
        "games",
        "in_service",
        "key",
        "link_up",
        "meter_authority",
        "meters_fresh",
        "sensors",
        "stop_sentence",
        "stopping_faults",
        "workflow",
    )

    def __init__(
        self,
        workflow: str,
        sensors: "list[str]",
        games: "list[Game]",
        dealer_limit_cents: int,
        executive_from_cents: int,
        executive_percent_ppm: int = numbers.WHOLE_METER_PPM,
        stop_sentence: str = "",  # why the house lets no game start, "" when it does
        meter_authority: "dict[str, int] | None" = None,  # the role a share of each meter needs
    ) -> None:
        if workflow not in (numbers.WORKFLOW_TOUCH, numbers.WORKFLOW_KEYPAD):
            raise ValueError(f"There is no workflow {workflow}.")
        self.workflow = workflow
        self.sensors = sensors
        self.games = games
        self.dealer_limit_cents = dealer_limit_cents
        self.executive_from_cents = executive_from_cents
        self.executive_percent_ppm = executive_percent_ppm
        self.stop_sentence = stop_sentence
        self.meter_authority = meter_authority or {}
        # The most that odds-based pays of a round come to, 0 without a limit; the owner sets it.
        self.aggregate_limit_cents = 0
        self.aggregate_per_player = False
        # Until the owner says otherwise, nothing that play needs is there.
        self.link_up = False
        self.meters_fresh = False
        self.key = ""
        self.stopping_faults: "list[str]" = []
        self.in_service = False  # a technician has the table, and no game can start

    def is_keypad(self) -> bool:
        return self.workflow == numbers.WORKFLOW_KEYPAD

    def game_of(self, sensor: str) -> "Game | None":
        for game in self.games:
            if game.letter == letter_of(sensor):
                return game
        return None

    def wagered_cents(self, accepted: "list[str]") -> int:
        """What these bets cost together, at the prices of now."""
        games = [self.game_of(sensor) for sensor in accepted]
        return sum([game.wager_cents for game in games if game is not None])

    def hand_of(self, sensor: str, hand_id: str) -> "Hand | None":
        game = self.game_of(sensor)
        return game.find(hand_id) if game is not None else None

    def label_of(self, hand_id: str) -> str:
        for game in self.games:
            hand = game.find(hand_id)
            if hand is not None:
                return hand.label
        return hand_id

    def knows_hand(self, hand_id: str) -> bool:
        return any(game.find(hand_id) is not None for game in self.games)

    def has_seat(self, number: int) -> bool:
        return any(seat_of(sensor) == number for sensor in self.sensors)
