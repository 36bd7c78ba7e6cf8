# SPDX-License-Identifier: MIT
"""ingot.gguf: what scripts of gguf-py find there. The functions below ask the classes for what those
scripts ask; their answers have to be those that gguf-py gave (golden/python of the shared files)."""
import fcntl
import hashlib
import json
import os
import pathlib
import struct
import subprocess
import sys
import threading
import uuid

import numpy
import pytest

import ingot
import gguf_markdown
import ingot.gguf as gguf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ARRAY, STRING = gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.STRING


def dump(reader, with_tensors):
    """gguf_dump.py"""
    host = {"S": {"LITTLE": "BIG", "BIG": "LITTLE"}}.get(reader.byte_order, {}).get(
        reader.endianess.name, reader.endianess.name)
    yield f"* File is {reader.endianess.name} endian, script is running on a {host} endian host."
    yield f"* Dumping {len(reader.fields)} key/value pair(s)"
    for number, field in enumerate(reader.fields.values(), 1):
        nested = len(field.types) - 1 if field.types[0] == ARRAY else 0
        kind = "[" * nested + field.types[-1].name + "]" * nested
        line = f"  {number:5}: {kind:10} | {len(field.data):8} | {field.name}"
        if len(field.types) == 1 and field.types[0] == STRING:
            line += f" = {str(bytes(field.parts[-1]), encoding='utf8')[:60]!r}"
        elif len(field.types) == 1 and field.types[0] in reader.gguf_scalar_to_np:
            line += f" = {field.parts[-1][0]}"
        yield line
    if not with_tensors:
        return
    yield f"* Dumping {len(reader.tensors)} tensor(s)"
    for number, tensor in enumerate(reader.tensors, 1):
        shape = ", ".join(f"{size:5}" for size in list(tensor.shape) + [1] * (4 - len(tensor.shape)))
        yield (f"  {number:5}: {tensor.n_elements:10} | {shape} | {tensor.tensor_type.name:7} "
               f"| {tensor.name}")


def dump_json(reader, name):
    metadata, tensors = {}, {}
    for index, field in enumerate(reader.fields.values()):
        entry = {"index": index, "type": field.types[0].name, "offset": field.offset}
        metadata[field.name] = entry
        if field.types[0] == ARRAY:
            entry["array_types"] = [kind.name for kind in field.types][1:]
        elif field.types[0] == STRING:
            entry["value"] = str(bytes(field.parts[-1]), encoding="utf-8")
        else:
            entry["value"] = field.parts[-1].tolist()[0]
    for index, tensor in enumerate(reader.tensors):
        tensors[tensor.name] = {"index": index, "shape": tensor.shape.tolist(),
                                "type": tensor.tensor_type.name, "offset": tensor.field.offset}
    return {"filename": name, "endian": reader.endianess.name, "metadata": metadata,
            "tensors": tensors}


def hashes(reader, name, by_tensor):
    """gguf_hash.py"""
    whole = {"sha1": hashlib.sha1(), "sha256": hashlib.sha256()}
    weights = hashlib.sha1()
    weights.update(uuid.UUID("ef001206-dadc-5f6d-a15f-3359e577d4e5").bytes)
    for tensor in reader.tensors:
        data = tensor.data.data
        for digest in [*whole.values(), weights]:
            digest.update(data)
        if by_tensor:
            yield f"sha1      {hashlib.sha1(data).hexdigest()}  {name}:{tensor.name}"
            yield f"sha256    {hashlib.sha256(data).hexdigest()}  {name}:{tensor.name}"
    for algorithm, digest in whole.items():
        yield f"{algorithm:9} {digest.hexdigest()}  {name}"
    yield f"uuid      {uuid.UUID(bytes=weights.digest()[:16], version=5)}  {name}"


