"""The commands of ``gin-rummy``, one module per group; `gin_env.cli` combines them."""
