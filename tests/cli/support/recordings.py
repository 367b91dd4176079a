"""Changes perf recordings: a perf.data that `waymark synth` wrote, record by record."""
import random
import shutil
import struct
from dataclasses import dataclass, field

MMAP, COMM, MMAP2, AUX, AUXTRACE_INFO, AUXTRACE = 1, 3, 10, 11, 70, 71
BUILD_ID, AUXTRACE_INDEX = 2, 18
HEADER = 104
USER, KERNEL = 2, 1


@dataclass
class Record:
    kind: int
    misc: int
    body: bytes
    trace: bytes = b''  # The data after an AUXTRACE record.

    def bytes(self):
        return struct.pack('<IHH', self.kind, self.misc, 8 + len(self.body)) + self.body + self.trace


@dataclass
class Recording:
    """A little-endian recording in file form."""
    attributes: bytes  # With the IDs of the events, which follow them.
    attributes_size: int
    records: list
    features: dict = field(default_factory=dict)

    @classmethod
    def read(cls, path):
        data = path.read_bytes()
        _, _, _, attrs, attrs_size, begin, size = struct.unpack_from('<7Q', data)
        bitmap = int.from_bytes(data[72:HEADER], 'little')
        at, end, found = begin, begin + size, []
        while at < end:
            kind, misc, length = struct.unpack_from('<IHH', data, at)
            found.append(Record(kind, misc, data[at + 8:at + length]))
            at += length
            if kind == AUXTRACE:
                trace, = struct.unpack_from('<Q', found[-1].body)
                found[-1].trace = data[at:at + trace]
                at += trace
        numbers = [number for number in range(256) if bitmap >> number & 1]
        places = [struct.unpack_from('<QQ', data, end + 16 * i) for i in range(len(numbers))]
        return cls(data[attrs:begin], attrs_size, found,
                   {number: data[offset:offset + size] for number, (offset, size) in zip(numbers, places)})

    def of(self, *kinds):
        return [record for record in self.records if record.kind in kinds]

    def without(self, *kinds):
        self.records = [record for record in self.records if record.kind not in kinds]
        return self

    def patch(self, kind, offset, layout, *values):
        """Replaces numbers in the bodies of all records of this kind."""
        for record in self.of(kind):
            body = bytearray(record.body)
            struct.pack_into('<' + layout, body, offset, *values)
            record.body = bytes(body)
        return self

    def insert(self, *records):
        """Before the first AUX record."""
        place = next(i for i, record in enumerate(self.records) if record.kind == AUX)
        self.records[place:place] = records
        return self

    def bytes(self):
        content = b''.join(record.bytes() for record in self.records)
        begin = HEADER + len(self.attributes)
        # The index of the trace has offsets that no longer hold.
        features = {number: payload for number, payload in self.features.items() if number != AUXTRACE_INDEX}
        at = begin + len(content) + 16 * len(features)
        table, payloads = b'', b''
        for number in sorted(features):
            table += struct.pack('<QQ', at + len(payloads), len(features[number]))
            payloads += features[number]
        bitmap = sum(1 << number for number in features).to_bytes(32, 'little')
        header = struct.pack('<9Q', 0x32454c4946524550, HEADER, self.attributes_size, HEADER,
                             self.attributes_size, begin, len(content), 0, 0)
        return header + bitmap + self.attributes + content + table + payloads

    def write(self, path):
        path.write_bytes(self.bytes())
        return path


def stamp(pid, time=0, cpu=0):
    """The sample ID at the end of a record of the kernel."""
    return struct.pack('<IIQIIQ', pid, pid, time, cpu, 0, 1)


def name_bytes(text):
    name = text.encode() + b'\0'
    return name + bytes(-len(name) % 8)


def mmap2(pid, address, size, offset, path, build_id=None, time=0, mode=USER, executable=True):
    """A MMAP2 record; with a build ID in place of the numbers of the file."""
    where = bytes(24) if build_id is None else bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b'\0')
    body = struct.pack('<IIQQQ', pid & 0xffffffff, pid & 0xffffffff, address, size, offset) + where
    body += struct.pack('<II', 5 if executable else 1, 2) + name_bytes(path) + stamp(pid & 0xffffffff, time)
    return Record(MMAP2, mode | (0 if build_id is None else 1 << 14), body)


EXEC = 1 << 13


def add_execs(folder, seed, most=4):
    """Lets processes of folder/perf.data execute other programs at the same addresses, between two AUX records.

    The programs are copies, so the trace is still right, but each has a name, a file and a memory of its own.
    """
    chosen = random.Random(seed)
    recording = Recording.read(folder / 'perf.data')
    def program_of(mapping):
        return mapping.body[64:].split(b'\0')[0].decode()
    mappings = [record for record in recording.of(MMAP2) if (folder / program_of(record).lstrip('/')).is_file()]
    for number in range(chosen.randint(1, most)):
        pid, = struct.unpack_from('<I', chosen.choice(mappings).body)
        place = chosen.choice([i for i, record in enumerate(recording.records) if record.kind == AUX])
        time, = struct.unpack_from('<Q', recording.records[place].body[-24:])
        name = struct.pack('<II', pid, pid) + name_bytes(f'exec-{number}')
        added = {0: Record(COMM, EXEC, name + stamp(pid, time))}
        for mapping in mappings:
            address, size, offset = struct.unpack_from('<QQQ', mapping.body, 8)
            if mapping.body.startswith(struct.pack('<I', pid)) and address not in added:
                path = program_of(mapping)
                other = f'{path}.{number}'
                shutil.copyfile(folder / path.lstrip('/'), folder / other.lstrip('/'))
                added[address] = mmap2(pid, address, size, offset, other, time=time)
        recording.records[place:place] = added.values()
    recording.write(folder / 'perf.data')


def jitdump(pid, loads):
    """A jitdump file with functions: (time, address, name, code)."""
    data = struct.pack('<IIIIIIQQ', 0x4a695444, 1, 40, 183, 0, pid, 0, 0)
    for number, (time, address, name, code) in enumerate(loads):
        body = struct.pack('<IIQQQQ', pid, pid, address, address, len(code), number) + name.encode() + b'\0' + code
        data += struct.pack('<IIQ', 0, 16 + len(body), time) + body
    return data
