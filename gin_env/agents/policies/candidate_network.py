"""The network of policies that score candidates, and its file.

The same two layers score every candidate (`gin_env.observations.candidates`) from its features and the
context. The probabilities of the actions are the softmax of the scores. Draws and discards have separate
weights. The value of the position is the mean value of its candidates, weighted by their probabilities.
A network with ``memory=True`` also reads what the opponent has shown in earlier hands of the game
(`gin_env.observations.memory`). ``examples/ppo.py`` trains one in plain PyTorch,
`gin_env.wrappers.candidate_policy` with Stable-Baselines3.

>>> network = CandidateScorer(hidden=64)
>>> env = gymnasium.make_vec("gin_env/GinRummy-v0", num_envs=256, candidates=True)
>>> observations, infos = env.reset()
>>> logits, values = network.action_logits(*(torch.from_numpy(observations[name]) for name in ENTRIES))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gin_env.batch import EPISODES, Episode
from gin_env.game.actions import DRAW_STOCK, NUM_ACTIONS
from gin_env.game.rules import Rules
from gin_env.observations.candidates import DISCARD_ROWS, DRAW_ROWS, NO_ACTION, NUM_CONTEXT, NUM_FEATURES
from gin_env.observations.memory import NUM_MEMORY
from gin_env.observations.parts import describe_parts, place_columns
from gin_env.support.checks import check_choice, check_integer, check_switch
from gin_env.support.tensor_files import NetworkFormat, check_ending
from gin_env.support.torch_extra import multiply, nn, torch

FORMAT = NetworkFormat("candidate policy", "2", "gin-rummy train")
MAX_UNITS = 4096
MEMORY_UNITS = 64
"""Width of the layer that reads the memory."""
NUM_TYPES = 16
"""Number of types of opponents that a network with a memory distinguishes."""
NUM_OUTPUTS = 4
"""Logits and values of both actions of a row."""
IMPOSSIBLE = -1e9
"""Logit of an impossible action."""
DATA = Path(__file__).parents[1] / "data"
PACKAGED = ("policy", "policy-1", "policy-memory")
"""The bots whose weights are packaged in `DATA`."""
_READERS = {"row_first.weight": "row", "table_first.weight": "context", "memory.first.weight": "memory"}
"""Weights that read a vector of `gin_env.observations.parts`."""


class MemoryLayers(nn.Module):
    """Guess the type of the opponent from the memory of earlier hands, and adapt the other layers to it.

    What it adds to the other layers is the mean over the types, weighted by their probabilities; before
    training it adds nothing. The learner teaches it to tell its opponents apart; otherwise, types have no
    meaning.

    Parameters
    ----------
    hidden : width of the other layers.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(NUM_MEMORY, MEMORY_UNITS)
        self.types = nn.Linear(MEMORY_UNITS, NUM_TYPES)
        self.to_first = nn.Linear(NUM_TYPES, hidden, bias=False)
        self.to_second = nn.Linear(NUM_TYPES, hidden, bias=False)
        self.to_outputs = nn.Linear(NUM_TYPES, hidden * NUM_OUTPUTS, bias=False)
        for added in (self.to_first, self.to_second, self.to_outputs):
            nn.init.zeros_(added.weight)

    def type_logits(self, memory: torch.Tensor) -> torch.Tensor:
        """Return the logits of the opponent's type, (n, NUM_TYPES), for memories (n, NUM_MEMORY)."""
        return self.types(torch.relu(self.first(memory)))

    def forward(self, memory: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return what is added to the first and the second layer, and to the weights of the outputs.

        They are (n, 1, hidden) twice, and (n, hidden, NUM_OUTPUTS).
        """
        types = torch.softmax(self.type_logits(memory), dim=1)
        weights = self.to_outputs(types).unflatten(1, (-1, NUM_OUTPUTS))
        return self.to_first(types)[:, None], self.to_second(types)[:, None], weights


class CandidateScores(nn.Module):
    """Scores of candidates and the value of the position, for draws or for discards.

    Parameters
    ----------
    hidden : width of both layers.
    memory : whether the memory of earlier hands follows the context in `table`.

    Attributes
    ----------
    use_bfloat16 : whether the hidden layers multiply in bfloat16 (default: no).
    """

    def __init__(self, hidden: int, memory: bool = False) -> None:
        super().__init__()
        self.use_bfloat16 = False
        self.row_first = nn.Linear(NUM_FEATURES, hidden)
        self.table_first = nn.Linear(NUM_CONTEXT, hidden, bias=False)
        self.row_second = nn.Linear(hidden, hidden)
        self.outputs = nn.Linear(hidden, NUM_OUTPUTS)
        self.memory: nn.Module | None = MemoryLayers(hidden) if memory else None

    def outputs_of(self, rows: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        """Return logits and values of both actions of each row, possible or not, (n, k, NUM_OUTPUTS)."""
        added = None if self.memory is None else self.memory(table[:, NUM_CONTEXT:])
        with torch.autocast(rows.device.type, torch.bfloat16, enabled=self.use_bfloat16):
            hidden = multiply(self.row_first, rows)
            hidden = hidden + multiply(self.table_first, table[:, :NUM_CONTEXT])[:, None]
            hidden = torch.relu(hidden if added is None else hidden + added[0].to(hidden.dtype))
            hidden = self.row_second(hidden)
            hidden = torch.relu(hidden if added is None else hidden + added[1].to(hidden.dtype))
        hidden = hidden.to(rows.dtype)
        outputs = self.outputs(hidden)
        return outputs if added is None else outputs + hidden @ added[2]

    def forward(
        self, rows: torch.Tensor, possible: torch.Tensor, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (logits (n, 2 * k), values (n,)) for k rows per decision.

        `rows` is (n, k, NUM_FEATURES), `possible` is bool (n, 2 * k) and `table` is (n, NUM_CONTEXT), or
        (n, NUM_CONTEXT + NUM_MEMORY) with a memory.
        """
        logits, worth = self.outputs_of(rows, table).unflatten(2, (2, 2)).unbind(2)
        logits = logits.flatten(1).masked_fill(~possible, IMPOSSIBLE)
        chances = torch.softmax(logits.detach(), dim=1)
        return logits, (chances * worth.flatten(1)).sum(dim=1)


class CandidateScorer(nn.Module):
    """Both networks: one for draws (two rows), one for discards (eleven rows).

    Parameters
    ----------
    hidden : width of the layers.
    memory : whether it reads the memory of earlier hands, which then follows the context in `table`.

    Attributes
    ----------
    match_values : see `save_candidate_policy`.
    """

    match_values = False

    def __init__(self, hidden: int = 64, memory: bool = False) -> None:
        super().__init__()
        self.hidden = check_integer("a layer's size", hidden, 1, MAX_UNITS)
        self.reads_memory = check_switch("memory", memory)
        self.num_context = NUM_CONTEXT + NUM_MEMORY * self.reads_memory
        self.draws = CandidateScores(self.hidden, self.reads_memory)
        self.discards = CandidateScores(self.hidden, self.reads_memory)

    def forward(
        self, rows: torch.Tensor, possible: torch.Tensor, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (logits (n, 2 * k), values (n,)) for k = 2 rows (draws) or k = 11 rows (discards).

        `possible`, bool (n, 2 * k), is True for each possible action of the candidates.
        """
        return (self.draws if rows.shape[1] == DRAW_ROWS else self.discards)(rows, possible, table)

    def action_logits(
        self, rows: torch.Tensor, actions: torch.Tensor, table: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (logits (n, 107), values (n,)) for observations with candidates, draws and discards mixed.

        Parameters are the three entries of the observation: rows (n, 11, NUM_FEATURES), actions int64 (n, 11,
        2) and table (n, num_context). An action without a candidate has the logit `IMPOSSIBLE` and the
        probability 0.
        """
        drawing = actions[:, 1, 0] >= DRAW_STOCK  # the second row does not take the upcard
        logits = rows.new_full((len(rows), NUM_ACTIONS + 1), IMPOSSIBLE)  # the last column is for `NO_ACTION`
        values = rows.new_zeros(len(rows))
        for num_rows, group in ((DRAW_ROWS, drawing), (DISCARD_ROWS, ~drawing)):
            index = group.nonzero()[:, 0]
            chosen = actions[index, :num_rows].flatten(1)
            scores, worth = self(rows[index, :num_rows], chosen != NO_ACTION, table[index])
            logits[index[:, None], chosen] = scores
            values[index] = worth
        return logits[:, :NUM_ACTIONS], values


def check_no_memory(network: CandidateScorer) -> CandidateScorer:
    """Return a network whose decisions depend on one hand alone. Raises ValueError for one with a memory."""
    if network.reads_memory:
        raise ValueError("the policy of a search or a belief must not read the memory of earlier hands")
    return network


def read_vectors(memory: bool) -> tuple[str, ...]:
    """Return the vectors of `gin_env.observations.parts` that a network reads, with or without a memory."""
    return ("row", "context", "memory") if memory else ("row", "context")


def save_candidate_policy(
    path: str | Path,
    network: CandidateScorer,
    rules: Rules | Sequence[Rules] | None = None,
    provenance: dict[str, Any] | None = None,
    episode: Episode = "game",
    match_values: bool = False,
) -> None:
    """Write a policy to a ``.safetensors`` file, whose path can be used as the name of a bot.

    Parameters
    ----------
    rules : the rules used in training, one or several; default: `Rules()`.
    provenance : how the policy was made (JSON-serialisable).
    episode : the episodes of training, ``"hand"`` or ``"game"``. A policy trained on hands sees no scores.
    match_values : whether the values are twice the change of the chance to win the game, as a search needs
        them, and not points or other rewards.

    Raises ValueError for a name without the ending ``.safetensors`` or no rules.
    """
    check_ending(path, "a policy")
    several = (rules or Rules(),) if isinstance(rules, Rules | None) else rules
    if not several:
        raise ValueError("rules must name at least one set of rules")
    described = {
        "hidden": network.hidden,
        "rules": asdict(several[0]) if len(several) == 1 else [asdict(each) for each in several],
        "episode": check_choice("episode", episode, EPISODES),
        "match_values": check_switch("match_values", match_values),
        "reads": describe_parts(*read_vectors(network.reads_memory)),
        "provenance": provenance or {},
    }
    FORMAT.write(path, network, described)


def file_of_policy(policy: str | Path) -> Path:
    """Return the packaged file for a name in `PACKAGED`; otherwise the path as it is."""
    return DATA / f"{policy}.safetensors" if policy in PACKAGED else Path(policy)


def find_policy_of_games(policy: str | Path, match_values: bool = False) -> CandidateScorer:
    """Return the network of a policy that was trained on games, as a search needs it.

    Raises ValueError for one that was trained on single hands or reads the memory, or with `match_values`
    for one whose values are other rewards, and otherwise as `load_candidate_policy` does.
    """
    network, _, episode = load_candidate_policy(policy)
    if episode != "game":
        raise ValueError(f"a search needs a policy trained on games, not on single hands, as {policy} was")
    check_no_memory(network)
    if match_values and not network.match_values:
        raise ValueError(
            f"a search needs a policy whose values are chances to win, which {policy} has not learned: train "
            "one with gin-rummy train, without --no-match-reward"
        )
    return network


def load_candidate_policy(policy: str | Path) -> tuple[CandidateScorer, tuple[Rules, ...], Episode]:
    """Return (network, rules, episode) from a file of `save_candidate_policy`, or of a name in `PACKAGED`.

    The network reads all parts of candidates, and of the memory if the file names parts of it; parts that
    the file does not name have weights of 0. Raises as `NetworkFormat.read_tensors` does.
    """

    def build(described: dict[str, Any], tensors: dict[str, torch.Tensor]) -> CandidateScorer:
        several = described["rules"]
        rules.extend(Rules(**each) for each in (several if isinstance(several, list) else [several]))
        if not rules:
            raise ValueError("rules are missing")
        check_choice("episode", described["episode"], EPISODES)
        reads: Any = described.get("reads")
        for name, tensor in tensors.items():
            if (vector := _READERS.get(name.partition(".")[2])) is not None:
                tensors[name] = place_columns(tensor, vector, reads)
        with torch.device("meta"):  # allocate no memory until the size is known to match the weights
            network = CandidateScorer(described["hidden"], "memory" in reads)
        # Older files do not say; they come from examples/ppo.py, almost all with its default reward.
        network.match_values = check_switch("match_values", described.get("match_values", True))
        return network

    rules: list[Rules] = []
    network, described = FORMAT.read(file_of_policy(policy), build)
    return network, tuple(rules), described["episode"]
