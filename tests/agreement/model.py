"""The definitions of docs/quantities.md, applied to elements one by one, in the order of execution.

Nothing of Waymark is used but the elements themselves, as `decode --format json` has them, or as the ground truth
of `synth` has them.
"""
import collections
from dataclasses import dataclass, replace

# These elements say nothing about where execution goes on.
SILENT = {'timestamp', 'cycle_count', 'event', 'sync_marker', 'instrumentation', 'software_trace', 'transaction', 'itm',
          'data_address', 'data_value', 'data_event'}


def is_plt(function):
    return function is not None and function[1].endswith('@plt')


@dataclass(frozen=True)
class Pending:
    """A branch whose target is not known yet."""
    address: int
    end: int
    last: str
    subtype: str
    program: str
    function: tuple
    thread: dict
    known: int = None  # the target of a direct branch
    caller: tuple = None  # the function that went to the entry of a PLT which has the branch


class Source:
    """The state of one trace ID."""

    def __init__(self):
        self.context = {}
        self.pending = None


class Model:
    """`places` resolves addresses: places.find(address, context, element) is (program, link address, function, start of
    the function) of an executed address, or None."""

    def __init__(self, places):
        self.places = places
        self.sources = collections.defaultdict(Source)
        self.sums = collections.defaultdict(collections.Counter)
        self.shapes, self.details = {}, {}
        self.executed = collections.Counter()
        self.returns = collections.Counter()  # {(a branch, the return address of an exception after it, context): times}

    def add(self, quantity, key, value=1):
        self.sums[quantity][key if isinstance(key, tuple) else (key,)] += value

    def feed(self, element):
        source = self.sources[element.get('id')]
        kind = element['kind']
        if kind == 'range':
            self.feed_range(source, element)
        elif kind == 'context':
            source.context = element
        elif kind == 'exception':
            self.add('exceptions', (element['id'],))
            back = element.get('return_address')
            if source.pending and back is not None:
                # Elements that show which program it is may come later.
                context = tuple((name, source.context.get(name)) for name in ('context_id', 'vmid'))
                self.returns[(replace(source.pending, thread=None), int(back, 16), context)] += 1
                source.pending = None
            else:
                self.close(source, None)
        elif kind == 'exception_return':
            if source.pending and source.pending.last == 'indirect':
                source.pending = replace(source.pending, subtype=kind)
        elif kind not in SILENT:
            if kind == 'range_no_path':
                self.add('instructions without a path', 'all', element.get('instructions', 0))
            self.close(source, None)

    @staticmethod
    def same_thread(before, now):
        """Whether execution of the one context continues in the other."""
        if now.get('el'):
            return True
        for name in ('context_id', 'vmid'):
            if name in before and name in now and before[name] != now[name]:
                return False
        return True

    def feed_range(self, source, element):
        start, end = int(element['start'], 16), int(element['end'], 16)
        count = element['instructions']
        taken = element.get('taken')
        context = source.context
        shape = (start, end, element['isa'], taken, context.get('context_id'), element.get('function'),
                 element.get('offset'), element.get('subtype'))
        known = self.shapes.get(shape)
        if known is None:
            known = self.shapes[shape] = self.look_at(start, end, element, context)
        place, branch = known
        before = source.pending
        same = before is not None and self.same_thread(before.thread, context)
        if before:
            self.close(source, place if same else None)
        self.add('instructions', 'all', count)
        self.add('instructions of a source', (element['id'],), count)
        self.add('instructions of a context', (context.get('context_id'), context.get('vmid'), context.get('el'),
                                               context.get('security')), count)
        if place is None:
            return
        self.executed[shape] += 1
        caller = None
        if is_plt(place[2]):
            caller = before.caller or before.function if before and same else None
            if caller is not None:
                self.add('self, in stacks', caller, count)
        if branch is not None and taken:
            source.pending = replace(branch, thread=dict(context), caller=caller)

    def look_at(self, start, end, element, context):
        """Where a range is, and the branch at its end."""
        place = self.places.find(start, context, element)
        if place is None:
            return None, None
        program, link, function, _ = place
        size = end - start
        block = (program, link, link + size)
        last = block[2] - element.get('last_size', 4)
        kind = element.get('last')
        self.details[(start, end, element['isa'], element.get('taken'), context.get('context_id'),
                      element.get('function'), element.get('offset'), element.get('subtype'))] = (
            block, self.places.instructions(place, element), kind, last, element.get('taken'))
        if kind not in ('branch', 'indirect'):
            return place, None
        known = self.places.direct_target(block, element) if kind == 'branch' else None
        return place, Pending(last, block[2], kind, element.get('subtype', ''), program,
                              self.places.owner(program, last, function), {}, known)

    def finish(self):
        for source in self.sources.values():
            self.close(source, None)
        apart = self.places.has_plt()
        for (branch, back, context), times in self.returns.items():
            self.follow(branch, self.places.find(back, dict(context), None), times)
        for shape, times in self.executed.items():
            block, instructions, kind, last, taken = self.details[shape]
            self.add('times of a block', block, times)
            if instructions:
                # A block that goes on into the next function has the function where it begins.
                self.add('instructions of the blocks of a function', instructions[0][1], times * len(instructions))
            for address, owner in instructions:
                self.add('times of an instruction', (block[0], address), times)
                self.add('self', owner, times)
                if apart and not is_plt(owner):
                    self.add('self, in stacks', owner, times)
            if kind in ('branch', 'indirect'):
                self.add('taken' if taken else 'not taken', (block[0], last), times)
                branch = self.shapes[shape][1]
                if taken and branch.subtype == 'call':
                    self.add('calls made', branch.function, times)
                    self.add('calls made in all', 'all', times)

    def close(self, source, place):
        """`place`: where execution went on, or None."""
        branch, source.pending = source.pending, None
        if branch is not None:
            self.follow(branch, place, 1)

    def follow(self, branch, place, times):
        if branch.known is not None:
            # By definition, the target is that in its code, whatever was executed next.
            target = self.places.at_link(branch.program, branch.known)
            if place is not None and place[:2] != target[:2]:
                self.add('direct branches that led elsewhere', 'all', times)
            place = target
        # By definition, the target of a return from an exception is not that of a branch.
        if place is None or branch.subtype == 'exception_return':
            self.add('edges to unknown', (branch.program, branch.address), times)
            return
        program, link, function, start = place
        if program == branch.program:
            self.add('edges', (branch.program, branch.address, link), times)
        if branch.subtype == 'return' or function is None:
            return
        if branch.subtype == 'call':
            if link == branch.end and program == branch.program and link != start:
                return
        elif link != start or function == branch.function:
            return
        else:
            self.add('calls made', branch.function, times)
        self.add('calls', function, times)
        self.add('calls of a pair', branch.function + function, times)
        if self.places.has_plt() and not is_plt(function):
            # The caller of what a PLT goes to is that of the PLT.
            self.add('calls, in stacks', function, times)
            self.add('calls of a pair, in stacks', (branch.caller or branch.function) + function, times)
