#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_gate.py PROGRAM [--update]

Makes a file, or a folder, for each row of the table in docs/security.md, and compares what `PROGRAM
check --data` answers with the row. The table has to be the one that is made here; --update writes it.

With INGOT_GGML, the path of a libggml-base.so (bench/install_ggml fetches one), ggml's reader of
headers opens each file too, and the column of its answers is compared.
"""
import ctypes
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

import make_model_folder

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/security.md"
BEGIN, END = "<!-- gate: made by tests/cli/check_gate.py --update -->\n", "<!-- /gate -->\n"
STATUS = {"passes": 0, "warns": 1, "nothing checked": 2, "refused": 3}
U8, U16, U32, I32, F32, STRING, ARRAY = 0, 2, 4, 5, 6, 8, 9
TYPE_F32, TYPE_F16, TYPE_Q4_0, TYPE_Q8_0 = 0, 1, 2, 8


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(value)) + value


def pair(key, kind, value):
    packed = {U8: "<B", U16: "<H", U32: "<I", I32: "<i", F32: "<f"}
    body = text(value) if kind == STRING else struct.pack(packed[kind], value)
    return text(key) + struct.pack("<I", kind) + body


def texts(key, values):
    return text(key) + struct.pack("<IIQ", ARRAY, STRING, len(values)) + b"".join(map(text, values))


def floats(key, values):
    return (text(key) + struct.pack("<IIQ", ARRAY, F32, len(values))
            + struct.pack(f"<{len(values)}f", *values))


def tensor(name, shape, kind, offset):
    return (text(name) + struct.pack("<I", len(shape))
            + struct.pack(f"<{len(shape)}Q", *shape) + struct.pack("<IQ", kind, offset))


ARCHITECTURE = pair("general.architecture", STRING, "eagle3")


def gguf(pairs=(), tensors=(tensor("t.weight", [8], TYPE_F32, 0),), data=bytes(32), version=3,
         first=ARCHITECTURE):
    pairs = ([first] if first else []) + list(pairs)
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs))
    head += b"".join(pairs) + b"".join(tensors)
    head += bytes(-len(head) % 32)
    return head + data + bytes(-len(data) % 32)


def with_pairs(*pairs):
    return gguf(pairs)


def safetensors():
    header = b'{"t":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}}'
    return struct.pack("<Q", len(header)) + header + bytes(32)


def template(value):
    return with_pairs(pair("tokenizer.chat_template", STRING, value))


def tokens(*more):
    return with_pairs(texts("tokenizer.ggml.tokens", ["a", "b", "<0x-1>" if not more else "c"]), *more)


def version_1():
    name, value = b"general.architecture", b"eagle3"
    head = b"GGUF" + struct.pack("<III", 1, 1, 1)
    head += struct.pack("<I", len(name)) + name + struct.pack("<II", STRING, len(value)) + value
    head += struct.pack("<I", 8) + b"t.weight" + struct.pack("<IIIQ", 1, 8, TYPE_F32, 0)
    return head + bytes(-len(head) % 32) + bytes(32)


LLAMA = [pair("llama." + key, U32, value) for key, value in (
    ("context_length", 64), ("embedding_length", 8), ("feed_forward_length", 16),
    ("attention.head_count", 2))]
LLAMA.append(pair("llama.attention.layer_norm_rms_epsilon", F32, 1e-5))


def llama(*pairs):
    return gguf([*LLAMA, *pairs], first=pair("general.architecture", STRING, "llama"))


def label(number, shape, kind, size):
    pairs = [pair("general.file_type", U32, number), pair("general.quantization_version", U32, 2)]
    return gguf(pairs, [tensor("m.weight", shape, kind, 0)], bytes(size))


def split(number, count, total):
    return with_pairs(pair("split.no", U16, number), pair("split.count", U16, count),
                      pair("split.tensors.count", I32, total))


def link_folder(folder):
    (folder / "real").mkdir()
    (folder / "real/m.gguf").write_bytes(gguf())
    (folder / "uploads").mkdir()
    os.symlink("../real", folder / "uploads/link")
    return folder / "uploads"


def folder_with_link(folder):
    path = make_model_folder.write(folder / "model")
    (folder / "secret").write_text("{{ messages }}")
    os.symlink("../secret", path / "chat_template.jinja")
    return path


def folder_of(*files):
    def make(folder):
        (folder / "uploads").mkdir()
        for name, content in files:
            (folder / "uploads" / name).write_bytes(content)
        return folder / "uploads"
    return make


def model_folder(**changes):
    return lambda folder: make_model_folder.write(folder / "model", **changes)


def config(**changes):
    return {"config.json": {**make_model_folder.config(), **changes}}


def weights(**changes):
    """The weights with other shapes; None leaves a tensor out."""
    shapes = {name.replace(".", "_"): name for name in make_model_folder.tensors()}
    changed = make_model_folder.tensors()
    for name, shape in changes.items():
        changed[shapes[name]] = shape
    return make_model_folder.safetensors({name: shape for name, shape in changed.items() if shape})


def index(**files):
    return {"model.safetensors.index.json": {"weight_map": {
        name: files.get(name.replace(".", "_"), "model.safetensors")
        for name in make_model_folder.tensors()}}}


UNSAFE = {"eos_token": make_model_folder.END, "chat_template": "{{ ''.__class__.__mro__ }}"}
TWO = [tensor("a", [8], TYPE_F32, 0), tensor("b", [8], TYPE_F32, 32)]
NAN = struct.pack("<8f", *[float("nan")] * 8)

# ggml's reader opens what passes or warns, and refuses what is refused; not so the rows of these rules.
GGML_DIFFERS = {"data_order": "refuses", "old_version": "refuses", "foreign_format": "refuses",
                "tensor_outside_file": "opens", "key_invalid": "opens", "size_overflow": "opens"}

# The answer, what it is about, the rule that has to be found (for people, several files may follow),
# and the files.
ROWS = [
    ("passes", "a model as writers make it", None, [gguf(), split(0, 1, 1)]),
    ("passes", "a file for other loaders: version 1, gaps, another order of data", "data_order",
     [gguf(tensors=TWO[::-1], data=bytes(64)), ]),
    ("passes", "version 1, which current loaders refuse", "old_version", [version_1()]),
    ("passes", "a vocabulary without weights", "vocabulary_only", [gguf(tensors=(), data=b"")]),
    ("passes", "a safetensors file under its own name", "foreign_format",
     {"m.safetensors": safetensors()}),
    ("passes", "a model folder as publishers make it", None, [model_folder()]),
    ("passes", "a model folder with programs, which Ingot does not run", "folder_code",
     [model_folder(**{"modeling.py": b""}), model_folder(**config(auto_map={"AutoModel": "x.Y"}))]),
    ("passes", "a model folder of an unknown class or quantization", "folder_unsupported",
     [model_folder(**config(architectures=["NoSuchModel"])),
      model_folder(**config(quantization_config={"quant_method": "hqq"}))]),

    ("warns", "norms, biases and vectors that are not F32", "vector_not_f32",
     [gguf(tensors=[tensor("blk.0.attn_norm.weight", [8], TYPE_F16, 0)], data=bytes(16)),
      gguf(tensors=[tensor("blk.0.attn_q.bias", [8, 2], TYPE_F16, 0)], data=bytes(32)),
      gguf([pair("general.quantization_version", U32, 2)],
           tensors=[tensor("rope_freqs.weight", [32], TYPE_Q8_0, 0)], data=bytes(34))]),
    ("warns", "`general.file_type` that the tensors contradict", "file_type_wrong",
     [label(2, [8], TYPE_F32, 32), label(7, [32, 2], TYPE_Q4_0, 36), label(1, [32], TYPE_Q4_0, 18),
      label(0, [32, 2], TYPE_Q4_0, 36), label(15, [32], TYPE_Q4_0, 18)]),
    ("warns", "a set that is not what its keys say: a count of 0, a number beyond the count, tensors "
     "that are not there", "split_keys", [split(0, 0, 1), split(5, 2, 1), split(0, 1, 9)]),
    ("warns", "a set with a shard missing", "shard_missing", [split(0, 2, 1)]),
    ("warns", "a layer with a tensor missing", "tensor_missing",
     [gguf([*LLAMA, pair("llama.block_count", U32, 1)],
           [tensor("blk.0.attn_norm.weight", [8], TYPE_F32, 0)],
           first=pair("general.architecture", STRING, "llama"))]),
    ("warns", "numbers that overflow or divide by zero in a loader", "key_implausible",
     [llama(pair("llama.block_count", U32, 0)), llama(pair("llama.block_count", U32, 10 ** 9))]),
    ("warns", "a standard key of another type", "key_type",
     [llama(pair("llama.block_count", STRING, "1"))]),
    ("warns", "scores or token types that are fewer than the tokens", "tokenizer_lengths",
     [tokens(floats("tokenizer.ggml.scores", [0.0]))]),
    ("warns", "a token id beyond the vocabulary", "token_id_range",
     [tokens(pair("tokenizer.ggml.bos_token_id", U32, 3))]),
    ("warns", "a byte token that is none", "byte_token", [tokens()]),
    ("warns", "a chat template that reaches into the program", "template_unsafe",
     [template("{{ ''.__class__.__mro__ }}"), template("{% include '/etc/passwd' %}")]),
    ("warns", "a chat template that hides something", "template_hidden", [template("a\x1b[2J")]),
    ("warns", "text that drives a terminal", "value_control_characters",
     [with_pairs(pair("general.name", STRING, "a\x1b[2J"))]),
    ("warns", "a key that drives a terminal", "key_control_characters",
     [with_pairs(pair("general.na\x1b[2J", STRING, "a"))]),
    ("warns", "a tensor name that is a path, an option or a command", "tensor_name_unsafe",
     [gguf(tensors=[tensor(name, [8], TYPE_F32, 0)]) for name in ("../../x", "/etc/x", "-rf", "$(x)")]),
    ("warns", "bytes in the padding", "padding_not_zero",
     [gguf(tensors=[tensor("t.weight", [4], TYPE_F32, 0)], data=bytes(16) + b"hidden" + bytes(10))]),
    ("warns", "bytes after the end", "trailing_data", [gguf() + b"PK\x03\x04hidden"]),
    ("warns", "weights that are not finite", "data_not_finite", [gguf(data=NAN)]),
    ("warns", "scales that are not finite", "scale_impossible",
     [gguf([pair("general.quantization_version", U32, 2)], [tensor("t", [32], TYPE_Q4_0, 0)],
           struct.pack("<e", float("inf")) + bytes(16))]),

    ("warns", "a model folder with pickles", "folder_pickle",
     [model_folder(**{"pytorch_model.bin": b"PK"}), model_folder(**{"optimizer.pt": b"\x80\x02."})]),
    ("warns", "a model folder with a link that leads out of it", "folder_link", [folder_with_link]),
    ("warns", "a model folder in which a file is missing", "folder_file_missing",
     [model_folder(**{"tokenizer.json": None}), model_folder(**{"model.safetensors": None}),
      model_folder(**index(lm_head_weight="model-2.safetensors"))]),
    ("warns", "a model folder whose index and files disagree, or whose index leads out of it",
     "folder_index_wrong",
     [model_folder(**index(), **{"model.safetensors": weights(lm_head_weight=None)}),
      model_folder(**index(), **{"model-2.safetensors": safetensors()}),
      model_folder(**index(lm_head_weight="../../x.safetensors"))]),
    ("warns", "a model folder whose `config.json` contradicts the shapes", "folder_shape_wrong",
     [model_folder(**config(intermediate_size=128)), model_folder(**config(vocab_size=264)),
      model_folder(**config(head_dim=32))]),
    ("warns", "a model folder with tokens beyond the embeddings", "folder_vocabulary_size",
     [model_folder(**{"tokenizer.json": make_model_folder.tokenizer(265)})]),
    ("warns", "a model folder whose chat template reaches into the program", "template_unsafe",
     [model_folder(**{"tokenizer_config.json": UNSAFE})]),

    ("refused", "another kind of file named `.gguf`: safetensors, bump, npz, PyTorch (zip, pickle), "
     "GGML, GGMF, GGJT, a web page", "not_gguf",
     [safetensors(), b"BUMPWGT4" + bytes(120), b"PK\x03\x04\x14\0" + bytes(60), b"\x80\x02}q\0.",
      b"\x80\x05}\x94.", b"lmgg" + bytes(60), b"fmgg" + bytes(60), b"tjgg" + bytes(60),
      b"<!DOCTYPE html>", b"\x93NUMPY\x01\0" + bytes(60)]),
    ("refused", "a file that is empty, or ends in its header", "truncated", [b"", gguf()[:20]]),
    ("refused", "a download that ends in the data", "tensor_outside_file", [gguf()[:-16]]),
    ("refused", "two keys of one name", "key_duplicate",
     [with_pairs(pair("a", U8, 1), pair("a", U8, 1))]),
    ("refused", "a NUL in a key", "key_invalid", [with_pairs(pair("a\0b", U8, 1))]),
    ("refused", "two tensors of one name", "tensor_duplicate",
     [gguf(tensors=[TWO[0], tensor("a", [8], TYPE_F32, 32)], data=bytes(64))]),
    ("refused", "tensors that share bytes", "tensor_overlap",
     [gguf(tensors=[TWO[0], tensor("b", [8], TYPE_F32, 0)])]),
    ("refused", "a shape whose size overflows", "size_overflow",
     [gguf(tensors=[tensor("a", [1 << 32, 1 << 32], TYPE_F32, 0)])]),
    ("refused", "counts that the file cannot hold", "count_exceeds_file",
     [b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0)]),
    ("refused", "an alignment of 0", "alignment_invalid",
     [with_pairs(pair("general.alignment", U32, 0))]),
    ("refused", "a tensor type that does not exist", "tensor_type_unknown",
     [gguf(tensors=[tensor("a", [8], 999, 0)])]),

    ("refused", "a model folder whose weights are cut off", "truncated",
     [model_folder(**{"model.safetensors": weights()[:-8]})]),
    ("refused", "a model folder whose import would be wrong: a layer without tensors", "import_refused",
     [model_folder(**config(num_hidden_layers=3))]),

    ("nothing checked", "an empty folder, or one without a model", None,
     [folder_of(), folder_of(("README.md", b"text"))]),
    ("nothing checked", "a folder whose models lie behind a link", None, [link_folder]),
    ("nothing checked", "a folder whose models have another ending", None,
     [folder_of(("m.bin", gguf())), folder_of(("m.safetensors", safetensors()))]),
]


def ggml_answer(answer, what, rule):
    if "model folder" in what:
        return ""
    usual = {"passes": "opens", "warns": "opens", "refused": "refuses", "nothing checked": ""}
    return GGML_DIFFERS.get(rule, usual[answer])


def table():
    lines = ["| answer | status | what | rule | ggml |\n", "| --- | ---: | --- | --- | --- |\n"]
    for answer, what, rule, _ in ROWS:
        rule_cell = f"`{rule}`" if rule else ""
        lines.append(f"| {answer} | {STATUS[answer]} | {what} | {rule_cell} |"
                     f" {ggml_answer(answer, what, rule)} |\n")
    return "".join(lines)


class GgufInitParams(ctypes.Structure):
    """struct gguf_init_params of gguf.h."""
    _fields_ = [("no_alloc", ctypes.c_bool), ("ctx", ctypes.c_void_p)]


def open_with_ggml(library, path):
    """Ends this process with what ggml's reader answers."""
    reader = ctypes.CDLL(library).gguf_init_from_file
    reader.argtypes, reader.restype = [ctypes.c_char_p, GgufInitParams], ctypes.c_void_p
    context = ctypes.c_void_p()
    sys.exit(0 if reader(path.encode(), GgufInitParams(True, ctypes.addressof(context))) else 3)


