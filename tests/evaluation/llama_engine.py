# SPDX-License-Identifier: MIT
"""llama.cpp through its C functions, as an npm package has it prebuilt (bench/install_ggml).

Its parameters are passed in structs that change with its versions. So they are taken as bytes,
and the few fields that have to be set are found by their default values; a version with other
defaults is refused.
"""
import ctypes
import os
import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TYPE_F32 = 0


class Params(ctypes.Structure):
    """At least as large as the struct it stands for: on the stack, the rest is not read."""
    _fields_ = [("bytes", ctypes.c_uint8 * 1024)]

    def set(self, offset, value):
        struct.pack_into("<i", self.bytes, offset, value)


class Batch(ctypes.Structure):
    _fields_ = [("token_count", ctypes.c_int32), ("ids", ctypes.POINTER(ctypes.c_int32)),
                ("embeddings", ctypes.c_void_p), ("positions", ctypes.POINTER(ctypes.c_int32)),
                ("sequence_counts", ctypes.POINTER(ctypes.c_int32)),
                ("sequences", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
                ("has_output", ctypes.POINTER(ctypes.c_int8))]


class EngineMissing(Exception):
    pass


def find_folder():
    """Where the libraries lie: beside $INGOT_GGML, else in build/ggml."""
    path = os.environ.get("INGOT_GGML")
    if path:
        return pathlib.Path(path).parent
    found = sorted((ROOT / "build" / "ggml").glob("**/libggml-base.so"))
    if not found:
        raise EngineMissing("llama.cpp is missing; please run: bench/install_ggml")
    return found[0].parent


def load(folder, pattern):
    """A library of which the file name has a version."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise EngineMissing(f"{folder} has no {pattern}")
    return ctypes.CDLL(str(found[0]), mode=ctypes.RTLD_GLOBAL)


class Engine:
    """The libraries; `backend` is the name of one of their CPU variants, usually the best is taken."""

    def __init__(self, backend=None):
        folder = find_folder()
        load(folder, "libggml-base.so")
        ggml = load(folder, "libggml.v*.so")
        self.llama = load(folder, "libllama.v*.so")
        self.keep_quiet(ggml)
        if backend:
            ggml.ggml_backend_load.restype = ctypes.c_void_p
            if not ggml.ggml_backend_load(os.fsencode(folder / f"libggml-cpu-{backend}.so")):
                raise EngineMissing(f"{folder} has no backend {backend} for this CPU")
        else:
            ggml.ggml_backend_load_all_from_path(os.fsencode(folder))
        for name, result in (("llama_model_load_from_file", ctypes.c_void_p),
                             ("llama_init_from_model", ctypes.c_void_p),
                             ("llama_model_get_vocab", ctypes.c_void_p),
                             ("llama_get_memory", ctypes.c_void_p),
                             ("llama_get_logits", ctypes.POINTER(ctypes.c_float)),
                             ("llama_get_embeddings", ctypes.POINTER(ctypes.c_float)),
                             ("llama_get_embeddings_seq", ctypes.POINTER(ctypes.c_float)),
                             ("llama_vocab_get_add_bos", ctypes.c_bool),
                             ("llama_batch_init", Batch),
                             ("llama_model_default_params", Params),
                             ("llama_context_default_params", Params)):
            getattr(self.llama, name).restype = result
        self.llama.llama_backend_init()

    def keep_quiet(self, ggml):
        """Keeps the last error that is logged."""
        self.last_error = ""

        def receive(level, text, _):
            if level >= 4:  # GGML_LOG_LEVEL_ERROR
                self.last_error = text.decode(errors="replace").strip() or self.last_error

        self.receiver = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p,
                                         ctypes.c_void_p)(receive)
        self.llama.llama_log_set(self.receiver, None)
        ggml.ggml_log_set(self.receiver, None)

    def vocabulary_params(self):
        """Tokens alone: the first of the flags behind the numbers and pointers."""
        params = self.llama.llama_model_default_params()
        flags = 72
        if (struct.unpack_from("<iiii", params.bytes, 16) != (-1, 1, -1, 1)
                or bytes(params.bytes)[flags:flags + 5] != b"\0\0\1\0\0"):
            raise EngineMissing("this version of llama.cpp has parameters that are not known")
        params.bytes[flags] = True
        return params

    def context_params(self, tokens, thread_count):
        """Float caches, and attention as it is written in the papers."""
        params = self.llama.llama_context_default_params()
        # Types of scaling, pooling, attention and flash attention: all -1; the threads before them.
        unset = bytes(params.bytes).find(b"\xff" * 16)
        cache_types = unset + 64
        known = (unset > 0 and struct.unpack_from("<iii", params.bytes) == (512, 2048, 512)
                 and struct.unpack_from("<ii", params.bytes, unset - 12) == (4, 4)
                 and struct.unpack_from("<ii", params.bytes, cache_types) == (1, 1))
        if not known:
            raise EngineMissing("this version of llama.cpp has parameters that are not known")
        for at in (0, 4, 8):  # context, batch, and its parts
            params.set(at, tokens)
        for at in (unset - 12, unset - 8):
            params.set(at, thread_count)
        params.set(unset + 12, 0)
        for at in (cache_types, cache_types + 4):
            params.set(at, TYPE_F32)
        return params


class EngineVocabulary:
    """The tokenizer of a file; without params no tensor is loaded."""

    def __init__(self, engine, path, params=None):
        self.llama = engine.llama
        self.model = self.llama.llama_model_load_from_file(
            os.fsencode(path), params or engine.vocabulary_params())
        if not self.model:
            raise RuntimeError(f"{path}: {engine.last_error}")
        self.model = ctypes.c_void_p(self.model)
        self.vocabulary = ctypes.c_void_p(self.llama.llama_model_get_vocab(self.model))

    def close(self):
        self.llama.llama_model_free(self.model)

    def tokenize(self, text):
        ids = (ctypes.c_int32 * (len(text) + 8))()
        count = self.llama.llama_tokenize(self.vocabulary, text, len(text), ids, len(ids), True,
                                          False)
        assert count >= 0, "a text has no more tokens than bytes"
        return list(ids[:count])


class EngineModel(EngineVocabulary):
    """A model with a context of so many tokens, which are one chunk."""

    def __init__(self, engine, path, chunk_tokens, thread_count=1):
        super().__init__(engine, path, engine.llama.llama_model_default_params())
        self.tokens = chunk_tokens
        self.context = ctypes.c_void_p(self.llama.llama_init_from_model(
            self.model, engine.context_params(chunk_tokens, thread_count)))
        if not self.context:
            raise RuntimeError(f"{path}: {engine.last_error}")
        self.memory = ctypes.c_void_p(self.llama.llama_get_memory(self.context))
        self.batch = self.llama.llama_batch_init(chunk_tokens, 0, 1)

    def close(self):
        self.llama.llama_batch_free(self.batch)
        self.llama.llama_free(self.context)
        super().close()

    def width(self):
        return self.llama.llama_model_n_embd(self.model)

    def vocabulary_size(self):
        return self.llama.llama_vocab_n_tokens(self.vocabulary)

    def chunks(self, ids):
        """Whole chunks; their first token is a bos where the model wants one."""
        for at in range(0, len(ids) - self.tokens + 1, self.tokens):
            chunk = ids[at:at + self.tokens]
            if self.llama.llama_vocab_get_add_bos(self.vocabulary):
                chunk[0] = self.llama.llama_vocab_bos(self.vocabulary)
            yield chunk

    def embed(self, ids):
        """The vector of a chunk, or those of its tokens, one array of floats."""
        self.llama.llama_set_embeddings(self.context, True)
        self.run(ids, 0)
        is_pooled = self.llama.llama_pooling_type(self.context) > 0
        size = self.width() * (1 if is_pooled else len(ids))
        vectors = (self.llama.llama_get_embeddings_seq(self.context, 0) if is_pooled
                   else self.llama.llama_get_embeddings(self.context))
        return ctypes.cast(vectors, ctypes.POINTER(ctypes.c_float * size)).contents

    def decode(self, ids, first_output=0):
        """The logits of the tokens of a chunk from `first_output` on, one array of floats."""
        self.run(ids, first_output)
        size = (len(ids) - first_output) * self.vocabulary_size()
        logits = self.llama.llama_get_logits(self.context)
        return ctypes.cast(logits, ctypes.POINTER(ctypes.c_float * size)).contents

    def run(self, ids, first_output):
        self.llama.llama_memory_clear(self.memory, True)
        self.batch.token_count = len(ids)
        for i, number in enumerate(ids):
            self.batch.ids[i] = number
            self.batch.positions[i] = i
            self.batch.sequence_counts[i] = 1
            self.batch.sequences[i][0] = 0
            self.batch.has_output[i] = i >= first_output
        if self.llama.llama_decode(self.context, self.batch) != 0:
            raise RuntimeError("llama_decode failed")
