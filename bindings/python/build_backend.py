# SPDX-License-Identifier: MIT
"""Builds the wheel and the sdist of the Python package (PEP 517), with CMake and nothing else.

Setting `build-dir` (`pip install --config-settings build-dir=build/release .`) names a folder that is
configured already; else build/python is used, and the library, the module and the program are built,
with what the variable CMAKE_ARGS adds: `-D INGOT_BUILD_PROGRAM=OFF` leaves out the program.
"""
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGE = pathlib.Path(__file__).resolve().parent / "ingot"

# What a build needs of the tree.
IN_SDIST = ("CMakeLists.txt", "LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml",
            "bindings", "cmake", "include", "src", "tools")
# The options of CMake for what no wheel needs.
LEFT_OUT = ("BUILD_TESTS", "BUILD_FUZZ", "BUILD_EXAMPLES", "INSTALL")
EPOCH = 315532800  # 1980, the first year that a zip file can hold: archives are reproducible


def version():
    header = (ROOT / "include" / "ingot" / "version.h").read_text(encoding="utf-8")
    return ".".join(re.search(rf"INGOT_VERSION_{part} (\d+)", header)[1]
                    for part in ("MAJOR", "MINOR", "PATCH"))


def metadata():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return (f"Metadata-Version: 2.1\nName: ingot\nVersion: {version()}\n"
            "Summary: Read, edit, quantize, convert and check GGUF model files\n"
            "License: MIT\nRequires-Python: >=3.9\nRequires-Dist: numpy\n"
            "Classifier: Programming Language :: Python :: 3\n"
            "Classifier: Programming Language :: C++\nClassifier: Typing :: Typed\n"
            f"Description-Content-Type: text/markdown\n\n{readme}")


def tag():
    """The wheel is for this interpreter and this kind of machine."""
    abi = "cp" + sysconfig.get_config_var("py_version_nodot")
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return f"{abi}-{abi}-{platform}"


def build(settings):
    """Returns the paths of the module and of the program; None for a program that is not built."""
    named = (settings or {}).get("build-dir")
    folder = ROOT / (named or "build/python")
    if not named:
        configure = ["cmake", "-S", ROOT, "-B", folder, "-D", "CMAKE_BUILD_TYPE=Release",
                     "-D", "CMAKE_UNITY_BUILD=ON",
                     "-D", "INGOT_BUILD_PYTHON=ON", "-D", f"INGOT_PYTHON={sys.executable}"]
        for part in LEFT_OUT:
            configure += ["-D", f"INGOT_{part}=OFF"]
        configure += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        if shutil.which("ninja"):
            configure += ["-G", "Ninja"]
        run(configure)
    cache = (folder / "CMakeCache.txt").read_text(encoding="utf-8")
    has_program = re.search(r"^INGOT_BUILD_PROGRAM:BOOL=(ON|1|TRUE|YES)$", cache, re.MULTILINE | re.IGNORECASE)
    targets = ["ingot_python", "ingot_program"] if has_program else ["ingot_python"]
    run(["cmake", "--build", folder, "--target", *targets, "--parallel",
         str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())])
    name = "_core" + sysconfig.get_config_var("EXT_SUFFIX")
    program = folder / "bin" / ("ingot.exe" if os.name == "nt" else "ingot")
    return folder / "python" / "ingot" / name, program if has_program else None


def run(command):
    subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)


def package_files(module):
    """Names in the wheel, and their content."""
    files = {}
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".pyi") or path.name == "py.typed":
            files["ingot/" + path.relative_to(PACKAGE).as_posix()] = path.read_bytes()
    files["ingot/" + module.name] = stripped(module)
    return files


def stripped(file):
    """A module or a program without symbols that nobody looks up."""
    if not shutil.which("strip"):
        return file.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / file.name
        run(["strip", "--strip-unneeded", "-o", target, file])
        return target.read_bytes()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    module, program = build(config_settings)
    files = package_files(module)
    if program is not None:  # Installers put it where those of Python are.
        files[f"ingot-{version()}.data/scripts/{program.name}"] = stripped(program)
    info = f"ingot-{version()}.dist-info"
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: ingot\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag()}\n").encode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n"
                     for name, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    name = f"ingot-{version()}-{tag()}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            is_run = ".so" in path or "/scripts/" in path
            # Of a plain file: installers look at that before they let it run.
            entry.external_attr = (stat.S_IFREG | (0o755 if is_run else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return name


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def sources():
    for name in IN_SDIST:
        path = ROOT / name
        found = [path] if path.is_file() else sorted(path.rglob("*"))
        yield from (one for one in found if one.is_file() and "__pycache__" not in one.parts)


def build_sdist(sdist_directory, config_settings=None):
    base = f"ingot-{version()}"
    with open(os.path.join(sdist_directory, base + ".tar.gz"), "wb") as target, \
            gzip.GzipFile("", "wb", fileobj=target, mtime=EPOCH) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        add(archive, f"{base}/PKG-INFO", metadata().encode())
        for path in sources():
            add(archive, f"{base}/{path.relative_to(ROOT).as_posix()}", path.read_bytes())
    return base + ".tar.gz"


def add(archive, name, content):
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(content), EPOCH, 0o644
    archive.addfile(entry, io.BytesIO(content))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = f"ingot-{version()}.dist-info"
    folder = pathlib.Path(metadata_directory) / info
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(metadata(), encoding="utf-8")
    (folder / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: ingot\nRoot-Is-Purelib: false\n"
                                  f"Tag: {tag()}\n", encoding="utf-8")
    return info


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []
