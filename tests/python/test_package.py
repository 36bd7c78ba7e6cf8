# SPDX-License-Identifier: MIT
"""The package as such: its names, types, memory."""
import ast
import graphlib
import inspect
import os
import re
import subprocess
import sys

import pytest

import ingot
import ingot.gguf
from ingot import _core

# Public headers of C++ whose functions have another shape in Python, and that.
PYTHON_OF_HEADER = {
    "anatomy": "Model.anatomy", "architectures": "architectures", "chat": "ChatTemplate", "chat_profile": "ChatTemplate.features",
    "chat_prompt": "ChatTemplate.encode", "check": "check", "check_folder": "check",
    "convert": "convert", "describe": "fit", "diff": "diff",
    "digest": "hash", "digest_manifest": "verify", "download": "download", "edit": "edit", "embeddings": "compare_embeddings",
    "error": "Error", "estimate": "fit", "evaluate": "evaluate",
    "folder_export": "convert", "imatrix": "imatrix",
    "import": "plan_import", "import_options": "plan_import", "interop": "open", "limits": "open",
    "local_models": "ls", "lock_wait": "edit", "lora": "merge_lora", "metadata": "Metadata",
    "metadata_keys": "metadata_keys", "model": "Model",
    "model_card": "gguf.Metadata",
    "model_digests": "hash", "model_writer": "Writer", "owned_value": "Writer.set",
    "parallel": "dequantize", "projectors": "image_tokens", "quantize": "quantize", "quantize_exactly": "plan_import", "quantize_model": "quantize_model",
    "recipe": "recipes", "reference": "open", "remote": "open", "remote_cache": "list_remote_cache",
    "remote_options": "open", "repair": "repair",
    "sensitivity": "TensorSensitivity", "shard_name": "split", "source": "open",
    "split": "split", "statistics": "stats", "store": "open", "summary": "Model.summary",
    "tensor": "Tensor", "tensor_profile": "stats", "tensor_statistics": "stats",
    "tokenizer": "Tokenizer", "tokenizer_export": "export_tokenizer", "types": "tensor_types",
    "upload_plan": "plan_upload", "vocabulary_statistics": "Tokenizer.statistics", "weight_grid": "plan_quantization",
}
# Headers whose functions Python has of its own, or that are parts to build other programs with.
WITHOUT = {
    "error_feedback": "quantize_model(effort='best')", "half": "numpy.float16", "held_files": "os.remove",
    "ingot": "includes the others",
    "layout_index": "check finds an index that lies", "npy": "numpy.save",
    "output_file": "open(path, 'wb')", "output_set": "open(path, 'wb')",
    "tensor_stream": "Tensor.dequantize(rows=...)", "text": "str", "token_stream": "Tokenizer.encode_batch",
    "xet": "hash(algorithms='xet'), plan_upload",
}


# Functions of these headers that no file of the module calls, and what Python has instead.
FUNCTIONS_WITHOUT = {
    "a table or a rule that a function of Python applies": {
        "control_texts", "chat_template_key", "find_check_rule", "is_model_content",
        "sentence_of", "advice_of", "common_memory_sizes", "usable_device_bytes", "token_role", "token_id_key",
        "role_of", "traits_of", "quantize_order", "choose_types", "demands_importance",
        "is_quantize_target", "is_split_key", "describe_abnormal_form", "shard_keys",
        "find_architecture_key", "parse_layer_name", "find_counterpart", "fallback_type",
        "find_file_type", "type_of_file_type", "family_of", "is_quantized", "known_pre_tokenizers", "knows_pre_tokenizer",
        "facts_of_pre_tokenizer", "with_plain_characters", "display", "is_hub_name", "parse_hub_reference"},
    "a step of a function that is called": {
        "chat_message", "has_parts", "join_parts", "image_token_texts", "match_pair", "encode_chat_text", "quantize_exactly", "estimate_memory", "get_signed", "get_unsigned", "get_bool",
        "get_float", "get_double", "factor", "map_file", "get_string", "out_of_range", "size_of_tensor", "dequantize", "cut_shards",
        "quantized_file_bytes", "mean_of_chunks", "MemoryStore", "read_file",
        "Vocabulary", "DigestTable", "explain", "missing_keys", "layers_of", "expected_tensors", "unchecked_variants", "refusals_of", "memory_number", "plan_architecture_sample",
        "find_grid", "effort_for", "max_text_parts", "part_of_text", "join_evaluations",
        "ArchitectureHeader", "uses_of", "usual_chunk_tokens", "files_to_upload", "read_chunk_list"},
    "hashlib": {"digest_of", "Digest"},
    "yaml": {"parse_yaml", "yaml_scalar"},
    "numpy.ndarray.astype": {"dequantize_to_f16", "dequantize_to_bf16"},
    "edit(wait=...)": {"set_lock_wait", "lock_wait"},
    "threads=": {"threads_for"},
    "ingot --version --verbose": {"cpu_target"},
    "threading": {"open_remote_async", "RemoteOpening", "ThreadTeam"},
}


