"""perf script reads what synth records, and sees what waymark sees.

perf is Debian's with Debian's libopencsd, so that nothing of Waymark takes part.  Not compared, because perf 6.1 is
known to be wrong there: PTM (it gives the decoder ETMCCER and ETMIDR as 0), raw trace of several CPUs (it takes the
registers of the first), the last elements of a trace with timestamps (it discards them), and the thread of an
instruction (it takes that of a context further on).
"""
import shutil
import subprocess

import pytest
from support.recordings import MMAP2, Recording, jitdump, mmap2

# With these, perf waits at each timestamp, and loses what the decoder holds back at the end.
TIMED = ('--timestamps', 100)
KINDS = [
    ('etmv4',),
    ('etmv4', '--isa', 'A64'),
    ('etmv4', *TIMED),
    ('etmv4', '--return-stack', '--speculation', 8),
    ('etmv4', '--perf-per-thread'),
    ('etmv4', '--perf-pieces', 3),
    ('etmv4', '--perf-compressed'),
    ('etmv4', '--perf-metadata', 0),
    ('etmv4', '--perf-raw', '--cores', 1),
    ('etmv4', '--context-ids', 3),
    ('ete',),
    ('ete', '--context-ids', 3, *TIMED),
    ('etmv3',),
]


@pytest.fixture(scope='session')
def perf():
    program = shutil.which('perf')
    if program is None:
        pytest.skip('perf is missing; it is in the package linux-perf')
    return program


def seen_by_perf(perf, folder, home):
    """The addresses of the instructions of each CPU."""
    result = subprocess.run([perf, 'script', '-i', folder / 'perf.data', '--symfs', folder, '--itrace=i1i', '-F',
                             'cpu,ip'], capture_output=True, text=True, env={'HOME': str(home)}, check=True)
    cpus = {}
    for line in result.stdout.splitlines():
        cpu, address = line.split()
        cpus.setdefault(int(cpu.strip('[]')), []).append(int(address, 16))
    return cpus


def seen_by_waymark(run, folder):
    sources = run('info', folder / 'perf.data', '--symfs', folder, '--format', 'json').json()['sources']
    cpu_of = {source['id']: int(source['core'].removeprefix('cpu')) for source in sources}
    cpus = {}
    for row in run('decode', folder / 'perf.data', '--symfs', folder, '--format', 'json').quiet().json_lines():
        if row['kind'] == 'range':
            cpus.setdefault(cpu_of[row['id']], []).extend(range(int(row['start'], 16), int(row['end'], 16), 4))
    return cpus


@pytest.mark.parametrize('options', KINDS)
def test_every_instruction_in_order(run, synth, perf, home, options):
    isa = () if '--isa' in options else ('--isa', 'A32')
    cores = () if '--cores' in options else ('--cores', 2)
    folder = synth('--protocol', *options, *cores, *isa, '--size', 1000, '--branch-broadcast', '--exceptions', 20, '--perf-data')
    theirs = seen_by_perf(perf, folder, home)
    ours = seen_by_waymark(run, folder)
    assert theirs.keys() == ours.keys()
    for cpu, instructions in ours.items():
        assert len(instructions) > 1000
        if TIMED[0] in options:
            lost = len(instructions) - len(theirs[cpu])
            assert 0 <= lost < len(instructions) / 100
            del instructions[len(theirs[cpu]):]
        assert instructions == theirs[cpu]


def test_jitted_code_that_perf_inject_made_into_programs(run, synth, perf, tmp_path):
    """perf writes an ELF file for each function; the functions are few, because perf 6.1 crashes on more."""
    folder = synth('--protocol', 'etmv4', '--isa', 'A64', '--size', 8000, '--context-ids', 2, '--perf-data', '--perf-jit')
    recording = Recording.read(folder / 'perf.data')
    dump = tmp_path / 'jit-256.dump'
    for record in recording.of(MMAP2):
        if b'/jit-256.dump' in record.body:
            record.body = mmap2(256, 0x7f000000, 0x1000, 0, str(dump)).body
    recording.write(tmp_path / 'perf.data')
    dump.write_bytes(jitdump(256, [(5, 0x3ff000, 'handlers', (folder / 'memory_0.bin').read_bytes()),
                                   (6, 0x400000, 'compiled', (folder / 'memory_1.bin').read_bytes())]))
    subprocess.run([perf, 'inject', '--jit', '-i', 'perf.data', '-o', 'injected.data'], cwd=tmp_path, check=True,
                   capture_output=True, env={'HOME': str(tmp_path)})
    options = ['--elf', folder / 'memory_0.bin', '--elf', folder / 'memory_1.bin']
    whole = run('decode', folder / 'perf.data', '--symfs', folder).quiet().out
    assert run('decode', 'perf.data', *options).quiet().out == whole
    dump.unlink()
    assert run('decode', 'injected.data', *options).quiet().out == whole
    run('decode', 'injected.data', *options, '--functions').has('in compiled')
