"""Published results: running experiments, result files and generated pages."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from stored_intervals import interval_of_counts
from typer.testing import CliRunner
from unplayed_runs import match_result

from gin_env import agents
from gin_env.agents.cfr.bot import packaged_table
from gin_env.agents.cfr.strategy import PAPER, decision_slices
from gin_env.agents.tonic import TonicBot
from gin_env.matches import match_log
from gin_env.matches.differences import win_rate_difference
from gin_env.matches.matches import play_match
from research.__main__ import app
from research.papers import claims
from research.papers.francis2021 import estimators as francis_estimators
from research.papers.gallucci2021 import cfr_training, fitness
from research.reproduce import experiment as experiments
from research.reproduce import pages, results
from research.reproduce.by_id import EXPERIMENTS, find
from research.reproduce.experiment import Experiment, Run, deal_counts, match_row, named
from research.reproduce.listing import ALIASES
from research.reproduce.results import deck_keys, load, stored

pytestmark = pytest.mark.compiled

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / pages.RESULTS
STORED = stored(RESULTS)
HOMES = (pages.RESULTS, Path("results"))
"""Folders of the results, in this commit and in older ones."""
IN_THE_SUITE = ("truong2021/late-knock", "larkin2021/figure-2", "truong2021/figure-7", "control-bots")
"""Experiments that run in seconds; `make test-long` runs the others."""
WITHOUT_BOTS = ("ladder/8", "ladder/9", "ladder/10", "ladder/12")
"""Experiments in which only what they train plays."""


def quick(folder: Path, *names: str) -> str:
    """Return the output of ``python -m research run NAMES --quick``, which writes to `folder`."""
    options = ["--quick", "--out", str(folder / "results"), "--work", str(folder / "work")]
    done = CliRunner().invoke(app, ["run", *names, *options])
    assert done.exit_code == 0, done.output + repr(done.exception)
    return done.output


def check_quick_run(name: str, folder: Path) -> None:
    """Check that a quick run writes a result with its bots and prints its table."""
    printed = quick(folder, name)
    assert "QUICK RUN, the figures mean nothing" in printed
    assert not (folder / "results" / f"{name}.json").exists()
    result = load(folder / "results", name, quick=True)
    assert result.quick
    assert result.command == f"python -m research run {name} --quick"
    assert (result.keys, result.stale) == (deck_keys(), None)
    assert EXPERIMENTS[name].table(result.rows) in printed
    assert result.bots or result.estimators or name in WITHOUT_BOTS
    assert result.changes(EXPERIMENTS[name]) == []
    assert not (folder / "work" / name / f"seed-{result.seed}-quick" / "matches").exists()
    for picture, draw in EXPERIMENTS[name].pictures.items():
        path = folder / Path(picture).name
        draw(result.rows, path, result.origin)
        assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", IN_THE_SUITE)
def test_quick_run_writes_a_result(name, tmp_path):
    check_quick_run(name, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, one in EXPERIMENTS.items()
        if one.measure and not one.authors and name not in IN_THE_SUITE
    ],
)
def test_every_experiment_runs_quickly(name, tmp_path):
    check_quick_run(name, tmp_path)


def test_list_names_every_experiment():
    listed = CliRunner().invoke(app, ["list"]).output.splitlines()
    assert [line.split()[0] for line in listed if line.startswith("  ")] == list(EXPERIMENTS)
    headings = [line for line in listed if line and not line.startswith(" ")]
    names = ["francis2021", "gallucci2021", "keats2017", "larkin2021", "truong2021", "Beyond"]
    assert [line.split()[0] for line in headings] == names


def test_number_of_a_paper_stands_for_its_name():
    assert find("002/players") is find("truong2021/players")
    by_name, by_number = (CliRunner().invoke(app, ["list", paper]).output for paper in ("keats2017", "004"))
    assert by_name == by_number


def test_list_of_a_paper_shows_time_and_requirements(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "research" / "results" / "truong2021").mkdir(parents=True)
    (tmp_path / "research" / "results" / "truong2021" / "players.json").write_text(
        json.dumps({"seconds": 222.5})
    )
    heading, *lines = CliRunner().invoke(app, ["list", "002"]).output.splitlines()
    assert heading.startswith("truong2021  Truong and Neller")
    found = {line.split()[0]: line for line in lines}
    assert set(found) == {name for name in EXPERIMENTS if name.startswith("truong2021/")}
    assert found["truong2021/players"].endswith("(took 4 min, extra: train)")
    assert found["truong2021/late-knock"].endswith("(about a minute)")
    assert "--authors CHECKOUT of https://" in found["truong2021/authors-networks"]
    wrong = CliRunner().invoke(app, ["list", "009"])
    assert "unknown experiment '009'" in str(wrong.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["gallucci2021/claim"],
            "unknown experiment 'gallucci2021/claim'; the nearest are gallucci2021/claims",
        ),
        (
            ["larkin2021/trials"],
            "larkin2021/trials is measured by another program: python -m research tune tonic",
        ),
    ],
)
def test_invalid_reproduce_arguments_raise(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["run", *arguments])
    assert done.exit_code != 0
    assert message in str(done.exception)


def test_pages_require_a_checkout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["pages"])
    assert isinstance(done.exception, FileNotFoundError)
    assert "is not a checkout of gin-env" in str(done.exception)


# --- Published results ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STORED)
def test_published_result_is_complete_and_has_an_experiment(name):
    result = load(RESULTS, name)
    experiment = find(name)
    assert not result.quick, f"results/{name}.json is a quick run: its figures mean nothing"
    assert result.rows
    command = experiment.program or f"python -m research run {name}"
    assert result.stale or result.command.startswith(command)  # older ones may come from another program
    assert result.keys == deck_keys() or result.keys == "not used" or result.stale, (
        f"results/{name}.json was measured on other decks than its command deals today: measure it again, "
        "or say so in its field stale"
    )


@pytest.mark.parametrize("name", STORED)
def test_every_result_names_its_commit(name):
    result = load(RESULTS, name)
    assert re.fullmatch("[0-9a-f]{40}(-stored)?", result.commit or ""), f"results/{name}.json names no commit"
    assert result.stale or not result.commit.endswith("-stored")
    assert result.stale is None or re.fullmatch(r"[A-Z].*\.", result.stale)
    assert (result.stale or "") in pages.appendix(find(name), result)


def skip_without_history():
    if not (ROOT / ".git").exists() or git_output(ROOT, "rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("the history is not here")


def test_every_result_has_a_commit_of_this_history():
    skip_without_history()
    history = set(git_output(ROOT, "rev-list", "HEAD").split())
    commits = {name: load(RESULTS, name).commit.removesuffix("-stored") for name in STORED}
    assert {name for name, commit in commits.items() if commit not in history} == set()


def test_rows_of_older_results_are_in_their_commit():
    skip_without_history()
    older = [name for name in STORED if load(RESULTS, name).commit.endswith("-stored")]
    numbers = {paper: number for number, paper in ALIASES.items()}
    for name in older:
        result = load(RESULTS, name)
        commit = result.commit.removesuffix("-stored")
        paper, slash, rest = name.rpartition("/")
        names = (name, numbers.get(paper, paper) + slash + rest)
        paths = {f"{at}/{each}.json" for at in HOMES for each in names}
        path = git_output(ROOT, "ls-tree", "-r", "--name-only", commit, *paths)
        stored = json.loads(git_output(ROOT, "show", f"{commit}:{path}"))["rows"]
        assert sorted(map(str, stored)) == sorted(map(str, result.rows)), name
    assert len(older) >= 2


@pytest.mark.parametrize("name", STORED)
def test_bots_of_published_results_still_decide_the_same(name):
    result = load(RESULTS, name)
    assert result.changes(find(name)) == [], f"measure results/{name}.json again: {result.command}"


def test_changed_bot_marks_its_result(tmp_path):
    result = load(RESULTS, "truong2021/late-knock")
    changed = [result.bots[0] | {"decisions": "0"}, *result.bots[1:]]
    (line,) = replace(result, bots=changed).changes(find(result.id))
    assert line.startswith("late-knock-paper: different decisions now")


def test_pages_match_the_results():
    """`python -m research pages` changes nothing."""
    for page, text in pages.generated(ROOT, EXPERIMENTS).items():
        assert (ROOT / page).read_text() == text, f"{page}: run python -m research pages"


def test_every_result_has_a_data_page_linked_from_one_page():
    texts = {path: path.read_text() for path in (ROOT / pages.PAGES).glob("*.md")}
    shown = [name for text in texts.values() for name in re.findall(r"<!-- result (\S+)", text)]
    assert len(shown) == len(set(shown))
    assert set(shown) <= set(EXPERIMENTS)
    complete = {path.relative_to(ROOT) for path in (ROOT / pages.DATA).glob("*.md")}
    assert complete == {pages.DATA / "index.md", *(pages.appendix_of(name) for name in STORED)}
    linked = {link for text in texts.values() for link in re.findall(r"\]\(data/([\w-]+\.md)\)", text)}
    assert linked == {path.name for path in complete}


def test_tables_of_result_pages_have_at_most_twenty_rows():
    for path in (ROOT / pages.PAGES).glob("*.md"):
        for table in re.findall(r"(?:^\|.*\n)+", path.read_text(), re.MULTILINE):
            assert len(table.splitlines()) - 2 <= 20, (path.name, table.splitlines()[0])


def test_pictures_are_drawn_from_the_results():
    drawn = pages.sources(ROOT)
    for one in EXPERIMENTS.values():
        current = {part: load(RESULTS, part).digest for part in one.parts or (one.id,) if part in STORED}
        for picture in one.pictures:
            assert drawn.pop(picture) == current, "run python -m research pages"
            assert (ROOT / pages.FIGURES / picture).read_bytes().startswith(b"\x89PNG")
    assert drawn == {}


def test_outdated_page_is_rewritten(tmp_path):
    page = tmp_path / pages.PAGES / "truong2021.md"
    page.parent.mkdir(parents=True)
    page.write_text("before\n<!-- result truong2021/late-knock -->\nold\n<!-- end -->\nafter <!-- end -->\n")
    result = load(RESULTS, "truong2021/late-knock")
    result.save(tmp_path / pages.RESULTS)
    chosen = {"truong2021/late-knock": EXPERIMENTS["truong2021/late-knock"]}
    complete = tmp_path / pages.DATA / "truong2021-late-knock.md"
    assert pages.rewrite(tmp_path, chosen) == [page, complete, tmp_path / pages.DATA / "index.md"]
    text = page.read_text()
    (row,) = result.rows
    measured = f"{row['value']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
    line = f"| The late knocker against Simple | 70.1 ± 0.75 | {measured} | {row['games']:,} |"
    assert line in text
    assert line in complete.read_text()
    assert "[`python -m research run truong2021/late-knock`](data/truong2021-late-knock.md)" in text
    assert "(../../../research/results/truong2021/late-knock.json)" in complete.read_text()
    assert "old\n" not in text
    assert text.startswith("before\n<!-- result truong2021/late-knock -->")
    assert text.endswith("<!-- end -->\nafter <!-- end -->\n")
    assert pages.rewrite(tmp_path, chosen) == []
    (tmp_path / pages.RESULTS / "truong2021" / "late-knock.json").unlink()
    pages.rewrite(tmp_path, chosen)
    assert "Not measured yet: `python -m research run truong2021/late-knock`." in page.read_text()
    replace(result, rows=[row | {"value": 69.75}]).save(tmp_path / pages.RESULTS)
    pages.rewrite(tmp_path, chosen)
    assert "| 69.75 (" in page.read_text()


def test_page_shows_selected_rows_and_data_page_all_rows():
    experiment, result = EXPERIMENTS["search/one-step"], load(RESULTS, "search/one-step")
    block = pages.render(experiment, RESULTS)
    complete = pages.appendix(experiment, result)
    assert 5 < block.count("\n| `policy-1`") < complete.count("\n| `policy-1`") == 37


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<!-- result truong2021/late-knock -->\n| table |\n", "must end with"),
        ("<!-- result 005/claims -->\n<!-- end -->\n", "unknown experiment '005/claims'"),
    ],
)
def test_invalid_block_raises(text, message):
    with pytest.raises(ValueError, match=message):
        pages.rewritten(text, RESULTS, EXPERIMENTS)


def test_picture_is_drawn_again_if_its_result_changed(tmp_path):
    (tmp_path / pages.PAGES).mkdir(parents=True)
    (tmp_path / pages.FIGURES).mkdir(parents=True)
    result = load(RESULTS, "gallucci2021/early-knock")
    result.save(tmp_path / pages.RESULTS)
    chosen = {result.id: EXPERIMENTS[result.id]}
    (name,) = chosen[result.id].pictures
    picture = tmp_path / pages.FIGURES / name
    assert picture in pages.rewrite(tmp_path, chosen)
    assert pages.sources(tmp_path) == {name: {result.id: result.digest}}
    assert pages.rewrite(tmp_path, chosen) == []
    picture.unlink()
    assert pages.rewrite(tmp_path, chosen) == [picture]
    replace(result, rows=[*result.rows[:-1], result.rows[-1] | {"won": 50.0}]).save(tmp_path / pages.RESULTS)
    assert {picture, tmp_path / pages.SOURCES} <= set(pages.rewrite(tmp_path, chosen))


def test_invalid_result_file_raises(tmp_path):
    (tmp_path / "gallucci2021").mkdir()
    (tmp_path / "gallucci2021" / "claims.json").write_text('{"id": "gallucci2021/claims"}')
    with pytest.raises(ValueError, match=r"claims\.json is not a result of `python -m research run`"):
        load(tmp_path, "gallucci2021/claims")
    load(RESULTS, "truong2021/late-knock").save(tmp_path)
    (tmp_path / "truong2021" / "late-knock.json").rename(tmp_path / "gallucci2021" / "claims.json")
    with pytest.raises(
        ValueError, match="is the result of 'truong2021/late-knock', not of 'gallucci2021/claims'"
    ):
        load(tmp_path, "gallucci2021/claims")
    with pytest.raises(FileNotFoundError):
        load(tmp_path, "larkin2021/claims")


def test_result_is_json_with_one_record_per_line(tmp_path):
    result = load(RESULTS, "larkin2021/claims")
    path = result.save(tmp_path)
    assert load(tmp_path, "larkin2021/claims") == result
    assert path.read_text() == (RESULTS / "larkin2021" / "claims.json").read_text()
    assert len(path.read_text().splitlines()) < 60
    assert json.loads(path.read_text())["rows"] == result.rows


def test_digest_depends_only_on_the_rows():
    result = load(RESULTS, "truong2021/late-knock")
    assert replace(result, date="today", seed=9).digest == result.digest
    assert replace(result, rows=[result.rows[0] | {"games": 1}]).digest != result.digest


# --- Runs -----------------------------------------------------------------------------------------------


def test_interrupted_run_reuses_its_matches(tmp_path, monkeypatch):
    played = []

    def counted(a, b, games, seed, **options):
        played.append((a, b))
        return play_match(a, b, games, seed, **options)

    monkeypatch.setattr(match_log, "play_match", counted)
    first = Run(3, True, tmp_path)
    match = first.match("simple", "random", 20_000)
    assert match.games == experiments.QUICK_GAMES
    again = Run(3, True, tmp_path)
    assert again.match("simple", "random", 20_000) == match
    again.match("random", "simple", 20_000)
    assert played == [("simple", "random"), ("random", "simple")]
    assert list(again.bots) == ["simple", "random"]
    (again.folder / "block.json").write_text("{}")
    again.finish()
    assert not again.folder.exists()
    assert Run(3, True, tmp_path).match("simple", "random", 20_000) == match
    assert len(played) == 3


def test_quick_runs_are_smaller_than_full_runs(tmp_path):
    full, small = (Run(0, quick, tmp_path / str(quick)) for quick in (False, True))
    assert (full.size(20_000), small.size(20_000), small.size(10)) == (20_000, 40, 10)
    assert (full.some([1, 2, 3]), small.some([1, 2, 3])) == ([1, 2, 3], [1, 2])


def test_result_names_a_non_default_seed_and_the_games_of_its_run(tmp_path):
    experiment = Experiment("x", "", lambda run: [{"seed": run.seed}], str, games=20_000, seed=5)
    full, small = (results.measure(experiment, Run(*run, tmp_path)) for run in ((5, False), (6, True)))
    assert (full.command, full.games) == ("python -m research run x", 20_000)
    assert (small.command, small.games) == ("python -m research run x --seed 6 --quick", 40)


# --- Claims ---------------------------------------------------------------------------------------------


def test_estimators_are_timed_with_memories_that_grow_through_the_hand(monkeypatch):
    """Advancing a memory takes one second, and an estimate from scratch three."""
    clock = [0]

    class Counter:
        def new_memory(self, count):
            return np.zeros(count, np.int64)

        def advance(self, view, memory):
            before.extend(memory.tolist())
            memory += 1
            clock[0] += 1

        def estimate(self, view):
            clock[0] += 3

    before: list[int] = []
    monkeypatch.setattr(francis_estimators.time, "process_time", lambda: clock[0])
    with_memory, from_scratch = francis_estimators.times_along([Counter()], 3, 0)
    assert 3 * with_memory == pytest.approx(from_scratch)
    assert with_memory > 0
    assert set(before) == set(range(max(before) + 1))
    assert max(before) > 5


def test_claims_use_only_frozen_bots():
    """Paper claims use only bots with parameters that never change."""
    frozen = {*agents.paper_names(), "simple", "random-discard", "random"}
    for claim in chain(*(one for name, one in claims.CLAIMS.items() if name != "francis2021/claims")):
        for bot in (*claim.pair, *(claim.minus or ())):
            assert bot.partition(":")[0] in frozen, bot


def test_only_order_claims_have_no_margin():
    for claim in chain(*claims.CLAIMS.values()):
        order = claim.paper in ("> 50", "≤ 50", "< 50", "> 0", "≤ 0", "< 0")
        assert claim.margin == (0 if order or claim.unit != "%" else None), claim.text


def test_claim_differences_use_paired_intervals(monkeypatch, tmp_path):
    """A difference pairs its two matches deal by deal."""
    played = {
        "first": match_result(("first", "c"), [(2, 0, 1, 1), (1, 1, 1, 1), (1, 1, 1, 1), (0, 2, 1, 1)] * 50),
        "second": match_result(
            ("second", "c"), [(2, 0, 1, 1), (1, 1, 1, 1), (0, 2, 1, 1), (0, 2, 1, 1)] * 50
        ),
    }
    run = Run(0, False, tmp_path)
    monkeypatch.setattr(run, "match", lambda bot, opponent, games: played[bot])
    told = [
        claims.PaperClaim("single", ("first", "c"), "", 0, 1),
        claims.PaperClaim("difference", ("first", "c"), "", 0, 1, minus=("second", "c")),
    ]
    single, difference = (claims.measure_claim(claim, run) for claim in told)
    low, high = played["first"].interval
    assert (single["games"], single["value"]) == (400, 50)
    assert (single["low"], single["high"]) == pytest.approx((100 * low, 100 * high), abs=1e-3)
    low, high = win_rate_difference(played["first"], played["second"]).interval
    assert (difference["games"], difference["value"]) == (800, 12.5)
    assert (difference["low"], difference["high"]) == pytest.approx((100 * low, 100 * high), abs=1e-3)


def test_points_ratio_has_the_worked_interval():
    match = match_result(("a", "b"), [(2, 0, 300, 100), (1, 1, 200, 100), (2, 0, 250, 100), (2, 0, 250, 100)])
    value, (low, high) = claims.points_ratio(match)
    assert value == 2.5
    half = 3.1824 * np.std([3, 2, 2.5, 2.5], ddof=1) / 2 / 2.5  # of the logarithm
    assert (low, high) == pytest.approx((2.5 * np.exp(-half), 2.5 * np.exp(half)), abs=1e-4)
    assert claims.points_ratio(match_result(("a", "b"), [(2, 0, 300, 1), (1, 1, 1, 100)]))[1][0] > 0
    with pytest.raises(ValueError, match="b has scored no points in 2 games"):
        claims.points_ratio(match_result(("a", "b"), [(2, 0, 300, 0)]))


def test_claims_table_numbers_notes_and_shows_verdicts(monkeypatch):
    told = [
        claims.PaperClaim("first", ("simple", "random"), "60", 59.5, 60.5, note="Because."),
        claims.PaperClaim("second", ("simple", "random"), "> 50", 50, float("inf"), margin=0, note="Since."),
        claims.PaperClaim("third", ("simple", "random"), "≈ 0", 0, 0, ("random", "simple"), note="Because."),
        claims.PaperClaim("not measured", ("simple", "random"), "1", 1, 1),
    ]
    rows = [
        {
            "claim": "first",
            "bot": "simple",
            "opponent": "random",
            "games": 20_000,
            "value": 70.0,
            "low": 69.0,
            "high": 71.0,
        },
        {
            "claim": "second",
            "bot": "simple",
            "opponent": "random",
            "games": 40,
            "value": 60.0,
            "low": 55.0,
            "high": 65.0,
        },
        {
            "claim": "third",
            "bot": "simple",
            "opponent": "random",
            "games": 40,
            "value": 1.0,
            "low": 0.0,
            "high": 2.0,
        },
    ]
    monkeypatch.setitem(claims.CLAIMS, "told", told)
    assert claims.table_of("told", rows).splitlines()[2:] == [
        "| first | 60 | 70.00 (69.00 to 71.00) | 20,000 | ✗ differs (1) |",
        "| second | > 50 | 60.00 (55.00 to 65.00) | 40 | ✓ agrees |",
        "| third | ≈ 0 | +1.00 (+0.00 to +2.00) | 40 | ? undecided |",
        "",
        "(1) Because.",
    ]


# --- Open questions of Gallucci et al. 2021 ------------------------------------------------------------


def test_checkpoints_grow_about_threefold():
    assert cfr_training.growing(1_000_000) == [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    assert cfr_training.growing(220_000) == [300, 1000, 3000, 10_000, 30_000, 100_000, 220_000]
    assert cfr_training.growing(100)[-2:] == [30, 100]


def test_removing_knocks_changes_nothing_else():
    table = packaged_table("paper")
    knocks = decision_slices(PAPER)[2]
    silent = fitness.without_knocks(table).strategy
    assert not silent[knocks].any()
    assert np.array_equal(silent[: knocks.start], table.strategy[: knocks.start])
    assert table.strategy[knocks].any()
    bots = fitness.bots_that_knock_at().values()
    assert not any(bot.table.strategy[knocks].any() for bot in bots)


def test_compared_counts_differing_decisions():
    compared = fitness.Compared("simple", "simple:knock_at=0")
    play_match(compared, "simple", 20, 1)
    assert 0 < compared.different < compared.decisions / 5
    same = fitness.Compared("simple", agents.make("simple"))
    play_match(same, "simple", 20, 1)
    assert same.different == 0 < same.decisions


def test_shapley_values_sum_to_the_total_difference():
    rng = np.random.default_rng(0)
    matches = {
        subset: match_result(("a", "b"), [(int(won), 2 - int(won), 1, 1) for won in rng.integers(0, 3, 200)])
        for subset in fitness.SUBSETS
    }
    rows = [fitness.shapley_row(factor, matches) for factor in fitness.FACTORS]
    values = [(row["value"], row["low"], row["high"]) for row in rows]
    none, everything = (
        100 * matches[subset].win_rate for subset in (fitness.SUBSETS[0], fitness.SUBSETS[-1])
    )
    assert sum(value for value, _, _ in values) == pytest.approx(everything - none, abs=0.01)
    assert all(low < value < high for value, low, high in values)
    # All matches are identical except one, so only its weighted difference remains.
    factor, everything = fitness.FACTORS[0], fitness.SUBSETS[-1]
    even = match_result(("a", "b"), [(won, 2 - won, 1, 1) for won in [0, 1, 2] * 20])
    same = dict.fromkeys(fitness.SUBSETS, even)
    none_gained = fitness.shapley_row(factor, same)
    assert (none_gained["value"], none_gained["low"], none_gained["high"]) == pytest.approx((0, 0, 0))
    counts = rows[0]["deals"]
    assert sum(counts) == 200
    recomputed = 100 * interval_of_counts(counts)
    assert recomputed == pytest.approx(values[0][1:], abs=1e-3)
    better = match_result(("a", "b"), [(won, 2 - won, 1, 1) for won in [0, 1, 2, 1, 1, 2] * 10])
    row = fitness.shapley_row(factor, same | {everything: better})
    value, low, high = row["value"], row["low"], row["high"]
    assert value == pytest.approx(100 / 4 * (better.win_rate - 0.5), abs=1e-3)
    more_each = np.array([0, 0, 0, 1, 0, 0] * 10) / 2  # win rate per deal of two games
    assert high - low == pytest.approx(100 / 4 * 2 * 2.0010 * more_each.std(ddof=1) / np.sqrt(60), rel=1e-3)
    for subset in fitness.SUBSETS:
        assert set(agents.make(fitness.bot_with(subset)).factors) == subset
        assert agents.make(fitness.bot_with(subset, relative=True)).relative


def test_undecided_games_have_no_deal_counts():
    assert deal_counts(match_result(("a", "b"), [(2, 0, 1, 1), (1, 0, 1, 1)])) is None


def test_results_name_the_commit_of_the_checkout(tmp_path, monkeypatch):
    found = results.commit()
    assert found is None or len(found.removesuffix("-dirty")) == 40
    monkeypatch.setenv("PATH", str(tmp_path))
    assert results.commit() is None


def git_output(folder: Path, *words: str) -> str:
    """Return the output of git, which commits as a test."""
    author = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
    command = ["git", "-C", str(folder), *author, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_commit_is_dirty_if_code_is_edited_but_not_for_results(tmp_path, monkeypatch):
    for folder in ("gin_env", "research", "research/results"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "code.py").write_text("")
    git_output(tmp_path, "init", "-q")
    git_output(tmp_path, "add", ".")
    git_output(tmp_path, "commit", "-q", "-m", "Add code")
    monkeypatch.setattr(results, "__file__", str(tmp_path / "research" / "reproduce" / "results.py"))
    commit = git_output(tmp_path, "rev-parse", "HEAD")
    (tmp_path / "results.json").write_text("{}")
    (tmp_path / "research" / "results" / "new.json").write_text("{}")
    assert results.commit() == commit
    (tmp_path / "research" / "code.py").write_text("pass")
    assert results.commit() == f"{commit}-dirty"
    monkeypatch.setattr(results, "__file__", str(tmp_path / "a" / "research" / "reproduce" / "results.py"))
    assert results.commit() is None


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [("a", "a", "a"), ("a", "b", "a-dirty"), ("a", "a-dirty", "a-dirty"), ("a-dirty", "a", "a-dirty")],
)
def test_commit_of_a_result_is_that_at_its_start(begin, end, expected, tmp_path, monkeypatch):
    commits = iter([begin, end])
    monkeypatch.setattr(results, "commit", lambda: next(commits))
    experiment = Experiment("gallucci2021/none", "Nothing", lambda run: [{"won": 50}], lambda rows: "")
    assert results.measure(experiment, Run(0, True, tmp_path)).commit == expected


def test_bots_made_of_parameters_alone_are_compared(tmp_path):
    made = named(TonicBot(break_pairs=True), "a Tonic of its own")
    experiment = Experiment(
        "gallucci2021/made",
        "A match of a bot that it makes",
        lambda run: [match_row(run.match(made, "simple", 4))],
        lambda rows: "",
        makes=lambda: {made.name: made},
    )
    result = results.measure(experiment, Run(0, True, tmp_path))
    assert [one["bot"] for one in result.bots] == [made.name, "simple", "tonic"]
    assert result.changes(experiment) == []
    changed = [one | {"decisions": "0"} if "made_by" in one else one for one in result.bots]
    (line,) = replace(result, bots=changed).changes(experiment)
    assert line.startswith("a Tonic of its own: different decisions now")
    changed = [one | {"decisions": "0"} if one["bot"] == "tonic" else one for one in result.bots]
    (line,) = replace(result, bots=changed).changes(experiment)
    assert line.startswith("tonic: different decisions now")


@pytest.mark.parametrize("name", [name for name, one in EXPERIMENTS.items() if one.makes is not dict])
def test_made_bots_have_the_names_in_the_result(name):
    result, made = load(RESULTS, name), EXPERIMENTS[name].makes()
    stored_names = {one["bot"] for one in result.bots if "made_by" in one}
    shown_names = {row.get("bot") for row in result.rows}
    assert (stored_names or shown_names) & set(made)  # clairvoyant bots are not described
    assert all(bot.name == key for key, bot in made.items())


def test_check_names_the_changed_bots_and_decks(tmp_path):
    result = load(RESULTS, "truong2021/late-knock")
    bots = [one | {"decisions": "0" * 32} if one["bot"] == "simple" else one for one in result.bots]
    replace(result, bots=bots, keys="of other decks").save(tmp_path)
    replace(load(RESULTS, "larkin2021/figure-2"), keys=results.NO_KEYS).save(tmp_path)
    replace(result, id="truong2021/gone").save(tmp_path)
    found = results.stale_results(tmp_path, EXPERIMENTS)
    assert list(found) == ["truong2021/late-knock"]
    changed, dealt = found["truong2021/late-knock"]
    assert changed.startswith("simple: different decisions now")
    assert dealt == f"different decks now: {deck_keys()}, stored of other decks"
