"""Waymark decodes Arm CoreSight and MIPI trace.

    import waymark

    with waymark.open('samples/quicksort') as capture:
        for batch in capture.batches():         # NumPy arrays of elements
            ranges = batch[batch['kind'] == waymark.Kind.RANGE]
            print(ranges['count'].sum(), 'instructions')
        print(capture.counts().functions())     # a pandas frame
"""
from __future__ import annotations

from . import etm4
from ._native import Packet
from .capture import Batches, Capture, Counts, Intervals, Profile, open
from .elements import ELEMENT, Elements, Flag, Kind, frame, records
from .errors import (BadData, Conflict, Error, InputOutput, InvalidArgument, LimitExceeded,
                     NotFound, ParseError, Unsupported)
from .programs import Program
from .scripts import Script, assemble

__all__ = [
    'BadData', 'Batches', 'Capture', 'Conflict', 'Counts', 'ELEMENT', 'Elements', 'Error', 'Flag',
    'InputOutput', 'Intervals', 'InvalidArgument', 'Kind', 'LimitExceeded', 'NotFound', 'Packet',
    'ParseError', 'Profile', 'Program', 'Script', 'Unsupported', 'assemble', 'etm4', 'frame',
    'open', 'records',
]
