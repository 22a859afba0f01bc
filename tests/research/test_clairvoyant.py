"""The bot that sees its opponent's hand."""

from __future__ import annotations

import numpy as np
import pytest
from hands_in_words import Table, ids

from gin_env import agents, estimators, gin_rummy_v0
from gin_env.game.cards import cards_of
from gin_env.matches.matches import play_match
from gin_env.observations.views import PlayerView
from research.papers.francis2021.in_play import ClairvoyantSafeDiscardBot


@pytest.mark.compiled
def test_clairvoyant_bot_wins_more_and_has_no_name():
    bot = ClairvoyantSafeDiscardBot(caution=10)
    assert not any("clairvoyant" in name for name in agents.names())
    result = play_match(bot, "simple", games=400, seed=2)
    assert result.interval[0] > 0.7
    assert play_match(bot, "simple", games=400, seed=2) == result
    env = gin_rummy_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="needs the opponents' hands"):
        bot.act(PlayerView.from_env(env, env.agent_selection))


def test_true_hand_is_the_opponents_hand():
    """Player 0 keeps the cards that player 1 melds, knowing player 1's hand."""
    table = Table(
        "2C 3C 4C 6H 8H TD QD KS 9S 4S", "QH QC JH JD TH TC 5C 5S 6D 7D", "AD", "JC", dealer=1
    ).play("pass", "pass", "draw")
    hands = table.games.state["private"]["hand"][:, 1]
    ClairvoyantSafeDiscardBot().play_turns(table.games, np.zeros(1, np.int64), False)
    assert table.games.state["public"]["upcard"] == ids("KS")[0]
    assert np.array_equal(
        estimators.make("omniscient").estimate_hands(hands)[0] > 0,
        [card in cards_of(int(hands[0])) for card in range(52)],
    )
