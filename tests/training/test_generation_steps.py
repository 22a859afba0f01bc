"""Single steps of the generational loop, with synthetic returns and stub workers."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from made_up_matches import made_up_match
from played_positions import played, same_records
from torch.nn.utils import parameters_to_vector

from gin_env import PlayerView, agents
from gin_env.agents import base
from gin_env.agents.generations.bot import (
    GenerationBot,
    GenerationNetwork,
    load_network,
    observe,
    save_network,
)
from gin_env.game.actions import KNOCK
from gin_env.matches.fixed_positions import game_views
from gin_env.observations import candidates
from gin_env.observations.candidates import NO_ACTION
from gin_env.observations.views import VIEW
from gin_env.support.array_files import ArrayFileError
from gin_env.training.generations import fit, loop
from gin_env.training.generations.fit import Experience, join_experiences
from gin_env.training.generations.rollouts import Search


def made_up(draws: int, discards: int, seed: int = 0) -> tuple[Experience, Experience]:
    """Return empty positions with random returns, some candidates untried."""
    rng = np.random.default_rng(seed)
    found = []
    for count, rows in ((draws, candidates.DRAW_ROWS), (discards, candidates.DISCARD_ROWS)):
        views = np.zeros(count, VIEW)
        views["random"] = rng.integers(0, 1000, count)
        returns = rng.random((count, rows, 2)).astype(np.float32)
        returns[rng.random(returns.shape) < 0.3] = np.nan
        found.append(Experience(views, returns))
    return found[0], found[1]


def same(first: Experience, second: Experience) -> bool:
    return same_records(first.views, second.views) and np.array_equal(
        first.returns, second.returns, equal_nan=True
    )


# --- Experience -----------------------------------------------------------------------------------------


def test_experience_is_joined_and_round_trips_through_a_file(tmp_path, monkeypatch):
    first, second = made_up(3, 5), made_up(0, 2, seed=1)
    joined = join_experiences([first, second])
    assert [len(each) for each in joined] == [3, 7]
    assert same_records(joined[1].views[5:], second[1].views)
    assert np.array_equal(joined[1].returns[:5], first[1].returns, equal_nan=True)
    for each in (first, second):
        fit.save_experiences(each, tmp_path / "x.npz")
        assert all(map(same, fit.load_experiences(tmp_path / "x.npz"), each))
    monkeypatch.setattr(fit, "_VIEW_FIELDS", "[('other', 'u1')]")
    with pytest.raises(ArrayFileError, match="holds views of another release"):
        fit.load_experiences(tmp_path / "x.npz")


# --- Fitting --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "held"), [(0, 0), (19, 0), (20, 1), (59, 2), (200, 10)])
def test_one_twentieth_of_positions_is_held_out(count, held):
    train, out = fit.hold_out(count, np.random.default_rng(1))
    assert len(out) == held
    assert sorted([*train.tolist(), *out.tolist()]) == list(range(count))
    assert count < 20 or train.tolist() != sorted(train.tolist())


class Constant(torch.nn.Module):
    """Values each candidate by its index, ignoring the observation."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[torch.Tensor] = []

    def forward(self, observations: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        self.seen.append(observations)
        values = 0.25 * (torch.arange(2 * rows.shape[1]) % 3).reshape(-1, 2)
        return values.expand(len(rows), -1, -1)


def positions_to(discard: bool, count: int) -> np.ndarray:
    play = played("simple")
    group = np.flatnonzero(candidates.are_discarding(play.states) == discard)[:count]
    return play.games().views(group).array


@pytest.mark.parametrize("discard", [False, True])
def test_losses_are_of_differences_and_means_of_tried_candidates(discard):
    """Errors -1/4 and 1/2 have mean 1/8: differences 2 * (3/8)^2; a single error has no difference."""
    rows = candidates.DISCARD_ROWS if discard else candidates.DRAW_ROWS
    returns = np.full((3, rows, 2), np.nan, np.float32)
    returns[0, 0, 0], returns[0, 1, 0] = 0.25, 0.0  # valued 0 and 0.5
    returns[2, 0, 1] = 1.25  # valued 0.25
    experience = Experience(positions_to(discard, 3), returns)
    network, suits = Constant(), torch.tensor([1, 0, 3, 2])
    differences, means = fit.losses(network, experience, np.array([2, 0]), suits)
    assert differences.tolist() == pytest.approx([0, 2 * 0.375**2])
    assert means.tolist() == pytest.approx([1, 0.125**2])
    plain = torch.from_numpy(fit.observe(PlayerView(experience.views[[2, 0]])))
    assert torch.equal(network.seen[0], fit.permute_suits(plain, suits))
    assert not torch.equal(network.seen[0], plain)
    held = fit.mean_losses(network, (experience, experience), [np.array([2, 0]), np.array([0])])
    assert held == pytest.approx({"differences": 4 * 0.375**2 / 3, "means": (1 + 2 * 0.125**2) / 3})
    for seen, chosen in zip(network.seen[1:], ([2, 0], [0]), strict=True):
        assert torch.equal(seen, torch.from_numpy(fit.observe(PlayerView(experience.views[chosen]))))
    assert fit.mean_losses(network, (experience, experience), [np.zeros(0, int)] * 2) == {
        "differences": 0,
        "means": 0,
    }


def test_suits_are_permuted_only_in_card_planes():
    planes = fit.PLANES_SIZE // 52
    observations = torch.arange(2.0 * (fit.PLANES_SIZE + 7)).reshape(2, -1)
    permuted = fit.permute_suits(observations, torch.tensor([2, 0, 3, 1]))
    for plane in range(planes):
        for place, suit in enumerate((2, 0, 3, 1)):
            start = 52 * plane
            assert torch.equal(
                permuted[:, start + 13 * place : start + 13 * place + 13],
                observations[:, start + 13 * suit : start + 13 * suit + 13],
            )
    assert torch.equal(permuted[:, fit.PLANES_SIZE :], observations[:, fit.PLANES_SIZE :])


def some_rows(view: PlayerView, rows, actions, context) -> tuple[np.ndarray, None, None]:
    """Replace the slow `PlayerView.candidates` by rows that differ between candidates."""
    row = np.random.default_rng(1).random(rows.shape[1:], np.float32)
    return np.broadcast_to(row, rows.shape).copy(), None, None


def test_each_epoch_fits_all_but_held_out_positions(monkeypatch):
    monkeypatch.setattr(PlayerView, "candidates", some_rows)
    torch.manual_seed(1)
    network = GenerationNetwork(8, 4)
    rng = np.random.default_rng(2)
    both = []
    for discard, rows in ((False, candidates.DRAW_ROWS), (True, candidates.DISCARD_ROWS)):
        views = positions_to(discard, 20)
        returns = np.full((20, rows, 2), np.nan, np.float32)
        returns[:, :2, 0] = rng.random((20, 2)) + np.array([0.0, 0.5])
        both.append(Experience(views, returns))
    before = fit.mean_losses(network, (both[0], both[1]), [np.arange(20)] * 2)
    seen: list[int] = []
    orders, chunks, gradients, rates = set(), [], [], []
    losses, step, parameters = fit.losses, torch.optim.AdamW.step, list(network.parameters())

    def record_losses(*given):
        differences, means = losses(*given)
        if differences.requires_grad:
            orders.add(tuple(given[3].tolist()))
            chunks.append(given[2].tolist())
            total = differences.sum() + 0.3 * means.sum()
            gradients.append(parameters_to_vector(torch.autograd.grad(total, parameters, retain_graph=True)))
        return differences, means

    def record_step(optimizer, closure=None):
        mean = (gradients[-2] + gradients[-1]) / (len(chunks[-2]) + len(chunks[-1]))
        error = parameters_to_vector([each.grad for each in parameters]) - mean * min(0.2 / mean.norm(), 1)
        assert error.norm() < 0.05 * mean.norm()
        rates.append(optimizer.param_groups[0]["lr"])
        return step(optimizer, closure)

    monkeypatch.setattr(fit, "losses", record_losses)
    monkeypatch.setattr(torch.optim.AdamW, "step", record_step)
    monkeypatch.setattr(fit, "LARGEST_STEP", 0.2)
    fit.fit(network, (both[0], both[1]), 6, seed=3, batch_size=10, learning_rate=0.02, progress=seen.append)
    assert len(orders) > 5, "suits are permuted in each batch"
    assert chunks[:6] != chunks[6:12], "epochs have an order of their own"
    assert 10 * max(rates[0], rates[-1]) < max(rates) == pytest.approx(0.02, rel=0.02), "in one cycle"
    assert sum(seen) == 6 * (19 + 19)
    assert len(seen) == 6 * 3, "38 positions are three batches of 10 and more"
    after = fit.mean_losses(network, (both[0], both[1]), [np.arange(20)] * 2)
    assert after["means"] < 0.7 * before["means"]
    assert after["differences"] < 0.7 * before["differences"]
    assert not network.training
    monkeypatch.setattr(fit, "mean_losses", lambda *given: np.stack(given[2]).ravel().tolist())
    held = [fit.fit(network, (both[0], both[1]), 1, seed) for seed in range(4)]
    assert [len(each) for each in held] == [2] * 4
    assert held[0] != held[1], "each seed holds out others"


# --- Loop -----------------------------------------------------------------------------------------------

SETTINGS = loop.LoopSettings(
    pool={"simple": 2.0, "tonic": 1.0}, hands=100, hands_per_part=30, memory=2, games=6, seed=5, past=2
)


class Asked:
    """Workers that record their tasks and answer with the number of tasks so far."""

    def __init__(self, answers=None) -> None:
        self.asked: list[tuple] = []
        self.answers = answers

    def map(self, function, tasks):
        for task in tasks:
            self.asked.append((function, *task))
            yield self.answers(len(self.asked)) if self.answers else len(self.asked)


def test_gathering_uses_the_pool_and_the_last_kept_generations():
    workers, told = Asked(lambda number: made_up(number, 2 * number)), []
    players = ["simple", "one", "two", "three"]
    found = loop.gather_experience(players, SETTINGS, 4, workers, lambda *what: told.append(what))
    opponents = {"simple": 2.0, "tonic": 1.0, "two": 0.5, "three": 0.5}
    assert workers.asked == [
        (loop.gather_part, "three", opponents, SETTINGS, 5 * 1_000_003 + 4, part) for part in range(3)
    ]
    assert [len(each) for each in found] == [1 + 2 + 3, 2 + 4 + 6]
    assert told == [("gathering", done, 3) for done in range(4)]
    workers = Asked(lambda _: made_up(1, 1))
    loop.gather_experience(players[:1], SETTINGS, 1, workers, lambda *_: None)
    assert workers.asked[0][2] == SETTINGS.pool, "the ancestor does not play against itself"
    loop.gather_experience(players[:2], loop.LoopSettings(hands=10), 1, workers, lambda *_: None)
    assert list(workers.asked[-1][2].items())[-1] == ("one", 0.5)
    assert len(workers.asked) == 3 + 1, "at least one part"


def test_evaluation_plays_the_pool_and_the_previous_champion():
    workers = Asked()
    found = loop.evaluate("me", {loop.PREVIOUS: "before"}, SETTINGS, workers, lambda *_: None)
    assert workers.asked == [
        (loop.play_task, "me", opponent, 6, 5, "value") for opponent in ("simple", "tonic", "before")
    ]
    assert found == {"simple": 1, "tonic": 2, loop.PREVIOUS: 3}


def test_workers_play_what_their_tasks_say(tmp_path, monkeypatch):
    path, called = str(tmp_path / "net.safetensors"), []
    settings = replace(SETTINGS, knock="simple", search=Search(stop_share=0.5))
    save_network(GenerationNetwork(4, 4), path, {})
    for name in ("play_match", "gather"):
        monkeypatch.setattr(loop, name, lambda *given: called.append(given))
    loop.play_task((path, path, 6, 5, "simple"))
    loop.gather_part((path, {"tonic": 2.0, path: 0.5}, settings, 7, 3))
    (bot, opponent, *match), (learner, pool, *gathered) = called
    assert (bot.knock, opponent.knock, match) == ("simple", "simple", [6, 5])
    assert (learner.knock, pool[0].name, pool[1].knock) == ("simple", "tonic", "simple")
    assert gathered == [[2.0, 0.5], 30, 7, 3, settings.search]


def test_fit_uses_only_the_most_recent_generations(tmp_path):
    own = {}
    for number in range(1, 5):
        own[number] = made_up(number, 10 * number, seed=number)
        joined = loop.remember(tmp_path, SETTINGS, number, own[number])
        sizes = [number] if number == 1 else [number - 1, number]
        assert [len(each) for each in joined] == [sum(sizes), 10 * sum(sizes)]
        kept = {f"experience-{each}.npz" for each in sizes}
        assert {path.name for path in tmp_path.iterdir()} == kept
    assert np.array_equal(joined[0].returns[:3], own[3][0].returns, equal_nan=True)


@pytest.mark.parametrize(
    ("rates", "kept"),
    [
        ({"a": 0.6, "b": 0.5, loop.PREVIOUS: 0.5}, True),  # neither better nor worse
        ({"a": 0.61, "b": 0.48, loop.PREVIOUS: 0.5}, True),  # 2 * 0.01 - 1 * 0.02
        ({"a": 0.61, "b": 0.47, loop.PREVIOUS: 0.5}, False),
        ({"a": 0.6, "b": 0.49, loop.PREVIOUS: 0.53}, True),  # half of 0.03 is more than 0.01
        ({"a": 0.6, "b": 0.49, loop.PREVIOUS: 0.51}, False),
    ],
)
def test_gate_weighs_matches_by_their_shares(rates, kept):
    shares = {"a": 2.0, "b": 1.0, loop.PREVIOUS: 0.5}
    assert loop.passes_gate({"a": 0.6, "b": 0.5, loop.PREVIOUS: 0.9}, rates, shares) == kept


def generation(number: int, kept: bool) -> loop.Generation:
    return loop.Generation(number, kept, {"simple": 0.5}, {"simple": (0.4, 0.6)}, {}, 3, 4, 1.5)


def test_champion_is_the_last_kept_generation(tmp_path):
    assert loop.read_history(tmp_path) == []
    for kept, name in (([1], None), ([1, 0], None), ([1, 1, 0], 1), ([1, 1, 1, 0], 2)):
        history = [generation(number, bool(flag)) for number, flag in enumerate(kept)]
        (tmp_path / "history.json").write_text(json.dumps([asdict(each) for each in history]))
        assert [each.number for each in loop.read_history(tmp_path)] == list(range(len(kept)))
        if name is None:
            with pytest.raises(FileNotFoundError, match="no generation has been kept"):
                loop.champion(tmp_path)
        else:
            assert loop.champion(tmp_path) == tmp_path / f"generation-{name}.safetensors"


@pytest.mark.parametrize(
    "changed",
    [
        {"number": 1}, {"number": "0"}, {"kept": 1}, {"kept": False}, {"win_rates": [0.5]}, {"win_rates": {}},
        {"intervals": {"simple": 0.4}}, {"intervals": {"simple": [0.4]}}, {"losses": {"means": "0"}},
        {"seconds": None}, {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_damaged_history_is_named(tmp_path, changed):
    whole = json.loads(json.dumps(asdict(generation(0, True))))
    path = tmp_path / "history.json"
    path.write_text(json.dumps([whole]))
    assert [asdict(each) for each in loop.read_history(tmp_path)] == [whole]
    path.write_text(json.dumps([whole | changed]))
    with pytest.raises(ValueError, match=r"/history\.json is not a history of generations: "):
        loop.read_history(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"3", b"[3]", b"null", b"\xff\xfe", b"[" * 100_000])
def test_foreign_files_of_a_run_are_named(tmp_path, content):
    for name, read in (("history", loop.read_history), ("settings", lambda run: loop.open_run(run, None))):
        (tmp_path / f"{name}.json").write_bytes(content)
        with pytest.raises(ValueError, match=rf"/{name}\.json (is|does) not"):
            read(tmp_path)
        (tmp_path / f"{name}.json").unlink()
        (tmp_path / f"{name}.json").mkdir()
        with pytest.raises(ValueError, match=rf"/{name}\.json is a folder"):
            read(tmp_path)
        (tmp_path / f"{name}.json").rmdir()


def test_table_and_picture_show_rates_and_their_intervals(monkeypatch):
    drawn, history = [], []
    for number, rate in enumerate((0.5, 0.625, 0.5625)):
        rates, intervals = {"simple": rate}, {"simple": (rate - 0.125, rate + 0.25)}
        history.append(replace(generation(number, number != 2), win_rates=rates, intervals=intervals))
    assert loop.line_of(history[1]).split() == ["1", "yes", "2", "simple", "62.5", "(50.0-87.5)"]
    monkeypatch.setattr(loop, "save_figure", lambda figure, *_, **options: drawn.append(figure))
    loop.draw(history, Path("never_written.png"), "")
    (points, _, (bars,)), hollow = drawn[0].axes[0].containers[0], drawn[0].axes[0].lines[-2]
    assert points.get_xydata().tolist() == [[0, 50], [1, 62.5], [2, 56.25]]
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert ends == [[37.5, 75], [50, 87.5], [43.75, 81.25]]
    assert (hollow.get_xydata().tolist(), hollow.get_markerfacecolor()) == ([[2, 56.25]], "white")


def test_run_keeps_its_settings(tmp_path):
    folder = tmp_path / "a" / "run"
    assert loop.open_run(folder, SETTINGS) == (SETTINGS, [])
    for same_or_none in (SETTINGS, None):
        assert loop.open_run(folder, same_or_none) == (SETTINGS, [])
    command = ["--folder", str(folder)]
    assert loop.read_command("train", None, command).settings == SETTINGS
    given = loop.read_command("train", None, [*command, "--settings.memory", "3"])
    with pytest.raises(ValueError, match="has memory = 2 and cannot be resumed with 3"):
        loop.climb(given)
    assert loop.open_run(tmp_path / "other", None)[0] == loop.LoopSettings()
    path, stored = folder / "settings.json", asdict(SETTINGS)
    for changed in (
        {"seed": 1.5}, {"hands": "100"}, {"pool": ["simple"]}, {"pool": {"simple": "8"}}, {"search": [1]},
        {"search": {"best_tried": 0.5}}, {"knock": None}, {"more": 1},
    ):  # fmt: skip
        path.write_text(json.dumps(stored | changed))
        with pytest.raises(ValueError, match=r"/settings\.json does not contain the settings of this loop: "):
            loop.open_run(folder, None)
    path.write_text(json.dumps(stored | {"past_share": 1}))
    assert loop.open_run(folder, None)[0] == replace(SETTINGS, past_share=1.0), "an integer is a number too"
    (folder / "history.json").write_text(json.dumps([asdict(generation(0, True))]))
    with pytest.raises(ValueError, match=r"/history\.json is not of this run"):
        loop.open_run(folder, None)


@pytest.mark.compiled
def test_generations_continue_from_the_last_kept_one(tmp_path, monkeypatch):
    """With stubbed matches, generation 1 improves on the ancestor; generations 2 and 3 do not."""
    rates = iter([50, 60, 55, 58])
    fitted, trained_on = [], []

    def evaluate(bot, others, settings, workers, progress):
        won = next(rates)
        names = [*settings.pool, *others]
        fitted.append(
            (str(bot).rsplit("/", 1)[-1], [str(each).rsplit("/", 1)[-1] for each in others.values()])
        )
        return {name: made_up_match(games=100, wins=(won, 100 - won)) for name in names}

    def train(network, both, epochs, seed, progress):
        progress(7)
        trained_on.append(
            (sum(map(len, both)), epochs, seed, float(next(network.parameters()).sum().detach()))
        )
        torch.nn.init.constant_(next(network.parameters()), len(trained_on))
        return {"differences": 0.5, "means": 0.25}

    monkeypatch.setattr(loop, "evaluate", evaluate)
    monkeypatch.setattr(loop, "fit", train)
    monkeypatch.setattr(loop, "gather_experience", lambda *_: made_up(2, 3))
    told: list[tuple] = []
    history = list(loop.run(tmp_path, 1, replace(SETTINGS, knock="simple"), workers=1))
    assert [(each.number, each.kept) for each in history] == [(0, True), (1, True)]
    history += list(loop.run(tmp_path, 3, workers=1, progress=lambda *what: told.append(what)))
    assert [(each.number, each.kept) for each in history] == [(0, True), (1, True), (2, False), (3, False)]
    assert loop.read_history(tmp_path)[3].win_rates["tonic"] == 0.58
    assert list(loop.run(tmp_path, 3, workers=1)) == []
    first = "generation-1.safetensors"
    assert fitted == [
        ("simple", []),
        (first, ["simple"]),
        ("generation-2.safetensors", [first]),
        ("generation-3.safetensors", [first]),
    ]
    described = {"knock": "simple", "generation": 1, "settings": asdict(replace(SETTINGS, knock="simple"))}
    provenance = load_network(tmp_path / first)[1]
    assert provenance | described == provenance
    assert [player["bot"] for player in provenance["players"]] == [*SETTINGS.pool]
    torch.manual_seed(SETTINGS.seed)
    assert trained_on[0][3] == float(next(GenerationNetwork().parameters()).sum().detach())
    assert [each[:3] for each in trained_on] == [(5, 4, 6), (10, 4, 7), (10, 4, 8)]
    size = next(GenerationNetwork().parameters()).numel()
    assert [each[3] for each in trained_on[1:]] == [size, size], "both continue from the first network"
    returns = int(sum(np.isfinite(each.returns).sum() for each in made_up(2, 3)))
    assert (history[2].positions, history[2].returns) == (5, returns)
    assert history[2].losses == {"differences": 0.5, "means": 0.25}
    assert history[0].losses == {}
    assert history[2].intervals["simple"] == made_up_match(games=100, wins=(55, 45)).interval
    assert told[0] == ("fitting", 7, 4 * 10)
    assert 0 <= history[1].seconds < 60


def test_bot_in_a_file_has_its_name_and_knocks_as_in_its_training(tmp_path):
    network, path = GenerationNetwork(4, 4), tmp_path / "net.safetensors"
    save_network(network, path, {"knock": "simple", "seed": 3})
    loaded, provenance = load_network(path)
    assert provenance == {"knock": "simple", "seed": 3}
    torch.testing.assert_close(loaded.state_dict(), network.state_dict(), rtol=0, atol=0)
    bot = GenerationBot(path)
    assert (bot.name, bot.files, bot.knock) == ("net", (path,), "simple")
    assert [agents.make(f"{path}{params}").knock for params in ("", ":knock=value")] == ["simple", "value"]
    bot = GenerationBot(network)
    assert (bot.name, bot.knock, bot.network.sizes) == ("generation", "value", (4, 4))
    assert bot.network is not network


# --- Bot ------------------------------------------------------------------------------------------------


class Valued(torch.nn.Module):
    """Returns the same values for the candidates of every position."""

    def __init__(self, values: np.ndarray) -> None:
        super().__init__()
        self.values = torch.from_numpy(values)

    def forward(self, observations: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        return self.values.to(rows.dtype).repeat(len(rows), 1, 1)


@pytest.mark.parametrize("knock", ["value", "simple"])
@pytest.mark.parametrize("best", [(0, 0), (3, 0), (2, 1), (slice(None), 1)])
def test_bot_plays_the_legal_candidate_of_highest_value(knock, best):
    play = played("simple")
    discarding = np.flatnonzero(candidates.are_discarding(play.states))
    knocks = (play.games().masks(discarding)[:, KNOCK : KNOCK + 52]).any(axis=1)
    view = play.games().views(np.concatenate([discarding[knocks][:4], discarding[~knocks][:2]]))
    values = np.linspace(0, 0.1, 22).reshape(11, 2)
    values[best] = values[7, 0] = 1.0  # of equal ones, the first
    bot = GenerationBot(GenerationNetwork(4, 4), knock=knock)
    bot.network, bot._exact = Valued(values), Valued(values)
    _, actions, _ = view.candidates()
    may = (actions[:, :, 1] != NO_ACTION).any(axis=1)
    assert 0 < may.sum() < len(view)
    for chosen, offered, knocks in zip(bot.act(view), actions, may, strict=True):
        possible = np.where(offered == NO_ACTION, -np.inf, values)
        if knock == "simple" and knocks:
            possible[:, 0] = -np.inf
        assert chosen == offered[np.unravel_index(possible.argmax(), possible.shape)]


def test_bot_ignores_the_scores_of_the_game():
    """The network values hands: it was trained without scores, and reads everything else."""
    view, bot = game_views()[:200], agents.make("generation")
    assert view.array["public"]["scores"].any(axis=0).all(), "of both players"
    level = PlayerView(view.array.copy())
    level.array["public"]["scores"] = 0
    np.testing.assert_array_equal(observe(view), level.observations())
    np.testing.assert_array_equal(bot.act(view), bot.act(level))


def test_ties_in_float32_are_decided_in_float64():
    play = played("simple")
    view = play.games().views(np.flatnonzero(candidates.are_discarding(play.states))[:5])
    _, actions, _ = view.candidates()
    rough, exact = np.zeros((11, 2)), np.zeros((11, 2))
    rough[1, 0], rough[2, 0] = 1.0, 1.0 - 0.9 * base.CLOSE
    exact[1, 0], exact[2, 0] = 0.5, 0.5 + 1e-8
    bot = GenerationBot(GenerationNetwork(4, 4))
    bot.network, bot._exact = Valued(rough), Valued(exact)
    assert bot.act(view).tolist() == actions[:, 2, 0].tolist()
    bot._exact = Valued(np.where(exact > 0.5, 0.5 + 1e-11, exact))
    assert bot.act(view).tolist() == actions[:, 1, 0].tolist(), "equal but for rounding: the first"
    rough[2, 0] = 1.0 - 1.1 * base.CLOSE
    bot.network, bot._exact = Valued(rough), Valued(exact)
    assert bot.act(view).tolist() == actions[:, 1, 0].tolist(), "not close"
    coarse = GenerationBot(GenerationNetwork(4, 4), dtype=torch.bfloat16)
    assert coarse._exact is None
    assert coarse.values(view, True)[0].dtype == np.float32
