"""A kernel whose code in memory is not that of vmlinux: static keys and alternatives, as the trace shows them."""
import json
import struct

import pytest

from support.recordings import KERNEL, MMAP, MMAP2, Recording, Record, name_bytes, stamp
from test_kernel import ID, elf

TEXT, SLIDE = 0x400000, 0x30000
NOP, RET, PLAIN = 0xD503201F, 0xD65F03C0, 0x91000400


def branch(words, link=False):
    return (0x94000000 if link else 0x14000000) | words & 0x3FFFFFF


def cbz(words, register=0):
    return 0xB4000000 | (words & 0x7FFFF) << 5 | register


class Kernel:
    """Eight functions, each with a call that a static key or a CPU feature switches on or off."""
    KEYS = ['sched_key', 'clock_key', 'cgroup_key', 'quiet_key']
    # Compiled so that the branch is there while the key is off.
    BRANCH_IS_OFF = {'cgroup_key'}
    FEATURE = 6

    def __init__(self, on, feature=False):
        self.words, self.sites, self.starts = [], {}, {}
        self.alternatives = []
        for number in range(8):
            self.starts[f'function_{number}'] = len(self.words)
            self.words += [PLAIN, PLAIN]
            key = self.KEYS[number % 4]
            with_branch = (key in on) != (key in self.BRANCH_IS_OFF)
            self.sites.setdefault(key, []).append(len(self.words))
            self.words += [branch(4) if with_branch else NOP, PLAIN, None, PLAIN, cbz(3), PLAIN, PLAIN]
            if number % 2:
                # The file branches over the call; the feature removes the branch.
                self.alternatives.append(len(self.words))
                self.words += [NOP if feature else branch(2), None]
            self.words += [cbz(2, 1), PLAIN, RET]
        helper = len(self.words)
        self.starts['helper'] = helper
        self.words += [PLAIN, cbz(2), PLAIN, cbz(2, 3), PLAIN, RET]
        self.words = [branch(helper - at, True) if word is None else word for at, word in enumerate(self.words)]
        self.starts['_start'] = len(self.words)
        for number in range(8):
            self.words.append(branch(self.starts[f'function_{number}'] - len(self.words), True))
        self.words.append(RET)

    @property
    def code(self):
        return struct.pack(f'<{len(self.words)}I', *self.words)


def vmlinux(kernel, others, damage=0):
    """The file, with its tables; other segments as they are."""
    tables = TEXT + 0x100000
    entries, data = b'', tables + 0x10000
    for number, (key, sites) in enumerate(kernel.sites.items()):
        for site in sites:
            at, code = tables + len(entries), TEXT + 4 * site
            entries += struct.pack('<iiq', code - at, code + 16 - at - 4,
                                   data + 16 * number - at - 8 | (key in kernel.BRANCH_IS_OFF))
    entries += b'\xff' * damage
    at_alternatives = tables + len(entries)
    patches, replacement = b'', tables + 0x8000
    for site in kernel.alternatives:
        at = at_alternatives + len(patches)
        patches += struct.pack('<iiHBB', TEXT + 4 * site - at, replacement - at - 4, kernel.FEATURE, 4, 4)
    content = (entries + patches).ljust(0x8000, b'\0') + struct.pack('<I', NOP)
    symbols = [('_text', TEXT), ('__start___jump_table', tables), ('__stop___jump_table', at_alternatives),
               ('__alt_instructions', at_alternatives), ('__alt_instructions_end', at_alternatives + len(patches))]
    symbols += [(name, TEXT + 4 * start) for name, start in kernel.starts.items()]
    symbols += [(key, data + 16 * number) for number, key in enumerate(kernel.sites)]
    return elf([(TEXT, kernel.code), (tables, content), *others], symbols, ID)


def program(kernel, slide=0):
    """A program for synth, which begins at its entry point."""
    data = bytearray(elf([(TEXT + slide, kernel.code)],
                         [(name, TEXT + slide + 4 * start) for name, start in kernel.starts.items()]))
    struct.pack_into('<Q', data, 24, TEXT + slide + 4 * kernel.starts['_start'])
    return bytes(data)


@pytest.fixture
def recorded(run, tmp_path):
    """recorded(KERNEL): a recording of this kernel; returns its other segments, in which handlers are."""
    def get(kernel, *options):
        (tmp_path / 'truth.elf').write_bytes(program(kernel, SLIDE))
        run('synth', '-o', 'capture', '--elf', 'truth.elf', '--protocol', 'etmv4', '--size', 20000,
            '--sync-period', 1024, '--context-ids', 1, '--perf-data', *options)
        recording = Recording.read(tmp_path / 'capture/perf.data')
        segments = []
        for record in recording.of(MMAP2):
            start, size, offset = struct.unpack_from('<QQQ', record.body, 8)
            path = record.body[64:record.body.index(b'\0', 64)].decode()
            content = (tmp_path / 'capture' / path.rsplit('/', 1)[-1]).read_bytes()
            segments.append((start, content[offset:offset + size]))
        low, end = min(segments)[0], max(start + len(code) for start, code in segments)
        recording.without(MMAP2)
        text = TEXT + SLIDE
        body = struct.pack('<iIQQQ', -1, 0, low, end - low, text) + name_bytes('[kernel.kallsyms]_text')
        recording.insert(Record(MMAP, KERNEL, body + stamp(0xffffffff)))
        recording.write(tmp_path / 'perf.data')
        (tmp_path / 'kcore').write_bytes(elf(segments, kind=4))
        return [(start - SLIDE, code) for start, code in segments if start != text]
    return get