def resolve(name):
    found = ingot
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_every_header_has_its_place_in_python(root):
    headers = {path.stem for path in (root / "include" / "ingot").glob("*.hpp")}
    assert headers == set(PYTHON_OF_HEADER) | set(WITHOUT)
    for name in PYTHON_OF_HEADER.values():
        assert resolve(name) is not None


def test_every_function_of_the_library_is_called(root):
    sys.path.insert(0, str(root / "scripts"))
    from check_fuzz import functions_of
    sources = (root / "bindings" / "python" / "src").glob("*.[ch]pp")
    called = set(re.findall(r"\w+", "\n".join(path.read_text(encoding="utf-8") for path in sources)))
    # The members of results are found by functions that describe() calls.
    for header in (root / "include" / "ingot").glob("*.hpp"):
        for body in re.findall(r"^void describe\(.*?^}", header.read_text(encoding="utf-8"), re.S | re.M):
            called.update(re.findall(r"\w+", body))
    exported = {name for header in (root / "include" / "ingot").glob("*.hpp")
                if header.stem not in WITHOUT for name in functions_of(header)}
    assert len(exported) > 100
    assert exported - called == set().union(*FUNCTIONS_WITHOUT.values())


# Commands of the program that are no function of a name like theirs.
PYTHON_OF_COMMAND = {
    "anatomy": "Model.anatomy", "cache": "list_remote_cache", "chat": "ChatTemplate.render",
    "chat_template": "ChatTemplate", "detokenize": "Tokenizer.decode", "extract": "Tensor.numpy",
    "lora": "merge_lora", "metadata": "Metadata",
    "quantize": "quantize_model", "sample": "Writer", "sensitivity": "measure_sensitivities",
    "show": "show",
    "tensors": "Tensors", "tokenize": "Tokenizer", "types": "tensor_types",
    "vocab": "Tokenizer.statistics",
}

# Commands whose work is the program's own: no header of the library has it.
COMMANDS_WITHOUT = {"report": "a page for a browser", "view": "the same", "card": "a page for a hub",
                    "catalog": "sqlite3 reads one", "publish": "the commands in a row",
                    "plan_work": "commands in tasks", "run_work": "commands in tasks"}


def test_every_command_has_its_function(root):
    table = (root / "tools" / "ingot" / "commands.def").read_text(encoding="utf-8")
    commands = re.findall(r"^INGOT_COMMAND\((\w+)\)", table, re.MULTILINE)
    assert len(commands) > 10
    for command in commands:
        if command not in COMMANDS_WITHOUT:
            assert resolve(PYTHON_OF_COMMAND.get(command, command)), command


# Functions by the command whose options they take, and what else they take.
OPTIONS_OF_COMMAND = {
    "check": ("check", set()), "collect_importance": ("imatrix", {"dataset", "exact_sums", "rounds_cache", "max_memory"}),
    "convert": ("convert", {"packing"}),  # --format, a word that meant --to in an earlier version
    "download": ("download", set()), "edit": ("edit", set()),
    "evaluate": ("evaluate", {"rounds_cache", "max_memory"}), "export_tokenizer": ("export-tokenizer", {"pre"}),
    "fit": ("fit", set()), "hash": ("hash", {"files", "weights"}), "import_model": ("convert", {"exact", "folder_name"}),
    "ls": ("ls", set()), "measure_sensitivities": ("sensitivity", {"known", "measured", "rounds_cache", "max_memory"}),
    "merge": ("merge", set()), "merge_lora": ("lora", {"dry_run"}), "quantize_model": ("quantize", set()),
    "repair": ("repair", set()), "split": ("split", set()), "Tokenizer": ("tokenize", set()),
}


