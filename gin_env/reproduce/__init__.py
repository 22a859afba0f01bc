"""Every published table and figure as an experiment that anybody can run: ``gin-rummy reproduce``.

An experiment (`experiments.Experiment`) measures rows, flat records of numbers and texts. A result
(`results.Result`) is these rows with all that identifies them: the bots spelled out with every parameter,
their files and a hash of their decisions, seed, games, command, release and date; one JSON file each, in the
repository's folder ``results``. The tables in docs/results and the pictures are made from these files
(`pages`), never by hand.
"""
