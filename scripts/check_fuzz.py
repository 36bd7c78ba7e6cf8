#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_fuzz.py: every public function is called by a fuzz target.

Public is what a header in include/ingot marks with INGOT_EXPORT outside of a class, and every
function of ingot.h. A class is covered if a target names it. The exceptions below say why.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Functions that no target has to name.
EXCEPT = {
    "as_array", "get_bool", "get_double", "get_float", "get_signed", "get_string",
    "get_unsigned",  # Value::get and Array::get call them
    "out_of_range",  # Array::get
    "ThreadTeam",  # spread
    "output_of", "stream_tensor", "stream_tensors",  # what the conversions are made of
    "OutputSet", "SharedSearch", "HeldFiles",  # what the conversions write with
    "RemoteStore", "RemoteOpening", "download", "ingot_open_remote", "open_remote", "open_remote_async",
    "remote_options", "remote_cache_folder", "list_remote_cache", "clear_remote_cache",  # they need a server,
    "list_local_models", "local_stores", "find_this_machine",  # or the environment
    "ingot_quantize_model",  # plan_quantization and quantize_model behind a boundary
    "Conversion", "Source", "Store", "TensorSink",  # interfaces: their makers are called
}


def functions_of(header):
    """Names of the functions that a header exports."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", header.read_text(), flags=re.S)
    text = re.sub(r"\[\[.*?\]\]|^#.*?[^\\]$", "", text, flags=re.M)
    for match in re.finditer(r"\bINGOT_EXPORT\s+(?!class)([^;{()]*?)\b(\w+)\s*\(", text):
        yield match[2]
    for match in re.finditer(r"\bclass\s+INGOT_EXPORT\s+(\w+)", text):
        yield match[1]


def main():
    targets = "\n".join(path.read_text() for path in sorted((ROOT / "fuzz").glob("fuzz_*.cpp")))
    called = set(re.findall(r"\w+", targets))
    headers = sorted((ROOT / "include/ingot").glob("*.h*"))
    exported = {name: header.name for header in headers for name in functions_of(header)}
    if len(exported) < 100:
        print(f"only {len(exported)} functions found; has the layout of the headers changed?")
        return 1
    failed = 0
    for name, header in sorted(exported.items(), key=lambda item: (item[1], item[0])):
        if name not in called and name not in EXCEPT:
            print(f"{header}: no fuzz target names {name}")
            failed = 1
    for name in sorted(EXCEPT - set(exported)):
        print(f"{name} is excepted, and no header exports it")
        failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
