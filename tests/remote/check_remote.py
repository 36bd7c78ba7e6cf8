#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_remote.py PROGRAM: remote reading against a server that misbehaves on request.

  headers   how many ranges and bytes headers of four lengths take, counted by the server
  shards    the first ranges of five shards are on their way at the same time
  faults    each fault gives the right answer or one clear error, with its status, in little memory and time
  kills     a download that is killed again and again gets right, and fetches nothing twice that it noted
  secrets   the token is seen by the hub alone, and by nobody who looks at the output

The server is golden/remote/faulty_server.py of $INGOT_SHARED; without it, or without libcurl, this is skipped.
"""
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared")
SERVER = SHARED / "golden" / "remote" / "faulty_server.py"
IS_INSTRUMENTED = os.environ.get("INGOT_INSTRUMENTED", "0") != "0"
MOST_MEMORY_KIB = 64 << 10
TOKEN = "good"  # the one that the server accepts
SHORT_TIMES = ["--connect-timeout", "3", "--answer-timeout", "3", "--stall-timeout", "1",
               "--open-timeout", "6", "--retries", "2"]

# (tokens, bytes of each, tensors): ranges at most, bytes at most
HEADERS = {
    "h10k": ((0, 0, 150), 1, 1 << 20),
    "h800k": ((40_000, 8, 300), 1, int(1.1 * (1 << 20))),
    "h6m": ((260_000, 14, 500), 2, 6_500_000),
    "h20m": ((800_000, 16, 1_000), 3, 19_900_000),
}
# Fault: status for a header in one range, and for one in two.
FAULTS = {
    "norange": (0, 0), "nolength": (4, 4), "status:401": (4, 4), "status:403": (4, 4),
    "status:404": (4, 4), "status:416": (4, 4), "status:429": (4, 4), "status:500": (4, 4),
    "status:503": (4, 4), "flaky:2": (0, 0), "drop:900000": (0, 0), "drop1:1000": (0, 0),
    "slow:200": (4, 4), "slow:5000000": (0, 0), "stall:1000": (4, 4), "endless": (4, 4),
    "bomb": (3, 3), "liarlong": (0, 0), "liarshort": (0, 0), "wrongrange": (3, 3),
    "shiftrange": (3, 3), "changing": (0, 4), "noetag": (0, 0), "weaketag": (0, 0),
    "redirect:3": (0, 0), "redirect:9": (3, 3), "loop": (3, 3), "cross": (0, 0), "rel": (0, 0),
    "schema:file": (3, 3), "schema:ftp": (3, 3), "schema:gopher": (3, 3), "lfs": (0, 0),
    "multipart": (3, 3), "noaccept": (0, 0), "badcrlf": (0, 0), "bighead": (3, 3),
    "flaky:1/f/cross": (0, 0),
}

failures = []


def expect(condition, message):
    if not condition:
        failures.append(message)
        print("FAILED:", message)


def text(value):
    return struct.pack("<Q", len(value)) + value


def write_model(path, tokens, token_bytes, tensors):
    header = bytearray(b"GGUF" + struct.pack("<IQQ", 3, tensors, 2 if tokens else 1))
    header += text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")
    if tokens:
        header += text(b"tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, tokens)
        header += b"".join(text(b"%0*d" % (token_bytes, i)) for i in range(tokens))
    for i in range(tensors):
        header += text(b"blk.%d.ffn_down.weight" % i) + struct.pack("<IQQIQ", 2, 32, 2, 0, 256 * i)
    header += bytes(-len(header) % 32)
    path.write_bytes(header + bytes(range(256)) * max(tensors, 1 << 15))


class Server:
    def __init__(self, folder):
        self.log = folder / "log"
        self.process = subprocess.Popen(
            [sys.executable, SERVER, folder, "--log", self.log], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.port, self.other_port = map(int, self.process.stdout.readline().split())

    def requests(self, quiet_seconds=1.0):
        """Those since the last call. The server writes a line after the last byte of an answer."""
        size = -1
        while size != self.log.stat().st_size:
            size = self.log.stat().st_size
            time.sleep(quiet_seconds)
        lines = [json.loads(line) for line in self.log.read_text().replace("\0", "").splitlines()]
        with open(self.log, "r+", encoding="utf-8") as log:
            log.truncate(0)
        return lines

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


# A process of its own that is small: the memory of a child counts from the fork on.
MEASURE = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
sys.exit(status if status >= 0 else 128 - status)
"""


