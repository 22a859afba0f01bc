"""What an experiment is, its results, and the pages made of them: ``python -m research run``.

An experiment (`experiment.Experiment`) measures rows, which are flat records of numbers and texts. A result
(`results.Result`) is a JSON file in the folder ``research/results``. It holds these rows and everything
that identifies them: each bot with all of its parameters, its files and a hash of its decisions, and the
seed, number of games, command, release and date. The tables in docs/results and the pictures are generated
from these files (`pages`), never edited by hand.
"""
