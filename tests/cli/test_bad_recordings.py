"""Perf recordings with something wrong: one clear sentence each, and what is good is decoded."""
import struct

import pytest
from support import elf
from support.recordings import AUX, AUXTRACE_INFO, MMAP2, Record, Recording, mmap2

UNITS = 24  # Where the description of the first unit begins, in the body of AUXTRACE_INFO.


@pytest.fixture(scope='session')
def two(synth):
    return synth('--protocol', 'etmv4', '--size', 2000, '--context-ids', 2, '--perf-data', '--cores', 2)


@pytest.fixture
def recording(two):
    return Recording.read(two / 'perf.data')


@pytest.fixture
def decode(run, two, tmp_path):
    """decode(RECORDING): `waymark decode` of it, with the programs of the synthetic capture."""
    def start(recording, *options, **more):
        recording.write(tmp_path / 'bad')
        return run('decode', 'bad', '--symfs', two, *options, **more)
    return start


def test_unchanged_it_decodes(decode, recording, run, two):
    assert decode(recording).quiet().out == run('decode', two / 'perf.data', '--symfs', two).out


def test_an_aux_record_outside_its_buffer(decode, recording):
    first, = recording.of(AUX)
    outside = Record(AUX, 0, struct.pack('<QQQ', 1 << 40, 64, 0) + first.body[24:])
    recording.insert(outside)
    result = decode(recording).one_sentence('1 piece of trace with 64 bytes is not in the file', 'AUX offset')
    assert 'range' not in result.err and len(result.lines) > 100
    recording.records.remove(first)
    decode(recording, expect=3).one_sentence('none of the recorded trace', 'AUX offset 1099511627776')


def test_an_aux_record_that_goes_on_after_its_buffer(decode, recording):
    decode(recording.patch(AUX, 8, 'Q', 1 << 62), expect=3).one_sentence('none of the recorded trace', 'AUX offset 0 of CPU 0')


def test_two_cpus_with_one_trace_id(decode, recording):
    info, = recording.of(AUXTRACE_INFO)
    body = bytearray(info.body)
    struct.pack_into('<Q', body, 8 + UNITS + 10 * 8 + 4 * 8, 0x10)
    info.body = bytes(body)
    decode(recording, expect=3).one_sentence('CPUs 0 and 1', 'trace ID 0x10')


def test_an_unknown_kind_of_unit(decode, recording):
    decode(recording.patch(AUXTRACE_INFO, 8 + UNITS, 'Q', 0x6060606060606060), expect=3).one_sentence(
        'AUXTRACE_INFO', '0x6060606060606060')


def test_an_unknown_version_of_the_description(decode, recording):
    decode(recording.patch(AUXTRACE_INFO, 8, 'Q', 7), expect=3).one_sentence('version 7', 'versions 0 to 2')


def test_another_tracer(decode, recording):
    decode(recording.patch(AUXTRACE_INFO, 0, 'I', 1), expect=3).one_sentence('a tracer other than cs_etm')


def test_no_mappings(decode, recording):
    decode(recording.without(MMAP2)).says('no MMAP records').has('no code image')


def test_a_program_with_another_build_id(decode, recording, two, tmp_path, run):
    """Neither is the program used, nor is the message vague: it names both IDs."""
    program = elf.make_elf(bytes(64), [], build_id=bytes(range(20)))
    (tmp_path / 'root').mkdir()
    (tmp_path / 'root/app').write_bytes(program)
    for record in recording.of(MMAP2):
        pid, _, address, size = struct.unpack_from('<IIQQ', record.body)
        recording.insert(mmap2(pid, address, size, 0, '/app', build_id=bytes(range(1, 21))))
    recording.write(tmp_path / 'bad')
    both = '000102030405060708090a0b0c0d0e0f10111213', '0102030405060708090a0b0c0d0e0f1011121314'
    run('info', 'bad', '--symfs', two, '--symfs', 'root').has(*both)
    run('decode', 'bad', '--symfs', two, '--symfs', 'root').says(*both).has('no code image')

