"""The retraining loop: rollouts, experience, fit, gate."""
