# SPDX-License-Identifier: MIT
"""Vocabularies of families and sizes that few files have, made of texts: the substrings that occur
most, with the logarithms of their shares as scores. For bench_tokenizer.py."""
import collections
import math
import struct

BPE_TOKENS, UGM_TOKENS, RWKV_TOKENS, PLAMO2_TOKENS = 151_936, 32_000, 65_536, 100_000
LONGEST = 12  # characters of a token
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # tokenizer.ggml.token_type
SPACE = "\u2581"


def common_substrings(texts):
    """Substrings of words that occur most often, by length times count; a word takes the space
    before it."""
    words = collections.Counter(" " + word for text in texts for word in text.split(" "))
    counts = collections.Counter()
    for word, count in words.items():
        for begin in range(len(word)):
            for end in range(begin + 1, min(begin + LONGEST, len(word)) + 1):
                counts[word[begin:end]] += count
    return sorted(counts.items(), key=lambda item: (-item[1] * len(item[0]), item[0]))


def scored(found, count):
    """The `count` best: every character, then longer ones."""
    chosen = [item for item in found if len(item[0]) == 1][:count]
    chosen += [item for item in found if len(item[0]) > 1][:count - len(chosen)]
    total = sum(times for _, times in chosen)
    return [(text, math.log(times / total)) for text, times in chosen]


def text_of(value):
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def array(kind, values, pack):
    return struct.pack("<IIQ", 9, kind, len(values)) + b"".join(map(pack, values))


def form_of(value):
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text_of(value)
    return array(8, value, text_of)


def write_gguf(path, architecture, model, tokens, keys):
    """`tokens`: (text, score, type)...; `keys`: numbers, flags, texts and lists of texts."""
    pairs = [("general.architecture", struct.pack("<I", 8) + text_of(architecture)),
             ("tokenizer.ggml.model", struct.pack("<I", 8) + text_of(model)),
             ("tokenizer.ggml.tokens", array(8, [token[0] for token in tokens], text_of)),
             ("tokenizer.ggml.scores",
              array(6, [token[1] for token in tokens], lambda x: struct.pack("<f", x))),
             ("tokenizer.ggml.token_type",
              array(5, [token[2] for token in tokens], lambda x: struct.pack("<i", x)))]
    for name, value in keys.items():
        pairs.append((f"tokenizer.ggml.{name}", form_of(value)))
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) +
                     b"".join(text_of(name) + value for name, value in pairs))
    return path


def byte_alphabet():
    """The character that stands for each byte in vocabularies of byte-level BPE."""
    others = (chr(0x100 + i) for i in range(256))
    return [chr(byte) if 0x21 <= byte <= 0x7E or (byte >= 0xA1 and byte != 0xAD) else next(others)
            for byte in range(256)]


def make_bpe(folder, found):
    """As training does, each token merges two earlier ones: those that leave the shortest end."""
    alphabet = byte_alphabet()
    tokens, merges = dict.fromkeys(alphabet), []
    for text, _ in scored(found, len(found)):
        if len(tokens) == BPE_TOKENS:
            break
        spelt = "".join(alphabet[byte] for byte in text.encode())
        first = 2 if len(text) == 1 else len(spelt)  # a character is put together byte by byte
        for whole in (spelt[:end] for end in range(first, len(spelt) + 1)):
            cuts = (cut for cut in range(len(whole) - 1, 0, -1)
                    if whole[:cut] in tokens and whole[cut:] in tokens)
            cut = 0 if whole in tokens else next(cuts, 0)
            if cut:
                tokens[whole] = None
                merges.append(f"{whole[:cut]} {whole[cut:]}")
    keys = {"pre": "qwen2", "merges": merges}
    return write_gguf(folder / "made-bpe.gguf", "qwen2", "gpt2",
                      [(text, 0, NORMAL) for text in tokens], keys)


def make_ugm(folder, found):
    special = [("<pad>", 0, CONTROL), ("</s>", 0, CONTROL), ("<unk>", 0, UNKNOWN)]
    tokens = [(text.replace(" ", SPACE), score, NORMAL)
              for text, score in scored(found, UGM_TOKENS - 3)]
    keys = {"eos_token_id": 1, "unknown_token_id": 2, "padding_token_id": 0,
            "add_space_prefix": True, "remove_extra_whitespaces": True, "add_bos_token": False,
            "add_eos_token": True}
    return write_gguf(folder / "made-ugm.gguf", "t5", "t5", special + tokens, keys)


def escaped(data):
    """Bytes as RWKV's vocabularies write them."""
    short = {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r", 0x5C: "\\\\"}
    return "".join(short.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}")
                   for byte in data)


def make_rwkv(folder, found):
    single = [bytes([byte]) for byte in range(256)]
    longer = [text.encode() for text, _ in scored(found, RWKV_TOKENS)]
    longer = [text for text in longer if len(text) > 1][:RWKV_TOKENS - 257]
    tokens = [("<s>", 0, CONTROL)] + [(escaped(text), 0, NORMAL) for text in single + longer]
    return write_gguf(folder / "made-rwkv.gguf", "rwkv6", "rwkv", tokens, {})


def make_plamo2(folder, found):
    special = [("<|plamo:unk|>", 0, UNKNOWN), ("<|plamo:bos|>", 0, CONTROL),
               ("<|plamo:eos|>", 0, CONTROL), ("<|plamo:pad|>", 0, CONTROL)]
    special += [(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
    tokens = [(text, score, NORMAL)
              for text, score in scored(found, PLAMO2_TOKENS - len(special))]
    keys = {"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0, "padding_token_id": 3}
    return write_gguf(folder / "made-plamo2.gguf", "plamo2", "plamo2", special + tokens, keys)


def make_all(folder, texts):
    found = common_substrings(texts)
    return [make(folder, found) for make in (make_bpe, make_ugm, make_rwkv, make_plamo2)]
