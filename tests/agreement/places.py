"""Functions and code of the programs of a capture, as their ELF files have them: read here, not by Waymark."""
import bisect
import re
import shutil
import struct
import subprocess
from pathlib import Path

PART = re.compile(r'\.(cold|part|constprop|isra|llvm|__uniq)(\.[0-9]+)*$')
NO_FUNCTION = '(no function)'
INSTRUCTION_SETS = ('A64', 'A32', 'T32')


def parent_name(name):
    while True:
        shorter = PART.sub('', name)
        if shorter == name or not shorter:
            return name
        name = shorter


class Program:
    """An ELF file, little-endian: its functions and the content of its segments."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        assert data[:4] == b'\x7fELF', path
        wide = data[4] == 2
        self.machine, = struct.unpack_from('<H', data, 18)
        self.plt = {}
        self.code_starts = []
        self.loads = []  # (offset in the file, address, size)
        self.segments, self.functions = [], {}  # functions: {start: (end, [name])}
        if wide:
            ph, sh, _, _, ph_size, ph_count, sh_size, sh_count, _ = struct.unpack_from('<QQIHHHHHH', data, 32)
        else:
            ph, sh, _, _, ph_size, ph_count, sh_size, sh_count, _ = struct.unpack_from('<IIIHHHHHH', data, 28)
        for i in range(ph_count):
            at = ph + i * ph_size
            if wide:
                kind, flags, offset, address, _, size = struct.unpack_from('<IIQQQQ', data, at)
            else:
                kind, offset, address, _, size, _, flags = struct.unpack_from('<IIIIIII', data, at)
            if kind == 1:
                self.segments.append((address, data[offset:offset + size]))
                self.loads.append((offset, address, size))
                if flags & 1:
                    self.code_starts.append(address)
        sections = []
        for i in range(sh_count):
            at = sh + i * sh_size
            if wide:
                _, kind, flags, address, offset, size, link, _, _, entry = struct.unpack_from('<IIQQQQIIQQ', data, at)
            else:
                _, kind, flags, address, offset, size, link, _, _, entry = struct.unpack_from('<IIIIIIIIII', data, at)
            sections.append((kind, flags, address, offset, size, link, entry))
        names_of_sections, = struct.unpack_from('<H', data, 62 if wide else 50)
        self.plt = self.read_plt(data, sections, [
            struct.unpack_from('<I', data, sh + i * sh_size)[0] + sections[names_of_sections][3]
            for i in range(sh_count)]) if wide and sh_count else {}
        self.order = []
        self.fixed = struct.unpack_from('<H', data, 16)[0] == 2  # not position-independent
        if struct.unpack_from('<H', data, 16)[0] == 1:
            return  # A module of the kernel: its addresses are those of sections.
        starts = {}  # {address: {name: (size, whether it has the type of a function)}}
        for kind, _, _, offset, size, link, entry in sections:
            if kind not in (2, 11) or not entry:
                continue
            names = sections[link][3]
            for at in range(offset, offset + size, entry):
                if wide:
                    name, info, _, section, value, extent = struct.unpack_from('<IBBHQQ', data, at)
                else:
                    name, value, extent, info, _, section = struct.unpack_from('<IIIBBH', data, at)
                text = data[names + name:data.index(b'\0', names + name)].decode(errors='replace')
                function = info & 15 == 2
                if section == 0 or section >= 0xff00 or not (function or info & 15 == 0) or text[:1] in ('', '$'):
                    continue
                if not sections[section][1] & 4:
                    continue
                if self.machine == 40 and function:
                    value &= ~1
                starts.setdefault(value, {})[text] = (extent, function, sections[section][2] + sections[section][4])
        # Labels without a type are functions where no function covers them; a function ends where the next one begins.
        covered, order = 0, []
        for start in sorted(starts):
            names = starts[start]
            if any(function for _, function, _ in names.values()):
                names = {name: facts for name, facts in names.items() if facts[1]}
            elif start < covered:
                continue
            size = max(extent for extent, _, _ in names.values())
            if size:
                covered = max(covered, start + size)
            if order:
                before = order[-1]
                end, known = self.functions[before]
                self.functions[before] = (min(end, start), known)
            end = max(end for _, _, end in names.values())
            self.functions[start] = (min(start + size, end) if size else end, sorted(names))
            order.append(start)
        self.functions.update(self.plt)
        self.order = sorted(self.functions)

    @staticmethod
    def read_plt(data, sections, names):
        """{address: (end, [NAME@plt])} of the entries for a linker's relocations: of A64 only."""
        def text(at):
            return data[at:data.index(b'\0', at)].decode(errors='replace')

        named = {text(name): section for name, section in zip(names, sections)}
        if '.plt' not in named or '.rela.plt' not in named:
            return {}
        _, _, _, offset, size, link, _ = named['.rela.plt']
        symbols, strings = sections[link][3], sections[sections[link][5]][3]
        found = {}
        for number in range(size // 24):
            info, = struct.unpack_from('<Q', data, offset + 24 * number + 8)
            name, = struct.unpack_from('<I', data, symbols + 24 * (info >> 32))
            # The first entry, which all others go to, has 32 bytes.
            start = named['.plt'][2] + 32 + 16 * number
            found[start] = (start + 16, [f'{text(strings + name)}@plt'])
        return found

    def function_at(self, address):
        """(start, end, names) of the function that has an address."""
        at = bisect.bisect_right(self.order, address)
        if at:
            start = self.order[at - 1]
            end, names = self.functions[start]
            if address < end:
                return start, end, names
        return None

    def code(self, address, size):
        for start, content in self.segments:
            if start <= address and address + size <= start + len(content):
                return content[address - start:address - start + size]
        return None


def sign(value, bits):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def direct_target(code, address, isa):
    """The target of a direct branch, or None if this reader does not know the instruction."""
    if isa == 'A64':
        word, = struct.unpack('<I', code)
        if word & 0x7c000000 == 0x14000000:
            return address + 4 * sign(word & 0x3ffffff, 26)
        if word & 0xff000000 == 0x54000000 or word & 0x7e000000 == 0x34000000:
            return address + 4 * sign(word >> 5 & 0x7ffff, 19)
        if word & 0x7e000000 == 0x36000000:
            return address + 4 * sign(word >> 5 & 0x3fff, 14)
    elif isa == 'A32':
        word, = struct.unpack('<I', code)
        if word >> 25 == 0x7d:
            return address + 8 + 4 * sign(word & 0xffffff, 24) + (word >> 23 & 2)
        if word & 0x0e000000 == 0x0a000000:
            return address + 8 + 4 * sign(word & 0xffffff, 24)
    elif len(code) == 2:
        word, = struct.unpack('<H', code)
        if word & 0xf000 == 0xd000:
            return address + 4 + 2 * sign(word & 0xff, 8)
        if word & 0xf800 == 0xe000:
            return address + 4 + 2 * sign(word & 0x7ff, 11)
        if word & 0xf500 == 0xb100:
            return address + 4 + 2 * (word >> 3 & 0x1f) + (word >> 3 & 0x40)
    else:
        high, low = struct.unpack('<HH', code)
        if high & 0xf800 != 0xf000 or not low & 0x8000:
            return None
        s = high >> 10 & 1
        i1, i2 = 1 ^ (low >> 13 & 1) ^ s, 1 ^ (low >> 11 & 1) ^ s
        if low & 0x5000 in (0x1000, 0x5000, 0x4000):  # B.W, BL, BLX
            offset = sign(s << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1, 25)
            base = address + 4
            return (base & ~3) + (offset & ~3) if low & 0x5000 == 0x4000 else base + offset
        if low & 0x5000 == 0 and high >> 6 & 0xf < 14:
            return address + 4 + sign(s << 20 | (low >> 11 & 1) << 19 | (low >> 13 & 1) << 18 | (high & 0x3f) << 12 |
                                      (low & 0x7ff) << 1, 21)
    return None


def readable_names(names):
    """{mangled name: [name in the source, the same without parameters]}, as binutils has them."""
    mangled = [name for name in names if name.startswith('_Z')]
    tool = shutil.which('c++filt') or shutil.which('llvm-cxxfilt-19')
    if not mangled or tool is None:
        return {}
    plain = subprocess.run([tool], input='\n'.join(mangled), check=True, capture_output=True, text=True).stdout.split('\n')
    return {name: [text, text.split('(')[0]] for name, text in zip(mangled, plain)}


def parts_in_memory(name, program, address, offset, size):
    """[(first, end, what to add for the link address, name)] of a program of which `size` bytes from `offset` on are in
    memory at `address`."""
    found = []
    for start, link, length in program.loads:
        first, end = max(start, offset), min(start + length, offset + size)
        if first < end:
            memory = address + first - offset
            found.append((memory, memory + end - first, link + first - start - memory, name))
    return found


class Places:
    """The programs of a capture.  `programs`: [(name, Program)].  In a snapshot all have the name '', except those that are
    dumps of its memory: `memory` says where they are, as parts_in_memory() has it.

    A function is the key (program, name), with the name of its parent if the compiler divided it and the program has
    that parent.
    """

    def __init__(self, programs, recording, files=(), memory=()):
        self.programs = programs
        self.memory = list(memory)
        self.in_memory = {name for _, _, _, name in self.memory}
        self.biases = {}  # {(process, page in memory): {(program, what to add for the link address)}}
        self.files = dict(files)  # {the path of the file that was found: the path in the recording}
        self.recording = recording
        self.by_name = {}
        self.starts = {}
        self.of_process = {}
        for name, program in programs:
            for start, (_, names) in program.functions.items():
                key = (name, self.whole(program, names[0]))
                for one in names:
                    self.by_name.setdefault(one, set()).add(key)
                    self.starts.setdefault((name, one), start)
        self.readable = {}
        for name, forms in readable_names(list(self.by_name)).items():
            self.readable[name] = forms[0]
            for form in forms:
                self.by_name.setdefault(form, set()).update(self.by_name[name])
        self.short = {}
        for one, keys in self.by_name.items():
            self.short.setdefault(parent_name(one), set()).update(keys)

    @staticmethod
    def whole(program, name):
        parent = parent_name(name)
        if parent != name and any(parent in names for _, names in program.functions.values()):
            return parent
        return name

    def key(self, name, program=None):
        """The function with a name that Waymark shows."""
        keys = self.by_name.get(name) or self.short.get(name) or set()
        if program is not None:
            program = self.label(program)
            keys = {key for key in keys if key[0] == program}
        if not keys:
            return None
        if len(keys) == 1:
            return next(iter(keys))
        names = {key[1] for key in keys}
        return ('*', names.pop()) if len(names) == 1 else None

    def label(self, program):
        """The name of a program in keys."""
        if not self.recording:
            return program if program in self.in_memory else ''
        return self.files.get(program, program) if program is not None else '*'

    def linked(self, program, *addresses):
        """(name of a program in keys, link addresses): a snapshot has no programs, and some outputs have its addresses in
        memory.  The first address says which program it is."""
        if program is None and not self.recording:
            for first, end, add, name in self.memory:
                if first <= addresses[0] < end:
                    return (name, *(address + add for address in addresses))
        return (self.label(program), *addresses)

    def known(self):
        return bool(self.by_name)

    def has_plt(self):
        return any(program.plt for _, program in self.programs)

    def owner(self, program, address, near=None):
        """The function that has a link address."""
        for name, one in self.programs:
            if name == program and (found := one.function_at(address)):
                return name, self.whole(one, found[2][0])
        return program, NO_FUNCTION

    def at_link(self, program, address):
        for name, one in self.programs:
            if name == program and (found := one.function_at(address)):
                return program, address, (name, self.whole(one, found[2][0])), found[0]
        return program, address, None, None

    def program_of(self, context, function):
        """The program of a process that has a function."""
        if not self.recording:
            return ''
        keys = self.by_name.get(function, set())
        process = int(context.get('context_id', '0'), 16)
        names = {key[0] for key in keys}
        if process in self.of_process:
            names &= self.of_process[process]
        return next(iter(names)) if len(names) == 1 else None

    def find(self, address, context, element):
        """(program, link address, function, its start), or None."""
        if not self.recording:
            return self.at_link(*self.linked(None, address))
        if element is None:
            return self.find_in_memory(address, context)
        if 'function' not in element:
            return None
        program = self.program_of(context, element['function'])
        start = self.starts.get((program, element['function']))
        if start is None:
            return None
        link = start + int(element['offset'], 16)
        self.biases.setdefault((context.get('context_id'), address >> 12), set()).add((program, link - address))
        return self.at_link(program, link)

    def find_in_memory(self, address, context):
        """The same for an address of a recording that no element names: as near code of the process that one names."""
        process = context.get('context_id')
        near = self.biases.get((process, address >> 12))
        if near is None:
            near = {one for (of, _), some in self.biases.items() if of == process for one in some
                    if self.code(one[0], address + one[1], 2) is not None}
        if len(near) != 1:
            return None
        (program, add), = near
        return self.at_link(program, address + add)

    def code(self, program, address, size):
        for name, one in self.programs:
            if name == program and (found := one.code(address, size)) is not None:
                return found
        return None

    def instructions(self, place, element):
        """(address, function) of each instruction of a range."""
        program, link, _, _ = place
        size = int(element['end'], 16) - int(element['start'], 16)
        addresses = []
        if element['isa'] != 'T32':
            addresses = range(link, link + size, 4)
        else:
            at = link
            while at < link + size:
                addresses.append(at)
                word = self.code(program, at, 2)
                if word is None:
                    return [(at, (program, NO_FUNCTION)) for at in range(link, link + 2 * element['instructions'], 2)]
                at += 4 if word[1] >= 0xe8 else 2
        found, at, end, owner = [], 0, 0, None
        for address in addresses:
            if not at <= address < end:
                owner, at, end = self.bounds(program, address)
            found.append((address, owner))
        return found

    def bounds(self, program, address):
        for name, one in self.programs:
            if name == program and (found := one.function_at(address)):
                return (name, self.whole(one, found[2][0])), found[0], found[1]
        return (program, NO_FUNCTION), address, address + 2

    def direct_target(self, block, element):
        program, _, end = block
        size = element.get('last_size', 4)
        code = self.code(program, end - size, size)
        return None if code is None else direct_target(code, end - size, element['isa'])
