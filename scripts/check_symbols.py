#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_symbols.py LIBRARY [ABI [--update]]: what libingot.a or libingot.so defines and calls.

  calls    nothing that prints, exits or aborts: a library leaves that to its user
  defines  only ingot_* (C) and ingot:: (C++), so that it cannot clash with anything
  ABI      a list of every C function: programs that were linked once find them all again, and a
           new one is a visible line of a change. --update writes the list anew.

Meant for release builds; assertions of debug builds may abort.
"""
import pathlib
import re
import subprocess
import sys

# snprintf is not here: it writes to memory. Nor is std::terminate: the compiler calls it where an
# exception would leave a noexcept function, and std::bad_alloc in one is as good as an abort.
FORBIDDEN = re.compile(
    r"(_?exit|_Exit|quick_exit|at_quick_exit|atexit|abort|raise|kill"
    r"|(__)?(v?f?printf|v?dprintf|v?fw?printf|v?wprintf|v?sprintf)(_chk)?"
    r"|f?puts|f?putc|putchar|fwrite|perror|psignal|syslog|stdout|stderr|__assert_fail|longjmp"
    r"|std::(cout|cerr|clog|wcout|wcerr|wclog)|std::(exit|abort|__glibcxx_assert_fail)\b.*)")

# Parts of the compiler's own making that belong to a class or function of ours.
GENERATED = (r"(typeinfo|typeinfo name|vtable|VTT|guard variable|non-virtual thunk|virtual thunk"
             r"|construction vtable|reference temporary #\d+) (for|to) ")
ALLOWED = re.compile(rf"({GENERATED})?(ingot::.*|ingot_\w+)$|.* ingot::[\w:~<>]+(\[abi:\w+\])?\(.*")


def symbols(library, *options):
    """(type, name) of every symbol that `nm` lists."""
    listing = subprocess.run(["nm", "-C", "--no-sort", *options, library],
                             capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        match = re.match(r"[0-9a-f ]{16} (\S) (.+)$", line)
        if match:
            yield match[1], match[2]


def check_abi(functions, path, is_update):
    heading = "# SPDX-License-Identifier: MIT\n# Every function of the C interface. None ever goes.\n"
    if is_update:
        path.write_text(heading + "".join(f"{name}\n" for name in sorted(functions)), encoding="ascii")
    listed = {line for line in path.read_text(encoding="ascii").splitlines()
              if not line.startswith("#")}
    yield from (f"does not define {name} of {path}" for name in listed - functions)
    yield from (f"defines {name}, which {path} does not list (--update)"
                for name in functions - listed)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    library = sys.argv[1]
    is_shared = ".so" in library
    scope = ["--dynamic"] if is_shared else []

    findings = set()
    for _, name in symbols(library, "--undefined-only", *scope):
        if FORBIDDEN.fullmatch(name.split("@")[0]):
            findings.add(f"calls {name.split('@')[0]}")
    count = 0
    functions = set()
    for kind, name in symbols(library, "--defined-only", "--extern-only", *scope):
        # Weak symbols of an archive are instances of inline functions, which every user has too.
        if kind in "WVu" and not is_shared:
            continue
        count += 1
        if re.fullmatch(r"ingot_\w+", name):
            functions.add(name)
        if not ALLOWED.match(name):
            findings.add(f"defines {name}")
    if count == 0:
        findings.add("defines nothing: is this the right file?")
    if len(sys.argv) > 2:
        findings.update(check_abi(functions, pathlib.Path(sys.argv[2]), "--update" in sys.argv))
    for finding in sorted(findings):
        print(f"{library}: {finding}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
