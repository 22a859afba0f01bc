"""Programs in Python processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys


def run_python(
    *arguments: object, status: int = 0, cwd=None, input=None, timeout=None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments and return the ended process, which must have this exit status."""
    options = {"cwd": cwd, "input": input, "timeout": timeout, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, *map(str, arguments)], env=os.environ | environment, **options)
    assert done.returncode == status, done.stderr
    return done
