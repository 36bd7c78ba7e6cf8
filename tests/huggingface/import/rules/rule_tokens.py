# SPDX-License-Identifier: MIT
"""The keys of a tokenizer by the rules of the reference, for files as rule_token_files makes."""
import re
import struct

from rule_token_files import SPACE

KINDS = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"]
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
ID_KEYS = {"bos": "bos", "eos": "eos", "unk": "unknown", "sep": "seperator", "pad": "padding",
           "mask": "mask", "eot": "eot", "eom": "eom"}


def looks_special(text):
    return text in ("<pad>", "<mask>", "<2mass>", "[@BOS@]") or re.fullmatch(
        r"<\|.*\|>|<\uff5c.*\uff5c>|<unused.*>", text) is not None


def content(token):
    return token.get("content") if isinstance(token, dict) else token


def pieces_of(data):
    """Texts, scores and types of tokenizer.model, and whether it puts a space in front."""
    pieces, adds_space, at = [], True, 0
    while at < len(data):
        tag, size = data[at], data[at + 1]
        body = data[at + 2:at + 2 + size]
        at += 2 + size
        if tag == 0x0a:
            length = body[1]
            kind = body[2 + length + 5 + 1] if len(body) > 2 + length + 5 else NORMAL
            score, = struct.unpack_from("<f", body, 3 + length)
            pieces.append((body[2:2 + length].decode(), score, kind))
        elif tag == 0x1a:
            adds_space = bool(body[1])
    return pieces, adds_space