@pytest.mark.parametrize("function", OPTIONS_OF_COMMAND)
def test_options_have_the_names_that_the_program_gives_them(root, function):
    command, others = OPTIONS_OF_COMMAND[function]
    page = (root / "docs" / "cli.md").read_text(encoding="utf-8")
    text = page.split(f"\n## ingot {command}\n")[1].split("\n## ")[0]
    options = {name.removeprefix("no-") for name in re.findall(r"--([a-z][a-z0-9-]*)", text)}
    parameters = {name for name, one in inspect.signature(resolve(function)).parameters.items() if one.kind == one.KEYWORD_ONLY}
    assert {name for name in parameters
            if name.strip("_").replace("_", "-").removeprefix("no-") not in options} == others


def renamed():
    kinds = [value for value in vars(ingot).values() if inspect.isclass(value)]
    for one in [*vars(ingot).values(), *(member for kind in kinds for member in vars(kind).values())]:
        if inspect.isfunction(one) and hasattr(one, "old_options"):
            yield one


def test_options_of_an_earlier_version_have_their_new_names(model_path, tmp_path):
    assert len(list(renamed())) > 20
    for function in renamed():
        parameters = set(inspect.signature(function).parameters)
        assert set(function.old_options.values()) <= parameters and not set(function.old_options) & parameters, function
    with pytest.warns(DeprecationWarning, match="context is called ctx_size now") as caught:
        old = ingot.fit(model_path, context=64)
    assert caught[0].filename == __file__ and old == ingot.fit(model_path, ctx_size=64)
    with pytest.raises(TypeError, match="give one of them"):
        ingot.fit(model_path, context=64, ctx_size=64)
    with pytest.warns(DeprecationWarning, match="replace is called force"):
        ingot.convert(model_path, tmp_path / "a.gguf", replace=True)
    with pytest.warns(DeprecationWarning, match='"auto"'):
        assert ingot.fit(model_path, flash_attention="automatic") == ingot.fit(model_path, flash_attn="auto")


def test_every_option_is_a_parameter():
    assert len(_core.option_names) > 5
    for function, names in _core.option_names.items():
        parameters = inspect.signature(resolve({"export_folder": "convert"}.get(function, function))).parameters
        assert names and set(names) <= set(parameters), function


@pytest.mark.parametrize("plan, write", [(ingot.plan_quantization, ingot.quantize_model),
                                         (ingot.plan_import, ingot.import_model)])
def test_what_writes_takes_all_parameters_of_its_plan(plan, write):
    planned, written = (dict(inspect.signature(one).parameters) for one in (plan, write))
    for name, parameter in planned.items():
        assert written[name] == parameter, name
    assert set(written) - set(planned) <= {"path", "force", "progress"}


def test_every_name_of_the_core_is_used_and_in_the_stubs(root):
    package = root / "bindings" / "python" / "ingot"
    stubs = (package / "_core.pyi").read_text(encoding="utf-8")
    users = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    for name, value in vars(_core).items():
        if name.startswith("__"):
            continue
        assert re.search(rf"\b{name}\b", users) or name in stubs.replace(f"class {name}", ""), name
        assert re.search(rf"^(class |def )?{name}\b", stubs, re.MULTILINE), name
        if inspect.isclass(value):
            for member in vars(value):
                if not member.startswith("_"):
                    assert re.search(rf"\bdef {member}\(", stubs), f"{name}.{member}"


def test_objects_say_what_they_are(model, model_path, tmp_path):
    plan = ingot.plan_quantization(model, "Q4_0", allow_requantize=True)
    edit = ingot.edit(model_path)
    for one in (model, model.metadata, model.tensors, plan, edit, ingot.Tokenizer(model),
                ingot.ChatTemplate(model), ingot.Writer(tmp_path / "a.gguf"),
                model.metadata["tokenizer.ggml.tokens"], model.tensors["token_embd.weight"]):
        assert repr(one).startswith(f"<ingot.{type(one).__name__}"), one
    edit.discard()


