"""`waymark info --programs`: which of several programs the trace executed, and where."""
import configparser
import shutil

import pytest
from support.elf import make_arm_elf, make_elf, make_parts

SLIDE = 0x7654000
NEAR = 0x31000


@pytest.fixture(scope='session')
def board(synth):
    return synth('--size', 60000, '--seed', 5)


def memory_of(snapshot):
    """(address, bytes) of the code."""
    ini = configparser.ConfigParser()
    ini.read(snapshot / 'cpu_0.ini')
    dumps = [(int(ini[name]['address'], 16), (snapshot / ini[name]['file']).read_bytes())
             for name in ini.sections() if name.startswith('dump')]
    return max(dumps, key=lambda one: len(one[1]))


def program_of(snapshot, path, slide=0):
    address, code = memory_of(snapshot)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(make_elf(code, [], address - slide))
    return path


def without_memory(snapshot, target):
    shutil.copytree(snapshot, target)
    path = target / 'cpu_0.ini'
    path.write_text(path.read_text().split('[dump0]')[0])
    return target


@pytest.fixture
def bare(board, tmp_path):
    return without_memory(board, tmp_path / 'board')


@pytest.fixture
def programs(board, synth, tmp_path):
    """The program of the capture, SLIDE below the addresses where it ran, among others."""
    program_of(board, tmp_path / 'programs/right.elf', SLIDE)
    for seed in range(11, 17):
        program_of(synth('--size', 2000, '--seed', seed), tmp_path / f'programs/other{seed}.elf', seed << 12)
    (tmp_path / 'programs/notes.txt').write_text('no program')
    return tmp_path / 'programs'


def test_the_program_is_found_among_others(run, bare, programs):
    result = run('info', bare, '--programs', programs, '--format', 'json').json_lines()
    found = result[1]
    assert found['type'] == 'programs' and len(found['programs']) == 7
    first, *others = found['programs']
    assert (first['path'], first['verdict'], int(first['slide'], 16)) == (str(programs / 'right.elf'), 'executed', SLIDE)
    assert first['contradictions'] == 0 and first['waypoints'] >= 1000 and first['share'] > 0.9
    assert {one['verdict'] for one in others} == {'not executed'}
    # Programs that the trace does not contradict were hardly executed.
    assert all(one.get('contradictions') or one.get('waypoints', 0) < 200 for one in others)
    assert any('address' in one and one['before_first'] < 100 for one in others)


def test_the_next_command_decodes(run, bare, board, programs):
    text = run('info', bare, '--programs', programs)
    text.has('executed', 'no contradiction', 'not executed', 'the first after')
    command = text.lines[-1].split()
    assert command[:2] == ['waymark', 'decode'] and command[-1] == f'{programs}/right.elf@0x{SLIDE:x}'
    ranges = [line for line in run(*command[1:], '--format', 'csv').lines if ',range,' in line]
    assert len(ranges) > 1000


def test_a_slide_need_not_be_a_multiple_of_a_page(run, bare, board, tmp_path):
    program = program_of(board, tmp_path / 'p/odd.elf', 0x123454)
    found = run('info', bare, '--programs', program, '--format', 'json').json_lines()[1]
    assert found['programs'][0]['verdict'] == 'executed'
    assert int(found['programs'][0]['slide'], 16) == 0x123454


@pytest.mark.parametrize('options', [('--protocol', 'ptm', '--isa', 'T32'), ('--protocol', 'ptm', '--isa', 'A32'),
                                     ('--protocol', 'etmv3', '--isa', 'A32'), ('--protocol', 'ete')])
def test_other_protocols_and_instruction_sets(run, synth, options, tmp_path):
    capture = synth(*options, '--size', 60000)
    target = without_memory(capture, tmp_path / 'board')
    address, code = memory_of(capture)
    make = make_arm_elf if '--isa' in options else lambda code, address: make_elf(code, [], address)
    (tmp_path / 'own.elf').write_bytes(make(code, address - 0x31000))
    found = run('info', target, '--programs', 'own.elf', '--format', 'json').json_lines()[1]
    assert (found['programs'][0]['verdict'], found['programs'][0]['slide']) == ('executed', '0x31000')


