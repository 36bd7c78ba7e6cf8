# SPDX-License-Identifier: MIT
"""Tokenizers and chat templates."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core
from ._errors import about
from ._facts import old_options
from ._model import Model, Source
from ._work import AnyModel, Path, opened

__all__ = ["ChatTemplate", "ChatTokens", "Run", "Tokenizer", "export_tokenizer"]

Ids = Union[Sequence[int], "np.ndarray[Any, Any]"]
Text = Union[str, bytes]


class Tokenizer:
    """The tokenizer of a model; independent of it once made. Any number of threads may use it.

    Ids and texts are those of llama.cpp, to the byte.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    pre : str, optional
        Instead of the one that the file names.

    Examples
    --------
    >>> tokenizer = ingot.Tokenizer("model.gguf")
    >>> tokenizer.decode(tokenizer.encode("Hello"))
    'Hello'
    """

    @old_options(pre_tokenizer="pre")
    def __init__(self, source: Union[Model, Source], *, pre: str = "") -> None:
        self._core = _core.Tokenizer(opened(source)._core, pre)

    def __len__(self) -> int:
        return len(self._core)

    @property
    def family(self) -> str:
        """"SPM", "BPE", "WPM", "UGM", "RWKV" or "PLAMO2"."""
        return self._core.family()

    @property
    def pre_tokenizer(self) -> str:
        return self._core.pre_tokenizer()

    def encode(self, text: Text, *, add_special: bool = True,
               parse_special: bool = False) -> np.ndarray[Any, Any]:
        """The ids of a text, an array of int32.

        `add_special` adds bos and eos where the model wants them; `parse_special` finds control
        tokens in the text, which are plain text otherwise.
        """
        return self._core.encode(text, add_special, parse_special)

    def encode_with_offsets(self, text: Text, *, add_special: bool = True, parse_special: bool = False
                            ) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The ids, and for each the range of bytes of the text in UTF-8, of shape (ids, 2)."""
        return self._core.encode_with_offsets(text, add_special, parse_special)

    def encode_batch(self, texts: Iterable[Text], *, add_special: bool = True,
                     parse_special: bool = False, threads: int = 0) -> List[np.ndarray[Any, Any]]:
        """The ids of many texts, on several threads."""
        return self._core.encode_batch(list(texts), add_special, parse_special, threads)

    def decode(self, ids: Ids, *, remove_special: bool = False, show_special: bool = True,
               errors: str = "force") -> str:
        """The text of ids. Bytes that are no UTF-8 are handled as by ``bytes.decode(errors=)``."""
        return self.decode_bytes(ids, remove_special=remove_special,
                                 show_special=show_special).decode("utf-8", errors)

    def decode_bytes(self, ids: Ids, *, remove_special: bool = False,
                     show_special: bool = True) -> bytes:
        """The text of ids as bytes. UsageError ``index_out_of_range`` for an id that is none."""
        return self._core.decode(np.asarray(ids, np.int32), remove_special, show_special)

    def stream(self, show_special: bool = True) -> _core.StreamDecoder:
        """A decoder for ids that come one by one: ``push(id)`` and ``finish()`` return whole
        characters."""
        return _core.StreamDecoder(self._core, show_special)

    def text(self, id: int) -> str:
        """A token as the file spells it."""
        return self._core.text(id)

    def piece(self, id: int, show_special: bool = True) -> bytes:
        """The bytes that a token stands for; they may be a part of a character."""
        return self._core.piece(id, show_special)

    def kind(self, id: int) -> str:
        """"normal", "control", "byte", ..."""
        return self._core.kind(id)

    def score(self, id: int) -> float:
        return self._core.score(id)

    def find(self, text: str) -> Optional[int]:
        """The first token that is spelled so; None if there is none."""
        found = self._core.find(text)
        return None if found < 0 else found

    @property
    def special_tokens(self) -> Dict[str, int]:
        """"bos", "eos", ... and their ids."""
        return self._core.special_tokens()

    @property
    def end_of_generation(self) -> List[int]:
        return self._core.end_of_generation()

    def statistics(self) -> Dict[str, Any]:
        """Counts over all tokens, by the names of `ingot vocab --stats --json` (docs/json.md)."""
        return self._core.statistics()

    def __repr__(self) -> str:
        return f"<ingot.Tokenizer: {self.family}, {len(self)} tokens>"


@old_options(pre_tokenizer="pre", replace="force")
def export_tokenizer(source: AnyModel, path: Path, *, pre: str = "",
                     force: bool = False) -> List[str]:
    """Write the tokenizer in the files of Hugging Face's libraries, all or none of them.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes
    path : path
        A folder, which is made if needed, or the name of tokenizer.json if it ends in ``.json``.
    pre : str, optional
        Instead of the one that the file names.
    force : bool
        Replace files that exist.

    Returns
    -------
    list of str
        What the form cannot express, so that ids can differ.

    Raises
    ------
    ingot.Error
        ``tokenizer_unknown`` for a family without such a form, ``tokenizer_invalid`` for a token that is
        not UTF-8, ``already_exists``.

    Examples
    --------
    >>> ingot.export_tokenizer("model.gguf", "tokenizer")
    []
    """
    with about(path):
        return _core.export_tokenizer(opened(source)._core, os.fspath(path), pre, force)


