# SPDX-License-Identifier: MIT
"""Files of tokenizers for tiny folders, odd on purpose."""
import struct

SPACE = "\u2581"
LETTERS = "abcdefghij"
ADDED = ["<s>", "</s>", "<|im_end|>", "<unused7>", SPACE + "x" + SPACE + "y", "<pad>", "plain",
         "<|user|>", "<|endoftext|>", "[CLS]", "[SEP]", "<unk>"]
ODD_SIZES = [32016, 49152]  # CodeLlama, and small models of Granite
KINDS = ["bos", "eos", "unk", "sep", "pad", "cls", "mask"]
TEMPLATES = {"default": "{{ x }}", "tool-use": "{{ y }}"}


class TokenFiles:
    """Chooses what the files of one folder hold."""

    def __init__(self, folder):
        self.folder, self.random, self.files = folder, folder.random, folder.files
        self.steps = folder.entry["vocab"]
        self.texts = list(LETTERS)
        self.added = self.random.sample(ADDED, self.random.randrange(0, 6))
        if "bert" in self.steps:
            self.texts = ["##" + text if i % 3 == 1 else text for i, text in enumerate(LETTERS)]
        self.size = len(self.texts) + len(self.added)
        self.extra = self.random.choice([0, 0, 3])

    def has(self, share):
        return self.random.random() < share

    def make(self):
        """Fills the files; the number of rows that the embeddings get."""
        folder = self.folder
        spm = {"spm": True, "no_space_prefix": True, "internlm2": True, "internlm3": True,
               "phi3": self.has(.7), "gemma3": self.has(.6), "llama": self.has(.5),
               "spm_or_gpt2": self.has(.4)}.get(self.steps[0], False)
        if spm:
            self.make_sentencepiece()
        if not spm or self.has(.5):
            self.files["tokenizer.json"] = self.tokenizer_json(not spm and "llama" in self.steps)
        if self.has(.9) or not spm:
            self.files["tokenizer_config.json"] = self.tokenizer_config(spm)
        self.make_templates()
        self.put_ids()
        vocab_size = self.size + self.extra
        if "internlm2" in self.steps:
            vocab_size = self.size
        if "llama" in self.steps and self.has(.1):
            vocab_size = self.random.choice(ODD_SIZES)
        folder.config["vocab_size"] = vocab_size
        return self.size + (5 if "gemma3" in self.steps else 0)

    # tokenizer.model

    def make_sentencepiece(self):
        pieces = [(text, -float(i), self.random.choice([1, 1, 2, 3, 4, 5, 6]))
                  for i, text in enumerate(self.texts)]
        pieces[2] = ("[UNUSED_2", -1.5, 1)
        pieces[3] = ("\0", -2.5, 1)
        pieces += [(text, 0.0, 4) for text in self.added]
        data = b""
        for text, score, kind in pieces:
            piece = b"\x0a" + bytes([len(text.encode())]) + text.encode() + b"\x15" + \
                struct.pack("<f", score) + (b"" if kind == 1 else b"\x18" + bytes([kind]))
            data += b"\x0a" + bytes([len(piece)]) + piece
        data += b"\x12\x02\x18\x02"  # trained as BPE
        data += self.random.choice([b"", b"\x1a\x02\x18\x00", b"\x1a\x02\x18\x01"])
        self.files["tokenizer.model"] = data
        if self.has(.4):
            self.files["added_tokens.json"] = {
                "<extra>": self.size + self.random.randrange(2), "<|im_end|>": 1}
        self.pieces = pieces

    # tokenizer.json

    def tokenizer_json(self, may_fall_back):
        falls_back = may_fall_back and self.has(.5)
        texts = list(self.texts)
        if falls_back:
            texts[1:3] = ["<0x0A>", "<0xff>"]
        model = {"type": "WordPiece" if "bert" in self.steps else "BPE",
                 "vocab": {text: i for i, text in enumerate(texts)}}
        if model["type"] == "BPE":
            model["merges"] = self.random.choice([["a b", "c d"], [["a", "b"], ["c c", "d"]], []])
            model["byte_fallback"] = falls_back
        data = {"model": model, "pre_tokenizer": {"type": "ByteLevel"}}
        if falls_back or self.has(.2):
            data["decoder"] = {"type": "Sequence", "decoders": []}
        data["added_tokens"] = [{"id": len(texts) + i, "content": text, "special": self.has(.5)}
                                for i, text in enumerate(self.added)]
        data["normalizer"] = self.random.choice([
            None, {"type": "Lowercase"}, {"type": "BertNormalizer", "lowercase": False,
                                          "strip_accents": None},
            {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "StripAccents"}]}])
        data["post_processor"] = self.post_processor()
        if "merges" in model and not model["merges"]:
            self.files["merges.txt"] = "#version: 0.2\na b\ne f\n"
        return data

    def post_processor(self):
        def special(text):
            return {"SpecialToken": {"id": text, "type_id": 0}}

        def sequence(name):
            return {"Sequence": {"id": name, "type_id": 0}}
        bos, eos = self.random.choice([("<s>", "</s>"), ("[CLS]", "[SEP]"), ("<|im_end|>", "<s>")])
        head = [special(bos)] if self.has(.6) else []
        tail = [special(eos)] if self.has(.5) else []
        between = self.random.choice([[], [special(eos)], [special(eos), special(eos)],
                                      [special(bos)]])
        template = {"type": "TemplateProcessing", "single": [*head, sequence("A"), *tail],
                    "pair": [*head, sequence("A"), *between, sequence("B"), *tail]}
        roberta = {"type": "RobertaProcessing", "cls": [bos, 0], "sep": [eos, 2]}
        return self.random.choice([None, {"type": "ByteLevel"}, template, roberta, {
            "type": "Sequence", "processors": [{"type": "ByteLevel"}, template]}])

    # tokenizer_config.json

    def tokenizer_config(self, spm):
        config = {"tokenizer_class": self.random.choice(
            ["LlamaTokenizer", "GPT2Tokenizer"] if not spm or self.has(.9) else ["GPT2Tokenizer"])}
        if spm:
            config["tokenizer_class"] = "LlamaTokenizer"
        elif "phi3" in self.steps:
            config["tokenizer_class"] = "GPT2Tokenizer"
        is_template = isinstance(self.files.get("tokenizer.json", {}).get("post_processor"), dict)
        for kind in KINDS:
            if self.has(.5):
                text = self.random.choice(ADDED)
                config[f"{kind}_token"] = text if is_template or self.has(.5) else {"content": text}
            if self.has(.2):
                config[f"add_{kind}_token"] = self.random.choice([True, False])
        if self.has(.3):
            config["additional_special_tokens"] = self.random.sample(ADDED, 2)
        if self.has(.4):
            config["add_prefix_space"] = self.random.choice([True, False, None])
        if self.has(.7):
            config["added_tokens_decoder"] = {
                str(len(self.texts) + i): {"content": text, "special": self.has(.5)}
                for i, text in enumerate(self.added)}
        if self.has(.5):
            config["chat_template"] = self.random.choice(["{{ z }}", [
                {"name": name, "template": text} for name, text in TEMPLATES.items()]])
        return config

    def make_templates(self):
        if self.has(.2):
            self.files["chat_template.jinja"] = "{{ of a file }}"
        if self.has(.2):
            self.files["chat_template.json"] = {"chat_template": "{{ of json }}"}

    def put_ids(self):
        for kind in KINDS:
            if self.has(.3):
                self.folder.config[f"{kind}_token_id"] = self.random.choice(
                    [0, 3, self.size - 1, [1, 2], None])
