"""Captures: what an input yields, and the queries on it."""
from __future__ import annotations

import html
import json
import os
from types import TracebackType
from typing import Any, Iterator, Optional, Sequence, TYPE_CHECKING, Union

from . import _native
from .elements import Elements
from .tables import to_frame

if TYPE_CHECKING:
    import pandas as pd

Path = Union[str, bytes, 'os.PathLike[str]']

#: Elements of a batch, unless the caller says otherwise.
BATCH = 65536


class Batches:
    """Iterates over arrays of elements.

    Each array has the dtype `waymark.ELEMENT` and shows memory of the decoder without a copy.  It
    stays valid as long as anything refers to it or to a part of it.  Any thread may take the next
    batch; Python's lock is free while it is decoded.
    """

    def __init__(self, native: _native.Batches) -> None:
        self._native = native

    def __iter__(self) -> 'Batches':
        return self

    def __next__(self) -> Elements:
        return next(self._native)

    def damage(self) -> list[dict[str, Any]]:
        """What was damaged in the trace up to the last batch, as records of JSON."""
        return [json.loads(line) for line in self._native.damage_json().splitlines()]


class Counts:
    """How often the code of a capture was executed."""

    def __init__(self, native: _native.CountResult) -> None:
        self._native = native

    @property
    def totals(self) -> dict[str, Any]:
        """Sums over all sources: instructions, ranges, taken, not_taken, calls, cycles ..."""
        return self._native.totals

    def ranges(self) -> 'pd.DataFrame':
        """A row for each range of instructions and context, with how often it was executed."""
        return to_frame(self._native.rows())

    def edges(self) -> 'pd.DataFrame':
        """How often each indirect branch went to each of its targets."""
        return to_frame(self._native.edges())

    def functions(self, symbols: Sequence[str] = ()) -> 'pd.DataFrame':
        """A row for each function, those with most instructions first.

        `symbols`: programs that name functions, as FILE or FILE@ADDRESS, if the image of the
        capture has no ELF files.
        """
        table = to_frame(self._native.functions(list(symbols)))
        return table.sort_values('instructions', ascending=False, kind='stable',
                                 ignore_index=True)

    def profile(self, symbols: Sequence[str] = ()) -> 'Profile':
        """The same by program, in the addresses for which each program was linked."""
        return Profile(self._native.profile(list(symbols)))

    def _repr_html_(self) -> str:
        rows = ''.join(f'<tr><th>{html.escape(name)}</th><td>{value:,}</td></tr>'
                       for name, value in self.totals.items() if isinstance(value, int))
        return f'<table>{rows}</table>'

    def __repr__(self) -> str:
        return f'<waymark.Counts: {self.totals["instructions"]} instructions>'


class Profile:
    """What was executed, program by program."""

    def __init__(self, tables: dict[str, dict[str, Any]]) -> None:
        #: A row for each program: its path, build ID and instructions.
        self.programs = to_frame(tables['programs'])
        #: A row for each range that was executed.
        self.ranges = to_frame(tables['ranges'])
        #: How often each branch was taken.
        self.branches = to_frame(tables['branches'])

    def _repr_html_(self) -> str:
        return str(self.programs.to_html(index=False))


class Intervals:
    """How long it took from one place to another."""

    def __init__(self, start: str, end: str, tables: dict[str, dict[str, Any]]) -> None:
        self.start = start
        self.end = end
        #: A row for each unit that the trace measures in: time, cycles, instructions.
        self.lengths = to_frame(tables['lengths'])
        #: How often each length occurred, by powers of two.
        self.histogram = to_frame(tables['histogram'])

    def plot(self, unit: str = 'instructions', axes: Any = None) -> Any:
        """Draws the histogram of a unit with matplotlib; returns the axes."""
        from . import plots
        return plots.histogram(self, unit, axes)

    def _repr_html_(self) -> str:
        return str(self.lengths.to_html(index=False))


