"""Files of trained policies: they play like the model, and loading one runs no code."""

from __future__ import annotations

import base64
import io
import json
import pickle
import sys
import tracemalloc
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from hands_in_words import started
from packaged_files import packaged
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import VecNormalize
from torch import nn
from typer.testing import CliRunner

from gin_env import Rules, agents, cli, play_match
from gin_env.agents.policies import policy_networks
from gin_env.agents.policies.candidate_network import CandidateScorer, save_candidate_policy
from gin_env.agents.policies.policy import PolicyBot, describe_training, sample_actions
from gin_env.agents.policies.policy_networks import build, save_network
from gin_env.agents.policies.sb3_archives import ArchiveError, convert_archive
from gin_env.envs.gymnasium_env import GinRummyEnv
from gin_env.matches.tournaments import play_tournament
from gin_env.support.tensor_files import TensorFileError
from gin_env.wrappers.card_policy import CardPolicy
from gin_env.wrappers.sb3 import GinRummyVecEnv, save_policy

POLICIES = {
    "mlp": ("MlpPolicy", {}),
    "relu": ("MlpPolicy", {"activation_fn": nn.ReLU, "net_arch": {"pi": [7, 9], "vf": [3]}}),
    "linear": ("MlpPolicy", {"net_arch": []}),
    "card": (CardPolicy, {"net_arch": [16, 12], "card_features": 5}),
    "extractor": (
        "MlpPolicy",
        {"features_extractor_class": FlattenExtractor, "share_features_extractor": False},
    ),
}


class OwnClass(MaskableActorCriticPolicy):
    """Decides like its base class."""


class Sharper(MaskableActorCriticPolicy):
    """Decides a little differently from its weights."""

    def extract_features(self, *args):
        return super().extract_features(*args) * 1.1


def new_model(policy, settings=None) -> MaskablePPO:
    env = GinRummyVecEnv(4, "random", seed=1)
    model = MaskablePPO(
        policy, env, n_steps=8, batch_size=16, n_epochs=1, seed=3, device="cpu", policy_kwargs=settings
    )
    model.gin_env = describe_training(episode="game", estimator="bayes:least_observations=70")
    with torch.no_grad():  # as after training: the last layers begin close to 0
        for weights in model.policy.parameters():
            weights.add_(0.1 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(1)))
    return model


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("archive") / "mlp.zip"
    new_model("MlpPolicy").save(path)
    return path


def some_view(count=40):
    games = started(count, seed=5)
    return games.views(games.everyone)


def file_of_policy(path, rules=None):
    save_candidate_policy(path, CandidateScorer(8), rules)
    return str(path)


def test_policy_plays_no_views(tmp_path):
    bot = agents.make(file_of_policy(tmp_path / "small.safetensors"))
    assert bot.act(some_view()[[]]).shape == (0,)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_policy_warns_of_other_rules_anywhere_in_a_batch(order, tmp_path):
    bot = agents.make(file_of_policy(tmp_path / "small.safetensors"))
    games = started(2)
    games.state["public"]["rules"][order[1]] = Rules.parse("oklahoma").record()
    with pytest.warns(UserWarning, match="was trained under eaai, not under oklahoma"):
        bot.act(games.views(games.everyone))
    bot = agents.make(file_of_policy(tmp_path / "several.safetensors", [Rules(), Rules.parse("oklahoma")]))
    bot.act(games.views(games.everyone))
    games.state["public"]["rules"][order[0]] = Rules(knock_limit=3).record()
    with pytest.warns(UserWarning, match="trained under eaai and oklahoma, not under knock_limit=3"):
        bot.act(games.views(games.everyone))


def test_policy_without_rules_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="rules must name at least one set of rules"):
        save_candidate_policy(tmp_path / "small.safetensors", CandidateScorer(8), rules=())
    assert not list(tmp_path.iterdir())


# --- What is saved plays as it did ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", POLICIES)
def test_saved_and_converted_policy_decides_like_the_model(kind, tmp_path):
    model = new_model(*POLICIES[kind])
    save_policy(model, tmp_path / "saved.safetensors")
    model.save(tmp_path / "model.zip")
    done = CliRunner().invoke(
        cli.app, ["convert", str(tmp_path / "model.zip"), str(tmp_path / "converted.safetensors")]
    )
    assert done.exit_code == 0, done.output
    view = some_view()
    for name in ("saved", "converted"):
        for deterministic in (True, False):
            before = PolicyBot.snapshot(model, deterministic)
            after = agents.make(f"{tmp_path / name}.safetensors:deterministic={str(deterministic).lower()}")
            chosen = after.act(view)
            assert np.array_equal(before.act(view), chosen)
            assert [after.act(one)[0] for one in view] == chosen.tolist(), "each with its own estimate"
            assert (after.rules, after.sees_scores) == (before.rules, before.sees_scores)
            assert after.estimator.name == "bayes:least_observations=70"
            assert after.files == (tmp_path / f"{name}.safetensors", *after.estimator.files)
            assert not before.network.policy.training
            assert view.masks()[np.arange(len(view)), chosen].all()


