"""A whole round on a keypad table, from chips on the felt to GAME OVER."""

from portable_table import Table

from controller.core.round import commands


async def main():
    table = Table("keypad")
    for sensor in ("1A", "3A", "6A"):
        table.place(sensor)
    table.pass_ms(400)
    table.turn_key("JPH")
    table.start()
    table.turn_key("RUN")
    table.start()
    table.show()
    win_with_key(table)
    win_of_the_dealer(table)
    table.rules.link_up = False
    table.show()
    table.do(commands.end())
    table.show()
    table.start()
    table.finish()


def win_with_key(table):
    table.do(commands.hand("four-of-a-kind"))
    table.do(commands.seat(2))
    table.do(commands.seat(6))
    table.do(commands.hand("four-of-a-kind"))
    table.do(commands.seat(3))
    table.do(commands.confirm())
    table.do(commands.jpot("RUN"))
    table.turn_key("JPH")
    table.do(commands.jpot("JPH"))
    table.do(commands.cancel())
    table.cut_power()
    table.manager_awards(1000075, 1)
    table.show()
    table.turn_key("FAULT")
    table.cut_power()
    table.turn_key("RUN")
    table.manager_commits(1)
    table.show()


def win_of_the_dealer(table):
    # One bet is left, so the seat is implied.
    table.do(commands.hand("three-of-a-kind"))
    table.do(commands.confirm())
    table.manager_awards(0, 0)
    table.do(commands.end())
    table.manager_commits(2)
    table.do(commands.hand("three-of-a-kind"))
