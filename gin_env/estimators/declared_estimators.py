"""The declarations of the estimators: one entry each, from which every list of estimators is derived."""

from __future__ import annotations

from gin_env.support.registry import Declaration, Registry

_FREQUENCIES = {"table": "data/frequencies_{}.npz"}

_DECLARATIONS = {
    "uniform": Declaration("extremes:UniformEstimator", "Every unknown card equally likely"),
    "omniscient": Declaration("extremes:OmniscientEstimator", "The true hand, for comparisons only"),
    "logistic": Declaration(
        "logistic:LogisticEstimator",
        "Raises and lowers cards by what the opponent takes and discards (Larkin et al. 2021)",
    ),
    "bayes": Declaration(
        "bayes:BayesEstimator",
        "Bayes' rule on discards and draws, from counted frequencies (Francis et al. 2021)",
        files_by_parameter=_FREQUENCIES,
    ),
    "bayes-isru": Declaration(
        "bayes_isru:BayesIsruEstimator",
        "Bayes with suited and unsuited frequencies (Truong and Neller 2021)",
        files_by_parameter=_FREQUENCIES,
    ),
    "nn": Declaration(
        "neural:NnEstimator",
        "A dense network on the last turns (Francis et al. 2021)",
        needs_torch=True,
        files_by_parameter={"weights": "data/nn_{}.safetensors"},
    ),
    "shankar-cnn": Declaration(
        "neural:ShankarCnnEstimator",
        "A convolutional network on the Shankar array (Francis et al. 2021)",
        needs_torch=True,
        files_by_parameter={"weights": "data/shankar_cnn_{}.safetensors"},
    ),
    "ensemble": Declaration(
        "ensemble:EnsembleEstimator",
        "Networks weighted by turn, or by how well they predicted so far (Francis et al. 2021)",
        needs_torch=True,
        files_by_parameter={"table": "data/ensemble_simple.npz"},
    ),
    "suit-equivariant": Declaration(
        "neural:SuitEquivariantEstimator",
        "A network that treats all suits alike; the best by log loss",
        needs_torch=True,
        files_by_parameter={"weights": "data/suit_equivariant_{}.safetensors"},
    ),
}
ESTIMATORS = Registry("gin_env.estimators", _DECLARATIONS)