def new_metadata(reader, target, changes, removed):
    """gguf_new_metadata.py"""
    arch = reader.get_field(gguf.Keys.General.ARCHITECTURE).contents()
    writer = gguf.GGUFWriter(target, arch=arch, endianess=reader.endianess)
    template = gguf.Keys.Tokenizer.CHAT_TEMPLATE
    for field in reader.fields.values():
        if (field.name == gguf.Keys.General.ARCHITECTURE or field.name.startswith("GGUF.")
                or field.name in removed or template in changes and field.name.startswith(template)):
            continue
        sub_type = field.types[-1] if field.types[0] == ARRAY else None
        value = changes.pop(field.name, field.contents())
        writer.add_key_value(field.name, value, field.types[0], sub_type=sub_type)
    if template in changes:
        writer.add_chat_template(changes.pop(template))
    for key, value in changes.items():
        writer.add_key_value(key, value, STRING)
    for tensor in reader.tensors:
        writer.add_tensor_info(tensor.name, tensor.data.shape, tensor.data.dtype, tensor.data.nbytes,
                               tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in reader.tensors:
        writer.write_tensor_data(tensor.data, tensor_endianess=reader.endianess)
    writer.close()


def set_metadata(path, key, text):
    """gguf_set_metadata.py"""
    field = gguf.GGUFReader(path, "r+").get_field(key)
    if field is None:
        return 1
    handler = gguf.GGUFReader.gguf_scalar_to_np[field.types[0]]
    field.parts[field.data[0]][0] = handler(text)
    return 0


def answer(case, folder):
    """What a script prints, as text, and its status."""
    *options, name = case["args"]
    if case["script"] == "gguf_set_metadata.py":
        return "", set_metadata(folder / case["args"][1], *case["args"][2:])
    if case["script"] == "gguf_new_metadata.py":
        changes = {}
        if "--general-name" in options:
            changes[gguf.Keys.General.NAME] = options[options.index("--general-name") + 1]
        if "--chat-template" in options:
            changes[gguf.Keys.Tokenizer.CHAT_TEMPLATE] = options[options.index("--chat-template") + 1]
        removed = [options[i + 1] for i, word in enumerate(options) if word == "--remove-metadata"]
        new_metadata(gguf.GGUFReader(folder / options[-1]), folder / name, changes, removed)
        return "", 0
    reader = gguf.GGUFReader(folder / name)
    if case["script"] == "gguf_hash.py":
        return "".join(f"{line}\n" for line in hashes(reader, name, "--no-layer" not in options)), 0
    if "--markdown" in options:
        return "".join(f"{line}\n" for line in gguf_markdown.page(reader, name)), 0
    if "--json" in options:
        return json.dumps(dump_json(reader, name)), 0
    if "--data-offset" in options:
        return f"{reader.data_offset}\n", 0
    if "--data-alignment" in options:
        return f"{reader.alignment}\n", 0
    return "".join(f"{line}\n" for line in dump(reader, "--no-tensors" not in options)), 0


def cases_of(shared):
    return json.loads((shared / "golden" / "python" / "scripts.json").read_text())["cases"]


def put_inputs(case, shared, folder):
    """Copies the files that the arguments of a case name."""
    folder.mkdir()
    for word in case["args"]:
        for place in ("golden/eval", "golden/bump", "models"):
            for name in (word, word.removeprefix("set-")):
                if (shared / place / name).is_file():
                    (folder / word).write_bytes((shared / place / name).read_bytes())


def check_output(case, folder):
    if "output_sha256" in case:
        digest = hashlib.sha256((folder / case["output_file"]).read_bytes()).hexdigest()
        assert digest == case["output_sha256"], case["args"]


def test_the_answers_are_those_of_gguf_py(shared, tmp_path):
    cases = cases_of(shared)
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        put_inputs(case, shared, folder)
        text, status = answer(case, folder)
        assert (text, status) == (case["stdout"], case["status"]), case["args"]
        check_output(case, folder)
    assert len(cases) == 49


def test_the_scripts_of_gguf_py_run_unchanged(shared, tmp_path):
    """Where INGOT_GGUF_PY names a copy of gguf-py."""
    place = pathlib.Path(os.environ.get("INGOT_GGUF_PY", "none"))
    scripts = {path.name: path for path in place.rglob("gguf_*.py") if path.parent.name == "scripts"}
    tried = 0
    for number, case in enumerate(cases_of(shared)):
        if case["script"] not in scripts:
            continue
        folder = tmp_path / str(number)
        put_inputs(case, shared, folder)
        run = subprocess.run([sys.executable, "-m", "ingot.gguf", scripts[case["script"]], *case["args"]],
                             cwd=folder, text=True, capture_output=True, check=False)
        assert run.returncode == case["status"], run.stderr
        assert run.stdout == case["stdout"], case["args"]
        assert run.stderr.endswith(case["stderr_tail"]), case["args"]
        check_output(case, folder)
        tried += 1
    if not tried:
        pytest.skip("INGOT_GGUF_PY names no copy of gguf-py")


def test_fields_have_the_parts_of_the_file(model_path):
    reader = gguf.GGUFReader(model_path)
    field = reader.get_field("tokenizer.ggml.tokens")
    assert field.types == [ARRAY, STRING] and reader.get_field("no.such.key") is None
    assert bytes(field.parts[1]) == b"tokenizer.ggml.tokens" and field.parts[4][0] == 99
    assert [str(bytes(field.parts[i]), "utf-8") for i in field.data[:2]] == ["!", '"']
    assert bytes(field.parts[-1]) == b"<|assistant|>" and field.parts[-2][0] == 13
    assert field.contents(0) == "!" and field.contents(slice(1, 3)) == ['"', "#"]
    # The parts are the whole field, one after the other.
    content = b"".join(part.tobytes() for part in field.parts)
    assert content == model_path.read_bytes()[field.offset:][:len(content)]
    counts = reader.get_field("tokenizer.ggml.token_type")
    assert counts.contents(-1) == 3 and len(counts.data) == 99
    tensor = reader.get_tensor(1)
    assert tensor.tensor_type == gguf.GGMLQuantizationType.Q8_0 and tensor.data.shape == (8, 544)
    assert tensor.shape.tolist() == [512, 8] and bytes(tensor.field.parts[1]).decode() == tensor.name


def test_a_big_endian_file(corpus):
    reader = gguf.GGUFReader(corpus / "everything_v3_big.gguf")
    assert reader.byte_order == "S" and reader.endianess == gguf.GGUFEndian.BIG
    little = gguf.GGUFReader(corpus / "everything_v3.gguf")
    for name, field in little.fields.items():
        if field.types[0] not in (ARRAY, STRING):
            assert str(reader.fields[name].contents()) == str(field.contents())


def test_the_writer_writes_what_ingot_reads(tmp_path, weights):
    path = tmp_path / "a.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("A name")
    writer.add_block_count(2)
    writer.add_head_count(4)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_uint8("my.byte", 7)
    writer.add_array("my.list", [1, 2])
    writer.add_token_list(["a", "b"])
    writer.add_bos_token_id(1)
    writer.add_tensor("token_embd.weight", weights)
    writer.add_tensor("blocks", gguf.quantize(weights, gguf.GGMLQuantizationType.Q4_K),
                      raw_dtype=gguf.GGMLQuantizationType.Q4_K)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(AttributeError):
        writer.add_no_such_key(1)
    with ingot.open(path) as model:
        keys = model.metadata
        assert keys["general.name"] == "A name" and keys["llama.attention.head_count"] == 4
        assert keys.type("my.byte") == "uint8" and keys.type("my.list") == "[int32]"
        assert keys["tokenizer.ggml.tokens"] == ["a", "b"]
        numpy.testing.assert_array_equal(model.tensors["token_embd.weight"].numpy(), weights)
        blocks = model.tensors["blocks"]
        numpy.testing.assert_array_equal(blocks.dequantize(), gguf.dequantize(
            blocks.data.reshape(8, -1), gguf.GGMLQuantizationType.Q4_K))
    assert not [one for one in ingot.check(path) if one.severity == "error"]


def test_the_writer_waits_for_who_edits_the_file(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"edited")
    writer = gguf.GGUFWriter(path, "llama")
    with open(path, "rb") as editor:
        fcntl.flock(editor, fcntl.LOCK_EX)
        waiting = threading.Thread(target=writer.write_header_to_file)
        waiting.start()
        waiting.join(0.1)
        assert waiting.is_alive() and path.read_bytes() == b"edited"
    waiting.join(10)
    assert path.read_bytes() == b""
    with open(path, "rb") as editor, pytest.raises(BlockingIOError):
        fcntl.flock(editor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    writer.close()


def test_a_vocabulary_alone_is_written(tmp_path):
    path = tmp_path / "vocabulary.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_base_model_count(1)
    writer.add_base_model_name(0, "A base")
    writer.add_token_types([gguf.TokenType.NORMAL, gguf.TokenType.CONTROL])
    writer.add_precompiled_charsmap(b"\x01\x02")
    writer.add_head_count([4, 8])
    writer.add_description("")
    with pytest.raises(ValueError, match="same type"):
        writer.add_array("mixed", [1, "a"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    with pytest.raises(ValueError, match="output file"):
        writer.add_tensor("late", numpy.zeros(3, numpy.float32))
    writer.close()
    with ingot.open(path) as model:
        keys = model.metadata
        assert keys["general.base_model.0.name"] == "A base" and "general.description" not in keys
        assert keys.type("tokenizer.ggml.precompiled_charsmap") == "[uint8]"
        assert keys.type("llama.attention.head_count") == "[int32]"
        assert keys["tokenizer.ggml.token_type"].tolist() == [1, 3]


def hostile_file(path, content, keys=0, tensors=0):
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + content)
    return path


def test_the_reader_refuses_in_the_words_of_gguf_py(tmp_path):
    name = struct.pack("<Q", 3) + b"abc"
    for count in (5, 1_000_000):
        shape = struct.pack("<I5Q", count, *[1] * 5) + bytes(80)
        with pytest.raises(ValueError, match="exceeds GGML_MAX_DIMS"):
            gguf.GGUFReader(hostile_file(tmp_path / "a", name + shape, tensors=1))
    wrapping = struct.pack("<I3QIQ", 3, 2**22 + 1, 2**22 + 1, 211106198978564, 0, 0) + bytes(64)
    with pytest.raises(ValueError, match="too large"):
        gguf.GGUFReader(hostile_file(tmp_path / "a", name + wrapping, tensors=1))
    # The elements need eight bytes each.
    array = struct.pack("<IIQ", 9, gguf.GGUFValueType.FLOAT64, 5000) + bytes(5000 * 8 - 1)
    with pytest.raises(ValueError, match="requires at least"):
        gguf.GGUFReader(hostile_file(tmp_path / "a", name + array, keys=1))
    array = struct.pack("<IIQ", 9, gguf.GGUFValueType.UINT8, 3) + b"\1\2\3"
    assert gguf.GGUFReader(hostile_file(tmp_path / "a", name + array, keys=1)).fields["abc"].contents() \
        == [1, 2, 3]
    array = struct.pack("<IIQ", 9, gguf.GGUFValueType.FLOAT64, 0)
    assert gguf.GGUFReader(hostile_file(tmp_path / "a", name + array, keys=1)).fields["abc"].contents() == []
    with pytest.raises(ValueError, match="GGUF magic invalid"):
        gguf.GGUFReader(pathlib.Path(__file__))


def test_names_are_taken_apart():
    parts = gguf.Metadata.get_model_id_components
    assert parts("org/Base-8x7B-Instruct-v0.1") == \
        ("Base-8x7B-Instruct-v0.1", "org", "Base", "Instruct", "v0.1", "8x7B")
    assert parts("Base-26B-A4B-it", 4 * 10**9)[5] == "26B-A4B"
    assert parts("a name of people") == ("a name of people", None, None, None, None, None)
    assert parts() == (None,) * 6 and parts("Base-7B", -10**30)[5] is None
    assert gguf.Metadata.id_to_title("base-model-v2 8b") == "Base Model v2 8b"


def test_what_is_known_first_counts():
    card = {"model_name": "Of the card", "version": None, "model_creator": "A", "tags": ["a"],
            "pipeline_tag": "b", "language": "no", "base_models": "org/Base-7B-v2",
            "dataset": ["https://huggingface.co/me/texts", "ssh://host/x", {"name": "Mine"}, 7]}
    got = gguf.Metadata.apply_metadata_heuristic(
        gguf.Metadata(author="B", tags=["c"]), card, {"_name_or_path": "org/Base-7B-v2"},
        pathlib.Path("Folder-8B"))
    assert got == gguf.Metadata(
        name="Of the card", author="B", organization="Org", basename="Base", version="v2", size_label="7B",
        tags=["c", "a", "b"], languages=["no"],
        base_models=[{"name": "Base 7B v2", "organization": "Org", "version": "v2",
                      "repo_url": "https://huggingface.co/org/Base-7B-v2"}],
        datasets=[{"repo_url": "https://huggingface.co/me/texts", "name": "Texts", "organization": "Me"},
                  {"repo_url": "ssh://host/x"}, {"name": "Mine"}, {}])
    for path in ("/home/me/x/y", 3, None):
        assert gguf.Metadata.apply_metadata_heuristic(gguf.Metadata(), None, {"_name_or_path": path}) \
            == gguf.Metadata()


def test_a_folder_says_what_becomes_keys(tmp_path):
    folder = tmp_path / "Tiny-1B"
    folder.mkdir()
    assert gguf.Metadata.load(model_path=folder) == gguf.Metadata(
        name="Tiny 1B", basename="Tiny", size_label="1B")
    (folder / "README.md").write_text("---\nlicense: [mit, bsd]\nlanguage:\n- no\n---\n# Tiny\n")
    (folder / "generation_config.json").write_text('{"temperature": 0.5, "top_k": 40}')
    (folder / "config.json").write_text('{"_name_or_path": "me/Tiny-1B-Chat"}')
    (tmp_path / "own.json").write_text(json.dumps(
        {"general.author": "I", "general.sampling.top_k": 20, "general.license": "x",
         "general.datasets": [{"name": "D", "uuid": "u"}]}))
    metadata = gguf.Metadata.load(tmp_path / "own.json", folder, "My name")
    assert metadata == gguf.Metadata(
        sampling_temp=0.5, sampling_top_k=20, name="My name", author="I", organization="Me",
        finetune="Chat", basename="Tiny", size_label="1B", license=["mit", "bsd"], languages=["no"],
        datasets=[{"name": "D", "uuid": "u"}])
    writer = gguf.GGUFWriter(tmp_path / "a.gguf", "llama")
    metadata.set_gguf_meta_model(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with ingot.open(tmp_path / "a.gguf") as model:
        keys = model.metadata
        assert list(keys) == ["general.architecture"] + ["general." + name for name in (
            "sampling.top_k", "sampling.temp", "name", "author", "organization", "finetune", "basename",
            "size_label", "license", "dataset.count", "dataset.0.name", "dataset.0.uuid", "languages")]
        assert keys["general.license"] == "mit,bsd" and keys.type("general.sampling.top_k") == "int32"
    (folder / "README.md").write_text("---\na: [\n---\n")
    with pytest.raises(ValueError, match="README.md"):
        gguf.Metadata.load(model_path=folder)


def test_numbers_and_names():
    assert gguf.GGMLQuantizationType.Q4_K == 12 and gguf.GGUFValueType.FLOAT64 == 12
    assert gguf.LlamaFileType.MOSTLY_Q4_K_M == 15 and gguf.LlamaFileType.ALL_F32 == 0
    assert gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType.Q6_K] == (256, 210)
    assert gguf.Keys.General.ALIGNMENT == "general.alignment"
    assert gguf.Keys.LLM.CONTEXT_LENGTH == "{arch}.context_length"
    assert gguf.Keys.Attention.HEAD_COUNT_KV == "{arch}.attention.head_count_kv"
    assert gguf.Keys.Tokenizer.LIST == "tokenizer.ggml.tokens"
    assert gguf.Keys.General.DATASET_NAME == "general.dataset.{id}.name"
    assert gguf.Keys.Tokenizer.BOS_ID == "tokenizer.ggml.bos_token_id"
    assert gguf.GGUFValueType.get_type([1]) == ARRAY


def test_the_files_are_found_below_another_name(tmp_path):
    (tmp_path / "use.py").write_text(
        "import sys, ingot.gguf\nsys.modules['gguf'] = ingot.gguf\n"
        "from gguf.gguf_reader import GGUFReader\nfrom gguf.metadata import Metadata\n"
        "assert GGUFReader(sys.argv[1]).fields and Metadata().name is None\n")
    run = subprocess.run([sys.executable, tmp_path / "use.py",
                          ROOT / "tests" / "corpus" / "valid" / "everything_v3.gguf"],
                         text=True, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_script_runs_unchanged(tmp_path, model_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nfrom gguf import GGUFReader\nfrom gguf.constants import Keys\n"
                      "from tqdm import tqdm\n"
                      "print(GGUFReader(sys.argv[1]).get_field(Keys.General.NAME).contents())\n"
                      "tqdm(total=3).update(3)\n")
    run = subprocess.run([sys.executable, "-m", "ingot.gguf", script, model_path], text=True,
                         capture_output=True, check=False)
    assert run.returncode == 0 and run.stdout == "A small model\n", run.stderr
