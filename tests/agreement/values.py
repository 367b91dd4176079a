"""What each source says of each quantity, and where they disagree."""
import collections
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Disagreement:
    capture: str
    quantity: str
    key: tuple
    said: tuple  # (source, value) in the order of the sources

    def row(self):
        groups = collections.defaultdict(list)
        for source, value in self.said:
            groups[value].append(source)
        largest = sorted(groups.items(), key=lambda item: (-len(item[1]), str(item[0])))
        return ' | '.join(f'{value}: {", ".join(sources)}' for value, sources in largest)


@dataclass
class Values:
    """Numbers by (quantity, key, source).  A source that `covers` a quantity lists all keys that are not 0."""
    capture: str
    said: dict = field(default_factory=lambda: collections.defaultdict(lambda: collections.defaultdict(dict)))
    covered: dict = field(default_factory=dict)
    stacks: dict = field(default_factory=dict)  # {(number of the caller's stack, name...): number}

    def put(self, source, quantity, key, value):
        """The source says this once."""
        key = key if isinstance(key, tuple) else (key,)
        self.said[quantity][key][source] = value

    def add(self, source, quantity, key, value):
        """The source says this in several rows, which are added up."""
        key = key if isinstance(key, tuple) else (key,)
        cell = self.said[quantity][key]
        cell[source] = cell.get(source, 0) + value

    def cover(self, source, quantity, keys=None):
        """The source lists the whole quantity; `keys`: only those for which keys(key) is true."""
        self.covered[(source, quantity)] = keys or (lambda key: True)

    def remove(self, sources):
        """Forgets what these sources said."""
        for cells in self.said.values():
            for cell in cells.values():
                for source in sources:
                    cell.pop(source, None)
        for pair in [pair for pair in self.covered if pair[0] in sources]:
            del self.covered[pair]

    @staticmethod
    def with_sums(cells):
        """A format that has no programs gives one number for functions of one name, with '*' in place of the program:
        the others get the sum."""
        starred = {key for key in cells if key and key[0] == '*'}
        if not starred:
            return cells, set()
        own = {source for key in starred for source in cells[key]}
        summed = {key: dict(cell) for key, cell in cells.items()}
        for other, cell in cells.items():
            key = ('*', *other[1:])
            if other[0] != '*' and key in starred:
                for source, value in cell.items():
                    if source not in own:
                        summed[key][source] = summed[key].get(source, 0) + value
        return summed, own

    def compare(self):
        """The number of compared values, and the disagreements."""
        compared, found = 0, []
        for quantity, cells in self.said.items():
            covering = [(source, keys) for (source, name), keys in self.covered.items() if name == quantity]
            cells, without_programs = self.with_sums(cells)
            starred = {key[1:] for key in cells if key and key[0] == '*'}
            for key, cell in cells.items():
                said = dict(cell)
                for source, keys in covering:
                    # A format without programs says nothing of one of several functions of a name.
                    if source in without_programs and key[0] != '*' and key[1:] in starred:
                        continue
                    if source not in said and keys(key):
                        said[source] = 0
                if len(said) < 2:
                    continue
                compared += len(said)
                if len(set(said.values())) > 1:
                    found.append(Disagreement(self.capture, quantity, key, tuple(sorted(said.items()))))
        return compared, found
