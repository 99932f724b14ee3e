"""Figures, verdicts and the odds command: shape, golden counts, and the page in docs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from manager.cli.odds import main
from manager.games import load_paytable, paytable_ids
from manager.odds import highest
from manager.odds.base_games import base_game_value
from manager.odds.catalogue_page import as_markdown
from manager.odds.figures import VERDICTS, Odds, compute_odds, gross_return, judge
from manager.odds.report import as_json, as_text
from tests.kit.places import DOCS, GOLDEN

COUNTS = GOLDEN / "odds_counts.json"

HOUSE_PACK = """\
format = 1
game = "house"
title = "House"
source = "house rules"
[[bet]]
id = "jackpot"
title = "Jackpot"
evaluator = "five-card"
deck = 52
cards_considered = 5
[[bet.paytable]]
label = "1"
hands = [{ id = "four-of-a-kind", label = "Quads", pay = "100%" }]
"""


@pytest.fixture(scope="module")
def catalogue() -> list[Odds]:
    return [compute_odds(load_paytable(name)) for name in paytable_ids()]


def odds(paytable_id: str) -> Odds:
    return compute_odds(load_paytable(paytable_id))


def test_counts_are_the_golden_ones(catalogue: list[Odds]) -> None:
    golden = json.loads(COUNTS.read_text(encoding="utf-8"))
    found = {
        row.paytable.id: {
            "total": row.tally.total,
            "counts": row.tally.counts,
            "exact": row.tally.exact,
            "verdicts": [judged.verdict for judged in row.printed],
        }
        for row in catalogue
    }
    assert found == golden


def test_every_printed_figure_has_a_verdict(catalogue: list[Odds]) -> None:
    for row in catalogue:
        assert len(row.printed) == len(row.paytable.printed), row.paytable.id
        assert all(judged.verdict in VERDICTS for judged in row.printed)
        assert (row.verdict is None) == (not row.paytable.printed)


def test_the_page_in_docs_is_what_the_command_writes(catalogue: list[Odds]) -> None:
    page = (DOCS / "games.md").read_text(encoding="utf-8")
    assert page == as_markdown(catalogue) + "\n"


@pytest.mark.parametrize(
    ("text", "percent", "verdict"),
    [
        ("4.81%", "4.8149", "agrees"),
        ("4.81%", "4.805", "agrees"),
        ("2.62%", "2.6138", "rounding"),
        ("5.33%", "5.3175", "rounding"),
        ("4.98%", "5.0328", "misprint"),
        ("5.6%", "5.5782", "agrees"),
        ("20%", "18.4", "misprint"),
    ],
)
def test_verdicts(text: str, percent: str, verdict: str) -> None:
    assert judge(text, Fraction(percent) / 100) == verdict


def test_both_printed_bad_beat_frequencies_are_judged() -> None:
    verdicts = {
        judged.printed.text: judged.verdict for judged in odds("crazy-4/bad-beat/BBB-01").printed
    }
    assert verdicts["2.4%"] == "agrees"
    assert verdicts["6.59%"] == "misprint"


def test_house_edges_that_print_knows() -> None:
    assert odds("high-five/trips/APP-01").verdict == "agrees"
    assert odds("four-card/aces-up/FCP-09").verdict == "misprint"
    base = base_game_value(load_paytable("crazy-4/super-bonus/C4P-09"))
    assert judge("3.42%", base.edge_per_ante) == "agrees"
    with pytest.raises(ValueError, match="no base game"):
        base_game_value(load_paytable("crazy-4/queens-up/C4P-09"))


def test_the_house_edge_is_what_the_counts_say() -> None:
    row = odds("i-luv-suits/super-flush-rush/4")
    assert row.house_edge is not None
    back = sum(
        Fraction(count, row.tally.total) * gross_return(row.paytable, hand)
        for hand, count in row.tally.counts.items()
    )
    assert row.house_edge.value == 1 - back


def test_a_push_is_no_hit() -> None:
    row = odds("face-up-pai-gow/fortune-bonus/1")
    assert row.push_frequency == Fraction(row.tally.counts["three-pair"], row.tally.total)
    without = odds("face-up-pai-gow/fortune-bonus/2")
    assert row.hit_frequency.value == without.hit_frequency.value


def test_jackpot_returns() -> None:
    row = odds("crazy-4/multi-game-link/01")
    assert row.house_edge is None
    # Royal 4 and straight flush 36 of 2,598,960; 100 % and 10 % of each $1,000.
    assert row.meter_return_cents == {"top": Fraction(100_000 * 4 + 10_000 * 36, 2_598_960)}
    assert row.fixed_return is not None
    assert float(row.fixed_return) == pytest.approx(0.530569, abs=1e-6)
    assert row.envy_cents_per_seat == Fraction(100_000 * 4 + 30_000 * 36, 2_598_960)


def test_json_has_the_promised_shape(catalogue: list[Odds]) -> None:
    for row in (as_json(odds) for odds in catalogue):
        always = {"id", "total", "counts", "hit_frequency", "printed", "verdict", "method"}
        assert always <= row.keys()
        assert ("house_edge" in row) != ({"fixed_return", "meter_return"} <= row.keys())
        if row["method"] == "simulated":
            assert row["simulation"]["seed"] == highest.SEED
            assert row["hit_frequency_standard_error"] > 0
            assert row["house_edge_standard_error"] > 0
        else:
            assert Fraction(row["hit_frequency_exact"]) == pytest.approx(row["hit_frequency"])
    json.dumps([as_json(odds) for odds in catalogue])


def test_the_text_has_a_line_per_paytable(catalogue: list[Odds]) -> None:
    assert len(as_text(catalogue).splitlines()) == len(catalogue) + 1


def test_simulated_frequencies_lie_by_the_simulated_rounds() -> None:
    values = [Fraction(0)] + [Fraction(1)] * 7
    for hands in range(3, 9):
        estimate = highest.expected_value(hands, values)
        share = 1 - highest.sampled_counts(hands)[0] / highest.ROUNDS
        spread = (share * (1 - share) / highest.ROUNDS) ** 0.5
        assert abs(float(estimate.mean) - share) < 4 * spread
        assert estimate.standard_error < spread


def test_one_and_two_hands_are_exact() -> None:
    values = [Fraction(0)] + [Fraction(1)] * 7
    assert highest.expected_value(1, values).mean == Fraction(74_628, 2_598_960)
    assert highest.expected_value(2, values).standard_error == 0
    assert sum(highest.pair_counts()) == 2_598_960 * 1_533_939


def test_the_correction_is_nothing_up_to_two_winners() -> None:
    values = [Fraction(number * number) for number in range(8)]
    assert highest._rest((3,), values) == 0
    assert highest._rest((2, 5), values) == 0
    # Three winners: 25 is right, 4 + 9 + 25 less the pairs' surplus 4 + 4 + 9 is 21.
    assert highest._rest((2, 3, 5), values) == 25 - (4 + 9 + 25 - 4 - 4 - 9)


def test_the_command_prints_json_for_one_paytable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--paytable", "four-card/aces-up/fcp-01", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["id"] == "four-card/aces-up/FCP-01"
    assert row["counts"]["four-of-a-kind"] == 624
    assert row["verdict"] == "agrees"


def test_the_command_refuses_an_unknown_paytable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--paytable", "four-card/aces-up/FCP-99"]) == 2
    assert "FCP-01" in capsys.readouterr().err


def test_the_command_reads_an_operators_pack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "house.toml").write_text(HOUSE_PACK, encoding="utf-8")
    assert main(["--packs", str(tmp_path), "--paytable", "house/jackpot/1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["counts"] == {"four-of-a-kind": 624}
    (tmp_path / "house.toml").write_text(HOUSE_PACK.replace("52", "53"), encoding="utf-8")
    other = tmp_path / "other"
    other.mkdir()
    (other / "bad.toml").write_text(HOUSE_PACK.replace("52", "53"), encoding="utf-8")
    assert main(["--packs", str(other)]) == 2
    assert "bad.toml:9:8:" in capsys.readouterr().err


def test_single_hand_bets_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--single-hand"]) == 0
    text = capsys.readouterr().out
    assert "i-luv-suits/jackpot/ML-1" in text
    assert "bad-beat" not in text