class SpecialBlock:
    """Which tokens are special, what the tokenizer adds, and the chat template."""

    def __init__(self, tokenizer, has_merges=False, kinds=None, count=None):
        self.files = tokenizer.files
        self.kinds = list(kinds or KINDS)
        self.count = count
        self.ids, self.adds, self.keys = {}, {}, {}
        self.normalizer = {}
        self.json = self.files.get("tokenizer.json")
        settings = self.files.get("tokenizer_config.json")
        self.settings = dict(settings) if settings else None
        self.merges = self.read_merges() if has_merges else []
        if self.json:
            self.read_normalizer()
            self.read_processors()
        self.template = None
        if self.settings:
            self.read_settings()
        for kind in self.kinds:
            number = tokenizer.written.get(f"{kind}_token_id")
            if number is None:
                number = tokenizer.written.get("text_config", {}).get(f"{kind}_token_id")
            if isinstance(number, int) and (count is None or number < count):
                self.ids.setdefault(kind, number)

    def read_merges(self):
        merges = (self.json or {}).get("model", {}).get("merges")
        if merges:
            return [one if isinstance(one, str) else
                    " ".join(part.replace(" ", "\u0120") for part in one) for one in merges]
        lines = self.files.get("merges.txt", "").splitlines()
        return [line for i, line in enumerate(lines) if len(line.split()) == 2
                and not (i == 0 and line.startswith("#"))]

    def read_normalizer(self):
        normalizer = self.json.get("normalizer") or {}
        for step in normalizer.get("normalizers", [normalizer]):
            if step.get("type") == "Lowercase":
                self.normalizer["lowercase"] = True
            if step.get("type") == "StripAccents":
                self.normalizer["strip_accents"] = True
            if step.get("type") == "BertNormalizer":
                for name in ("lowercase", "strip_accents"):
                    if step.get(name) is not None:
                        self.normalizer[name] = step[name]

    def token(self, kind):
        return (self.settings or {}).get(f"{kind}_token")

    def rename(self, kind, text):
        if self.settings is not None:
            self.settings[f"{kind}_token"] = text

    def read_processors(self):
        self.bos, self.eos, self.cls, self.sep = map(self.token, ("bos", "eos", "cls", "sep"))
        if not self.bos and self.cls:
            self.bos = self.cls
            self.rename("bos", self.cls)
        if not self.eos and self.sep:
            self.eos = self.sep
            self.rename("eos", self.sep)
        processor = self.json.get("post_processor") or {}
        for one in processor.get("processors", [processor]):
            if one.get("type") == "RobertaProcessing":
                self.adds.update({"bos": True, "eos": True, "sep": True})
                if not self.cls and self.settings is not None:
                    self.cls = one["cls"][0]
                    self.rename("cls", self.cls)
                if not self.sep and self.settings is not None:
                    self.sep = one["sep"][0]
                    self.rename("sep", self.sep)
            if one.get("type") == "TemplateProcessing":
                self.read_template(one)

    def read_template(self, processor):
        def special(item):
            return item.get("SpecialToken", {}).get("id")
        single, first, last = processor["single"], None, None
        if len(single) > 1:
            first, last = special(single[0]), special(single[-1])
        if first:
            if first not in (self.bos, self.cls):
                if not self.bos:
                    self.bos = first
                    self.rename("bos", first)
                if not self.cls:
                    self.cls = first
                    self.rename("cls", first)
            self.adds["bos"] = first in (self.bos, self.cls)
        if last:
            if last != self.eos and self.settings is not None:
                kind = "eot" if "eot" not in self.kinds else "eom"
                if kind not in self.kinds:
                    self.kinds.append(kind)
                    self.rename(kind, self.eos)
                self.rename("eos", last)
            self.eos = last
            self.adds["eos"] = True
        pair = list(processor["pair"])
        if first and special(pair[0]) == first:
            pair = pair[1:]
        if last and special(pair[-1]) == last:
            pair = pair[:-1]
        if len(pair) > 2 and "Sequence" in pair[0] and "Sequence" in pair[-1]:
            between = [special(item) for item in pair[1:-1]]
            ends = (self.sep, self.eos)
            adds = between[0] in ends and not last or len(between) == 2 and between[1] in ends
            self.adds["sep"] = bool(adds)
            if adds and not self.sep:
                self.rename("sep", self.eos)

    def read_settings(self):
        settings = self.settings
        self.template = settings.get("chat_template")
        if self.template is None:
            self.template = self.files.get("chat_template.jinja")
        if self.template is None:
            self.template = self.files.get("chat_template.json", {}).get("chat_template")
        added = (self.json or {}).get("added_tokens", [])
        for kind in self.kinds:
            if isinstance(settings.get(f"add_{kind}_token"), bool):
                self.adds[kind] = settings[f"add_{kind}_token"]
            text = content(settings.get(f"{kind}_token"))
            number = next((one["id"] for one in added if one["content"] == text), None)
            if number is not None and (self.count is None or number < self.count):
                self.ids.setdefault(kind, number)

    def write(self, keys):
        if self.merges:
            keys["tokenizer.ggml.merges"] = ("[str]", self.merges)
        for kind, number in self.ids.items():
            if kind in ID_KEYS:
                keys[f"tokenizer.ggml.{ID_KEYS[kind]}_token_id"] = ("u32", number)
        for kind, adds in self.adds.items():
            if kind in ("bos", "eos", "sep"):
                keys[f"tokenizer.ggml.add_{kind}_token"] = ("bool", adds)
        if isinstance(self.template, list):
            named = {re.sub("[^A-Za-z0-9]", "_", one["name"]): one["template"]
                     for one in self.template}
            default = named.pop("default", None)
            for name, text in named.items():
                keys[f"tokenizer.chat_template.{name}"] = ("str", text)
            if named:
                keys["tokenizer.chat_templates"] = ("[str]", list(named))
            self.template = default
        if self.template is not None:
            keys["tokenizer.chat_template"] = ("str", self.template)
        for name, value in self.normalizer.items():
            keys[f"tokenizer.ggml.normalizer.{name}"] = ("bool", value)


