#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""compare_tokens.py PROGRAM [--seed N]: token ids by PROGRAM and by llama.cpp.

The vocabularies are those of the golden folders, as PROGRAM imports them, and of the golden files;
the texts a fixed list and random ones. Skips (77) without the engine (bench/install_ggml) or the
golden data, which is found through INGOT_SHARED.
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "evaluation"), str(TESTS / "huggingface/import")]
from llama_engine import Engine, EngineMissing, EngineVocabulary  # noqa: E402
from load_in_engine import CASES, golden_samples, import_model  # noqa: E402

SHARED = CASES.parent.parent.parent
# Vocabulary -> why it is not compared.
NOT_COMPARED = {"none.gguf": "it has no tokens, and the engine stops the program"}
DIFFERENT = {}  # Vocabulary -> why its ids differ.
RANDOM_COUNT = 300
TEXTS = [
    "Hello world", " Hello  world ", "   three spaces", "\n\n \n\t\n", "a\r\nb\r\n\r\nc", "~",
    "~~ ~a ~1", "cd ~/.bashrc && ls -la ~/src~1", "I'm you're he'd we'll they've it's",
    "'S 'LL don\u2019t O'Neill's", "1 12 123 1234 12345 3.14159 1,000,000",
    "\u6211\u60f3\u5728apple\u5de5\u4f5c1314151\u5929\uff5e",
    "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c", "\uc548\ub155\ud558\uc138\uc694",
    "\u043d\u0435\u0449\u043e \u043d\u0430 \u0411\u044a\u043b\u0433\u0430\u0440\u0441\u043a\u0438",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643", "na\u00efve caf\u00e9 \u00c5ngstr\u00f6m",
    "\U0001f600 \U0001f468\u200d\U0001f469\u200d\U0001f467 \u2705\ufe0f",
    "------======= ``````\"\"\"\" !!!???",
    "def f(x):\n    return x ** 2  # square\n\n\tif x != 1:\n\t\tpass\n",
    "int main() { return 0; } // ~end", '{"key": [1, 2.5, null], "n": "\\u00e9"}',
    "<s> </s> <|im_start|>user<|im_end|> [CLS]", "http://a.example/x?y=1&z=%20#top",
    "AbCdEF HTMLParser snake_case kebab-case", "a" * 150, "\u00a0\u2003x\u200b",
    "e\u0301 u\u0308", "x\u0000y", "",
]
PIECES = [
    "~", "'", "'s", "'LL", "\u2019t", " ", "  ", "\n", "\n\n", "\t", "\r\n", "0", "7", "42",
    "2026", "a", "the", "Hello", "ING", "x_1", "\u00e9", "\u00df", "\u4f60\u597d", "\u4e16\u754c",
    "\u3042", "\ud55c", "\u0439", "\u0416", "\u05d0", "\u0e01", "\u0915\u093f", "\U0001f680",
    "\u2014", "\u2026", "\u3002", "(", ")", "{", "}", "[", "];", "==", "!=", "->", "//", "#", "$",
    "%", "@", "\\", "`", '"', ",", ".", "...", "!", "?", ":", "-", "--", "+", "*", "/", "<", ">",
    "|", "&", "^", "_", "return", "if (x)",
]


def random_text(source):
    return "".join(source.choice(PIECES) for _ in range(source.randrange(1, 25)))


def ids_of(program, path, text):
    return [int(number) for number in subprocess.run(
        [program, "tokenize", path, "-", "--ids"], input=text, capture_output=True,
        check=True).stdout.split()]


def cl100k_folder(folder, source):
    """The tokens of a case, cut by the expression of GPT-4."""
    shutil.copytree(source, folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["normalizer"] = None
    split = tokenizer["pre_tokenizer"]["pretokenizers"][0]
    split["pattern"]["Regex"] = (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"
        r"\s++$|\s*[\r\n]|\s+(?!\S)|\s")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


def vocabularies(program, folder):
    """Names, and files for the program and the engine. For the program a folder is imported as it
    is, for the engine with the pre-tokenizer that is known to be right.
    """
    for path in sorted([*(SHARED / "models").glob("*.gguf"),
                        *(SHARED / "golden/text/synthetic").glob("*.gguf")]):
        if path.name not in NOT_COMPARED:
            yield path.name, path, path
    samples = golden_samples()
    cl100k_folder(folder / "cl100k", samples["qwen2"][0])
    for name, (source, pre) in {**samples, "cl100k": (folder / "cl100k", "dbrx")}.items():
        import_model(program, source, folder / "found.gguf", None)
        import_model(program, source, folder / "told.gguf", pre)
        yield name, folder / "found.gguf", folder / "told.gguf"


def main():
    program = sys.argv[1]
    seed = int(sys.argv[3]) if "--seed" in sys.argv else 1
    try:
        engine = Engine()
    except EngineMissing as error:
        print(f"skipped: {error}")
        return 77
    if not CASES.is_dir():
        print(f"skipped: there is no {CASES}")
        return 77
    source = random.Random(seed)
    texts = [text.encode() for text in TEXTS + [random_text(source) for _ in range(RANDOM_COUNT)]]
    whole = b"\n".join(texts)
    failed = False
    with tempfile.TemporaryDirectory() as name:
        for vocabulary_name, path, engine_path in vocabularies(program, pathlib.Path(name)):
            vocabulary = EngineVocabulary(engine, engine_path)
            is_equal = ids_of(program, path, whole) == vocabulary.tokenize(whole)
            different = [] if is_equal else [
                text for text in texts if ids_of(program, path, text) != vocabulary.tokenize(text)]
            vocabulary.close()
            reason = DIFFERENT.get(vocabulary_name)
            print(f"{vocabulary_name:32} {'same ids' if is_equal else 'other ids'}"
                  f"{', as expected: ' + reason if reason else ''}")
            if is_equal == bool(reason):
                failed = True
                print(f"  WRONG: {len(different)} texts, such as {different[:5]}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