class Run(NamedTuple):
    """A stretch of a rendered prompt, in bytes of its UTF-8: `is_input` came from a message and not
    from the template."""

    offset: int
    nbytes: int
    is_input: bool
    is_generated: bool


class ChatTokens(NamedTuple):
    """A prompt as a model takes it; `is_generated` marks what the assistant wrote."""

    ids: Any
    is_generated: List[bool]
    text: str


class ChatTemplate:
    """A chat template: that of a model, or its source. Any number of threads may use it.

    It runs as Hugging Face's ``apply_chat_template``, to the byte, in a sandbox.

    Parameters
    ----------
    source : Model, or what `ingot.open` takes; optional
        Its special tokens become variables.
    name : str
        ``tokenizer.chat_template.NAME`` instead of the default one.
    text : str, optional
        The template itself, instead of the model's.

    Raises
    ------
    ingot.ChatError
        ``chat_syntax``, ``chat_missing``; with the place in the template.
    """

    def __init__(self, source: Union[Model, Source, None] = None, *, name: str = "",
                 text: Optional[str] = None) -> None:
        if source is None and text is None:
            raise TypeError("a model or the text of a template is needed")
        core = None if source is None else opened(source)._core
        self._core = _core.ChatTemplate(core, text, name)

    @staticmethod
    def names(source: Union[Model, Source]) -> List[str]:
        """The templates of a model; the default one is ""."""
        return _core.chat_template_names(opened(source)._core)

    def __repr__(self) -> str:
        return f"<ingot.ChatTemplate: {len(self.source):,} characters>"

    @property
    def source(self) -> str:
        """The template."""
        return self._core.source()

    @property
    def variables(self) -> List[str]:
        """The variables that it reads and does not set."""
        return self._core.variables()

    @property
    def format(self) -> Optional[str]:
        """The name of the prompt format, found by rendering: "ChatML", "Llama 3"; None for one that is not
        known. docs/chat-templates.md lists them."""
        return self._core.prompt_format() or None

    @property
    def features(self) -> Dict[str, bool]:
        """The features for conversations: "system", "tool calls", ..."""
        return self._core.profile()

    def lint(self) -> List[Tuple[int, int, str]]:
        """Flaws that the source shows without running: line, column, text."""
        return self._core.lint()

    def render(self, messages: Sequence[Mapping[str, Any]],
               tools: Optional[Sequence[Mapping[str, Any]]] = None, *,
               add_generation_prompt: bool = True, now: Optional[str] = None, lenient: bool = False,
               **variables: Any) -> str:
        """The prompt of a conversation.

        Parameters
        ----------
        messages : list of dict
            With ``role`` and ``content``.
        tools : list of dict, optional
        add_generation_prompt : bool
            Ends with what the assistant's answer begins with.
        now : str, optional
            What the template takes for now: ``"2025-07-04T05:06:07"``; default: the clock.
        **variables
            Further variables, such as ``enable_thinking=False``.

        Raises
        ------
        ingot.ChatError
            ``chat_raised`` if the template refuses the conversation, and others.
        """
        return self._core.render(messages, tools, add_generation_prompt, variables, now, lenient)[0]

    def render_runs(self, messages: Sequence[Mapping[str, Any]],
                    tools: Optional[Sequence[Mapping[str, Any]]] = None, *,
                    add_generation_prompt: bool = True, now: Optional[str] = None,
                    lenient: bool = False, **variables: Any) -> Tuple[str, List[Run]]:
        """Renders, and tells where each part of the text comes from."""
        text, runs = self._core.render(messages, tools, add_generation_prompt, variables, now, lenient)
        return text, [Run(*run) for run in runs]

    def encode(self, tokenizer: Tokenizer, messages: Sequence[Mapping[str, Any]],
               tools: Optional[Sequence[Mapping[str, Any]]] = None, *,
               add_generation_prompt: bool = True, inputs: str = "plain",
               **variables: Any) -> ChatTokens:
        """Renders a conversation and encodes the prompt.

        With `inputs` "plain" a control token in a message is plain text; "apart" also encodes each
        message for itself; "trusted" is as Hugging Face does it.
        """
        if inputs not in ("plain", "apart", "trusted"):
            raise ValueError('inputs must be "plain", "apart" or "trusted"')
        return ChatTokens(*self._core.encode(tokenizer._core, messages, tools, add_generation_prompt,
                                             variables, inputs))