def test_card_policy_equals_its_description():
    """The logits of a card are the agreement of its embedding with two queries of the rectified trunk."""
    network = policy_networks.CardActor([8], 3, num_inputs=109, num_planes=2)
    seen, w = torch.rand(4, 109), network.state_dict()
    trunk = torch.relu(seen @ w["trunk.0.weight"].T + w["trunk.0.bias"])
    wanted = (trunk @ w["wanted.weight"].T + w["wanted.bias"]).view(-1, 2, 3)
    others = trunk @ w["others.weight"].T + w["others.bias"]
    logits, planes = network(seen), nn.functional.pad(seen[:, :104].view(-1, 2, 4, 13), (2, 2))
    torch.testing.assert_close(logits[:, 104:], others[:, 2:])
    for card in (0, 12, 30, 51):
        suit, rank = divmod(card, 13)
        near = planes[:, :, suit, rank : rank + 5].flatten(1) @ w["neighbours.weight"].flatten(1).T
        same = planes[..., rank + 2].sum(dim=2) @ w["same_rank.weight"].flatten(1).T
        embedded = torch.relu(near + same + w["neighbours.bias"] + w["same_rank.bias"])
        expected = (wanted @ embedded[:, :, None])[..., 0] / 3**0.5 + others[:, :2]
        torch.testing.assert_close(logits[:, [card, 52 + card]], expected)


def test_actions_are_sampled_in_proportion():
    chances = np.array([[0.0, 0.2, 0.3, 0.0]] * 4)
    shares = np.array([int(share * 2**64) for share in (0, 0.39, 0.41, 0.999)], np.uint64)
    assert sample_actions(chances, shares).tolist() == [1, 1, 2, 2]


def test_policy_plays_without_stable_baselines3(tmp_path, monkeypatch):
    save_policy(new_model("MlpPolicy"), tmp_path / "policy.safetensors")
    for name in [name for name in sys.modules if name.startswith(("stable_baselines3", "sb3_contrib"))]:
        monkeypatch.setitem(sys.modules, name, None)
    bot = agents.make(str(tmp_path / "policy.safetensors"))
    assert len(bot.act(some_view())) == 40


def test_kind_of_file_is_read_from_its_metadata(tmp_path):
    shipped = packaged("agents/generations/data/generation.safetensors")
    assert agents.make(f"{shipped}:knock=simple").name == f"{shipped}:knock=simple"
    save_policy(new_model("MlpPolicy"), tmp_path / "generation.safetensors")
    path = str(tmp_path / "generation.safetensors")
    with pytest.raises(TypeError, match="unknown parameter 'knock'; choose from deterministic"):
        agents.make(f"{path}:knock=simple")
    with pytest.raises(TensorFileError, match="holds a policy, not a generation network"):
        agents.make("generation", weights=path)
    estimator = packaged("estimators/data/nn_simple.safetensors")
    with pytest.raises(
        TensorFileError,
        match="holds a network of nn: only a policy or a candidate policy or a generation network",
    ):
        agents.make(str(estimator))
    with pytest.raises(FileNotFoundError, match=r"there is no trained policy gone\.safetensors"):
        agents.make("gone.safetensors")


def test_model_that_cannot_be_reloaded_is_not_saved(tmp_path):
    path = tmp_path / "policy.safetensors"
    with pytest.raises(ValueError, match="Sharper cannot be written: it does more than the layers"):
        save_policy(new_model(Sharper), path)
    with pytest.raises(ValueError, match="activation 'unknown'; choose from tanh, relu"):
        save_policy(new_model("MlpPolicy", {"activation_fn": nn.ELU}), path)
    model = new_model("MlpPolicy")
    with pytest.raises(ValueError, match=r"must end in \.safetensors, not .*policy\.zip"):
        save_policy(model, tmp_path / "policy.zip")
    model.gin_env = None
    del model.observation_space.gin_env
    for use in (lambda: save_policy(model, path), lambda: PolicyBot.snapshot(model)):
        with pytest.raises(ValueError, match=r"set model\.gin_env = env\.describe_training\(\) first"):
            use()
    assert not list(tmp_path.iterdir())