def ggml_problem_of(answer, what, rule, path):
    library, wanted = os.environ.get("INGOT_GGML"), ggml_answer(answer, what, rule)
    if not library or not wanted:
        return None
    # In a process of its own: files from strangers have ended ggml's before.
    done = subprocess.run([sys.executable, __file__, "--open-with-ggml", library, str(path)],
                          capture_output=True, check=False)
    found = {0: "opens", 3: "refuses"}.get(done.returncode, f"status {done.returncode}")
    return None if found == wanted else f"ggml: {found}, the table says {wanted}"


def problem_of(program, answer, rule, path):
    done = subprocess.run([program, "check", "--data", "--json", str(path)], capture_output=True,
                          check=False)
    if done.returncode != STATUS[answer]:
        return f"status {done.returncode}: {done.stdout.decode()}{done.stderr.decode()}"
    report = json.loads(done.stdout)
    if answer == "nothing checked":
        return None if b"nothing was checked" in done.stderr else "it is not said"
    if isinstance(report, list):
        report, = report
    found = {finding["rule"] for finding in report["findings"]}
    return f"found {found}" if rule and rule not in found else None


def run_rows(program):
    problems = []
    for answer, what, rule, inputs in ROWS:
        named = inputs.items() if isinstance(inputs, dict) else ((None, each) for each in inputs)
        for name, content in named:
            with tempfile.TemporaryDirectory() as folder:
                folder = pathlib.Path(folder)
                path = folder / (name or "m.gguf")
                if callable(content):
                    path = content(folder)
                else:
                    path.write_bytes(content)
                for problem in (problem_of(program, answer, rule, path),
                                ggml_problem_of(answer, what, rule, path)):
                    if problem:
                        problems.append(f"{what}: {problem}")
    return problems


def main():
    program, *options = sys.argv[1:]
    if program == "--open-with-ggml":
        open_with_ggml(*options)
    page = PAGE.read_text(encoding="utf-8")
    head, rest = page.split(BEGIN)
    wanted = head + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1]
    if options == ["--update"]:
        PAGE.write_text(wanted, encoding="utf-8")
    elif page != wanted:
        sys.exit("docs/security.md: another table; please run: tests/cli/check_gate.py PROGRAM --update")
    problems = run_rows(program)
    print("\n".join(problems))
    print(f"{len(ROWS)} rows, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
