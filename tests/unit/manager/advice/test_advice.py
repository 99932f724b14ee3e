"""Set-up advice: exact economics, the documents' warnings, and a simulation that says it is one."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kit.config import ConfigError
from manager.advice.advise import Advice, advise
from manager.advice.plot import svg
from manager.cli.advise import main
from manager.games import load_paytable
from manager.ledger.jackpots import Jackpot
from tests.kit.places import table_path

TABLE = table_path("four-card-touch")
MAIN = Jackpot("main", "Main", 1_000_000, 1_000_000, 250_000, 50_000, False, "tray")
# Best four-card hand of five dealt, 2,598,960 deals: four aces 48, other quads 576, straight
# flush of four 2,072, three of a kind 58,656 (the hands of the progressive paytable).
DEALS = 2_598_960


def found(jackpot: Jackpot = MAIN, **changes: int) -> Advice:
    paytable = load_paytable("four-card/progressive/Pays-1")
    options: dict[str, int] = {"wagers": 50_000, "paths": 20, "seed": 7, **changes}
    return advise(paytable, {"top": jackpot}, 100, **options)  # type: ignore[arg-type]


def sentences(advice: Advice, kind: str) -> str:
    return " | ".join(remark.sentence for remark in advice.remarks if remark.kind == kind)


def test_the_shares_of_a_wager_are_exact_and_add_up_to_one() -> None:
    shares = found().economics
    counts = found().odds.tally.counts
    assert counts["four-aces"] == 48
    assert counts["four-of-a-kind"] == 576
    fixed = 300 * 576 + 100 * counts["straight-flush"] + 9 * counts["three-of-a-kind"]
    assert shares.fixed_return == Fraction(fixed, DEALS)
    assert shares.contribution == Fraction(1, 4)
    assert shares.reserve == Fraction(1, 20)
    assert shares.reseed_cost == Fraction(48, DEALS) * 10_000
    assert shares.player_share + shares.house_share == 1


def test_at_the_break_even_contribution_nothing_is_left_for_the_house() -> None:
    shares = found().economics
    even = replace(shares, contribution=shares.break_even_contribution)
    assert even.house_share == 0


def test_a_contribution_above_break_even_is_warned_of() -> None:
    greedy = replace(MAIN, contribution_ppm=900_000)
    assert "above the break-even" in sentences(found(greedy), "warning")
    assert "above the break-even" not in sentences(found(), "warning")


def test_a_zero_seed_and_one_below_the_largest_fixed_award_are_warned_of() -> None:
    assert "zero seed" in sentences(found(replace(MAIN, seed_cents=0)), "warning")
    small = found(replace(MAIN, seed_cents=29_999))
    assert "smaller than the largest fixed award, $300.00" in sentences(small, "warning")
    assert "largest fixed" not in sentences(found(replace(MAIN, seed_cents=30_000)), "warning")


def test_a_missing_reserve_is_advised() -> None:
    assert "reserve" in sentences(found(replace(MAIN, reserve_ppm=0)), "advice")


def test_a_meter_that_pays_fixed_awards_can_run_dry_and_the_chance_is_told() -> None:
    poor = replace(MAIN, seed_cents=5_000, opening_cents=5_000, fixed_pays_from="meter")
    advice = found(poor)
    assert advice.paths["top"].dry_count > 0
    assert "running dry" in sentences(advice, "warning")
    assert "simulated" in sentences(advice, "warning")
    rich = replace(poor, opening_cents=100_000_000, contribution_ppm=900_000)
    assert found(rich).paths["top"].dry_count == 0


def test_fixed_pays_from_the_tray_cannot_run_a_meter_dry() -> None:
    poor = replace(MAIN, seed_cents=5_000, opening_cents=5_000)
    assert found(poor).paths["top"].dry_count == 0


def test_the_same_seed_gives_the_same_paths() -> None:
    once, again, other = found(), found(), found(seed=8)
    assert (once.paths["top"].drawn_cents == again.paths["top"].drawn_cents).all()
    assert (once.paths["top"].drawn_cents != other.paths["top"].drawn_cents).any()


def test_a_meter_without_hits_grows_by_exactly_its_contribution() -> None:
    lives = found(wagers=1_000).paths["top"].drawn_cents
    # A hit within the first thousand wagers reseeds to less; nothing can grow faster.
    assert lives[:, 1].max() == 1_000_000 + 1_000 * 25


def test_the_picture_is_valid_and_has_one_line_a_path() -> None:
    picture = ElementTree.fromstring(svg(MAIN, found().paths["top"]))
    lines = [child for child in picture.iter() if child.tag.endswith("polyline")]
    assert len(lines) == 20
    # A page of the manager forbids inline styles, so colours are attributes.
    assert not [child for child in picture.iter() if child.tag.endswith("style")]
    assert not [child for child in picture.iter() if "style" in child.attrib]


def test_the_command_prints_advice_and_saves_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--wagers", "5000", "--paths", "10", "--plot", str(tmp_path)]
    assert main([str(TABLE), *options]) == 0
    printed = capsys.readouterr().out
    assert "The house" in printed
    assert "once in 54,145 wagers" in printed
    assert [path.name for path in tmp_path.iterdir()] == ["four-card-touch-A-main.svg"]


def test_nothing_is_simulated_above_the_limit_and_the_overflow_comes_back_at_a_reseed() -> None:
    limited = replace(MAIN, opening_cents=1_000_000, limit_cents=1_000_500, reserve_ppm=0)
    lives = found(limited, wagers=400_000, paths=60).paths["top"].drawn_cents
    assert lives.max() == 1_000_500
    free = found(replace(limited, limit_cents=0), wagers=400_000, paths=60).paths["top"]
    assert free.drawn_cents.max() > 1_000_500
    to_house = replace(limited, overflow_to="house", limit_cents=1_020_000)
    to_reserve = replace(to_house, overflow_to="reserve")
    kept = found(to_reserve, wagers=400_000, paths=60).paths["top"].drawn_cents
    gone = found(to_house, wagers=400_000, paths=60).paths["top"].drawn_cents
    assert kept.mean() > gone.mean()  # the reserve came to the meter after a win
    assert "stands at its limit" in sentences(found(limited, wagers=400_000), "warning")
    generous = replace(limited, limit_cents=90_000_000)
    assert "stands at its limit 0.0%" in sentences(found(generous), "fine")


def test_a_house_jackpot_costs_what_it_posts_and_has_no_life_to_simulate() -> None:
    posted = replace(
        MAIN, contribution_ppm=0, reserve_ppm=0, type="house", award_policy="each_full"
    )
    paytable = load_paytable("i-luv-suits/jackpot/1")  # 100 % and 10 % of one posted prize
    advice = advise(paytable, {"top": posted}, 100)
    counts, total = advice.odds.tally.counts, advice.odds.tally.total
    tenths = 10 * counts["royal-flush-hearts"] + counts["royal-flush"]
    assert advice.economics.reseed_cost == Fraction(tenths * 1_000, total)
    assert advice.paths == {}
    assert "posted, never moves" in sentences(advice, "fine")
    assert "reserve" not in sentences(advice, "advice")


def test_a_posted_prize_that_is_too_high_is_warned_of() -> None:
    posted = replace(
        MAIN,
        seed_cents=9_000_000,
        opening_cents=9_000_000,
        contribution_ppm=0,
        reserve_ppm=0,
        type="house",
        award_policy="each_full",
    )
    assert "the prizes cost" in sentences(found(posted), "warning")


def hands_played(
    contribution: Fraction, reserve: Fraction, wagers: int, seed: int
) -> tuple[float, float]:
    """A meter's life hand by hand, written without the adviser: what the house kept of each wager,
    and what it paid of each in the empty meter's place. Losing wagers are jumped over."""
    chance = random.Random(seed)
    pays = {"four aces": (48, 0), "quads": (576, 300), "flush": (2_072, 100), "three": (58_656, 9)}
    won = sum(count for count, _ in pays.values())
    meter, waiting, house, unpaid, played = 1_000_000.0, 0.0, 0.0, 0.0, 0
    while played < wagers:
        gap = 1 + int(math.log(1 - chance.random()) / math.log(1 - won / DEALS))
        played += gap
        meter += gap * 100 * float(contribution)
        waiting += gap * 100 * float(reserve)
        house += gap * 100 * float(1 - contribution - reserve)
        hand = chance.choices(list(pays), [count for count, _ in pays.values()])[0]
        if hand == "four aces":
            house -= 1_000_000
            meter, waiting = 1_000_000.0 + waiting, 0.0
            continue
        due = pays[hand][1] * 100
        unpaid += max(0.0, due - meter)
        meter = max(0.0, meter - due)
    return (house - unpaid) / (played * 100), unpaid / (played * 100)


