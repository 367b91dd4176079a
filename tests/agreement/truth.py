"""The ground truth of `waymark synth` as elements, in the form of `decode --format json`."""
import configparser

# The numbers that follow the tag of a record; docs/synth.md has the format.
OPERANDS = {0x81: 3, 0x82: 2, 0x83: 0, 0x84: 1, 0x85: 1, 0x86: 1, 0x87: 1, 0x88: 1, 0x8a: 3, 0x8b: 3}
SETS = {0: 'A32', 1: 'T32', 2: 'A64'}


def records(data):
    at = 8
    assert data[:8] == b'WMTRUTH1'

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    isa, end = 'A64', 0
    while at < len(data):
        tag = data[at]
        at += 1
        hidden = tag == 0x89
        if hidden:
            tag = data[at]
            at += 1
        if tag < 0x80:
            unit = 2 if isa == 'T32' else 4
            size = tag & 63
            if size == 63:
                size = number()
            zigzag = number()
            start = end + (zigzag >> 1 ^ -(zigzag & 1))
            start &= (1 << 64) - 1
            count = number() if isa == 'T32' else size
            end = start + unit * size
            yield ('hidden' if hidden else 'range', start, end, isa, count, bool(tag & 64))
        elif tag & 0xf8 == 0xc0:
            isa = SETS[tag & 7]
        else:
            yield (tag, *[number() for _ in range(OPERANDS[tag])])


def elements(folder, known, protocol_states_return=True):
    """The elements of all sources of a capture that execute something.  `known`: {(end, instruction set): the fields of
    a range that describe its last instruction}."""
    totals = configparser.ConfigParser()
    totals.read(folder / 'truth/totals.ini')
    for device in totals.sections():
        source = int(totals[device]['id'], 0)
        path = folder / f'truth/{device}.truth'
        for kind, *numbers in records(path.read_bytes()):
            if kind == 'range':
                start, end, isa, count, taken = numbers
                yield {'kind': 'range', 'id': source, 'start': hex(start), 'end': hex(end), 'isa': isa,
                       'instructions': count, 'taken': taken, **known.get((end, isa), {})}
            elif kind == 0x81:
                context, machine, bits = numbers
                yield {'kind': 'context', 'id': source, 'context_id': hex(context), 'vmid': hex(machine),
                       'el': bits & 3}
            elif kind == 0x82:
                number, back = numbers
                yield {'kind': 'exception', 'id': source, 'number': number,
                       **({'return_address': hex(back)} if back and protocol_states_return else {})}
            elif kind == 0x83:
                yield {'kind': 'exception_return', 'id': source}
            elif kind == 0x84:
                yield {'kind': 'timestamp', 'id': source, 'timestamp': numbers[0]}
            elif kind in (0x87, 0x88, 'hidden'):
                yield {'kind': 'trace_on', 'id': source}
            elif kind == 0x8a:
                yield {'kind': 'range_no_path', 'id': source, 'instructions': numbers[2]}
