#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""fill_catalog.py PROGRAM [--files N] [--kills N]: fills a catalogue with files that it makes, and says how fast.

Two processes then fill one catalogue at the same time and one of them, or both, are killed at random, again and again:
nothing is lost, nothing is there twice. The kills are --kills, else $INGOT_KILL_POINTS, else 6. Among the files are
damaged ones, and those of $INGOT_SHARED/hostile where there are some. With the npm packages that bench/install_tables
installs into $INGOT_TABLES (default: build/tables), two engines read the export.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = pathlib.Path(os.environ.get("INGOT_SHARED") or ROOT.parent / "shared")
TABLES = pathlib.Path(os.environ.get("INGOT_TABLES") or ROOT / "build" / "tables")
# Layers and vocabularies as models have them; the weights are holes.
SHAPES = [("llama", 32), ("qwen2", 28), ("qwen3moe", 24), ("gemma3", 26), ("bert", 12), ("mamba", 24)]


def run(*words, **options):
    return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **options).stdout


def make_files(program, folder, count):
    """COUNT files in folders of 1,000; each twentieth is cut off, and each has a name of its own."""
    heads = []
    for architecture, layers in SHAPES:
        path = folder / "sample.gguf"
        run(program, "sample", path, "--arch", architecture, "--layers", str(layers), "--embedding", "64",
            "--feed-forward", "64", "--vocab", "2000", "-q", "--force")
        first = min(tensor["file_offset"] for tensor in json.loads(run(program, "tensors", path, "--json")))
        data = path.read_bytes()[:first]
        start = data.index(b"Ingot sample")
        heads.append((data, start, path.stat().st_size))
        path.unlink()
    chance = random.Random(1)
    for number in range(count):
        data, start, size = heads[number % len(heads)]
        name = f"{number:012}".encode()
        data = data[:start] + name + data[start + len(name):]
        path = folder / "models" / str(number // 1000) / f"m{number}.gguf"
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            if number % 20 == 19:
                file.write(data[:chance.randrange(len(data))])
            else:
                file.write(data)
                file.truncate(size)
    hostile = SHARED / "hostile" / "files"
    if hostile.is_dir():
        shutil.copytree(hostile, folder / "models" / "hostile")
    return folder / "models"


def rows_of(path):
    """What a catalogue says of each file, without numbers that depend on the order."""
    base = sqlite3.connect(path)
    base.text_factory = bytes
    assert base.execute("PRAGMA integrity_check").fetchall() == [(b"ok",)]
    rows = {table: sorted(map(repr, base.execute(query))) for table, query in {
        "files": "SELECT path, size_bytes, architecture, verdict, name, sample, state FROM files",
        "keys": "SELECT path, key, k.type, value, digest FROM keys k LEFT JOIN files f ON f.id = file_id",
        "tensors": "SELECT path, t.name, t.type, shape, t.size_bytes FROM tensors t LEFT JOIN files f ON f.id = file_id",
        "findings": "SELECT path, rule, severity, message FROM findings LEFT JOIN files f ON f.id = file_id",
        "texts": "SELECT digest, length(text) FROM texts"}.items()}
    base.close()
    return rows


def kill_crawlers(add, base, expected, kills, seconds):
    """Two processes at once, one or both killed at random; then one that ends what they began."""
    chance = random.Random(2)
    completed = 0
    for number in range(kills):
        crawlers = [subprocess.Popen(add, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL) for _ in range(2)]
        time.sleep(chance.uniform(0, 1.2 * seconds))
        victims = crawlers[:1] if number % 3 else crawlers
        for crawler in victims:
            crawler.kill()
        for crawler in crawlers:
            assert crawler.wait() == 0 or crawler in victims, f"a crawler that was not killed ended with {crawler.returncode}"
        connection = sqlite3.connect(base)
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            sys.exit(f"kill {number}: the catalogue is damaged")
        connection.close()
        if number % 3:  # the other one has ended its work
            assert rows_of(base) == expected, f"kill {number}: rows are lost, or there twice"
            completed += 1
            for path in base.parent.glob(base.name + "*"):
                path.unlink()
    run(*add)
    assert rows_of(base) == expected, "rows are lost, or there twice"
    return completed


def read_by_engines(program, base, folder):
    run(program, "catalog", "export", "--parquet", folder, "--db", base, "-q")
    if not (TABLES / "node_modules").is_dir() or not shutil.which("node"):
        return "no engine is there to read the export"
    found = json.loads(run("node", ROOT / "tests" / "catalog" / "read_tables.mjs", TABLES, folder))
    connection = sqlite3.connect(base)
    for engine, tables in found.items():
        for table, (count, total) in tables.items():
            column = {"files": "size_bytes", "tensors": "size_bytes"}.get(table, "file_id")
            expected = connection.execute(f"SELECT count(*), coalesce(sum({column}), 0) FROM {table}").fetchone() \
                if table != "texts" else connection.execute("SELECT count(*), 0 FROM texts").fetchone()
            assert (count, total) == expected, (engine, table, count, total, expected)
    return f"{' and '.join(found)} read the same counts and sums"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("program", type=pathlib.Path)
    options.add_argument("--files", type=int, default=300)
    options.add_argument("--kills", type=int, default=int(os.environ.get("INGOT_KILL_POINTS") or 6))
    options = options.parse_args()
    program = options.program.resolve()
    if subprocess.run([program, "catalog", "query", "SELECT 1", "--db", "/nonexistent/x"], stderr=subprocess.PIPE,
                      check=False).stderr.find(b"without SQLite") >= 0:
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as folder:
        folder = pathlib.Path(folder)
        models = make_files(program, folder, options.files)
        base = folder / "c.db"
        add = [program, "catalog", "add", models, "--db", base, "--json"]
        times = []
        for _ in range(2):
            start = time.monotonic()
            told = json.loads(run(*add))
            times.append(time.monotonic() - start)
            print(told)
        assert told["read"] == 0 and told["unchanged"] >= options.files, told
        expected = rows_of(base)
        rows = sum(map(len, expected.values()))
        assert all(not row.startswith("(None") for table in expected.values() for row in table), "a row of no file"
        print(f"{told['unchanged']} files, {rows} rows: {times[0]:.2f} s, {told['unchanged'] / times[0]:.0f} files and "
              f"{rows / times[0]:.0f} rows a second; again: {times[1]:.2f} s, {told['unchanged'] / times[1]:.0f} files a second; "
              f"{base.stat().st_size / 1e6:.0f} MB")
        print(read_by_engines(program, base, folder / "tables"))
        for path in folder.glob("c.db*"):
            path.unlink()
        completed = kill_crawlers(add, base, expected, options.kills, times[0])
        print(f"{options.kills} kills of two processes at once, {completed} fillings: nothing lost, nothing twice")


main()