def test_the_house_pays_what_an_empty_meter_cannot() -> None:
    """Catches: fixed pays from a meter that nobody pays for once it is empty."""
    nothing = replace(MAIN, contribution_ppm=0, reserve_ppm=0, fixed_pays_from="meter")
    shares = found(nothing, wagers=1_000_000, paths=100).economics
    kept, unpaid = hands_played(Fraction(0), Fraction(0), 3_000_000, seed=3)
    # No envy was played. Without the shortfall the house would be told 17 % too much.
    assert abs(float(shares.house_share + shares.envy_return) - kept) < 0.02
    assert unpaid > 0.15
    assert shares.player_share + shares.house_share == 1


def test_a_meter_that_grows_leaves_less_to_the_house() -> None:
    grows = replace(MAIN, fixed_pays_from="meter")
    shares = found(grows, wagers=1_000_000, paths=100).economics
    _, unpaid = hands_played(Fraction(1, 4), Fraction(1, 20), 3_000_000, seed=3)
    assert 0.001 < unpaid < 0.05
    assert abs(float(shares.shortfall) - unpaid) < 0.01


def test_what_the_limit_sends_to_the_house_is_not_paid_to_players() -> None:
    full = replace(MAIN, limit_cents=1_000_000, overflow_to="house", reserve_ppm=0)
    shares = found(full, wagers=200_000).economics
    assert shares.overflow == pytest.approx(shares.contribution, abs=0.01)
    assert found(replace(full, overflow_to="reserve")).economics.overflow == 0


