#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""write_zip.py ARCHIVE FOLDER: packs the files below FOLDER into a ZIP, in order of their names and with the time of
SOURCE_DATE_EPOCH, so that the same files give the same archive."""
import os
import pathlib
import sys
import time
import zipfile

archive, folder = sys.argv[1], pathlib.Path(sys.argv[2])
when = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))[:6]
with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as output:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            output.writestr(entry, path.read_bytes())
