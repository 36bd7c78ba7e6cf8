# SPDX-License-Identifier: MIT
"""python3 -m ingot.gguf SCRIPT ARGS: runs a script of gguf-py with this package in place of gguf."""
import importlib.util
import os
import runpy
import sys
import types

import ingot.gguf


class _Quiet:
    """The part of tqdm that scripts use, if that is not installed."""

    def __init__(self, iterable: object = None, **_: object) -> None:
        self._iterable = iterable

    def __iter__(self) -> object:
        return iter(self._iterable)  # type: ignore[call-overload]

    def update(self, amount: int = 1) -> None:
        """Shows nothing."""

    def close(self) -> None:
        """Shows nothing."""


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit("usage: python3 -m ingot.gguf SCRIPT ARGS...")
    os.environ["NO_LOCAL_GGUF"] = "1"  # a script must not prefer the package beside it
    sys.modules["gguf"] = ingot.gguf
    for name, module in list(sys.modules.items()):
        if name.startswith("ingot.gguf."):
            sys.modules[name[len("ingot."):]] = module
    if importlib.util.find_spec("tqdm") is None:
        stand_in = types.ModuleType("tqdm")
        stand_in.tqdm = _Quiet  # type: ignore[attr-defined]
        sys.modules["tqdm"] = stand_in
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
