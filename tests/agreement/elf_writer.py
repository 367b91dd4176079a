"""ELF files with the memory of a snapshot and a symbol for each function that was called."""
import configparser
import struct


def dumps_of(snapshot):
    """(address, path, offset, length or None) of the memory dumps of a snapshot."""
    for path in sorted(snapshot.glob('*.ini')):
        ini = configparser.ConfigParser(strict=False, interpolation=None)
        ini.optionxform = str
        try:
            ini.read(path)
        except configparser.Error:
            continue
        for section in ini.sections():
            if not section.startswith('dump'):
                continue
            dump = {key.strip(): value.strip() for key, value in ini[section].items()}
            path_of_dump = snapshot / dump.get('file', '').strip('"')
            if not path_of_dump.is_file():
                continue
            yield (int(dump['address'], 0), path_of_dump, int(dump.get('offset', '0'), 0),
                   int(dump['length'], 0) if 'length' in dump else None)


def programs_of(snapshot):
    """[(address, path, offset, size)]: the dumps that are ELF files."""
    found = []
    for address, path, offset, length in dumps_of(snapshot):
        data = path.read_bytes()
        size = len(data) - offset if length is None else length
        if data[:4] == b'\x7fELF' and (address, path, offset, size) not in found:
            found.append((address, path, offset, size))
    return found


def regions_of(snapshot):
    """[(address, bytes)]: the other dumps, without those that overlap an earlier one."""
    found = []
    for address, path, offset, length in dumps_of(snapshot):
        data = path.read_bytes()
        if data[:4] == b'\x7fELF':
            continue
        data = data[offset:] if length is None else data[offset:offset + length]
        if data and not any(address < start + len(other) and start < address + len(data) for start, other in found):
            found.append((address, data))
    return sorted(found)


def write_elf(regions, symbols, wide):
    """The bytes of an executable.  `symbols`: (name, address, size, whether T32)."""
    names, table = bytearray(b'\0'), bytearray(24 if wide else 16)
    section_names = b'\0.symtab\0.strtab\0.shstrtab\0'
    rows, local = [], []

    def section_of(address):
        return next((i + 1 for i, (start, data) in enumerate(regions) if start <= address < start + len(data)), None)

    for name, address, size, thumb in symbols:
        if section_of(address) is None:
            continue
        rows.append((name, address | thumb, size, 1 << 4 | 2, section_of(address)))
        if not wide:
            local.append(('$t' if thumb else '$a', address, 0, 0, section_of(address)))
        else:
            local.append(('$x', address, 0, 0, section_of(address)))
    for name, value, size, info, section in local + rows:
        table += (struct.pack('<IBBHQQ', len(names), info, 0, section, value, size) if wide else
                  struct.pack('<IIIBBH', len(names), value, size, info, 0, section))
        names += name.encode() + b'\0'
    contents = [data for _, data in regions] + [bytes(table), bytes(names), section_names]
    offsets, at = [], 0x1000
    for content in contents:
        offsets.append(at)
        at += -(-len(content) // 4096) * 4096
    count = len(regions)

    def section(name, kind, flags, where, index, link=0, info=0, entry=0):
        place = section_names.find(b'\0' + name + b'\0') + 1 if name else 0
        values = (place, kind, flags, where, offsets[index], len(contents[index]), link, info, 4, entry)
        return struct.pack('<IIQQQQIIQQ' if wide else '<IIIIIIIIII', *values)

    sections = bytes(64 if wide else 40)
    for i, (address, _) in enumerate(regions):
        sections += section(b'', 1, 6, address, i)
    sections += section(b'.symtab', 2, 0, 0, count, count + 2, len(local) + 1, 24 if wide else 16)
    sections += section(b'.strtab', 3, 0, 0, count + 1) + section(b'.shstrtab', 3, 0, 0, count + 2)
    ident = b'\x7fELF' + bytes([2 if wide else 1, 1, 1]) + bytes(9)
    machine, flags = (183, 0) if wide else (40, 0x5000000)
    header = ident + (struct.pack('<HHIQQQIHHHHHH', 2, machine, 1, regions[0][0], 64, at, flags, 64, 56, count, 64,
                                  count + 4, count + 3) if wide else
                      struct.pack('<HHIIIIIHHHHHH', 2, machine, 1, regions[0][0], 52, at, flags, 52, 32, count, 40,
                                  count + 4, count + 3))
    for i, (address, data) in enumerate(regions):
        size = len(data)
        header += (struct.pack('<IIQQQQQQ', 1, 5, offsets[i], address, address, size, size, 4096) if wide else
                   struct.pack('<IIIIIIII', 1, offsets[i], address, address, size, size, 5, 4096))
    image = bytearray(at)
    assert len(header) <= 0x1000
    image[:len(header)] = header
    for offset, content in zip(offsets, contents):
        image[offset:offset + len(content)] = content
    return bytes(image) + sections


def called_functions(elements):
    """({address: instruction set} of what calls led to, the same of all that was executed)."""
    starts, executed, last = {}, {}, {}
    for element in elements:
        if element['kind'] == 'range':
            start = int(element['start'], 16)
            executed.setdefault(start, element['isa'])
            before = last.get(element.get('id'), {})
            if before.get('subtype') == 'call' and before.get('taken'):
                starts.setdefault(start, element['isa'])
            last[element.get('id')] = element
        elif element['kind'] in ('exception', 'no_access', 'address_unknown', 'no_sync', 'trace_on', 'range_no_path'):
            last[element.get('id')] = {}
    return starts, executed


def name_of(address, number, parts):
    """Names of every form: plain ones, those of C++, and parts of the function before."""
    plain = f'f_{address:x}'
    if number % 5 == 1:
        return f'_ZN3app{len(plain)}{plain}Ei', plain
    if parts and number % 11 == 7:
        return None, plain
    return plain, plain


def write_symbols(folder, regions, starts, executed, parts=False, nameless=False):
    """ELF files with the functions, one for each width of addresses: their paths.  Unless `nameless`, a function begins
    at the start of each region, so that no code is without one."""
    paths = []
    if not nameless:
        for address, data in regions:
            sets = next(({start: isa for start, isa in some.items() if address <= start < address + len(data)}
                         for some in (starts, executed) if any(address <= start < address + len(data) for start in some)), {})
            isa = sets[min(sets)] if sets else next(iter(executed.values()), 'A64')
            starts = {address: isa, **starts}
    for wide in (True, False):
        own = {start: isa for start, isa in starts.items() if (isa == 'A64') == wide}
        own_regions = [(address, data) for address, data in regions
                       if any(address <= start < address + len(data) for start in own)]
        if not own_regions or not wide and own_regions[-1][0] >= 1 << 32:
            continue
        symbols, order, before = [], sorted(own), 'f'
        for number, start in enumerate(order):
            region = next((r for r in own_regions if r[0] <= start < r[0] + len(r[1])), None)
            if region is None:
                continue
            end = region[0] + len(region[1])
            after = order[number + 1] if number + 1 < len(order) else end
            name, plain = name_of(start, number, parts)
            if name is None:
                name = f'{before}.cold'
            else:
                before = name
            symbols.append((name, start, min(after, end) - start, own[start] == 'T32'))
        path = folder / ('symbols64.elf' if wide else 'symbols32.elf')
        path.write_bytes(write_elf(own_regions, symbols, wide))
        paths.append(path)
    return paths
