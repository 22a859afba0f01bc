"""Action values from a policy's own games, and the network that learns them."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from typer.testing import CliRunner  # noqa: E402

from gin_env import cli  # noqa: E402
from gin_env.agents.policies.candidate_network import CandidateScorer, save_candidate_policy  # noqa: E402
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot  # noqa: E402
from gin_env.agents.policies.improved_policy import MAX_TRIED, MIN_CHANCE, GainNetwork, GainPredictor, Tried  # noqa: E402
from gin_env.agents.search.belief import after  # noqa: E402
from gin_env.agents.search.bot import SearchBot  # noqa: E402
from gin_env.agents.turns import play_bot  # noqa: E402
from gin_env.batch import Games  # noqa: E402
from gin_env.game.rules import Rules  # noqa: E402
from gin_env.game.state import DISCARD, OVER, STOCK_ONLY  # noqa: E402
from gin_env.observations.views import PlayerView  # noqa: E402
from gin_env.support.array_files import ArrayFileError  # noqa: E402
from gin_env.support.workers import Workers  # noqa: E402
from research.__main__ import app  # noqa: E402
from research.recipes import action_values, gains  # noqa: E402
from research.recipes.action_values import POSITION, collect_block, view_records, write_position  # noqa: E402
from research.recipes.gains import Inputs, train_gains  # noqa: E402

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module")
def block():
    return collect_block("policy-1", 5, 0, size=3000)


@pytest.fixture(scope="module")
def middle():
    """Games of `policy-1` in the middle of a hand, with different scores."""
    games, bot = Games(60, episode="game"), CandidatePolicyBot.shipped_first()
    games.start(seed=4)
    for _ in range(75):
        play_bot(games, bot, games.everyone[~games.done])
    phase = games.state["public"]["phase"]
    states = games.state[(phase != OVER) & (phase != STOCK_ONLY) & ~games.done]
    assert states["public"]["scores"].any()
    return states


def views_of(positions):
    return PlayerView.of_array(view_records(positions))


def test_equal_arguments_give_equal_blocks(block):
    assert (collect_block("policy-1", 5, 0, size=3000) == block).all()
    for other in (collect_block("policy-1", 5, 1, size=3000), collect_block("policy-1", 6, 0, size=3000)):
        assert (other["hand"] != block["hand"]).mean() > 0.9


def test_block_names_the_network_that_plays_and_no_gains(tmp_path):
    positions = np.zeros(3, POSITION)
    blocks = action_values.Blocks(tmp_path, "policy", 1)
    blocks.write(0, positions)
    assert len(blocks.read(0)) == 3
    files = action_values.FORMAT.read(tmp_path / "block-0.npz")[1]["files"]
    assert list(files) == ["agents/data/policy.safetensors"]
    with pytest.raises(ArrayFileError, match="is another block"):
        action_values.Blocks(tmp_path, "policy-1", 1).read(0)


def test_tried_actions_are_the_most_probable(block):
    views, bot = views_of(block), CandidatePolicyBot.shipped_first()
    chances = bot.action_chances(views, exact=True)
    expected = Tried.of(chances)
    assert (block["phase"] == DISCARD).all()
    counts = (block["actions"] >= 0).sum(axis=1)
    assert (counts == block["num_tried"]).all()
    assert (counts >= 2).all()
    assert (counts < MAX_TRIED).any()
    assert (counts == (expected.actions >= 0).sum(axis=1)).mean() > 0.999
    found = np.where(block["actions"] >= 0, block["log_chances"], np.log(MIN_CHANCE))
    np.testing.assert_allclose(found, expected.log_chances, atol=2e-3)
    same = (block["actions"] == expected.actions).mean()
    assert same > 0.98  # the others differ only in their suits


def test_position_holds_what_the_player_sees(middle):
    positions, views = np.zeros(len(middle), POSITION), []
    games = Games(len(middle), episode="game")
    games.state[:] = middle
    for index, state in enumerate(middle):
        player = int(state["public"]["to_move"])
        write_position(state, player, positions[index])
        views.append(games.views(np.array([index]), player))
        assert positions[index]["opponent_hand"] == state["private"]["hand"][1 - player]
    again = views_of(positions)
    together = PlayerView(np.concatenate([view.array for view in views]))
    assert (again.observations() == together.observations()).all()
    assert (again.masks() == together.masks()).all()
    for one, other in zip(again.candidates(), together.candidates(), strict=True):
        assert (one == other).all()


def test_value_is_that_of_the_rollouts(middle):
    """The kernel plays on as `search` does from the same deal."""
    searcher = SearchBot(turns=action_values.TURNS)
    movers = middle["public"]["to_move"].astype(np.int64)
    actions = np.array([view_action(state) for state in middle])
    expected = searcher.won_after(middle, actions, movers)
    found, chances = [], searcher.players.chances_to_win(Rules())
    for state, player, action in zip(middle, movers.tolist(), actions.tolist(), strict=True):
        scores = state["public"]["scores"].tolist()
        played = after(state.reshape(1), np.array([action])).state[0]
        own = scores[player], scores[1 - player]
        found.append(action_values._play_on(searcher.players.network, played, player, own, chances))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert len(set(found)) > len(found) // 2


def view_action(state):
    """Return the last legal action of the player to move, which is a knock where there is one."""
    games = Games(1, episode="game")
    games.state[0] = state
    return games.views(games.everyone, int(state["public"]["to_move"])).masks()[0].nonzero()[0][-1]


def test_knock_is_worth_the_points_it_pays(middle):
    """The hand ends with the tried action, so its value is the change of the chances by the final scores."""
    chances = SearchBot(policy="policy-1", opponent=None).players.chances_to_win(Rules())
    knocks = 0
    for block_of in range(2):
        for position in collect_block("policy-1", 8, block_of, size=4000):
            own, other = position["scores"][[position["player"], 1 - position["player"]]].tolist()
            for action, value in zip(position["actions"], position["values"], strict=True):
                if 52 <= action < 104:
                    ends = np.concatenate([chances[own:, other], chances[own, other:]]) - chances[own, other]
                    assert np.abs(ends - value).min() < 1e-6
                    knocks += 1
    assert knocks > 100


def test_inputs_are_those_of_the_bot(block):
    positions, predictor = block[:50], GainPredictor()
    found, _ = Inputs(positions).gains(predictor.network)
    expected = predictor(views_of(positions), tried_in(positions))
    missing = positions["actions"] < 0
    assert missing.any()
    assert (expected[missing] == -np.inf).all()
    np.testing.assert_allclose(found.detach().numpy()[~missing], expected[~missing], atol=1e-4)


def tried_in(positions):
    return Tried(positions["actions"].astype(np.int64), positions["log_chances"].astype(np.float64))


def test_loss_ignores_what_actions_have_in_common(block):
    torch.manual_seed(0)
    network = GainNetwork(8, 4)
    discards = block[:64].copy()
    before = gains._loss(network, Inputs(discards))
    discards["values"] += np.linspace(-0.2, 0.3, len(discards))[:, None]
    torch.testing.assert_close(gains._loss(network, Inputs(discards)), before, atol=1e-4, rtol=1e-4)
    discards["values"][:, 1] += 0.1
    assert abs((gains._loss(network, Inputs(discards)) - before).item()) > 0.01


def test_network_learns_a_simple_rule(block):
    """Each knock is worth ten percentage points more than each discard."""
    discards = block.copy()
    discards["values"] = np.where(discards["actions"] >= 52, 0.1, 0)
    torch.manual_seed(0)
    network = GainNetwork(16, 4)
    optimizer, inputs = torch.optim.Adam(network.parameters(), 1e-2), Inputs(discards)
    losses = []
    for _ in range(60):
        loss = gains._loss(network, inputs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    predicted, _ = inputs.gains(network)
    both = (discards["actions"][:, :2] >= 52).sum(axis=1) == 1
    knock = discards["actions"][both, 1] >= 52
    difference = (predicted[:, 1] - predicted[:, 0]).detach().numpy()[both]
    assert difference[knock].mean() > 7
    assert difference[~knock].mean() < -7


@pytest.fixture
def small(monkeypatch):
    """Blocks of 400 positions, of which every second is held out."""
    monkeypatch.setattr(action_values, "BLOCK", 400)
    monkeypatch.setattr(gains, "HELD_OUT", 2)
    monkeypatch.setattr(gains, "collect_block", lambda *block: collect_block(*block, size=400))


def test_training_repeats_and_resumes(small, tmp_path):
    reported = []
    first = train_gains(tmp_path / "blocks", 4, progress=reported.append)
    assert sum(reported) == (1 + gains.EPOCHS) * 4
    made = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "blocks").iterdir()}
    assert len(made) == 4
    third = action_values.Blocks(tmp_path / "blocks", "policy", 1).read(3)
    assert (third == collect_block("policy", 1, 3, size=400)).all()
    (tmp_path / "blocks" / "block-2.npz").unlink()
    again = train_gains(tmp_path / "blocks", 4, workers=Workers(1))
    for name, tensor in first.network.state_dict().items():
        assert torch.equal(tensor, again.network.state_dict()[name])
    assert again.metadata | {"date": 0} == first.metadata | {"date": 0}
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "blocks").iterdir()}
    assert [name for name in made if made[name] != kept[name]] == ["block-2.npz"]


def test_held_out_blocks_are_not_learned(monkeypatch, tmp_path):
    blocks = {}
    monkeypatch.setattr(gains, "_make_block", lambda task: None)
    monkeypatch.setattr(gains, "provenance", lambda *_: {})
    monkeypatch.setattr(
        gains, "_train", lambda source, one, _: (GainNetwork(8, 4), blocks.update(learned=one))
    )
    monkeypatch.setattr(gains, "_evaluate", lambda network, source, one: blocks.update(judged=one) or {})
    train_gains(tmp_path, 45, workers=Workers(1))
    assert blocks["judged"] == [0, 20, 40]
    assert sorted(blocks["learned"] + blocks["judged"]) == list(range(45))


def test_blocks_of_another_seed_are_refused(small, tmp_path):
    train_gains(tmp_path, 2)
    with pytest.raises(ArrayFileError, match="another block"):
        train_gains(tmp_path, 2, seed=2)


def test_blocks_of_an_earlier_policy_in_the_same_file_are_refused(small, tmp_path):
    policy = tmp_path / "policy.safetensors"
    for hidden in (4, 8):
        save_candidate_policy(policy, CandidateScorer(hidden), match_values=True)
        if hidden == 4:
            train_gains(tmp_path / "blocks", 2, str(policy))
    with pytest.raises(ArrayFileError, match="another block"):
        train_gains(tmp_path / "blocks", 2, str(policy))


def test_reported_gain_is_that_of_the_held_out_blocks(small, tmp_path, monkeypatch):
    monkeypatch.setattr(gains, "MARGIN", 0.03)  # after so little training, nothing is better by more
    trained = train_gains(tmp_path, 4)
    trained.save(tmp_path / "gains.safetensors")
    predictor, gained = GainPredictor(tmp_path / "gains.safetensors"), []
    changed: list[bool] = []
    for number in (0, 2):
        positions = action_values.Blocks(tmp_path, "policy", 1).read(number)
        predicted = predictor(views_of(positions), tried_in(positions))
        predicted[:, 0] += gains.MARGIN
        values, chosen = 100 * positions["values"].astype(np.float64), predicted.argmax(axis=1)
        gained += (values[np.arange(len(values)), chosen] - values[:, 0]).tolist()
        changed += (chosen > 0).tolist()
    held_out = trained.metadata["held_out"]
    assert held_out["discards"] == len(gained)
    assert held_out["gain"] == pytest.approx(np.mean(gained), abs=2e-3)
    assert held_out["error"] == pytest.approx(np.std(gained, ddof=1) / len(gained) ** 0.5, rel=0.02)
    assert held_out["changed"] == pytest.approx(np.mean(changed), abs=1e-3)
    judged = {"discards": 2345, "gain": 1.25, "error": 0.01, "changed": 0.125}
    shown = str(gains.TrainedGains(trained.network, {"discards": 67_890, "held_out": judged}))
    assert shown.startswith("67,890 discards; in 2,345 others, the network's choices gain 1.250 percentage")
    assert shown.endswith("at least 0.010), and differ from the policy's in 12.5 %")


def test_command_writes_a_network_that_plays(small, tmp_path):
    path = tmp_path / "gains.safetensors"
    data = ["--data", str(tmp_path / "blocks"), "--blocks", "2", "--seed", "4"]
    result = CliRunner().invoke(app, ["train", "gains", str(path), *data])
    assert result.exit_code == 0, result.output
    assert "percentage points" in result.output
    assert action_values.Blocks(tmp_path / "blocks", "policy", 4).read(1).size == 400
    match = ["match", f"policy:gains={path}", "random", "--games", "4", "--seed", "1"]
    result = CliRunner().invoke(cli.app, [*match, "--json", str(tmp_path / "match.json")])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "match.json").read_text())["games"] == 4


def test_blocks_are_of_different_deals(monkeypatch):
    decks = []
    monkeypatch.setattr(
        action_values, "_play_and_try", lambda _, games, *more: decks.append(games["hidden"]["deck"].copy())
    )
    for block in range(2):
        collect_block("policy-1", 1, block, 2)
    assert (decks[0] != decks[1]).any(axis=1).all()
