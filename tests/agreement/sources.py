"""The registry of sources: each collects what one command or format says of a capture."""
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Source:
    name: str
    collect: Callable
    needs: frozenset
    export: str  # the format of `waymark export` that it reads, or ''
    exports: tuple
    stacks: bool  # its numbers are those of call stacks


SOURCES = []
# Formats of `waymark export` without numbers that other sources have, with the reason.
WITHOUT_COLLECTOR = {
    'findings': 'its numbers are those of `waymark info` about damage, which no other source counts',
    'findings-csv': 'the same as findings',
}


# By definition, call stacks have other numbers of these if a PLT was executed.
DIFFERENT_WITH_PLT = {'self', 'calls', 'calls of a pair'}


def source(name, needs=(), export='', exports=(), stacks=False):
    """Registers collect(capture, say).  `needs`: what the capture must have: 'functions' (names), 'lines', 'a64' (all
    instructions have 4 bytes), 'timestamps', 'recording', 'truth', 'lists' (branch lists), or a reader that must be
    installed: 'duckdb', 'protoc', 'python'.  The source must then answer."""
    def register(collect):
        SOURCES.append(Source(name, collect, frozenset(needs), export, tuple(exports), stacks))
        return collect
    return register


def unregistered(formats):
    """The formats that no source reads, and for which no reason is stated."""
    read = {one.export for one in SOURCES} | {each for one in SOURCES for each in one.exports}
    return [name for name in formats if name not in read and name not in WITHOUT_COLLECTOR]


class Say:
    """Records what a source says."""

    def __init__(self, values, name, apart=False):
        """`apart`: the numbers of call stacks are others."""
        self.values = values
        self.name = name
        self.apart = apart

    def called(self, quantity):
        return f'{quantity}, in stacks' if self.apart and quantity in DIFFERENT_WITH_PLT else quantity

    def put(self, quantity, key, value):
        self.values.put(self.name, self.called(quantity), key, value)

    def add(self, quantity, key, value):
        self.values.add(self.name, self.called(quantity), key, value)

    def cover(self, quantity, keys=None):
        self.values.cover(self.name, self.called(quantity), keys)
