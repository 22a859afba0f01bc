"""The environments: PettingZoo, Gymnasium, and PettingZoo's former `gin_rummy_v4`."""
