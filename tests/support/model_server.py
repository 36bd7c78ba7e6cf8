#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""model_server.py FOLDER --log FILE: a web server on 127.0.0.1 for tests of remote reading.

Prints "PORT OTHER_PORT" when it listens, and ends when standard input is closed. Both ports serve the files
of FOLDER with ranges and strong tags, as two sites. Each request is a line of JSON in the log: port, path,
range, status, bytes sent, and whether it had credentials.

  /hub/api/models/ORG/REPO/refs, .../tree/COMMIT, /hub/ORG/REPO/resolve/COMMIT/FILE
      a hub over the files of FOLDER/hub/ORG/REPO, which sends to the other site for files; the digests
      that it names for a REPO `wrong` are, and those of `upper` are in upper case
  /hub/api/models?author=ORG
      the repositories of ORG
  /v2/NS/MODEL/manifests/TAG, /v2/NS/MODEL/blobs/DIGEST
      a registry over FOLDER/v2/NS/MODEL/TAG.gguf
  /files/FILE      the same as /FILE
  /other/FILE      redirects to the other site
  /no-range/FILE   ignores ranges
  /busy/FILE       is busy the first time
  /broken/FILE     ends the body in its middle the first time
  /changing/FILE   has another tag each time
  /slow/FILE       sends 4 MB each second
  /huge/FILE       states a size of 2^58 bytes
  /twice/FILE      states two sizes
"""
import hashlib
import json
import pathlib
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

FOLDER = pathlib.Path(sys.argv[1]).resolve()
LOG = open(sys.argv[sys.argv.index("--log") + 1], "a", buffering=1, encoding="utf-8")
KINDS = ("files", "no-range", "busy", "broken", "changing", "slow", "huge", "twice")
COMMIT = "c0ffee" + "0" * 34
LOCK = threading.Lock()
SEEN = {}
SERVERS = []


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers=(), body=b"", cut=None):
        sent = body if cut is None else body[:cut]
        # Before the answer, so that whoever has it finds the line.
        with LOCK:
            LOG.write(json.dumps({
                "port": self.server.server_port, "path": self.path, "range": self.headers.get("Range"),
                "status": status, "sent": len(sent),
                "credentials": self.headers.get("Authorization") is not None}) + "\n")
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            while sent and self.path.startswith("/slow/"):
                self.wfile.write(sent[:200_000])
                sent = sent[200_000:]
                time.sleep(0.05)
            self.wfile.write(sent)
        except OSError:
            pass
        if cut is not None:
            self.close_connection = True

    def answer_json(self, value):
        self.answer(200, [("Content-Type", "application/json")], json.dumps(value).encode())

    def count(self):
        with LOCK:
            SEEN[self.path] = SEEN.get(self.path, 0) + 1
            return SEEN[self.path]

    def other_site(self):
        return next(server.server_port for server in SERVERS
                    if server.server_port != self.server.server_port)

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        parts = path.strip("/").split("/")
        if parts[0] == "hub":
            return self.hub(parts[1:])
        if parts[0] == "v2":
            return self.registry(parts[1:])
        if parts[0] == "other":
            target = f"http://127.0.0.1:{self.other_site()}/{'/'.join(parts[1:])}?signature=secret"
            return self.answer(302, [("Location", target)])
        kind = parts[0] if parts[0] in KINDS else ""
        return self.file(FOLDER.joinpath(*parts[1 if kind else 0:]), kind)

    def file(self, path, kind):
        count = self.count()
        if not path.is_file() or not path.resolve().is_relative_to(FOLDER):
            return self.answer(404)
        if kind == "busy" and count == 1:
            return self.answer(503, [("Retry-After", "1")])
        size, changed = path.stat().st_size, path.stat().st_mtime_ns
        tag = f'"{size:x}-{changed:x}"'
        if kind == "changing":
            tag = f'"{count}"'
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range") or "")
        if not match or kind == "no-range" or self.headers.get("If-Range") not in (None, tag):
            return self.answer(200, [("ETag", tag)], path.read_bytes())
        first, last = int(match[1]), min(int(match[2]), size - 1)
        if first >= size:
            return self.answer(416, [("Content-Range", f"bytes */{size}")])
        with open(path, "rb") as file:
            file.seek(first)
            piece = file.read(last + 1 - first)
        cut = len(piece) // 2 if kind == "broken" and count == 1 else None
        ranges = [("Content-Range", f"bytes {first}-{last}/{1 << 58 if kind == 'huge' else size}")]
        if kind == "twice":
            ranges.append(("Content-Range", f"bytes {first}-{last}/{size + 1}"))
        return self.answer(206, [("ETag", tag), *ranges], piece, cut)

    def hub(self, parts):
        if parts[:2] == ["api", "models"] and len(parts) == 2:
            author = parse_qs(urlsplit(self.path).query)["author"][0]
            return self.answer_json([{"id": f"{author}/{path.name}"}
                                     for path in sorted((FOLDER / "hub" / author).iterdir())])
        if parts[0] == "api":
            folder = FOLDER / "hub" / parts[2] / parts[3]
            if not folder.is_dir():
                return self.answer(401, [("X-Error-Code", "RepoNotFound")])
            if parts[4] == "refs":
                return self.answer_json({"branches": [{"name": "main", "targetCommit": COMMIT}], "tags": []})
            return self.answer_json([
                {"type": "file", "path": str(path.relative_to(folder)), "size": path.stat().st_size,
                 "lfs": {"oid": "0" * 64 if parts[3] == "wrong" else
                                sha256(path).upper() if parts[3] == "upper" else sha256(path),
                         "size": path.stat().st_size}}
                for path in sorted(folder.rglob("*")) if path.is_file()])
        path = FOLDER.joinpath("hub", parts[0], parts[1], *parts[4:])
        if not path.is_file():
            return self.answer(404, [("X-Error-Code", "EntryNotFound")])
        target = f"http://127.0.0.1:{self.other_site()}/files/{path.relative_to(FOLDER)}?signature=secret"
        return self.answer(302, [("Location", target), ("X-Linked-Size", str(path.stat().st_size)),
                                 ("X-Linked-Etag", f'"{sha256(path).upper()}"')])

    def registry(self, parts):
        folder = FOLDER.joinpath("v2", *parts[:2])
        if parts[2] == "manifests":
            path = folder / (parts[3] + ".gguf")
            if not path.is_file():
                return self.answer(404)
            return self.answer_json({"layers": [
                {"mediaType": "application/vnd.ollama.image.model", "size": path.stat().st_size,
                 "digest": "sha256:" + sha256(path)}]})
        for path in folder.glob("*.gguf"):
            if "sha256:" + sha256(path) == parts[3]:
                return self.file(path, "")
        return self.answer(404)


class Server(ThreadingHTTPServer):
    def handle_error(self, *_):
        pass  # a client that has seen enough closes the connection


for _ in range(2):
    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    SERVERS.append(server)
for server in SERVERS:
    threading.Thread(target=server.serve_forever, daemon=True).start()
print(*(server.server_port for server in SERVERS), flush=True)
sys.stdin.read()
