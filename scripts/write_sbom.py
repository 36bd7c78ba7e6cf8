#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""write_sbom.py NAME FOLDER PACKAGE=SOURCE=VERSION...: prints what an archive is made of, as SPDX 2.3 in JSON: its
files with their digests, and the Debian PACKAGEs that are linked to or compiled in.

The time is that of SOURCE_DATE_EPOCH, so that the same sources give the same document.
"""
import datetime
import hashlib
import json
import os
import pathlib
import sys

# What the packages declare of the files that are linked or compiled in.
LICENCES = {
    "libc6-dev": "LGPL-2.1-or-later",
    "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libssl-dev": "Apache-2.0",
    "zlib1g-dev": "Zlib",
    "mingw-w64-x86-64-dev": "ZPL-2.1",
    "gcc-mingw-w64-base": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libz-mingw-w64-dev": "Zlib",
    "libyaml-dev": "MIT",
    "libsqlite3-dev": "blessing",
    "libfmt-dev": "MIT",
    "libcli11-dev": "BSD-3-Clause",
    "nlohmann-json3-dev": "MIT",
    "libxxhash-dev": "BSD-2-Clause",
    "libhwy-dev": "Apache-2.0",
    "libexpected-dev": "CC0-1.0",
}


def digests_of(path):
    data = path.read_bytes()
    return [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, data).hexdigest()}
            for name in ("sha1", "sha256")]


def package(identifier, name, version, licence, **more):
    return {"SPDXID": identifier, "name": name, "versionInfo": version, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **more}


def debian_package(text):
    """PACKAGE=SOURCE=VERSION as a part."""
    name, source, version = text.split("=")
    locator = f"pkg:deb/debian/{source}@{version}?distro=bookworm"
    return package(f"SPDXRef-{name.replace('+', 'p')}", source, version, LICENCES[name],
                   externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": locator}])


def main():
    name, folder, *packages = sys.argv[1:]
    folder = pathlib.Path(folder)
    version = name.split("-")[1]
    files = [{"SPDXID": f"SPDXRef-File-{index}", "fileName": f"./{path.relative_to(folder)}",
              "checksums": digests_of(path), "licenseConcluded": "NOASSERTION",
              "copyrightText": "NOASSERTION"}
             for index, path in enumerate(sorted(folder.rglob("*"))) if path.is_file()]
    own = package("SPDXRef-ingot", "ingot", version, "MIT")
    parts = [debian_package(part) for part in packages]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], "CONTAINS", file["SPDXID"]) for file in files]
    relations += [(part["SPDXID"], "STATIC_LINK", own["SPDXID"]) for part in parts]
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    digest = hashlib.sha256(json.dumps(files).encode()).hexdigest()
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": name, "documentNamespace": f"urn:ingot:{name}:{digest}",
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: write_sbom.py"]},
        "packages": [own, *parts], "files": files,
        "relationships": [{"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                          for one, kind, other in relations]}, indent=1))


if __name__ == "__main__":
    main()
