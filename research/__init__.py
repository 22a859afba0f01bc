"""The laboratory: what makes the published tables and the shipped files. Never imported by `gin_env`."""
