"""The declarations of the estimators: one entry each, from which every list of estimators is derived."""

from __future__ import annotations

from typing import Any

from gin_env.support.registry import Declaration, Registry

_FREQUENCIES = {"table": "data/frequencies_{}.npz"}

ESTIMATORS: Registry[Any] = Registry(
    "gin_env.estimators",
    {
        "uniform": Declaration("uniform:UniformEstimator"),
        "omniscient": Declaration("omniscient:OmniscientEstimator"),
        "logistic": Declaration("logistic:LogisticEstimator"),
        "bayes": Declaration("bayes:BayesEstimator", files_by_parameter=_FREQUENCIES),
        "bayes-isru": Declaration("bayes_isru:BayesIsruEstimator", files_by_parameter=_FREQUENCIES),
        "nn": Declaration(
            "neural:NnEstimator", needs_torch=True, files_by_parameter={"weights": "data/nn_{}.safetensors"}
        ),
        "shankar-cnn": Declaration(
            "neural:ShankarCnnEstimator",
            needs_torch=True,
            files_by_parameter={"weights": "data/shankar_cnn_{}.safetensors"},
        ),
        "ensemble": Declaration(
            "ensemble:EnsembleEstimator",
            needs_torch=True,
            files_by_parameter={"table": "data/ensemble_simple.npz"},
        ),
        "suit-equivariant": Declaration(
            "neural:SuitEquivariantEstimator",
            needs_torch=True,
            files_by_parameter={"weights": "data/suit_equivariant_{}.safetensors"},
        ),
    },
)
