"""Every published table and figure as a reproducible experiment: ``gin-rummy reproduce``.

An experiment (`experiment.Experiment`) measures rows, which are flat records of numbers and texts. A result
(`results.Result`) is a JSON file in the repository's folder ``results``. It holds these rows and everything
that identifies them: each bot with all of its parameters, its files and a hash of its decisions, and the
seed, number of games, command, release and date. The tables in docs/results and the pictures are generated
from these files (`pages`), never edited by hand.
"""
