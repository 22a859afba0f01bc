"""Beliefs: worlds that agree with a view, sampled by the probability of the opponent's actions."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from played_positions import SMALL  # noqa: E402

from gin_env import agents, belief, cards  # noqa: E402
from gin_env.agents.policies.candidate_network import CandidateScorer  # noqa: E402
from gin_env.agents.policies.candidate_policy import CandidatePolicyBot  # noqa: E402
from gin_env.agents.search.belief import Belief  # noqa: E402
from gin_env.agents.search.chains import _read_past  # noqa: E402
from gin_env.agents.search.dealing import PAST, propose_worlds  # noqa: E402
from gin_env.agents.turns import play_bot  # noqa: E402
from gin_env.batch import Games  # noqa: E402
from gin_env.game.actions import DRAW_STOCK, DRAW_UPCARD  # noqa: E402
from gin_env.game.rules import Rules  # noqa: E402
from gin_env.game.state import status  # noqa: E402
from gin_env.observations.views import PlayerView  # noqa: E402

pytestmark = pytest.mark.compiled

TINY = Rules(ranks=4, suits=2, hand_size=2, knock_limit=2, stock_floor=0, opening_offer=False)
"""A deck of eight cards, so that all worlds can be enumerated."""


def a_network(seed: int = 5) -> CandidateScorer:
    """Return an untrained policy with different probabilities for its actions."""
    torch.manual_seed(seed)
    network = CandidateScorer(hidden=8)
    with torch.no_grad():
        for scores in (network.draws, network.discards):
            scores.outputs.weight *= 8
    return network.eval()


def positions(
    rules: Rules, hands: int, seed: int = 3, bot: str = "simple"
) -> tuple[np.ndarray, list[PlayerView]]:
    """Yield states of some hands with a view, alternately of the player to move and of the other player."""
    table, player = Games(hands, rules), agents.make(bot)
    table.start(table.everyone, np.full(hands, seed, np.uint64), table.everyone.astype(np.uint64))
    states, views = [], []
    running, step = table.everyone, 0
    while len(running):
        for game in running[running % 7 == step % 7]:
            states.append(table.state[game].copy())
            views.append(table.views(np.array([game]), int(table.to_move()[game]) ^ (step // 7 % 2)))
        play_bot(table, player, running)
        running, step = running[~table.done[running]], step + 1
    return np.array(states), views


@pytest.mark.parametrize(
    "rules", [Rules(), Rules(opening_offer=False, hand_size=7), SMALL], ids=["10", "7", "small"]
)
@pytest.mark.parametrize("trust", [0.0, 1.0])
def test_every_world_agrees_with_the_view(rules, trust):
    held = Belief(a_network(), "uniform", trust=trust, chains=4, warm_up=3, apart=1)
    for number, view in enumerate(positions(rules, 8)[1]):
        player = int(view.records["player"][0])
        worlds = held.worlds(view, 6, np.random.default_rng(number))
        assert [status(world) for world in worlds] == [[]] * 6
        table = Games(6, rules)
        table.state[:] = worlds
        seen = table.views(table.everyone, player).records
        for part in ("public", "private", "player"):
            assert (seen[part] == view.records[part]).all()


def test_every_action_of_a_world_is_legal():
    for number, view in enumerate(positions(Rules(), 8)[1]):
        public = view.records["public"][0]
        for world in Belief(a_network(), "uniform", chains=2, warm_up=5).worlds(
            view, 2, np.random.default_rng(number)
        ):
            table = Games(1)
            table.start(np.array([0]), np.zeros(1, np.uint64), np.zeros(1, np.uint64))
            table.set_deck(0, world["hidden"]["deck"], dealer=int(public["dealer"]))
            for action in public["history"][: public["history_length"]]:
                table.play(np.array([0]), np.array([int(action)]))  # raises for an illegal act
            assert (table.state["private"]["hand"][0] == world["private"]["hand"]).all()


def test_beliefs_do_not_depend_on_hidden_cards():
    held = Belief(a_network(), "uniform", chains=4, warm_up=4)
    for number, (state, view) in enumerate(zip(*positions(Rules(), 6), strict=True)):
        other = held.worlds(view, 1, np.random.default_rng(99 + number))
        table = Games(2)
        table.state[0], table.state[1] = state, other[0]
        assert (table.state["private"]["hand"][0] != table.state["private"]["hand"][1]).any() or number < 1
        player = int(view.records["player"][0])
        true, dealt_again = (
            held.worlds(table.views(np.array([game]), player), 5, np.random.default_rng(7)) for game in (0, 1)
        )
        assert (true == dealt_again).all()


def test_worlds_depend_on_the_generator_only():
    view = positions(Rules(), 2)[1][4]
    first, again, other = (belief.sample(view, 40, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert first.dtype == np.uint64
    assert first.shape == (40,)


def test_worlds_are_equal_to_the_last_byte():
    """Bytes between fields are 0, so that hashes and files of worlds are reproducible."""
    for number, view in enumerate(positions(Rules(), 4)[1]):
        first, again = (belief.worlds(view, 6, np.random.default_rng(number)) for _ in range(2))
        assert first.tobytes() == again.tobytes()


def past_of(view: PlayerView) -> np.void:
    past = np.zeros(1, PAST)
    _read_past(view.records, past)
    return past[0]


def test_cards_taken_and_discarded_again_are_never_hidden():
    """The player takes 5H, discards KS, draws, and discards 5H: only KS came from hidden cards."""
    hand = cards.parse("AC 2C 3C 7D 8D 9D JS QS 4H 9C")
    drawn = cards.card_id("TD")
    later = cards.card_id("6S")
    view = PlayerView.from_history(
        hand,
        cards.card_id("5H"),
        [
            DRAW_UPCARD,
            cards.card_id("KS"),
            DRAW_STOCK,
            drawn,
            DRAW_STOCK,
            cards.card_id("5H"),
            DRAW_STOCK,
            later,
        ],
        [drawn, later],
        player=0,
        dealer=0,
        rules=Rules(opening_offer=False),
    )
    past = past_of(view)
    assert past["discards"] == 1
    assert past["discard"][0] == cards.card_id("KS")
    assert past["draws_before"][0] == 0
    assert (past["drawn"], past["draws"]) == (3, 1)
    assert past["drawer"][:3].tolist() == [0, 1, 0]
    assert (past["draw_decisions"], past["discard_decisions"]) == (2, 2)
    assert past["missing"] == 10


def test_every_discard_was_dealt_or_drawn_before():
    """In every world, cards discarded before the first draw from the stock were dealt."""
    view = PlayerView.from_history(
        cards.parse("AC 2C 3C 7D 8D 9D JS QS 4H 9C"),
        cards.card_id("5H"),
        [DRAW_UPCARD, cards.card_id("KS"), DRAW_STOCK, cards.card_id("TD"), DRAW_STOCK, cards.card_id("QC")],
        [cards.card_id("TD")],
        player=0,
        dealer=0,
        rules=Rules(opening_offer=False),
    )
    held, stock = np.empty((3000, 11), np.int8), np.empty((3000, 29), np.int8)
    propose_worlds(past_of(view), 10, np.ones(52), np.uint64(4), held, stock)
    king, queen = (np.argwhere(held == cards.card_id(card))[:, 1] for card in ("KS", "QC"))
    assert len(king) == len(queen) == 3000
    assert king.max() == 9
    assert queen.max() == 10
    # Ten places are left for the queen, the drawn card's among them.
    assert abs((queen == 10).mean() - 0.1) < 0.02


def test_proposals_follow_the_odds_for_their_number_of_cards():
    """Two of four unseen cards are held, with odds 1, 1, 2 and 4: compare with the products of all pairs."""
    odds = np.ones(52)
    odds[[2, 15]] = 2, 4  # 3C and 3H
    past = np.zeros(1, PAST)
    past["unseen"], past["missing"] = cards.parse("AC 2C 3C 3H"), 2
    held, stock = np.empty((20_000, 2), np.int8), np.empty((20_000, 2), np.int8)
    propose_worlds(past[0], 2, odds, np.uint64(9), held, stock)
    number = {0: 1.0, 1: 1.0, 2: 2.0, 15: 4.0}
    weights = {pair: number[pair[0]] * number[pair[1]] for pair in combinations(number, 2)}
    found = Counter(tuple(sorted(pair)) for pair in held.tolist())
    for pair, weight in weights.items():
        assert found[pair] / 20_000 == pytest.approx(weight / sum(weights.values()), abs=0.012)


def log_chance(network: CandidateScorer, world: np.ndarray, player: int, mistakes: float) -> float:
    """Return the likelihood of the opponent's actions in a world, computed decision by decision."""
    bot = CandidatePolicyBot(network)
    public = world["public"]
    table = Games(1, Rules.from_record(public["rules"]))
    table.start(np.array([0]), np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    size = table.rules.deck_size
    table.set_deck(0, world["hidden"]["deck"][:size], dealer=int(public["dealer"]))
    table.state["public"]["scores"] = public["scores"]
    total = 0.0
    for action in public["history"][: public["history_length"]]:
        if table.to_move()[0] != player:
            view = table.views(np.array([0]))
            share = bot.action_chances(view)[0, action]
            total += np.log((1 - mistakes) * share + mistakes / view.masks().sum())
        table.play(np.array([0]), np.array([int(action)]))
    return total


def test_likelihood_is_that_of_the_policys_decisions():
    network = a_network()
    for number, view in enumerate(positions(Rules(), 6)[1][::3]):
        chains = Belief(network, "uniform", mistakes=0.1).begin(view, np.random.default_rng(number), 3)
        chains.step()
        expected = [
            log_chance(network, world, int(view.records["player"][0]), 0.1) for world in chains.worlds()
        ]
        assert chains._logarithm == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize(("unequal", "trust"), [(False, 1.0), (True, 1.0), (True, 0.5)])
def test_worlds_are_sampled_in_proportion_to_their_likelihood(unequal, trust):
    """On a deck of eight cards, the shares of all hands match the sums of the weights of their worlds.

    A weight is a product of powers of the likelihood and the odds of the estimator. Unequal odds change the
    proposals, but with ``trust=1`` not the shares.
    """
    odds = np.tile([0.2, 5, 1, 2], 13) if unequal else np.ones(52)

    class OddsEstimator:
        def estimate(self, view):
            return np.tile(odds / (1 + odds), (len(view), 1))

    network = a_network(2)
    views = positions(TINY, 40, bot="random")[1]
    after_two_discards = [view for view in views if past_of(view)["discards"] == 2]
    four_unseen = [view for view in views if past_of(view)[["draws", "missing"]].tolist() == (1, 2)]
    for view in (*after_two_discards[:2], four_unseen[0]):
        player = int(view.records["player"][0])
        uniform = Belief(network, "uniform", trust=0.0, chains=3000).worlds(
            view, 3000, np.random.default_rng(1)
        )
        worlds = {
            deck.tobytes(): world for world, deck in zip(uniform, uniform["hidden"]["deck"], strict=True)
        }
        shares: Counter[int] = Counter()
        for world in worlds.values():
            hand = int(world["private"]["hand"][1 - player])
            stock = cards.cards_of(int(past_of(view)["unseen"]) & ~hand)
            likelihood = np.exp(log_chance(network, world, player, 0.2))
            shares[hand] += likelihood**trust / odds[stock].prod() ** (1 - trust)
        held = Belief(network, "uniform", trust, mistakes=0.2, chains=200, warm_up=40, apart=3)
        held.estimator = OddsEstimator()
        found = Counter(held.sample(view, 8000, np.random.default_rng(2)).tolist())
        assert set(found) <= set(shares)
        for hand, share in shares.items():
            assert found[hand] / 8000 == pytest.approx(share / sum(shares.values()), abs=0.03)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"trust": 1.5}, ValueError, "trust"),
        ({"mistakes": -0.1}, ValueError, "mistakes"),
        ({"chains": 0}, ValueError, "chains"),
        ({"apart": 0}, ValueError, "apart"),
        ({"estimator": "omniscient"}, ValueError, "must not see hidden cards"),
        ({"estimator": "nobody"}, ValueError, "unknown estimator"),
        ({"model": "nowhere.safetensors"}, FileNotFoundError, "nowhere"),
    ],
)
def test_invalid_settings_raise(settings, error, message):
    with pytest.raises(error, match=message):
        Belief(**settings)


def test_invalid_views_raise():
    table = Games(2)
    table.start(table.everyone, np.zeros(2, np.uint64), table.everyone.astype(np.uint64))
    with pytest.raises(ValueError, match="one view of a hand in progress"):
        belief.sample(table.views(table.everyone), 5, np.random.default_rng(1))
    with pytest.raises(ValueError, match="count"):
        belief.sample(table.views(np.array([0])), 0, np.random.default_rng(1))
    over = Games(1)
    over.start(over.everyone, np.zeros(1, np.uint64), np.zeros(1, np.uint64))
    view = over.views(over.everyone)
    view.records["public"]["phase"] = 4
    with pytest.raises(ValueError, match="one view of a hand in progress"):
        belief.sample(view, 5, np.random.default_rng(1))
