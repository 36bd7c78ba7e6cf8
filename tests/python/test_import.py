# SPDX-License-Identifier: MIT
"""Folders of Hugging Face models."""
import hashlib
import json
import struct

import numpy
import pytest

import ingot

WIDTH, VOCABULARY = 32, 16
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH,
          "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,
          "num_key_value_heads": 2, "vocab_size": VOCABULARY, "max_position_embeddings": 128,
          "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "torch_dtype": "float32"}


def write_safetensors(path, arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        bytes_ = array.tobytes()
        header[name] = {"dtype": {"f": "F32"}[array.dtype.kind], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_tokenizer(folder):
    vocabulary = {"<s>": 0, "</s>": 1} | {chr(ord("a") + i): 2 + i for i in range(VOCABULARY - 3)}
    vocabulary["ab"] = VOCABULARY - 1
    added = [{"id": i, "content": text, "special": True, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False} for i, text in enumerate(("<s>", "</s>"))]
    # The pre-tokenizer of GPT-2, whose digest is known.
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": added, "pre_tokenizer": byte_level, "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": ["a b"]}}))
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "GPT2Tokenizer", "bos_token": "<s>", "eos_token": "</s>"}))


def make_arrays(inner=64):
    random = numpy.random.default_rng(5)
    shapes = {"embed_tokens": (VOCABULARY, WIDTH), "norm": (WIDTH,),
              "layers.0.input_layernorm": (WIDTH,), "layers.0.post_attention_layernorm": (WIDTH,),
              "layers.0.self_attn.q_proj": (WIDTH, WIDTH), "layers.0.self_attn.k_proj": (WIDTH // 2, WIDTH),
              "layers.0.self_attn.v_proj": (WIDTH // 2, WIDTH), "layers.0.self_attn.o_proj": (WIDTH, WIDTH),
              "layers.0.mlp.gate_proj": (inner, WIDTH), "layers.0.mlp.up_proj": (inner, WIDTH),
              "layers.0.mlp.down_proj": (WIDTH, inner)}
    arrays = {f"model.{name}.weight": random.standard_normal(shape, numpy.float32)
              for name, shape in shapes.items()}
    return arrays | {"lm_head.weight": random.standard_normal((VOCABULARY, WIDTH), numpy.float32)}


@pytest.fixture
def arrays():
    return make_arrays()


@pytest.fixture
def folder(tmp_path, arrays):
    path = tmp_path / "My-Llama-1M"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(CONFIG))
    write_safetensors(path / "model.safetensors", arrays)
    write_tokenizer(path)
    return path


def test_a_folder_is_planned_and_imported(folder, arrays, tmp_path):
    assert ingot.find_importable_class(folder) == "LlamaForCausalLM"
    assert ingot.find_importable_class(tmp_path) is None
    plan = ingot.plan_import(folder, type="F32", pre="gpt-2")
    assert plan.type == "F32" and plan.file_name.endswith("F32.gguf")
    keys = {key.key: key for key in plan.keys}
    assert keys["llama.embedding_length"].value == WIDTH
    assert keys["llama.embedding_length"].from_ == "config.json"
    assert keys["tokenizer.ggml.tokens"].value[2] == "a"
    tensors = {tensor.name: tensor for tensor in plan.tensors}
    down = tensors["blk.0.ffn_down.weight"]
    assert down.shape == (WIDTH, 64) and down.bytes == WIDTH * 64 * 4 and not down.transform
    assert down.from_ == ["model.layers.0.mlp.down_proj.weight"]
    assert tensors["blk.0.attn_q.weight"].transform
    with pytest.warns(DeprecationWarning, match="sources is called from_"):
        assert down.sources == down.from_
    seen = []
    plan.write(tmp_path / "a.gguf", progress=seen.append)
    assert (tmp_path / "a.gguf").stat().st_size == plan.bytes and seen[-1] > 0
    with ingot.open(tmp_path / "a.gguf") as model:
        assert list(model.metadata) == [key.key for key in plan.keys]
        assert list(model.tensors) == [tensor.name for tensor in plan.tensors]
        numpy.testing.assert_array_equal(model.tensors["blk.0.ffn_down.weight"].numpy(),
                                         arrays["model.layers.0.mlp.down_proj.weight"])
    assert not ingot.check(tmp_path / "a.gguf", data=True, only="tensor_shape")


def test_values_of_a_plan_outlive_it(folder):
    tokens = next(key.value for key in ingot.plan_import(folder, pre="gpt-2").keys
                  if key.key == "tokenizer.ggml.tokens")
    assert tokens.tolist()[:3] == ["<s>", "</s>", "a"]


def test_options_of_an_import(folder, tmp_path):
    plan = ingot.import_model(folder, tmp_path / "a.gguf", pre="gpt-2", type="Q8_0", model_name="Mine",
                              metadata={"general.author": "Me"})
    values = {key.key: key.value for key in plan.keys}
    assert values["general.name"] == "Mine" and values["general.author"] == "Me"
    assert values["tokenizer.ggml.pre"] == "gpt-2"
    with ingot.open(tmp_path / "a.gguf") as model:
        assert model.tensors["blk.0.ffn_down.weight"].type == "Q8_0"
    with pytest.raises(ingot.UsageError) as caught:
        ingot.import_model(folder, tmp_path / "a.gguf", pre="gpt-2")
    assert caught.value.code == "already_exists"
    with pytest.raises(ingot.UsageError):
        ingot.plan_import(folder, type="Q4_K", pre="gpt-2")


def test_convert_imports_folders_as_the_program_does(folder, tmp_path):
    write_tokenizer(folder)
    planned = ingot.convert(folder, tmp_path / "a.gguf", dry_run=True)
    assert not (tmp_path / "a.gguf").exists()
    assert ingot.convert(folder, tmp_path / "a.gguf") == planned
    assert planned.outputs == [str(tmp_path / "a.gguf")]
    with ingot.open(tmp_path / "a.gguf") as model:
        assert "blk.0.attn_q.weight" in model.tensors
    ingot.convert(folder, tmp_path / "b.gguf", names="keep")
    with ingot.open(tmp_path / "b.gguf") as model:
        assert "model.layers.0.self_attn.q_proj.weight" in model.tensors
    with pytest.raises(TypeError, match="endian"):
        ingot.convert(folder, tmp_path / "c.gguf", endian="big")


def test_a_folder_is_a_model_without_a_file(folder, tmp_path):
    ingot.import_model(folder, tmp_path / "a.gguf", type="BF16")
    model = ingot.plan_import(folder, type="BF16").open_model()
    with ingot.open(tmp_path / "a.gguf") as written:
        assert dict(model.metadata)["general.name"] == written.metadata["general.name"]
        for name, tensor in written.tensors.items():
            assert model.tensors[name].data.tobytes() == tensor.data.tobytes()
    ingot.import_model(folder, tmp_path / "f32.gguf", type="F32")
    options = {"pure": True, "token_embedding_type": "Q8_0", "output_tensor_type": "Q8_0"}
    ingot.quantize_model(ingot.plan_import(folder, type="F32").open_model(), tmp_path / "b.gguf", "Q4_0", **options)
    ingot.quantize_model(tmp_path / "f32.gguf", tmp_path / "c.gguf", "Q4_0", **options)
    assert (tmp_path / "b.gguf").read_bytes() == (tmp_path / "c.gguf").read_bytes()
    ingot.quantize_model(folder, tmp_path / "d.gguf", "Q8_0", pre="llama-bpe")
    with ingot.open(tmp_path / "d.gguf") as quantized:
        assert quantized.metadata["tokenizer.ggml.pre"] == "llama-bpe"
        assert quantized.tensors["blk.0.ffn_down.weight"].type == "Q8_0"
    with pytest.raises(TypeError):
        ingot.quantize_model(tmp_path / "f32.gguf", tmp_path / "e.gguf", "Q8_0", pre="llama-bpe")


def test_a_folder_opens_as_the_model_that_it_becomes(folder, tmp_path):
    ingot.import_model(folder, tmp_path / "a.gguf")
    with ingot.open(folder) as model, ingot.open(tmp_path / "a.gguf") as file:
        assert model.architecture == "llama" and model.format == "gguf" and model.paths == [str(folder)]
        assert str(folder) in repr(model)
        for name, tensor in file.tensors.items():
            numpy.testing.assert_array_equal(model.tensors[name].numpy(), tensor.numpy())
        assert ingot.hash(model, weights=True).weights == ingot.hash(file, weights=True).weights
        assert model.tokenizer.encode("a").tolist() == file.tokenizer.encode("a").tolist()
        assert model.tokenizer is model.tokenizer
    assert ingot.show(folder)["model"] == ingot.show(tmp_path / "a.gguf")["model"]
    assert len(ingot.Tokenizer(folder)) == len(ingot.Tokenizer(tmp_path / "a.gguf"))
    with ingot.open(folder, as_stored=True) as weights:
        assert weights.format == "safetensors" and "model.norm.weight" in weights.tensors
    ingot.convert(folder, tmp_path / "a.safetensors")
    assert "model.norm.weight" in ingot.open(tmp_path / "a.safetensors").tensors


def test_of_a_folder_that_cannot_be_imported_the_weights_open(folder):
    (folder / "config.json").write_text(json.dumps({**CONFIG, "architectures": ["Nothing"]}))
    with pytest.warns(UserWarning, match="cannot be imported.*Nothing"):
        with ingot.open(folder) as model:
            assert model.format == "safetensors"


def test_a_folder_is_imported_in_several_files(folder, tmp_path):
    plan = ingot.plan_import(folder)
    planned = plan.write_shards(tmp_path / "a", shards=3, dry_run=True)
    assert not list(tmp_path.glob("*.gguf"))
    assert plan.write_shards(tmp_path / "a", shards=3, only=1) == planned[1:2]
    assert list(tmp_path.glob("*.gguf")) == [tmp_path / "a-00002-of-00003.gguf"]
    assert plan.write_shards(tmp_path / "a", shards=3, force=True) == planned
    whole = ingot.import_model(folder, tmp_path / "whole.gguf").bytes
    assert ingot.merge(planned[0].file, tmp_path / "merged.gguf") == whole
    assert (tmp_path / "merged.gguf").read_bytes() == (tmp_path / "whole.gguf").read_bytes()
    outputs = ingot.convert(folder, tmp_path / "b.gguf", max_size=planned[0].bytes).outputs
    assert len(outputs) > 1 and outputs[0] == str(tmp_path / f"b-00001-of-{len(outputs):05}.gguf")


def test_a_model_becomes_the_folder_that_it_came_from(folder, tmp_path):
    original = tmp_path / "a.gguf"
    ingot.import_model(folder, original, type="F32")
    back, seen = tmp_path / "back" / folder.name, []
    back.parent.mkdir()
    options = {"names": "hf", "strict": True}
    planned = ingot.convert(original, back, dry_run=True, **options)
    assert not back.exists()
    found = ingot.convert(original, back, progress=seen.append, **options)
    assert found == planned and not found.warnings and seen[-1] == found.total_bytes
    names = {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    assert names <= {path.name for path in back.iterdir()}
    assert sorted(found.outputs) == sorted(str(path) for path in back.iterdir())
    ingot.import_model(back, tmp_path / "b.gguf", type="F32")
    assert (tmp_path / "b.gguf").read_bytes() == original.read_bytes()
    with pytest.raises(ingot.UsageError) as caught:
        ingot.convert(original, back, **options)
    assert caught.value.code == "already_exists"
    ingot.convert(original, back, force=True, **options)


def test_a_folder_in_several_files_of_another_type(folder, tmp_path):
    ingot.import_model(folder, tmp_path / "a.gguf", type="F32")
    found = ingot.convert(tmp_path / "a.gguf", tmp_path / "back", names="hf", max_size=10000, type="F16")
    assert len([path for path in found.outputs if path.endswith(".safetensors")]) > 1
    assert "F16" in " ".join(warning.detail for warning in found.warnings)
    assert ingot.plan_import(tmp_path / "back").type == "F16"


def test_what_a_folder_cannot_hold_is_told(folder, tmp_path):
    ingot.import_model(folder, tmp_path / "a.gguf", type="F32")
    with ingot.edit(tmp_path / "a.gguf") as keys:
        keys["my.key"] = 1
    with pytest.raises(ingot.Error) as caught:
        ingot.convert(tmp_path / "a.gguf", tmp_path / "back", names="hf", strict=True)
    assert caught.value.code == "would_be_lost" and not (tmp_path / "back").exists()
    warnings = ingot.convert(tmp_path / "a.gguf", tmp_path / "back", names="hf").warnings
    assert "my.key" in [warning.subject for warning in warnings]
    with ingot.edit(tmp_path / "a.gguf") as keys:
        keys["general.architecture"] = "other"
    with pytest.raises(ingot.Error) as caught:
        ingot.convert(tmp_path / "a.gguf", tmp_path / "c", names="hf")
    assert caught.value.code == "architecture_unsupported"
    assert {"llama", "qwen3"} <= set(ingot.exportable_architectures())


def test_options_that_have_no_meaning_for_a_folder(folder, tmp_path):
    for name, value in (("gguf_version", 2), ("ctx_size", 64), ("all_tensors", True)):
        with pytest.raises(TypeError, match=name):
            ingot.convert(folder, tmp_path / "back", names="hf", **{name: value})
    for path, names in (("a.gguf", None), ("a.safetensors", "hf"), ("a", "keep")):
        with pytest.raises(TypeError, match="strict"):
            ingot.convert(folder, tmp_path / path, names=names, strict=True)


def test_other_threads_run_during_an_import(folder, tmp_path, turns_during):
    inner = 1 << 15
    (folder / "config.json").write_text(json.dumps(CONFIG | {"intermediate_size": inner}))
    write_safetensors(folder / "model.safetensors", make_arrays(inner))
    plan = ingot.plan_import(folder, type="Q8_0", threads=1)
    assert turns_during(lambda: plan.write(tmp_path / "a.gguf")) > 2
    opened = ingot.open(tmp_path / "a.gguf")
    assert turns_during(lambda: ingot.convert(opened, tmp_path / "back", names="hf")) > 2


@pytest.fixture
def adapter(tmp_path):
    path = tmp_path / "style-lora"
    path.mkdir()
    (path / "adapter_config.json").write_text(json.dumps({
        "peft_type": "LORA", "r": 2, "lora_alpha": 16, "target_modules": ["up_proj"],
        "base_model_name_or_path": "me/My-Llama-1M"}))
    name = "base_model.model.model.layers.0.mlp.up_proj.lora_"
    write_safetensors(path / "adapter_model.safetensors", {
        f"{name}A.weight": numpy.arange(2 * WIDTH, dtype=numpy.float32).reshape(2, WIDTH),
        f"{name}B.weight": numpy.arange(2 * 64, dtype=numpy.float32).reshape(64, 2)})
    return path


def test_an_adapter_is_imported(folder, adapter, tmp_path):
    assert ingot.find_adapter_base(adapter) == "me/My-Llama-1M"
    assert ingot.find_adapter_base(folder) is None
    plan = ingot.plan_adapter_import(adapter, folder)
    assert {key.key: key.value for key in plan.keys}["adapter.lora.alpha"] == 16
    plan.write(tmp_path / "a.gguf")
    with ingot.open(tmp_path / "a.gguf") as model:
        assert model.metadata["general.type"] == "adapter"
        numpy.testing.assert_array_equal(model.tensors["blk.0.ffn_up.weight.lora_a"].numpy(),
                                         numpy.arange(2 * WIDTH).reshape(2, WIDTH))
    ingot.convert(adapter, tmp_path / "b.gguf", base=folder)
    assert (tmp_path / "b.gguf").read_bytes() == (tmp_path / "a.gguf").read_bytes()
    with pytest.raises(TypeError, match="me/My-Llama-1M"):
        ingot.convert(adapter, tmp_path / "c.gguf")
    with pytest.raises(TypeError, match="adapters"):
        ingot.convert(folder, tmp_path / "c.gguf", base=folder)
    (folder / "config.json").write_text(json.dumps(CONFIG | {"hidden_size": 2 * WIDTH}))
    with pytest.raises(ingot.UsageError) as caught:
        ingot.plan_adapter_import(adapter, folder)
    assert caught.value.code == "adapter_mismatch"


def test_a_folder_is_checked(folder):
    assert not [one for one in ingot.check(folder, data=True) if one.severity == "error"]
    (folder / "config.json").write_text(json.dumps(CONFIG | {"hidden_size": 2 * WIDTH}))
    assert [one for one in ingot.check(folder) if one.severity == "error"]


def test_all_models_of_a_folder_are_checked(folder, tmp_path, root):
    assert {one.shard for one in ingot.check(tmp_path)} == {folder.name}
    broken = sorted((root / "tests" / "corpus" / "invalid").glob("key_duplicate*.gguf"))[0]
    (tmp_path / "broken.gguf").write_bytes(broken.read_bytes())
    assert ("key_duplicate", "broken.gguf") in [(one.rule, one.shard) for one in ingot.check(tmp_path)]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ingot.UsageError, match="nothing was checked"):
        ingot.check(tmp_path / "empty")


def test_a_folder_that_lacks_a_layer_is_refused(folder, tmp_path):
    (folder / "config.json").write_text(json.dumps(CONFIG | {"num_hidden_layers": 2}))
    with pytest.raises(ingot.FormatError) as caught:
        ingot.import_model(folder, tmp_path / "a.gguf", pre="gpt-2")
    assert caught.value.code == "import_refused" and caught.value.subject
    assert not (tmp_path / "a.gguf").exists()
    (folder / "config.json").write_text("{}")
    with pytest.raises(ingot.Error):
        ingot.plan_import(folder)


@pytest.mark.parametrize("case", ["llama-spm", "qwen3moe", "gemma2"])
def test_imports_are_those_of_the_reference(shared, tmp_path, case):
    folder = shared / "golden" / "hf" / "cases" / case
    expected = json.loads((folder / "expected.json").read_text())
    for type, output in expected["outputs"].items():
        ingot.import_model(folder / expected["input"], tmp_path / "a.gguf", pre=expected["pre"],
                           type=None if type == "auto" else type.upper(), force=True)
        assert hashlib.sha256((tmp_path / "a.gguf").read_bytes()).hexdigest() == output["file_sha256"]
