"""The exceptions of the module.  Each carries the code and, where there is one, the place."""
from __future__ import annotations

from typing import Optional


class Error(Exception):
    """A call failed.  Its text is a whole sentence that names the place and the remedy.

    `code` is "invalid_argument", "not_found", "io", "parse", "unsupported", "bad_data", "conflict"
    or "limit".  `index` is the offset in the trace and `trace_id` the source, or None.
    """

    code: str = 'unknown'

    def __init__(self, message: str, index: Optional[int] = None,
                 trace_id: Optional[int] = None) -> None:
        super().__init__(message)
        self.index = index
        self.trace_id = trace_id

    def __reduce__(self) -> tuple[type[Error], tuple[str, Optional[int], Optional[int]]]:
        return type(self), (str(self), self.index, self.trace_id)


class InvalidArgument(Error, ValueError):
    """The caller broke the contract of the function."""
    code = 'invalid_argument'


class NotFound(Error, LookupError):
    """A path, device, register or name does not exist."""
    code = 'not_found'


class InputOutput(Error):
    """The operating system refused to read or write."""
    code = 'io'


class ParseError(Error, ValueError):
    """A text breaks its grammar."""
    code = 'parse'


class Unsupported(Error):
    """Valid, but nothing here can decode it."""
    code = 'unsupported'


class BadData(Error):
    """The bytes of a capture or an image cannot be what they claim to be."""
    code = 'bad_data'


class Conflict(Error):
    """Two statements contradict each other."""
    code = 'conflict'


class LimitExceeded(Error):
    """A stated bound was exceeded."""
    code = 'limit'


_CLASSES: dict[str, type[Error]] = {
    kind.code: kind for kind in (InvalidArgument, NotFound, InputOutput, ParseError, Unsupported,
                                 BadData, Conflict, LimitExceeded)}


def make(code: str, message: str, index: Optional[int], trace_id: Optional[int]) -> Error:
    """The exception for a code; the native part of the module calls it."""
    return _CLASSES.get(code, Error)(message, index, trace_id)
