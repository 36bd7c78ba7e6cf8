# SPDX-License-Identifier: MIT
"""The classes that scripts use of the package gguf (gguf-py), over Ingot.

``import ingot.gguf as gguf`` is all that a script changes; ``python3 -m ingot.gguf SCRIPT ARGS`` runs
one unchanged. The facts, such as numbers of types and names of keys, are those of Ingot's tables.
Its files import one another by their whole names, so that they can be found below the name gguf, too.
"""
from ingot.gguf import quants as quants
from ingot.gguf.constants import *
from ingot.gguf.gguf_reader import *
from ingot.gguf.gguf_writer import *
from ingot.gguf.metadata import *
from ingot.gguf.quants import *
