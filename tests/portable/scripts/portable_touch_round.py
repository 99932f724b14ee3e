"""A whole round on a touch table, from chips on the felt to END GAME."""

from portable_table import Table

from controller.core.round import commands
from hal import aio

CARD = b"0123456789abcdef"


async def main():
    # The commands travel through a mailbox and a task, as on a unit.
    box = aio.Mailbox(64)
    table = Table("touch")
    player = aio.create_task(play(table, box), "player")
    while True:
        step = await box.get()
        if step is None:
            break
        step()
    await player
    table.finish()


async def play(table, box):
    for step in steps(table):
        box.put_nowait(step)
        await aio.sleep_ms(0)
    box.put_nowait(None)


def steps(table):
    return [
        table.show,
        table.start,
        lambda: table.place("2A"),
        lambda: table.place("5A"),
        lambda: table.place("7A"),
        lambda: table.pass_ms(400),
        lambda: table.place("4A"),  # too late to rest before the lock
        table.show,
        table.start,
        table.start,
        table.show,
        lambda: table.take("7A"),
        lambda: table.place("3A"),
        table.show,
        lambda: table.pass_ms(2500),
        table.show,
        lambda: table.do(commands.hand("four-aces")),
        lambda: table.do(commands.seat(1)),
        lambda: table.do(commands.seat(5)),
        lambda: table.do(commands.hand("straight-flush")),
        lambda: table.do(commands.hand("four-aces")),
        lambda: table.do(commands.seat(2)),
        lambda: table.do(commands.hand("three-of-a-kind")),
        table.show,
        lambda: table.do(commands.end()),
        lambda: table.do(commands.card(2, CARD)),
        lambda: table.do(commands.confirm()),
        lambda: table.do(commands.card(2, CARD)),
        lambda: table.do(commands.seat(2)),
        table.cut_power,
        table.show,
        lambda: table.manager_awards(800075, 2),
        table.show,
        lambda: table.do(commands.cancel()),
        lambda: table.do(commands.confirm()),
        lambda: table.manager_awards(800100, 1),
        lambda: table.do(commands.card(0, CARD)),
        lambda: table.do(commands.card(1, CARD)),
        lambda: table.do(commands.card(2, CARD)),
        table.cut_power,
        lambda: table.manager_commits(1),
        table.show,
        lambda: table.do(commands.seat(5)),
        lambda: table.do(commands.seat(7)),
        lambda: table.do(commands.hand("three-of-a-kind")),
        lambda: table.do(commands.confirm()),
        lambda: table.manager_awards(0, 0),
        lambda: table.manager_commits(2),
        lambda: table.do(commands.end()),
        lambda: table.do(commands.tick(5, 4000)),
        lambda: table.do(commands.tick(5, 5000)),
        table.show,
        table.cut_power,
        lambda: table.do(commands.end()),
        lambda: table.do(commands.end()),
        table.show,
        lambda: table.do(commands.reopen(0)),
        lambda: table.do(commands.reversed_win(1)),
        table.show,
        lambda: table.do(commands.tick(5, 6000)),
        lambda: table.do(commands.void()),
        lambda: table.do(commands.end()),
        lambda: table.do(commands.end()),
        lambda: table.do(commands.join([5, 2])),
        table.show,
        table.start,
        lambda: table.do(commands.void()),
        table.show,
        lambda: table.do(commands.card(1, CARD)),
        table.cut_power,
        table.show,
    ]
