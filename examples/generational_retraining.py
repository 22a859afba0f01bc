"""The generational loop: every generation learns from where its decisions led, and must beat the last one.

Truong and Neller 2021 trained one generation and wrote: "the training cycle could be repeated". This script
repeats such a cycle with a network of its own, which decides draws and knocks too (``python -m research run
truong2021/loop`` repeats the paper's):

    python examples/generational_retraining.py                                # the shipped bot `generation`
    python examples/generational_retraining.py --folder runs/quick --generations 2 --settings.hands 16384
    python examples/generational_retraining.py --folder runs/quick --generations 4      # resumes there
    python examples/generational_retraining.py --folder runs/frozen --settings.knock simple   # an ablation
    gin-rummy match runs/generations/generation-6.safetensors tonic

The ablation freezes the knock to Simple's. The networks of all generations, ``history.json`` and
``win_rates.png`` go to the folder. `gin-rummy train generations` is the same; the loop itself is
`gin_env.training.generations.loop`.
"""

from gin_env.support.exits import one_line_errors
from gin_env.training.generations.loop import climb, read_command

if __name__ == "__main__":
    with one_line_errors("generational_retraining.py"):
        climb(read_command("generational_retraining.py", __doc__))