# --- Archives that hold code ------------------------------------------------------------------------------


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def replaced(archive: Path, path: Path, entry: str, change) -> Path:
    """Return a copy of an archive with one entry changed."""
    with zipfile.ZipFile(archive) as before, zipfile.ZipFile(path, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            after.writestr(name, change(content) if name == entry else content)
    return path


def with_data(archive: Path, path: Path, **changes) -> Path:
    return replaced(archive, path, "data", lambda content: json.dumps(json.loads(content) | changes))


@pytest.fixture(params=["policy_class", "policy_kwargs", "gin_env", "policy.pth"])
def evil(request, archive, tmp_path) -> tuple[Path, Path]:
    """Return an archive with a payload, and the file that the payload creates."""
    mark, path = tmp_path / "it-ran", tmp_path / "evil.zip"
    payload = Payload(mark)
    if request.param == "policy.pth":
        return replaced(archive, path, request.param, lambda _: zipped_pickle(payload)), mark
    with zipfile.ZipFile(archive) as file:
        stored = json.loads(file.read("data"))[request.param]
    pickled = base64.b64encode(pickle.dumps(payload)).decode()
    return with_data(
        archive, path, **{request.param: stored | {":type:": "x", ":serialized:": pickled}}
    ), mark


def zipped_pickle(value: object) -> bytes:
    """Return a file with a pickle where `torch.save` puts its own."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("archive/data.pkl", pickle.dumps(value, protocol=2))
        file.writestr("archive/version", "3")
        file.writestr("archive/byteorder", "little")
    return buffer.getvalue()


def test_naming_an_archive_never_runs_its_code(evil, tmp_path):
    path, mark = evil
    uses = [
        lambda: agents.make(str(path)),
        lambda: play_match(str(path), "simple", 2),
        lambda: play_match("simple", f"{path}:deterministic=false", 2),
        lambda: play_tournament([str(path), "simple"], 2),
        lambda: GinRummyEnv(opponent=str(path)),
        lambda: GinRummyVecEnv(2, opponent=["simple", str(path)]),
    ]
    for use in uses:
        with suppress(ArchiveError):  # most can be played by their weights alone
            use()
    run = CliRunner()
    for command in (["match", str(path), "simple", "--games", "2"], ["tournament", str(path), "simple"]):
        run.invoke(cli.app, command)
    run.invoke(cli.app, ["convert", str(path), str(tmp_path / "policy.safetensors")])
    assert not mark.exists()


def test_archive_plays_like_its_converted_policy(archive, tmp_path):
    converted = tmp_path / "converted.safetensors"
    archive = with_data(archive, tmp_path / "mlp.zip", num_timesteps=640)
    convert_archive(archive, converted)
    bot = agents.make(str(archive))
    assert bot.name == "mlp"
    provenance = policy_networks.FORMAT.read_tensors(converted)[1]["provenance"]
    assert provenance == {"archive": "mlp.zip", "decisions": 640}
    for deterministic in (True, False):
        bots = [agents.make(str(path), deterministic=deterministic) for path in (archive, converted)]
        assert np.array_equal(*(bot.act(some_view()) for bot in bots))
    assert (bots[0].act(some_view()) != bot.act(some_view())).any(), "sampled"


@pytest.mark.parametrize("make", [lambda: GinRummyVecEnv(4, "random"), lambda: GinRummyEnv(flat=True)])
def test_environment_describes_the_training_of_a_model_by_itself(make, tmp_path):
    model = MaskablePPO("MlpPolicy", make(), policy_kwargs={"net_arch": [8]}, device="cpu")
    model.save(tmp_path / "model.zip")
    expected = agents.resolve(model).act(some_view())
    assert np.array_equal(agents.make(str(tmp_path / "model.zip")).act(some_view()), expected)
    save_policy(model, tmp_path / "saved.safetensors")
    assert np.array_equal(agents.make(str(tmp_path / "saved.safetensors")).act(some_view()), expected)


def test_network_that_reads_normalised_observations_is_refused(tmp_path):
    env = VecNormalize(GinRummyVecEnv(4, "random"))
    model = MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, device="cpu")
    for use in (lambda: save_policy(model, tmp_path / "p.safetensors"), lambda: agents.resolve(model)):
        with pytest.raises(ValueError, match=r"train with VecNormalize\(norm_obs=False\)"):
            use()
    env.norm_obs = False
    assert agents.resolve(model).name == "MaskablePPO"


def test_custom_policy_class_needs_trust(tmp_path):
    new_model(OwnClass).save(tmp_path / "own.zip")
    output = tmp_path / "own.safetensors"
    with pytest.raises(
        ArchiveError, match=r"its policy is a class of '.*test_policy_files'; .* --trust` loads it"
    ):
        convert_archive(tmp_path / "own.zip", output)
    assert not output.exists()
    done = CliRunner().invoke(cli.app, ["convert", "--trust", str(tmp_path / "own.zip"), str(output)])
    assert done.exit_code == 0, done.output
    assert len(agents.make(str(output)).act(some_view())) == 40


def with_weights(archive: Path, path: Path, change) -> Path:
    def changed(content):
        weights = torch.load(io.BytesIO(content), weights_only=True)
        change(weights)
        buffer = io.BytesIO()
        torch.save(weights, buffer)
        return buffer.getvalue()

    return replaced(archive, path, "policy.pth", changed)


ACTION_NET, FIRST_LAYER = "action_net.weight", "mlp_extractor.policy_net.0.weight"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gin_env": None, "observation_space": None}, "does not say how it was trained.*save_policy"),
        ({"gin_env": {"rules": {}}}, "reads, estimator, episode is missing"),
        ({"policy_kwargs": {"features_extractor_class": "Own"}}, "has the setting"),
        ({"policy_kwargs": {"activation_fn": "ELU"}}, "its activation is 'ELU'"),
        ({"policy_kwargs": None}, "the settings of its policy are not readable"),
        ({"policy_class": "x"}, "a class of an unknown module"),
    ],
)
def test_archive_with_unknown_data_raises(archive, tmp_path, changes, message):
    check_refused(with_data(archive, tmp_path / "other.zip", **changes), message)


@pytest.mark.parametrize(
    ("entry", "change", "message"),
    [
        ("data", lambda _: b"[]", "it holds no data or no weights"),
        ("data", lambda _: b"[" * 100_000, "or is damaged"),
        ("policy.pth", lambda content: content[:-99], "or is damaged"),
        (None, lambda whole: whole[:-2000], "or is damaged"),
        (None, lambda _: b"no zip", "is not an archive of Stable-Baselines3"),
    ],
)
def test_damaged_archive_raises(archive, tmp_path, entry, change, message):
    path = tmp_path / "other.zip"
    if entry is None:
        path.write_bytes(change(archive.read_bytes()))
    else:
        replaced(archive, path, entry, change)
    check_refused(path, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda held: held.pop(ACTION_NET), "action_net.weight has shape none"),
        (lambda held: held.update(extra=torch.ones(2)), "extra has shape"),
        (lambda held: held[ACTION_NET].fill_(torch.nan), "are not finite"),
        (lambda held: held[ACTION_NET].fill_(1e38), "has weights that are larger than 1,000,000,000"),
        (
            lambda held: held.update({ACTION_NET: torch.ones(1).expand(10**6, 10**6)}),
            "is not a tensor of weights",
        ),
        (lambda held: held.update({FIRST_LAYER: torch.tensor(1.0)}), "is not a tensor of weights"),
        (lambda held: held.update({ACTION_NET: torch.eye(3).to_sparse()}), "is not a tensor of weights"),
    ],
)
def test_archive_with_wrong_weights_raises(archive, tmp_path, change, message):
    check_refused(with_weights(archive, tmp_path / "other.zip", change), message)


def check_refused(path: Path, message: str) -> None:
    output = path.with_name("policy.safetensors")
    with pytest.raises(ValueError, match=rf"other\.zip.*{message}"):
        convert_archive(path, output)
    assert not output.exists()


@pytest.mark.parametrize("inside", [False, True])
def test_archive_larger_than_a_network_raises(archive, tmp_path, monkeypatch, inside):
    monkeypatch.setattr("gin_env.agents.policies.sb3_archives.MAX_BYTES", 2_000_000)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("data", b" " * 3_000_000)
    assert path.stat().st_size < 10_000
    if inside:
        content = path.read_bytes()
        replaced(archive, path, "policy.pth", lambda _: content)
    with pytest.raises(ArchiveError, match=r"bomb\.zip unpacks to 3,000,000 bytes, more than the 2,000,000"):
        convert_archive(path, tmp_path / "policy.safetensors")


def bomb(*entries: str) -> bytes:
    """Return an archive whose first entry unpacks to 128 MB and claims to have 10 bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(entries[0], b" " * (1 << 27))
        for entry in entries[1:]:
            file.writestr(entry, b"")
    return buffer.getvalue().replace((1 << 27).to_bytes(4, "little"), (10).to_bytes(4, "little"))


@pytest.mark.parametrize("inside", [False, True])
def test_archive_with_false_sizes_is_not_unpacked(archive, tmp_path, inside):
    path = tmp_path / "bomb.zip"
    if inside:
        replaced(archive, path, "policy.pth", lambda _: bomb("archive/data.pkl", "archive/version"))
    else:
        path.write_bytes(bomb("data", "policy.pth"))
    tracemalloc.start()
    with pytest.raises(ArchiveError, match="or is damaged"):
        convert_archive(path, tmp_path / "policy.safetensors")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24


def test_convert_refuses_invalid_paths(archive, tmp_path):
    for output, error in (
        (tmp_path / "policy.zip", ValueError),
        (tmp_path / "no" / "p.safetensors", FileNotFoundError),
    ):
        done = CliRunner().invoke(cli.app, ["convert", str(archive), str(output)])
        assert isinstance(done.exception, error)
    with pytest.raises(FileNotFoundError, match=r"there is no file .*gone\.zip"):
        convert_archive(tmp_path / "gone.zip", tmp_path / "policy.safetensors")


# --- Policies' own files that were tampered with -----------------------------------------------------------


SMALL = {"name": "mlp", "hidden": [4], "activation": "tanh"}


def small_policy():
    with torch.device("cpu"):
        return policy_networks.MlpActor([4])


@pytest.mark.parametrize(
    ("architecture", "message"),
    [
        (None, "its network: an architecture must be an object with a name and settings"),
        ({"hidden": [4]}, "an architecture must be an object with a name"),
        (SMALL | {"name": "os.system"}, "unknown architecture 'os.system'; choose from card-policy, mlp"),
        (SMALL | {"activation": "exec"}, "unknown activation 'exec'; choose from tanh, relu"),
        (SMALL | {"colour": 3}, "unexpected keyword argument 'colour'"),
        (SMALL | {"hidden": [10**9]}, "a hidden layer's size must be from 1 to 4096, not 1000000000"),
        (SMALL | {"hidden": [4] * 9}, "9 hidden layers: 0 to 8 are possible"),
        (SMALL | {"hidden": "4"}, "hidden layers must be a list of sizes"),
        (SMALL | {"hidden": [True]}, "a hidden layer's size must be an integer"),
        (SMALL | {"hidden": [4096] * 8}, "does not match its own architecture: action_net.weight has shape"),
        (
            {"name": "card-policy", "hidden": [4], "card_features": 10**6},
            "card_features must be from .* not 1000000",
        ),
        ({"name": "card-policy", "hidden": []}, "0 hidden layers: 1 to 8 are possible"),
        ({"name": "card-policy", "hidden": [4]}, "does not match its own architecture"),
    ],
)
def test_architecture_that_does_not_match_the_weights_raises(tmp_path, architecture, message):
    path = tmp_path / "policy.safetensors"
    described = {"architecture": architecture, "training": describe_training()}
    policy_networks.FORMAT.write(path, small_policy(), described)
    with pytest.raises(TensorFileError, match=rf"policy\.safetensors.*{message}"):
        agents.make(str(path))


def test_layers_take_no_memory_before_weights_are_checked():
    for name in ("mlp", "card-policy"):
        assert all(weights.is_meta for weights in build({"name": name, "hidden": [4096] * 8}).parameters())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "does not say how the policy was trained"),
        ({"reads": {}}, "does not say which parts of the observation it reads"),
        ({"reads": {"observation": [["colour", 52]]}}, "reads 'colour' of the observation, which this"),
        ({"reads": {"observation": [["turn", 1]]}}, "does not match its own architecture"),
        ({"estimator": "omniscient"}, "trained with the estimator 'omniscient'"),
        ({"estimator": "os"}, "unknown estimator 'os'"),
        ({"estimator": ["uniform"]}, "does not say how it was trained: an estimator's name must be a string"),
        ({"episode": "week"}, "unknown episode 'week'; choose from hand, game"),
        ({"rules": {"knock_limit": 10**9}}, "Rules.knock_limit must be from .* not 1000000000"),
        ({"rules": {"colours": 3}}, "rules that this release does not know"),
        ({"rules": [1]}, "rules that this release does not know"),
    ],
)
def test_policy_with_invalid_training_metadata_raises(tmp_path, change, message):
    path = tmp_path / "policy.safetensors"
    save_network(path, small_policy(), describe_training() | change if change else change)
    with pytest.raises(ValueError, match=message):
        agents.make(str(path))