def run(arguments, folder, **environment):
    """Status, output, messages, KiB and seconds of the program."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "LC_ALL": "C",
                 "INGOT_CACHE": "/dev/null",  # requests are counted
                 "ASAN_OPTIONS": "exitcode=86", "UBSAN_OPTIONS": "exitcode=86", **environment}
    start = time.monotonic()
    command = [sys.executable, "-c", MEASURE, PROGRAM, *arguments]
    process = subprocess.Popen(command, env=variables, cwd=folder / "work", text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, messages = process.communicate(timeout=120)
    seconds = time.monotonic() - start
    messages, _, memory = messages.rstrip("\n").rpartition("\n")
    return process.returncode, output, messages, int(memory), seconds


def ranges_of(requests):
    return [one for one in requests if one["range"] and one["status"] in (200, 206)]


def check_headers(server, folder):
    for name, (_, most_ranges, most_bytes) in HEADERS.items():
        status, output, _, _, _ = run(
            ["tensors", f"http://127.0.0.1:{server.port}/{name}.gguf"], folder)
        ranges = ranges_of(server.requests())
        sent = sum(one["sent"] for one in ranges)
        print(f"{name}: {len(ranges)} ranges, {sent} bytes")
        expect(status == 0 and output, f"{name}: status {status}")
        expect(len(ranges) <= most_ranges, f"{name}: {len(ranges)} ranges")
        expect(sent <= most_bytes, f"{name}: {sent} bytes")


def check_hub(server, folder):
    environment = {"HF_ENDPOINT": f"http://127.0.0.1:{server.port}/hub", "HF_TOKEN": TOKEN}
    for reference, most_small in (("hf:org/gated:Q8_0", 3),
                                  (f"hf://org/gated@{'c' * 40}/g-Q8_0.gguf", 1)):
        status, output, messages, _, _ = run(["show", reference, "-v", "--json"], folder, **environment)
        requests = server.requests()
        expect(status == 0, f"{reference}: status {status}: {messages}")
        expect(len(requests) - len(ranges_of(requests)) <= most_small, f"{reference}: {requests}")
        for one in requests:
            is_hub = one["host"].endswith(f":{server.port}")
            expect(one["authorization"] == is_hub, f"{reference}: token or none: {one}")
        expect("Bearer" not in output + messages and "sig=abc" not in output + messages,
               f"{reference}: a secret is printed")
    status, _, messages, _, _ = run(["show", "hf:org/gated"], folder,
                                    **{**environment, "HF_TOKEN": "wrong"})
    server.requests()
    expect(status == 4 and "terms" in messages, f"gated: status {status}: {messages}")


def check_shards(server, folder):
    """One after the other would all use the first connection."""
    status, _, messages, _, _ = run(
        ["tensors", f"http://127.0.0.1:{server.port}/f/slow:40000/set-00001-of-00005.gguf"], folder)
    connections = {one["connection"] for one in server.requests()}
    print(f"shards: {len(connections)} at once")
    expect(status == 0, f"shards: status {status}: {messages}")
    expect(len(connections) == 5, f"shards: {len(connections)} at once")


RANGE_BYTES = 16 << 20
KILLS = 10 if IS_INSTRUMENTED else 50


def check_kills(server, folder):
    """A download that is killed goes on with what it noted, and is right in the end."""
    name, target = "kills.bin", folder / "work" / "kills.bin"
    content = b"".join(bytes([i % 251]) * (1 << 20) for i in range(200))
    (folder / name).write_bytes(content)
    command = [PROGRAM, "download", f"http://127.0.0.1:{server.port}/f/slow:60000000/{name}", "-q"]
    notes = folder / "work" / (name + ".ingot-part.json")
    chance = random.Random(20)
    again, kills = 0, 0
    for _ in range(KILLS):
        finished = set(json.loads(notes.read_text())["finished"]) if notes.exists() else set()
        process = subprocess.Popen(command, cwd=folder / "work", stdout=subprocess.DEVNULL,
                                   env={"PATH": os.environ["PATH"], "HOME": str(folder / "home")})
        try:
            process.wait(chance.uniform(0.01, 0.5))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            kills += 1
        for one in server.requests(0.3):
            start, end = map(int, one["range"].removeprefix("bytes=").split("-"))
            is_first_look = (start, end) == (0, (1 << 20) - 1)
            again += 0 if is_first_look or start // RANGE_BYTES not in finished else 1
        if target.exists():
            expect(target.read_bytes() == content, "kills: another file under its name")
            target.unlink()
    status, _, messages, _, _ = run([str(word) for word in command[1:]], folder)
    server.requests()
    print(f"kills: {kills}, ranges that were noted and fetched again: {again}")
    expect(status == 0 and target.read_bytes() == content, f"kills: status {status}: {messages}")
    expect(again == 0, f"kills: {again} ranges were fetched again")
    expect(kills > KILLS // 2, f"kills: only {kills}")
    target.unlink()


def check_faults(server, folder):
    for fault, wanted in FAULTS.items():
        for name, status_wanted in zip(("h800k", "h6m"), wanted):
            reference = f"http://127.0.0.1:{server.port}/f/{fault}/{name}.gguf"
            status, output, messages, memory, seconds = run(["tensors", reference, *SHORT_TIMES], folder)
            what = f"{fault} {name}: status {status} in {seconds:.1f} s, {memory} KiB: {messages.strip()}"
            expect(status == status_wanted, what)
            tensors = HEADERS[name][0][2]
            expect(output.count("\n") == (tensors + 2 if status == 0 else 0), f"{what}: {output[-200:]}")
            expect(len(messages.splitlines()) == (0 if status == 0 else 1), what)
            expect(seconds < 60, what)
            expect(IS_INSTRUMENTED or memory < MOST_MEMORY_KIB, what)
    expect(not any((folder / "work").iterdir()), "something is left behind")


def main():
    if not SERVER.is_file():
        print(f"there is no {SERVER}: skipped")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("home", "work", "hub/org/gated"):
            (folder / part).mkdir(parents=True)
        status, _, messages, _, _ = run(["show", "http://127.0.0.1:1/x", "--retries", "0"], folder)
        if "built without" in messages or "cannot be loaded" in messages:
            print(f"{messages.strip()}: skipped")
            sys.exit(77)
        for header, (shape, _, _) in HEADERS.items():
            write_model(folder / f"{header}.gguf", *shape)
        sample = folder / "sample.gguf"
        run(["sample", str(sample), "-q", "--vocab", "300", "--embedding", "64", "--feed-forward", "128",
             "--layers", "4"], folder)
        run(["split", str(sample), str(folder / "set"), "--shards", "5", "-q"], folder)
        (folder / "hub/org/gated/g-Q8_0.gguf").write_bytes(sample.read_bytes())
        server = Server(folder)
        try:
            for check in (check_headers, check_hub, check_shards, check_kills, check_faults):
                check(server, folder)
        finally:
            server.stop()
    sys.exit(1 if failures else 0)


main()
