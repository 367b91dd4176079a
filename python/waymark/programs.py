"""Programs: functions and source lines of ELF files."""
from __future__ import annotations

import os
from typing import Any, Optional, TYPE_CHECKING, Union

from . import _native
from .tables import to_frame

if TYPE_CHECKING:
    import pandas as pd


class Program:
    """An ELF file with its debug information, by the addresses for which it was linked."""

    def __init__(self, path: Union[str, 'os.PathLike[str]']) -> None:
        self._native = _native.open_program(os.fspath(path))

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._native.path

    @property
    def build_id(self) -> str:
        """In hexadecimal; empty: the file has none."""
        return self._native.build_id

    def functions(self) -> 'pd.DataFrame':
        """All functions by address: start, last, function, symbol."""
        return to_frame(self._native.functions())

    def function_at(self, address: int) -> Optional[str]:
        """The name of the function at an address; None: nothing is known there."""
        return self._native.function_at(address)

    def frames_at(self, address: int) -> list[dict[str, Any]]:
        """The functions that contain an address, the innermost inlined one first.

        Each has function, file, line and column.
        """
        return self._native.frames_at(address)

    def __repr__(self) -> str:
        return f'<waymark.Program {self.path!r}>'