def instructions(run, *options):
    """What was executed, with the instructions."""
    rows = run('decode', 'perf.data', '--disassemble', '--format', 'json', *options).json_lines()
    return [(row['start'], row['end'], row.get('instructions')) for row in rows if row.get('kind') == 'range']


def findings(run, *options):
    return run('info', 'perf.data', '--format', 'json', *options).json()


def test_the_code_as_it_ran(run, recorded, tmp_path):
    others = recorded(Kernel(on={'sched_key', 'cgroup_key'}, feature=True))
    (tmp_path / 'vmlinux').write_bytes(vmlinux(Kernel(on=set()), others))
    truth = instructions(run, '--kcore', 'kcore')
    same = instructions(run, '--vmlinux', 'vmlinux') == truth
    assert truth and same
    run('decode', 'perf.data', '--vmlinux', 'vmlinux').says('3 static keys and alternatives', '--kcore')
    found = findings(run, '--vmlinux', 'vmlinux')
    assert found['mismatches'] == []
    assert sorted((each['name'], each['kind'], each['on']) for each in found['kernel_switches']) == [
        ('capability 6', 'capability', True), ('cgroup_key', 'static_key', True), ('sched_key', 'static_key', True)]
    run('info', 'perf.data', '--vmlinux', 'vmlinux').has('on   static key sched_key, 2 places of vmlinux')


def test_counts_use_it_too(run, recorded, tmp_path):
    others = recorded(Kernel(on={'clock_key'}))
    (tmp_path / 'vmlinux').write_bytes(vmlinux(Kernel(on=set()), others))

    def total(*options):
        rows = run('count', 'perf.data', '--format', 'json', *options).json_lines()
        return sum(row['instructions'] for row in rows if row['type'] == 'count')
    assert total('--vmlinux', 'vmlinux') == total('--kcore', 'kcore') != 0


def test_a_kernel_as_in_its_file(run, recorded, tmp_path):
    """Nothing is changed, and nothing contradicts."""
    others = recorded(Kernel(on=set()), '--exceptions', 20)
    (tmp_path / 'vmlinux').write_bytes(vmlinux(Kernel(on=set()), others, damage=40))
    for options in ['--vmlinux', 'vmlinux'], ['--kcore', 'kcore']:
        found = findings(run, *options)
        assert found['kernel_switches'] == found['mismatches'] == []
    run('decode', 'perf.data', '--vmlinux', 'vmlinux').quiet()


def test_another_kernel(run, recorded, tmp_path):
    """No setting of its switches explains the trace, so that none is guessed; the functions are named."""
    other = Kernel(on=set())
    for word in other.sites['sched_key']:
        other.words[word + 4] = PLAIN  # Where the kernel that ran had a conditional branch.
    others = recorded(Kernel(on=set()))
    (tmp_path / 'vmlinux').write_bytes(vmlinux(other, others))
    found = findings(run, '--vmlinux', 'vmlinux')
    assert found['kernel_switches'] == []
    assert {each['function'] for each in found['mismatches']} == {'function_0', 'function_4'}
    # No code that a kernel changes is between the last address in the trace and the contradiction.
    assert not any(each['kernel_changes_code'] for each in found['mismatches'])
    assert sum(each['times'] for each in found['mismatches']) > 10
    run('info', 'perf.data', '--vmlinux', 'vmlinux').has('The trace contradicts vmlinux', 'function_0', '--kcore')


def test_a_program_of_another_build(run, tmp_path):
    """User programs are compared too."""
    (tmp_path / 'truth.elf').write_bytes(program(Kernel(on=set())))
    run('synth', '-o', 'capture', '--elf', 'truth.elf', '--protocol', 'etmv4', '--size', 5000)
    run('info', 'capture').lacks('contradicts')
    code = Kernel(on=set()).code
    image = tmp_path / 'capture/truth.elf'
    data = bytearray(image.read_bytes())
    struct.pack_into('<I', data, data.index(code) + 4 * Kernel(on=set()).starts['helper'] + 4, PLAIN)
    image.write_bytes(data)
    run('info', 'capture').has('The trace contradicts', 'Check that the file is the one that ran.')
    found, = run('info', 'capture', '--format', 'json').json_lines()
    first = min(found['mismatches'], key=lambda row: row['index'])
    capture, = json.loads(run('export', 'findings', 'capture').out)['captures']
    wrong, = (finding for finding in capture['findings'] if finding['kind'] == 'wrong_image')
    assert wrong['count'] == sum(row['times'] for row in found['mismatches'])
    # Every command that decodes with the image says the same, with the first place.
    for command in ['decode'], ['count'], ['count', '--tree'], ['export', 'folded', '-o', 'out']:
        assert 'The trace contradicts' in run(*command, 'capture').err
    assert f"first at {first['address']}, at byte {first['index']} of the trace" in run('count', 'capture').err
    assert all({'address', 'end', 'function'} == set(code) for code in first['suspects'])


def test_a_capture_that_leaves_targets_out(run, repository):
    """The code of ete_ip is what ran, although no target follows its loads to the PC."""
    capture = repository.parent / 'shared/data/snapshots/ete_ip'
    if not capture.exists():
        pytest.skip('there is no ../shared')
    run('info', capture).lacks('contradicts')
