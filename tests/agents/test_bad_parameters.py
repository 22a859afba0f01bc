"""Wrong names and parameters of bots: one clear error each."""

from __future__ import annotations

import re

import pytest

from gin_env import agents

WRONG = """
smiple: unknown bot 'smiple'; the nearest are simple, 
smiple:knock_at=4: unknown bot 'smiple'
simple:: bot 'simple:': '' is not a parameter; write simple:key=value
simple:4: '4' is not a parameter
simple:knock_at=: 'knock_at=' is not a parameter
simple:knock_at=4,: '' is not a parameter
simple:knock_at=4,knock_at=6: 'knock_at' is given twice
simple:knock_before=3: bot 'simple': unknown parameter 'knock_before'; choose from knock_at
random:knock_at=4: bot 'random': unknown parameter 'knock_at'; it has none
random-discard:knock_at=4: bot 'random-discard': unknown parameter
gone.zip:deterministic=false: there is no file gone.zip
gone.zip:colour=red: unknown parameter 'colour'; choose from deterministic
simple:knock_at=-1: knock_at must be from 0 to 100, not -1
simple:knock_at=101: knock_at must be from 0 to 100, not 101
simple:knock_at=99999999999999999999: knock_at must be from 0 to 100, not 99999999999999999999
simple:knock_at=2.5: knock_at must be an integer
simple:knock_at=true: knock_at must be an integer
simple:knock_at=soon: bot 'simple': knock_at must be an integer, 'variable'
simple:knock_at=+: knock_at must be a sequence of integers
medium:minimum_drop=0: minimum_drop must be from .* not 0
medium:knock_at=2.5: knock_at must be an integer
utility:late_stock=true: late_stock must be an integer
utility:knock_at=variable: knock_at must be an integer
late-knock:useful_draws=1: useful_draws must be True or False
tonic:knock_at=10+-1: knock_at must be from .* not -1
tonic:knock_at=-1: knock_at must be from 0 to 100, not -1
tonic:increment=nan: increment must be from .* not nan
tonic:increment=-1: increment must be from .* not -1
tonic:held=1: held must be from .* not 1
tonic:keep_pairs_below=12: keep_pairs_below must be a sequence
tonic:keep_pairs_below=+: keep_pairs_below must be a sequence
tonic:keep_pairs_below=12+99: keep_pairs_below must be from .* not 99
tonic:incremnt=1: bot 'tonic'.*incremnt
marjj:discount=1.5: discount must be from .* not 1.5
marjj:best_draws=0: best_draws must be from .* not 0
marjj:knock_turns=2.5: knock_turns must be an integer
gold-standard:knock_at=-1: knock_at must be from .* not -1
gold-standard:hold_for_gin=1: hold_for_gin must be True or False
safe-discard:estimator=nobody: unknown estimator 'nobody'
safe-discard:estimator=omniscient: does not see the opponent's hand
safe-discard:caution=-1: caution must be from .* not -1
safe-discard:caution=much: caution must be a number
safe-discard:draw=1: draw must be True or False
safe-discard:knock=yes: knock must be True or False
cfr:candidates=best: unknown candidates 'best'; choose from least
cfr:purified=1: purified must be True or False
cfr:table=7: table must be a path
cfr:table=nowhere.npz: no strategy table nowhere.npz
fitness-cfr:factors=deadwood: factors must be a collection
fitness-cfr:factors=deadwod+: unknown factor 'deadwod'; choose from deadwood
fitness-cfr:early_knock=-1: early_knock must be from .* not -1
heuristics:reading=backwards: unknown reading 'backwards'; choose from
offensive:network=nothing: unknown network 'nothing'
offensive:network=missing.safetensors: there is no hand-strength network
defensive:estimator=nobody: unknown estimator
balanced:risk_weight=-1: risk_weight must be from .* not -1
generation:knock=never: unknown knock 'never'; choose from value, simple
policy:margin=-1: margin
policy:margin=nan: margin
policy:margin=small: margin
search:samples=1: samples
search:turns=0: turns
search:tried=1: tried
search:caution=-1: caution
search:opponent=nobody: unknown bot 'nobody'
search:opponent=search: does not search
search:opponent=search:opponent=simple: does not search
search:budget_ms=-5: budget_ms
search:budget_ms=soon: budget_ms
search:policy=nowhere.safetensors: nowhere
search:opponent=policy,estimator=omniscient: must not see hidden cards
search:estimator=uniform: needs an opponent
"""


@pytest.mark.parametrize("line", WRONG.split("\n")[1:-1])
def test_wrong_name_or_parameter_says_what_is_wrong(line):
    name, message = re.match(r"(\S+): (.*)", line).groups()
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message):
        agents.make(name)


def test_parameters_and_bots_of_other_types_raise():
    with pytest.raises(ValueError, match="'knock_at' is given twice"):
        agents.make("simple:knock_at=4", knock_at=6)
    with pytest.raises(TypeError, match="knock_at must be an integer"):
        agents.make("simple", knock_at="4")
    with pytest.raises(TypeError, match="a bot's name must be a string"):
        agents.make(4)


def test_bot_is_named_by_its_parameters():
    assert agents.make("tonic").name == "tonic"
    assert agents.make("tonic:break_pairs=true,held=0.9").name == "tonic:break_pairs=true,held=0.9"
    assert agents.make("tonic", keep_pairs_below=[21, 0]).name == "tonic:keep_pairs_below=21+0"
    bot = agents.make("safe-discard:estimator=bayes:least_observations=70")
    assert bot.estimator.name == "bayes:least_observations=70"
    assert bot.name == "safe-discard:estimator=bayes:least_observations=70"