def test_what_set_up_refuses_is_not_priced(tmp_path: Path) -> None:
    """Catches: advice on a felt bet, which no table could open as a jackpot."""
    text = TABLE.read_text("utf-8")
    other = tmp_path / "other.toml"
    other.write_text(text.replace("four-card/progressive/Pays-1", "four-card/aces-up/FCP-01"))
    with pytest.raises(ConfigError, match=r"paytables\.A\.paytable: .* pays from no meter"):
        main([str(other)])
    other.write_text(text.replace("four-card/progressive/Pays-1", "crazy-4/progressive/Pays-3"))
    pays_3 = other.read_text().replace("reserve_ppm = 50000", "reserve_ppm = 10000")
    other.write_text(pays_3)
    with pytest.raises(ConfigError, match=r"Pays-3 has a reserve of 5 % of each wager"):
        main([str(other)])


def test_the_limits_of_a_jurisdiction_are_warned_of_where_one_is_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    high = tmp_path / "high.toml"
    high.write_text(TABLE.read_text("utf-8").replace("wager_cents = 100", "wager_cents = 30100"))
    quick = [str(high), "--wagers", "500", "--paths", "1"]
    assert main(quick) == 0
    assert "WAC" not in capsys.readouterr().out
    assert main([*quick, "--jurisdiction", "washington"]) == 0
    assert "$301.00, is above the $300.00 of WAC 230-15-140" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="No jurisdiction is called oregon; known are washington"):
        main([*quick, "--jurisdiction", "oregon"])


def test_an_unknown_paytable_and_a_missing_level_are_sentences(tmp_path: Path) -> None:
    text = TABLE.read_text("utf-8")
    other = tmp_path / "other.toml"
    other.write_text(text.replace("four-card/progressive/Pays-1", "four-card/progressive/9"))
    with pytest.raises(ConfigError, match=r"paytables\.A\.paytable: No pack has .*Pays-1"):
        main([str(other)])
    other.write_text(text.replace('{ top = "main" }', '{ mega = "main" }'))
    with pytest.raises(ConfigError, match=r"paytables\.A\.levels\.mega: is no level of"):
        main([str(other)])


def test_a_file_that_is_not_there_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match=r"none\.toml"):
        main(["none.toml"])
