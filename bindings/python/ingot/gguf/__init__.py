# SPDX-License-Identifier: MIT
"""The classes that scripts use of the package gguf (gguf-py), over Ingot.

``import ingot.gguf as gguf`` is all that a script changes; ``python3 -m ingot.gguf SCRIPT ARGS`` runs
one unchanged. The facts, such as numbers of types and names of keys, are those of Ingot's tables.
"""
from . import quants as quants
from .constants import *
from .quants import *
from .reader import *
from .writer import *