class Tokenizer:
    """Makes the keys of one folder, step by step."""

    def __init__(self, files, config, written):
        self.files, self.config, self.written = files, config, written
        self.settings = files.get("tokenizer_config.json") or {}
        self.keys = {}
        self.tokens = []  # [text, score, type]

    def write_tokens(self, model):
        keys = self.keys
        keys["tokenizer.ggml.model"] = ("str", model)
        keys["tokenizer.ggml.pre"] = ("str", "default" if model == "llama" else "gpt-2")
        keys["tokenizer.ggml.tokens"] = ("[str]", [text for text, *_ in self.tokens])
        if model == "llama":
            keys["tokenizer.ggml.scores"] = ("[f32]", [score for _, score, _ in self.tokens])
        keys["tokenizer.ggml.token_type"] = ("[i32]", [kind for *_, kind in self.tokens])

    def added_of_settings(self):
        return {int(number): token for number, token in
                self.settings.get("added_tokens_decoder", {}).items()}

    def added_of_json(self):
        return {token["id"]: token for token in
                self.files.get("tokenizer.json", {}).get("added_tokens", [])}

    def read_vocabulary(self):
        vocab = self.files["tokenizer.json"]["model"]["vocab"]
        added = {**self.added_of_json(), **self.added_of_settings()}
        size = self.config.values["vocab_size"]
        self.tokens = [[f"[PAD{i}]", 0, UNUSED] for i in range(size)]
        for text, number in vocab.items():
            self.tokens[number] = [text, 0, NORMAL]
        for number, token in added.items():
            text = token["content"]
            is_control = token["special"] or looks_special(text)
            self.tokens[number] = [text if is_control else text.replace(SPACE, " "), 0,
                                   CONTROL if is_control else USER_DEFINED]

    def gpt2(self):
        self.read_vocabulary()
        self.write_tokens("gpt2")
        SpecialBlock(self, has_merges=True).write(self.keys)

    def read_pieces(self, is_phi3=False):
        pieces, self.adds_space = pieces_of(self.files["tokenizer.model"])
        values = self.config.values
        size = values.get("vocab_size_per_layer_input") or values.get("vocab_size") or len(pieces)
        self.tokens = [[f"[PAD{i}]", -10000.0, UNUSED] for i in range(size)]
        for i, (text, score, kind) in enumerate(pieces[:size]):
            self.tokens[i] = [text, score, NORMAL if kind == 4 else kind]
        for text, number in self.files.get("added_tokens.json", {}).items():
            if number < size:
                self.tokens[number] = [text, -1000.0, USER_DEFINED]
        if is_phi3:
            self.lay_over(self.added_of_settings())
            self.lay_over(self.added_of_json())
            return
        for number, token in self.added_of_settings().items():
            text = token["content"]
            is_control = token["special"] or looks_special(text)
            if number < size:
                self.tokens[number] = [text if is_control else text.replace(SPACE, " "), -1000.0,
                                       CONTROL if is_control else USER_DEFINED]

    def lay_over(self, added):
        for number, token in added.items():
            if number < len(self.tokens):
                self.tokens[number] = [token["content"], -1000.0,
                                       CONTROL if token["special"] else USER_DEFINED]

    def finish_llama(self):
        self.write_tokens("llama")
        SpecialBlock(self, count=len(self.tokens)).write(self.keys)

    def spm(self):
        self.read_pieces()
        self.finish_llama()

    def spm_or_gpt2(self):
        return self.spm() if "tokenizer.model" in self.files else self.gpt2()

    def no_space_prefix(self):
        self.keys["tokenizer.ggml.add_space_prefix"] = ("bool", False)

    def set_space_prefix(self):
        wanted = self.settings.get("add_prefix_space")
        if wanted is not None:
            self.keys["tokenizer.ggml.add_space_prefix"] = ("bool", wanted)

    def llama(self):
        self.set_space_prefix()
        data = self.files.get("tokenizer.json")
        if "tokenizer.model" in self.files:
            self.spm()
        elif data["model"].get("byte_fallback") and \
                data.get("decoder", {}).get("type") == "Sequence":
            self.hf(data)
        else:
            self.gpt2()
        if self.config.values["vocab_size"] == 32016:
            block = SpecialBlock(self, kinds=["prefix", "suffix", "middle", "eot"])
            block.ids.setdefault("eot", 32010)
            block.write(self.keys)
        if self.config.values["vocab_size"] == 49152:
            self.keys["tokenizer.ggml.add_bos_token"] = ("bool", False)

    def hf(self, data):
        names = [f"{kind}_token" for kind in KINDS]
        special = {content(self.settings.get(name)) for name in names} | set(
            self.settings.get("additional_special_tokens", []))
        by_id = sorted((number, text) for text, number in data["model"]["vocab"].items())
        self.tokens = [[text, -1000.0, BYTE if re.fullmatch("<0x[0-9A-Fa-f]{2}>", text) else
                        CONTROL if text in special else NORMAL] for _, text in by_id]
        added = {**self.added_of_json(), **self.added_of_settings()}
        for number in sorted(added):
            if number >= len(by_id):
                text = added[number]["content"]
                self.tokens.append([text, -1000.0, CONTROL if text in special else USER_DEFINED])
        self.finish_llama()

    def gemma3(self):
        if "tokenizer.model" not in self.files:
            return self.gpt2()
        self.spm()
        return self.no_space_prefix()

    def phi3(self):
        if self.settings.get("tokenizer_class") == "GPT2Tokenizer":
            return self.gpt2()
        self.read_pieces(is_phi3=True)
        return self.finish_llama()

    def bert(self):
        self.read_vocabulary()
        for token in self.tokens:
            if token[2] != CONTROL:
                token[0] = token[0][2:] if token[0].startswith("##") else SPACE + token[0]
        types = self.config.values.get("type_vocab_size")
        self.keys["tokenizer.ggml.token_type_count"] = ("u32", 1 if types is None else types)
        self.write_tokens("bert")
        SpecialBlock(self, count=len(self.tokens)).write(self.keys)

    def internlm2(self):
        pieces, adds_space = pieces_of(self.files["tokenizer.model"])
        self.tokens = [["\U0001f409" if text == "\0" else text, score,
                        UNUSED if text.startswith("[UNUSED") else NORMAL if kind == 4 else kind]
                       for text, score, kind in pieces[:self.config.values["vocab_size"]]]
        for text in self.files.get("added_tokens.json", {}):
            self.tokens.append([text, -1000.0, USER_DEFINED])
        lists = (self.added_of_settings(), self.added_of_json())
        ends = [number for added in lists for number, token in added.items()
                if token["content"] == "<|im_end|>"]
        for added in lists:
            self.lay_over(added)
        self.write_tokens("llama")
        self.keys["tokenizer.ggml.add_space_prefix"] = ("bool", adds_space)
        block = SpecialBlock(self, count=len(self.tokens))
        if ends:
            block.ids["eos"] = ends[-1]
        block.write(self.keys)

    def internlm3(self):
        self.read_pieces()
        self.write_tokens("llama")
        self.set_space_prefix()
        block = SpecialBlock(self, count=len(self.tokens))
        for number, token in self.added_of_settings().items():
            if token["content"] == "<|im_end|>" and token["special"] and "eos" in block.ids:
                block.ids["eos"] = number
        block.write(self.keys)

    def glm4(self):
        self.read_vocabulary()
        self.write_tokens("gpt2")
        block = SpecialBlock(self, has_merges=True)
        added = {**self.added_of_json(), **self.added_of_settings()}
        for kind, text in (("eos", "<|endoftext|>"), ("eot", "<|user|>"), ("unk", "<|endoftext|>"),
                           ("bos", "<|endoftext|>")):
            for number, token in added.items():
                if token["content"] == text:
                    block.ids.setdefault(kind, number)
        block.write(self.keys)

    def gemma_fim(self):
        block = SpecialBlock(self, kinds=["prefix", "suffix", "middle", "fsep", "eot"])
        block.ids.setdefault("eot", 107)
        block.template = None
        block.write(self.keys)


def tokenizer_keys(folder, steps, config, reader=Tokenizer):
    """The number of tokens, and the keys."""
    tokenizer = reader(folder.files, config, folder.written_config())
    for step in steps:
        getattr(tokenizer, step)()
    return len(tokenizer.tokens), tokenizer.keys
