"""Where the programs of a recording are found, and what is said about those that are missing."""
import gzip
import lzma
import os
import shutil
import struct
import subprocess

import pytest
from support.recordings import MMAP2, Recording

IDS = bytes(range(0xA0, 0xB4)), bytes(range(0xC0, 0xD4))
OTHER = bytes(range(0x10, 0x24))
NAMES = 'memory_0.bin', 'memory_1.bin'
BASE = 0x400000


def elf(build_id, code):
    """An AArch64 ELF file: one segment with a build ID and code, at BASE."""
    note = struct.pack('<III', 4, len(build_id), 3) + b'GNU\0' + build_id
    start = 0x200
    header = b'\x7fELF\x02\x01\x01' + bytes(9)
    header += struct.pack('<HHIQQQIHHHHHH', 2, 183, 1, BASE + start, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack('<IIQQQQQQ', 1, 5, 0, BASE, BASE, start + len(code), start + len(code), 0x1000)
    notes = struct.pack('<IIQQQQQQ', 4, 4, 176, BASE + 176, BASE + 176, len(note), len(note), 4)
    return (header + load + notes + note).ljust(start, b'\0') + code


@pytest.fixture(scope='session')
def plain(synth):
    """A recording of one process; its programs are plain bytes."""
    return synth('--protocol', 'etmv4', '--size', 4000, '--context-ids', 1, '--perf-data')


def name_build_id(data, path, build_id):
    """The recording with this build ID in its MMAP2 record of the program."""
    data = bytearray(data)
    at = struct.unpack_from('<Q', data, 40)[0]
    while True:
        kind, misc, size = struct.unpack_from('<IHH', data, at)
        if kind == 71:
            raise AssertionError(f'no map of {path}')
        if kind == 10 and path.encode() + b'\0' in data[at:at + size]:
            struct.pack_into('<H', data, at + 4, misc | 1 << 14)
            struct.pack_into('<BBH20s', data, at + 40, len(build_id), 0, 0, build_id)
            # Where the code is in the ELF file.
            struct.pack_into('<Q', data, at + 32, 0x200)
            return bytes(data)
        at += size


@pytest.fixture
def recorded(plain, tmp_path):
    """The folder of perf.data that names build IDs, and of the ELF files program0, program1, other0, other1."""
    data = (plain / 'perf.data').read_bytes()
    for i, name in enumerate(NAMES):
        data = name_build_id(data, f'/{name}', IDS[i])
        code = (plain / name).read_bytes()
        (tmp_path / f'program{i}').write_bytes(elf(IDS[i], code))
        (tmp_path / f'other{i}').write_bytes(elf(OTHER, code))
    (tmp_path / 'perf.data').write_bytes(data)
    return tmp_path


def instructions(result):
    return sum(row['instructions'] for row in result.json_lines() if row['type'] == 'count')


@pytest.fixture
def whole(run, plain):
    return instructions(run('count', plain, '--format', 'json'))


def count(run, *options, **more):
    return instructions(run('count', 'perf.data', *options, '--format', 'json', **more).quiet())


def test_by_build_id(run, recorded, whole):
    for options in ['--elf', 'program0', '--elf', 'program1'], ['--symfs', '.'], ['--sysroot', '.']:
        assert count(run, *options) == whole
    run('count', 'perf.data', '--elf', 'other0', '--elf', 'other1', expect=1).says('where code is missing', '/memory_0.bin')


def fill_cache(recorded, folder, name='elf'):
    """Moves the programs into a cache as that of perf."""
    for i, build_id in enumerate(IDS):
        entry = folder / '.build-id' / build_id.hex()[:2] / build_id.hex()[2:] / name
        entry.parent.mkdir(parents=True)
        shutil.copyfile(recorded / f'program{i}', entry)


@pytest.mark.parametrize('name', ['elf', ''])
def test_the_cache_of_perf(run, recorded, whole, home, name):
    run('count', 'perf.data', expect=1)
    fill_cache(recorded, recorded / 'cache', name)
    assert count(run, '--buildid-dir', 'cache') == whole
    fill_cache(recorded, home / '.debug', name)
    try:
        assert count(run) == whole
    finally:
        shutil.rmtree(home / '.debug')


def test_the_archive_of_perf(run, recorded, whole):
    """`perf archive` packs the files with links to them."""
    for i, build_id in enumerate(IDS):
        file = recorded / f'archive/usr/bin/program{i}' / build_id.hex() / 'elf'
        file.parent.mkdir(parents=True)
        shutil.copyfile(recorded / f'program{i}', file)
        link = recorded / 'archive/.build-id' / build_id.hex()[:2] / build_id.hex()[2:]
        link.parent.mkdir(parents=True)
        link.symlink_to(os.path.relpath(file.parent, link.parent))
    for option in '--buildid-dir', '--symfs':
        assert count(run, option, 'archive') == whole


def test_debuginfod(run, recorded, whole, tmp_path):
    """Only if asked for; the client is a stand-in."""
    (tmp_path / 'bin').mkdir()
    client = tmp_path / 'bin/debuginfod-find'
    client.write_text(f'#!/bin/sh\ntest "$1" = executable || exit 1\ncase $2 in\n{IDS[0].hex()}) echo {tmp_path}/program0;;\n'
                      f'{IDS[1].hex()}) echo {tmp_path}/program1;;\n*) exit 1;;\nesac\n')
    client.chmod(0o755)
    path = {'PATH': f'{tmp_path}/bin:{os.environ["PATH"]}'}
    run('count', 'perf.data', expect=1, env=path)
    assert count(run, '--debuginfod', env=path) == whole


def test_the_wrong_build_id(run, recorded, tmp_path):
    (tmp_path / 'root').mkdir()
    for i, name in enumerate(NAMES):
        shutil.move(recorded / f'other{i}', tmp_path / 'root' / name)
    result = run('decode', 'perf.data', '--symfs', 'root').has('no code image')
    result.says('where code is missing', '/memory_0.bin', IDS[0].hex(), OTHER.hex())
    for command in ['count'], ['find', '--address', 0]:
        run(*command, 'perf.data', '--symfs', 'root', expect=1).says('/memory_0.bin', IDS[0].hex(), OTHER.hex())
    run('info', 'perf.data', '--symfs', 'root').matches('missing  /memory_0.bin  [0-9]+ bytes of trace')


def packed(ending, content, tmp_path):
    if ending == '.zst':
        if shutil.which('zstd') is None:
            pytest.skip('zstd is missing; it is in the package zstd')
        (tmp_path / 'plain').write_bytes(content)
        subprocess.run(['zstd', '-q', 'plain', '-o', 'packed'], cwd=tmp_path, check=True)
        return (tmp_path / 'packed').read_bytes()
    return {'.xz': lzma.compress, '.gz': gzip.compress}[ending](content)


@pytest.mark.parametrize('ending', ['.xz', '.gz', '.zst'])
def test_modules_that_are_compressed(run, synth, tmp_path, ending):
    folder = synth('--size', 1000, '--perf-data')
    recording = Recording.read(folder / 'perf.data')
    for record in recording.of(MMAP2):
        record.body = record.body.replace(b'/memory_1.bin\0\0', b'/memory_1.ko\0\0\0')
    recording.write(tmp_path / 'perf.data')
    shutil.copyfile(folder / 'memory_0.bin', tmp_path / 'memory_0.bin')
    content = packed(ending, (folder / 'memory_1.bin').read_bytes(), tmp_path)
    (tmp_path / f'memory_1.ko{ending}').write_bytes(content)
    whole = run('decode', folder / 'perf.data', '--symfs', folder).out
    assert run('decode', 'perf.data', '--symfs', '.').quiet().out == whole
    # A file that is cut short gives no code, and no crash.
    (tmp_path / f'memory_1.ko{ending}').write_bytes(content[:-9])
    run('decode', 'perf.data', '--symfs', '.').has('no code image')


def test_the_table_is_that_of_one_thread(run, recorded):
    one = run('decode', 'perf.data', '-j', 1)
    assert run('decode', 'perf.data', '-j', 3).err == one.err
    assert run('count', 'perf.data', '-j', 3, expect=1).err == run('count', 'perf.data', '-j', 1, expect=1).err
    times = sum(int(line.split()[0]) for line in one.err.splitlines()[1:])
    assert times == one.out.count('no code image') > 0
    assert one.err in run('annotate', 'perf.data', expect=1).err
    assert run('decode', 'perf.data', '--pid', 256).err == one.err
