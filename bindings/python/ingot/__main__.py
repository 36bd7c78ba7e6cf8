# SPDX-License-Identifier: MIT
"""python3 -m ingot ARGS: runs the program `ingot`, the one that came with this package if one did."""
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from typing import List, Optional, Union


def find_program() -> Optional[str]:
    """The path of the program: where an installer has put it, in a build folder beside the package, or
    one that is on PATH."""
    name = "ingot.exe" if os.name == "nt" else "ingot"
    package = pathlib.Path(__file__).parent
    user = sysconfig.get_path("scripts", f"{os.name}_user")
    folders: List[Union[str, pathlib.Path]] = [
        sysconfig.get_path("scripts"), user, package.parent / "bin", package.parent.parent / "bin"]
    for folder in folders:
        path = pathlib.Path(folder, name)
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    return shutil.which(name)


def main(arguments: List[str]) -> int:
    program = find_program()
    if program is None:
        print("ingot: the program is not there: this package was built without it, and none is on PATH",
              file=sys.stderr)
        return 127
    if os.name == "nt":
        return subprocess.run([program, *arguments], check=False).returncode
    os.execv(program, ["ingot", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