def test_a_return_stack_is_found(run, synth, tmp_path):
    capture = synth('--size', 60000, '--seed', 5, '--return-stack')
    program_of(capture, tmp_path / 'programs/own.elf', SLIDE)
    found = run('doctor', capture / 'trace.bin', '--programs', 'programs', '--format', 'json').json_lines()[1]
    assert found['programs'][0]['verdict'] == 'executed' and found['programs'][0]['contradictions'] == 0
    stack = found['return_stack']
    assert stack['value'] == 'on' and stack['on']['contradictions'] == 0 < stack['off']['contradictions']
    config, = [word for word in found['next'].split(',') if 'TRCCONFIGR' in word]
    assert int(config.split('=')[1].split()[0], 16) & 0x1000
    run('doctor', capture / 'trace.bin', '--programs', 'programs').has('return stack\n  It is on.')


def test_without_a_return_stack_both_values_decode_alike(run, board, programs):
    found = run('doctor', board / 'trace.bin', '--programs', programs / 'right.elf', '--format', 'json').json_lines()[1]
    assert found['return_stack']['value'] == 'either'
    assert found['return_stack']['on'] == found['return_stack']['off']
    other = run('doctor', board / 'trace.bin', '--programs', programs / 'other11.elf', '--format', 'json').json_lines()[1]
    assert other['return_stack']['value'] == 'unknown'


def test_trace_with_q_elements(run, synth, tmp_path):
    capture = synth('--size', 60000, '--seed', 5, '--q', 20)
    program_of(capture, tmp_path / 'programs/own.elf', SLIDE)
    program_of(synth('--size', 2000, '--seed', 11), tmp_path / 'programs/other.elf', SLIDE)
    target = without_memory(capture, tmp_path / 'board')
    own, other = run('info', target, '--programs', 'programs', '--format', 'json').json_lines()[1]['programs']
    assert (own['verdict'], int(own['slide'], 16), own['contradictions']) == ('executed', SLIDE, 0)
    assert other['verdict'] == 'not executed'
    assert run('info', capture, '--format', 'json').json()['mismatches'] == []


def test_a_recording_of_two_processes(run, synth, tmp_path):
    capture = synth('--size', 60000, '--seed', 5, '--context-ids', 2, '--perf-data')
    # The name in the recording is that of the second part of the code.
    program_of(capture, tmp_path / 'programs/memory_1.bin', NEAR)
    program_of(synth('--size', 2000, '--seed', 11), tmp_path / 'programs/other.elf', NEAR)
    recording = capture / 'perf.data'
    lines = run('info', recording, '--programs', 'programs', '--format', 'json').json_lines()[1:]
    found = {line['pid']: line for line in lines if line['pid'] >= 0}
    assert len(found) == 2
    for line in found.values():
        own, other = line['programs']
        assert (own['verdict'], int(own['slide'], 16), own['contradictions']) == ('executed', NEAR, 0)
        assert own['recorded'] == '/memory_1.bin' and other['verdict'] == 'not executed'
        assert line['next'] == f'waymark decode {recording} --elf programs/memory_1.bin'
    text = run('info', recording, '--programs', 'programs')
    text.has('programs of process ', 'the recording calls it /memory_1.bin')
    # With its own files, there is nothing to search.
    run('info', recording, '--symfs', capture, '--programs', 'programs', expect=1).says('the code at every address')


def test_a_program_of_another_name_than_in_the_recording(run, synth, tmp_path):
    capture = synth('--size', 60000, '--seed', 5, '--context-ids', 1, '--perf-data')
    program_of(capture, tmp_path / 'programs/own.elf', NEAR)
    text = run('info', capture / 'perf.data', '--programs', 'programs')
    text.has('executed', 'calls it /memory_1.bin, so --elf needs a copy of that name').lacks('next, with the program')


def test_bare_bytes(run, bare, programs):
    result = run('doctor', bare / 'trace.bin', '--programs', programs)
    result.has('executed', f'right.elf@0x{SLIDE:x}', '--framing mem')


def test_what_is_known_already_is_not_searched(run, board, programs):
    run('info', board, '--programs', programs / 'right.elf', expect=1).says('the code at every address')


def test_bad_input(run, bare, tmp_path, programs, itm_file):
    run('info', bare, '--programs', 'nowhere', expect=3).says('there is no such file or folder')
    (tmp_path / 'empty').mkdir()
    run('info', bare, '--programs', 'empty', expect=3).says('the folder has no ELF file')
    (tmp_path / 'cut.elf').write_bytes((programs / 'right.elf').read_bytes()[:50])
    run('info', bare, '--programs', 'cut.elf').has('not readable', 'none of them was executed')
    (tmp_path / 'parts.elf').write_bytes(make_parts(65, bytes.fromhex('c0035fd6') * 16))
    run('info', bare, '--programs', 'parts.elf').has('not readable', 'more than 64 parts with code')
    run('info', itm_file, '--programs', programs, expect=1).says('no source has instruction trace')
