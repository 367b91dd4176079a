"""Trace scripts: packets by name, which are encoded into a capture."""
from __future__ import annotations

import os
from typing import Any, Union

from . import _native

Path = Union[str, 'os.PathLike[str]']


class Script:
    """A trace script after assembly; `waymark.assemble()` makes it."""

    def __init__(self, native: _native.Script) -> None:
        self._native = native

    @property
    def description(self) -> str:
        """What the script says about itself."""
        return self._native.description

    @property
    def buffers(self) -> dict[str, bytes]:
        """The encoded trace, by the name of its buffer."""
        return self._native.buffers

    @property
    def devices(self) -> list[dict[str, Any]]:
        """The trace sources: name, protocol, core, id, registers."""
        return self._native.devices

    def save(self, folder: Path, images: Path = '') -> None:
        """Writes a snapshot, which `waymark.open()` reads.

        `images`: the folder to which the names of images in the script are relative.
        """
        self._native.save(os.fspath(folder), os.fspath(images))


def assemble(text: str) -> Script:
    """Assembles the text of a trace script; see docs/trace-scripts.md.

    A mistake raises ParseError, which names the line.
    """
    return Script(_native.assemble(text))
