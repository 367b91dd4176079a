"""Elements: the units of decoded trace, as NumPy arrays."""
from __future__ import annotations

import json
from enum import IntEnum, IntFlag
from typing import Any, TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import _native

if TYPE_CHECKING:
    import pandas as pd

#: The dtype of elements: 64 bytes, as the decoders write them.  `timestamp` and `value`, and
#: `count`, `number`, `master` and `channel`, share memory: the kind says which has a meaning.
ELEMENT: np.dtype[np.void] = _native.ELEMENT

Elements = npt.NDArray[np.void]


class Kind(IntEnum):
    """The field `kind` of an element; the words of JSON and CSV in capitals."""
    UNKNOWN = 0
    NO_SYNC = 1
    TRACE_ON = 2
    END_OF_TRACE = 3
    CONTEXT = 4
    RANGE = 5
    RANGE_NO_PATH = 6
    NO_ACCESS = 7
    ADDRESS_UNKNOWN = 8
    EXCEPTION = 9
    EXCEPTION_RETURN = 10
    TIMESTAMP = 11
    CYCLE_COUNT = 12
    EVENT = 13
    SOFTWARE_TRACE = 14
    SYNC_MARKER = 15
    TRANSACTION = 16
    INSTRUMENTATION = 17
    ITM = 18
    CUSTOM = 19
    DATA_ADDRESS = 20
    DATA_VALUE = 21
    DATA_EVENT = 22


class Flag(IntFlag):
    """Bits of the field `flags` of an element."""
    TAKEN = 1 << 0  #: Range: its last instruction was taken.
    CONDITIONAL = 1 << 1  #: Range: its last instruction is conditional.
    HAS_CYCLES = 1 << 2  #: `cycles` is valid.
    HAS_TIMESTAMP = 1 << 3  #: `timestamp` is valid.
    RETURN_ADDRESS = 1 << 4  #: Exception: `end` is the preferred return address.
    RETURN_IS_TARGET = 1 << 5  #: Exception: `end` is also the target of the last branch.
    TAIL_CHAIN = 1 << 6  #: Exception: tail chain of the M profile.
    FREQUENCY_CHANGE = 1 << 7  #: Timestamp: the frequency of the clock changed.
    CONTEXT_ID_VALID = 1 << 8  #: `context_id` has been seen.
    VMID_VALID = 1 << 9  #: `vmid` has been seen.
    EL_VALID = 1 << 10  #: `el` has been seen.
    BITS_64 = 1 << 11  #: The core executes in AArch64 state.
    DATA_MARKER = 1 << 12  #: Exception: only transfers of its entry follow.
    TIME_IS_PARTIAL = 1 << 13  #: Upper bits of the timestamp are not known.


def _checked(elements: Elements) -> Elements:
    if not isinstance(elements, np.ndarray):
        raise TypeError('expected an array of elements, not ' + type(elements).__name__)
    # A part of a batch with gaps, such as every second element, is copied.
    return np.ascontiguousarray(elements)


def records(elements: Elements) -> list[dict[str, Any]]:
    """The elements as dicts, with the fields of `waymark decode --format json`."""
    return [json.loads(line) for line in _native.element_json(_checked(elements)).splitlines()]


def frame(elements: Elements) -> 'pd.DataFrame':
    """The elements as a pandas frame, with the columns of `waymark decode --format csv`.

    Words are categories; a value that the kind of an element does not have is missing.
    """
    import pandas as pd

    elements = _checked(elements)
    columns: dict[str, Any] = {
        'index': elements['index'] if elements.dtype == ELEMENT else None,
    }
    native = _native.element_columns(elements)
    columns['id'] = elements['id']
    kinds = np.minimum(elements['kind'], len(_native.KINDS)).astype(np.int16)
    kinds[kinds == len(_native.KINDS)] = -1
    columns['kind'] = pd.Categorical.from_codes(kinds, categories=_native.KINDS)
    for name, (form, values, more) in native.items():
        if form == 'word':
            columns[name] = pd.Categorical.from_codes(values, categories=more)
        elif form == 'flag':
            columns[name] = pd.arrays.BooleanArray(values != 0, more != 0)
        else:
            columns[name] = pd.arrays.IntegerArray(values, more != 0)
    return pd.DataFrame(columns)
