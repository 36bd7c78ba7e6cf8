# SPDX-License-Identifier: MIT
"""The wheel and the sdist, made without a network from what the build has compiled already."""
import os
import pathlib
import subprocess
import sys
import tarfile
import zipfile

import pytest

import ingot

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "bindings" / "python"))
import build_backend  # noqa: E402

# What this process runs with, build/release/python, is below the folder that the wheel is made from.
BUILD = pathlib.Path(ingot.__file__).parent.parent.parent


def run(command, folder, **environment):
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([str(word) for word in command], cwd=folder, check=False, text=True,
                          capture_output=True, env={**variables, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def settings(root):
    if not (BUILD / "CMakeCache.txt").is_file():
        pytest.skip("the package is not used where it was built")
    return f"build-dir={BUILD}"


def test_pip_installs_the_tree(root, settings, tmp_path, model_path):
    run([sys.executable, "-m", "venv", "--system-site-packages", "env"], tmp_path)
    run(["env/bin/pip", "install", "--no-index", "--no-build-isolation", "--config-settings",
         settings, root], tmp_path)
    script = ("import ingot, sys\nmodel = ingot.open(sys.argv[1])\n"
              "print(ingot.__file__, ingot.__version__, len(model.tensors))")
    place, version, tensors = run(["env/bin/python", "-c", script, model_path], tmp_path).split()
    assert place.startswith(str(tmp_path)) and version == ingot.__version__ and tensors == "3"
    if "INGOT_BUILD_PROGRAM:BOOL=ON" not in (BUILD / "CMakeCache.txt").read_text():
        return
    for program in (["env/bin/ingot"], ["env/bin/python", "-m", "ingot"]):
        assert ingot.__version__ in run([*program, "--version"], tmp_path, PATH="/nowhere")
    (tmp_path / "env/bin/ingot").unlink()
    missing = subprocess.run([tmp_path / "env/bin/python", "-m", "ingot"], env={"PATH": "/nowhere"}, check=False,
                             capture_output=True, text=True)
    assert missing.returncode == 127 and "built without it" in missing.stderr


def test_the_archives_hold_what_they_need(root, settings, tmp_path):
    run([sys.executable, "-m", "build", "--no-isolation", "--wheel", "--sdist", "--config-setting",
         settings, "--outdir", tmp_path, root], tmp_path)
    wheel, = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        record = archive.read(f"ingot-{ingot.__version__}.dist-info/RECORD").decode()
    assert {"ingot/__init__.py", "ingot/_core.pyi", "ingot/py.typed"} <= names
    module, = (name for name in names if name.startswith("ingot/_core") and name.endswith(".so"))
    assert len(record.splitlines()) == len(names)
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert f"-{tag}-{tag}-linux_" in wheel.name
    sdist, = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {"PKG-INFO", "CMakeLists.txt", "pyproject.toml", "LICENSE",
            "bindings/python/build_backend.py", "bindings/python/src/python_module.cpp",
            "include/ingot/model.hpp", "src/CMakeLists.txt"} <= held
    # Every file that CMake wants is there.
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "sources")
    run(["cmake", "-G", "Ninja", "-S", next((tmp_path / "sources").iterdir()),
         "-B", tmp_path / "configured", "-D", "INGOT_BUILD_PYTHON=ON", "-D", f"INGOT_PYTHON={sys.executable}",
         *(f"-DINGOT_{part}=OFF" for part in build_backend.LEFT_OUT)], tmp_path)
    assert not [name for name in held if name.startswith(("tests", "fuzz", "build"))]