class Capture:
    """An open capture; `waymark.open()` makes it.

    Every method that reads the trace begins at its start, so that several can run at once.  Use it
    in a `with` statement, or call close().
    """

    def __init__(self, path: Path, options: dict[str, Any]) -> None:
        self._path = path
        self._options = options
        self._native = _native.open_capture(path, options)

    # -- What it is. ------------------------------------------------------------------------------

    @property
    def path(self) -> str:
        """The path as it was given."""
        return self._native.path

    @property
    def kind(self) -> str:
        """What the input is, such as "snapshot folder"."""
        return self._native.kind

    @property
    def framing(self) -> str:
        """How the trace is wrapped: mem, fsync, hsync, dstream, none or pieces."""
        return self._native.framing

    @property
    def trace_bytes(self) -> int:
        """The size of the trace."""
        return self._native.trace_bytes

    @property
    def sources(self) -> list[dict[str, Any]]:
        """The sources: id, protocol, device, type, version, core, core_type."""
        return self._native.sources

    @property
    def notes(self) -> list[str]:
        """Sentences about what looked doubtful when the input was opened."""
        return self._native.notes

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._native.closed

    def close(self) -> None:
        """Ends the use of the capture.  Arrays of elements stay valid."""
        self._native.close()

    def __enter__(self) -> 'Capture':
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    # -- Reading it. ------------------------------------------------------------------------------

    def batches(self, size: int = BATCH) -> Batches:
        """Iterates over arrays of `size` elements; only the last one may be shorter."""
        return Batches(self._native.batches(size))

    def elements(self) -> Elements:
        """All elements as one array.  It takes 64 bytes of memory for each."""
        import numpy as np

        arrays = list(self.batches())
        if len(arrays) == 1:
            return arrays[0]
        if not arrays:
            return np.empty(0, _native.ELEMENT)
        # NumPy joins structured arrays by their fields, and would move those that share memory.
        plain = np.dtype(('V', _native.ELEMENT.itemsize))
        joined: Elements = np.concatenate([array.view(plain) for array in arrays])
        return joined.view(_native.ELEMENT)

    def packets(self) -> Iterator[_native.Packet]:
        """Iterates over the packets of all sources."""
        self._native.trace_bytes  # It must be open.
        return _native.packets(_native.open_capture(self._path, self._options, False))

    def messages(self, collateral: Sequence[Path] = (), frequency: int = 0,
                 short_guid: str = '') -> Iterator[dict[str, Any]]:
        """Iterates over the SyS-T messages, as records of `waymark syst --format json`.

        `collateral`: XML files that name senders and texts.  `frequency`: that of the timestamps
        in Hz, if the trace does not state it.  `short_guid`: the sender of short messages.
        """
        files = [os.fsdecode(path) for path in collateral]
        lines = _native.messages(self._native, files, frequency, short_guid)
        return (json.loads(line) for line in lines)

    def damage(self) -> 'pd.DataFrame':
        """What is damaged in the trace: a row for each place."""
        import pandas as pd

        batches = self.batches()
        for _ in batches:
            pass
        return pd.DataFrame(batches.damage())

    # -- Asking it. -------------------------------------------------------------------------------

    def counts(self, threads: int = 1) -> Counts:
        """Counts what was executed, which is faster than reading elements."""
        return Counts(_native.count(self._native, threads))

    def profile(self, symbols: Sequence[str] = (), threads: int = 1) -> Profile:
        """What was executed, by program."""
        return self.counts(threads).profile(symbols)

    def stacks(self, symbols: Sequence[str] = ()) -> 'pd.DataFrame':
        """The tree of calls: a row for each function that was called in one way.

        Rows are in the order of the tree; `parent` is the `node` of the caller, or 0 if there is none.
        """
        return to_frame(_native.stacks(self._native, list(symbols)))

    def intervals(self, start: str, end: str, symbols: Sequence[str] = ()) -> Intervals:
        """Measures how long it takes from `start` to `end`.

        Each is a function, NAME+OFFSET, an address after 0x, event:N, exception:N, port:N or
        text:TEXT, as for `waymark interval`.
        """
        return Intervals(start, end, _native.intervals(self._native, start, end, list(symbols)))

    def symbols(self, symbols: Sequence[str] = ()) -> 'pd.DataFrame':
        """The functions of the program image by address."""
        return to_frame(_native.symbols(self._native, list(symbols)))

    def plot_functions(self, most: int = 20, symbols: Sequence[str] = (), axes: Any = None) -> Any:
        """Draws the functions with most instructions with matplotlib; returns the axes."""
        from . import plots
        return plots.functions(self.counts().functions(symbols), most, axes)

    def __repr__(self) -> str:
        if self.closed:
            return f'<waymark.Capture {self.path!r}, closed>'
        return f'<waymark.Capture {self.path!r}: {self.kind}, {self.trace_bytes} bytes of trace>'

    def _repr_html_(self) -> str:
        if self.closed:
            return f'<p><b>{html.escape(self.path)}</b>, closed</p>'
        names = ('id', 'protocol', 'device', 'version', 'core')
        head = ''.join(f'<th>{name}</th>' for name in names)
        rows = ''
        for source in self.sources:
            cells = (f'0x{source["id"]:02x}', *(str(source[name]) for name in names[1:]))
            rows += '<tr>' + ''.join(f'<td>{html.escape(cell)}</td>' for cell in cells) + '</tr>'
        notes = ''.join(f'<li>{html.escape(note)}</li>' for note in self.notes)
        return (f'<p><b>{html.escape(self.path)}</b>: {html.escape(self.kind)}, '
                f'{self.trace_bytes:,} bytes of trace</p>'
                f'<table><tr>{head}</tr>{rows}</table>' + (f'<ul>{notes}</ul>' if notes else ''))


def open(path: Path, **options: Any) -> Capture:
    """Opens an input: a snapshot, a perf recording, raw trace, or text of a debugger.

    Options, as those of the command line:

    buffer              the trace buffer of a snapshot
    ids, cpus           only these trace IDs or CPUs: lists of numbers
    protocol, core      of raw trace, such as "etmv4" and "Cortex-A53"
    framing             mem, fsync, hsync, dstream or none
    registers           {"TRCCONFIGR": 0xC1, ...}
    register_text       a file in which a debugger printed the registers of an MTB
    images              [(ADDRESS, FILE), ...]: bytes of target memory
    programs            [FILE or (FILE, BIAS), ...]: ELF files that were traced
    roots, caches       for a recording: folders with files of the machine, or by build ID
    vmlinux, kallsyms, kcore, virtual_timestamps   for a recording
    assume_sync         ITM: the first byte begins a packet
    nibble_order        STM: most or least

    A failure raises `waymark.Error`, with its code and place.
    """
    return Capture(path, options)
