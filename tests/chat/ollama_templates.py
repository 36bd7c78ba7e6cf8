#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ollama_templates.py PROGRAM: Go's own template engine, which is Ollama's, makes of what `ingot chat-template --format
ollama` writes the prompts that `ingot chat` makes of the model's template, for the templates of $INGOT_SHARED. Most of
them can be said in that language. 77 (skipped) without `go` or these files."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TEMPLATES = pathlib.Path(os.environ.get("INGOT_SHARED", HERE.parents[2] / "shared")) / "golden/text/templates.json"
TALKS = [
    [("user", "Who are you?")],
    [("user", "1 {{ .System }}"), ("assistant", "{%"), ("user", "Two\n\nlines")],
    [("system", "Be brief."), ("user", "\u00e9t\u00e9"), ("assistant", "\"yes\""), ("user", "{"), ("assistant", "}"), ("user", "3")],
]


def main():
    program = sys.argv[1]
    if not TEMPLATES.exists() or shutil.which("go") is None:
        return 77

    def run(*words, **options):
        return subprocess.run([program, *words], capture_output=True, text=True, check=False, **options)

    wanted, prompts, written = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        base, model = pathlib.Path(folder, "base.gguf"), pathlib.Path(folder, "model.gguf")
        run("sample", str(base), "-q")
        for row in json.loads(TEMPLATES.read_text("utf-8"))["templates"]:
            source = pathlib.Path(folder, "template.jinja")
            source.write_bytes(row["template"].encode())
            run("edit", str(base), "-o", str(model), "--force", "-q", "--set-file", f"tokenizer.chat_template={source}")
            result = run("chat-template", str(model), "--format", "ollama", "--json")
            if result.returncode != 0:
                continue
            written += 1
            template = json.loads(result.stdout)["template"]
            for talk in TALKS:
                messages = [{"role": role, "content": content} for role, content in talk]
                source.write_text(json.dumps(messages), "utf-8")
                prompt = subprocess.run([program, "chat", str(model), str(source)], capture_output=True, check=False)
                if prompt.returncode == 0:
                    wanted.append((row["name"], prompt.stdout.decode()))
                    prompts.append({"template": template, "messages": messages})
        environment = dict(os.environ, GOCACHE=str(pathlib.Path(folder, "cache")), GO111MODULE="off")
        go = subprocess.run(["go", "run", str(HERE / "render_ollama.go")], input=json.dumps(prompts), text=True,
                            capture_output=True, check=True, env=environment)
    failures = 0
    for (name, prompt), text in zip(wanted, json.loads(go.stdout), strict=True):
        if prompt != text:
            failures += 1
            print(f"{name}:\n  {prompt!r}\n  {text!r}")
    print(f"{written} templates, {len(wanted)} prompts, {failures} others")
    return 0 if failures == 0 and written >= 80 else 1


sys.exit(main())