def test_everything_public_has_a_docstring():
    for name, value in vars(ingot).items():
        if name.startswith("_") or inspect.ismodule(value):
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, name


# What a user writes who has mypy check everything.
TYPED_USE = """
from typing import Any, List, Optional
import numpy
import ingot
import ingot.gguf as gguf

def use(path: str) -> List[str]:
    with ingot.open(path) as model:
        weights: numpy.ndarray[Any, Any] = model.tensors["a"].numpy()
        name: str = model.metadata.get("general.name", "")
        findings: List[ingot.Finding] = ingot.check(model)
        try:
            ingot.quantize(weights, "Q4_K")
        except ingot.Error as error:
            offset: Optional[int] = error.offset
    with ingot.edit(path) as keys:
        keys["general.name"] = name + ingot.__version__
    fields = gguf.GGUFReader(path).fields
    return [finding.rule for finding in findings] + list(fields)

count: int = ingot.tensor_types["Q4_K"].type
"""


def test_the_types_hold(root, tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(TYPED_USE)
    package = root / "bindings" / "python"
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", tmp_path,
         package / "ingot", tmp_path / "use.py"], cwd=tmp_path, capture_output=True,
        text=True, check=False, env={**os.environ, "MYPYPATH": str(package)})
    errors = [line for line in run.stdout.splitlines() if "error" in line]
    assert len(errors) == 1 and "use.py:21: error: Incompatible types" in errors[0], run.stdout


LEAK = """
import gc, resource, sys
import ingot
content = open(sys.argv[1], "rb").read()
def rounds(count):
    for _ in range(count):
        with ingot.open(content) as model:
            model.metadata["tokenizer.ggml.token_type"], model.metadata["tokenizer.ggml.tokens"][0]
            model.tensors["token_embd.weight"].data
        try:
            ingot.open(content[:300])
        except ingot.Error:
            pass
def kilobytes():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4
rounds(2000)
before, objects = kilobytes(), len(gc.get_objects())
rounds(int(sys.argv[2]))
print(kilobytes() - before, len(gc.get_objects()) - objects)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
@pytest.mark.skipif(os.environ.get("INGOT_INSTRUMENTED", "0") != "0", reason="sanitizers keep memory")
def test_opening_and_closing_leaks_nothing(model_path):
    run = subprocess.run([sys.executable, "-c", LEAK, model_path, "20000"], capture_output=True,
                         text=True, check=True)
    kilobytes, objects = map(int, run.stdout.split())
    # A leak of one byte a round would be 20 KiB; the allocator's own noise is a few pages.
    assert kilobytes < 600 and objects < 100


def test_a_file_is_opened_and_closed_often(model_path):
    for _ in range(3000):
        ingot.open(model_path).close()
    assert len(os.listdir("/proc/self/fd")) < 100


def test_the_examples_of_the_page_run(root, model_path, tmp_path, monkeypatch):
    page = (root / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    (tmp_path / "model.gguf").write_bytes(model_path.read_bytes())
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert (tmp_path / "tiny.safetensors").exists() and names["keys"].outcome.way


def imports_of(path, names):
    """The files of the package that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level == 0 and module.split(".")[0] != "ingot":
                continue
            found = [module, *(one.name for one in node.names)]
            yield from {part for one in found for part in one.split(".")} & names
        elif isinstance(node, ast.Import):
            paths = [one.name.split(".") for one in node.names]
            yield from {part for path in paths if path[0] == "ingot" for part in path} & names


def test_no_file_of_the_package_imports_itself_through_others(root):
    for folder in ("ingot", "ingot/gguf"):
        files = {path.stem: path for path in (root / "bindings" / "python" / folder).glob("*.py")
                 if not path.stem.startswith("__")}
        assert len(files) >= 5
        arrows = {name: set(imports_of(path, set(files))) for name, path in files.items()}
        assert list(graphlib.TopologicalSorter(arrows).static_order())  # raises for a circle
