"""annotate: functions with the counts of each instruction, compared with the ground truth of captures."""
import csv
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from conftest import program
from support.programs import Runner

STRIP = shutil.which('llvm-strip-19')
SAMPLE = Path(__file__).resolve().parents[2] / 'samples/quicksort'
NAMED = ('--symbols', SAMPLE / 'quicksort.elf', '--source', SAMPLE)


@pytest.fixture(scope='session')
def sample():
    return SAMPLE


@pytest.fixture(scope='session')
def traced(synth, sample):
    """The sample's program, as a model executes it in three processes."""
    return synth('--elf', sample / 'quicksort.elf', '--size', 8000, '--context-ids', 3, '--cycle-counts', '--perf-data')


@pytest.fixture(scope='module')
def run_once(tmp_path_factory, home):
    return Runner(program('WAYMARK', 'waymark'), tmp_path_factory.mktemp('annotate'), home)


@pytest.fixture(scope='module')
def everything(run_once, traced):
    return run_once('annotate', traced, *NAMED, '--top', 1000, '--format', 'json').json_lines()


def truth_of(path):
    """Times, taken and not taken by address, from the ground truth (docs/synth.md)."""
    data = path.read_bytes()
    assert data.startswith(b'WMTRUTH1')
    at = 8

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
    times, taken, not_taken = Counter(), Counter(), Counter()
    operands = {0x81: 3, 0x82: 2, 0x83: 0, 0x84: 1, 0x85: 1, 0x86: 1, 0x87: 1, 0x88: 1}
    end = 0
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 0xf8 == 0xc0:
            assert tag & 7 == 2, 'not A64'
        elif tag >= 0x80:
            for _ in range(operands[tag]):
                number()
        else:
            size = tag & 63
            if size == 63:
                size = number()
            zigzag = number()
            start = end + (zigzag >> 1 ^ -(zigzag & 1))
            end = start + 4 * size
            times.update(range(start, end, 4))
            (taken if tag & 64 else not_taken)[end - 4] += 1
    return times, taken, not_taken


def code_of(functions):
    return {int(each['address'], 16): each for function in functions for each in function['code']}


def test_counts_equal_the_ground_truth(everything, traced):
    times, taken, not_taken = truth_of(traced / 'truth/ETM_0.truth')
    code = code_of(everything)
    # A piece of code that the model adds has no name.
    times = Counter({at: count for at, count in times.items() if at >= 0x400000})
    assert {at: each['times'] for at, each in code.items() if each.get('times')} == times
    branches = {at: each for at, each in code.items() if 'taken' in each}
    assert {at: (each['taken'], each['not_taken']) for at, each in branches.items()} == \
        {at: (taken[at], not_taken[at]) for at in branches}
    assert sum(each['taken'] for each in branches.values()) > 1000
    assert sum(function['instructions'] for function in everything) == sum(times.values()) > 100000


def test_targets_of_indirect_branches(everything):
    targets = 0
    for each in code_of(everything).values():
        if 'targets' in each:
            assert sum(target['times'] for target in each['targets']) <= each['taken']
            counts = [target['times'] for target in each['targets']]
            assert counts == sorted(counts, reverse=True)
            targets += len(counts)
    assert targets > 10


def test_cycles_are_those_of_count(run, everything, traced):
    counted = run('count', traced, '--format', 'json').json_lines()[0]
    cycles = sum(each['cycles'] for each in code_of(everything).values())
    assert 0.9 * counted['cycles'] < cycles <= counted['cycles']
    blocks = run('count', traced, '--all', '--format', 'json').json_lines()
    assert cycles == sum(row['cycles'] for row in blocks
                         if row['type'] == 'count_block' and int(row['start'], 16) >= 0x400000)
    by_cycles = run('annotate', traced, *NAMED, '--by', 'cycles', '--top', 3, '--format', 'json').json_lines()
    cycles = [function['cycles'] for function in everything]
    assert [function['cycles'] for function in by_cycles] == sorted(cycles, reverse=True)[:3]


def test_the_hottest_come_first(run, everything, traced):
    counts = [function['instructions'] for function in everything]
    assert counts == sorted(counts, reverse=True)
    shown = run('annotate', traced, *NAMED, '--format', 'json').json_lines()
    assert shown == everything[:5]
    run('annotate', traced, *NAMED).matches(rf'^5 of {len(everything)} functions with counts, \d+\.\d % of \d+ instructions$')


@pytest.fixture(scope='session')
def recorded(traced):
    """The arguments for the recording of the capture, whose processes have the ELF file in memory."""
    return (traced / 'perf.data', '--symfs', traced)


def executed(result):
    """Times by address, from a decoded listing."""
    times = Counter()
    for row in result.json_lines():
        if row.get('kind') == 'range':
            times.update(range(int(row['start'], 16), int(row['end'], 16), 4))
    return {at: count for at, count in times.items() if at >= 0x400000}


def test_a_recording_has_the_counts_of_all_its_processes(run, recorded):
    functions = run('annotate', *recorded, '--top', 1000, '--format', 'json').json_lines()
    assert {at: each['times'] for at, each in code_of(functions).items() if each.get('times')} == \
        executed(run('decode', *recorded, '--format', 'json'))
    name = functions[0]['function']
    info = run('info', *recorded, '--format', 'json').json()
    pids = [process['pid'] for process in info['processes'] if process['bytes'] and process['pid'] > 0]
    assert len(pids) == 3
    one = [run('annotate', *recorded, name, '--pid', pid, '--format', 'json').json_lines()[0] for pid in pids]
    assert sum(function['instructions'] for function in one) == functions[0]['instructions']
    assert all(function['instructions'] < functions[0]['instructions'] for function in one)


def test_threads(run, everything, traced):
    assert run('annotate', traced, *NAMED, '--top', 1000, '-j', 3, '--format', 'json').json_lines() == everything


def test_a_part_of_the_trace(run, everything, traced):
    part = run('annotate', traced, *NAMED, '--from', 2000, '--to', 4000, '--top', 1000, '--format', 'json').json_lines()
    assert {at: each['times'] for at, each in code_of(part).items() if each.get('times')} == \
        executed(run('decode', traced, '--from', 2000, '--to', 4000, '--format', 'json'))


def test_csv_has_what_json_has(run, everything, traced):
    rows = list(csv.DictReader(run('annotate', traced, *NAMED, '--top', 1000, '--format', 'csv').lines))
    expected = [(function['function'], each['address'], each['opcode'], each['text'], str(each['times']),
                 str(each.get('taken', '')), str(each.get('not_taken', '')), str(each['cycles']),
                 str(each.get('line', '')))
                for function in everything for each in function['code'] if 'times' in each]
    given = [tuple(row[name] for name in ('function', 'address', 'opcode', 'text', 'times', 'taken', 'not_taken',
                                          'cycles', 'line')) for row in rows if row['times']]
    assert [row[:3] + row[4:] for row in given] == [row[:3] + row[4:] for row in expected]
    assert [row[3] for row in given] == [row[3] for row in expected]


def test_source_lines(run, sample):
    """The sample's source is next to its program."""
    source = (sample / 'quicksort.c').read_text().splitlines()
    shown = run('annotate', sample, 'quicksort', '--format', 'json').quiet().json_lines()
    lines = {each['line']: each['source'] for each in shown[0]['code'] if 'source' in each}
    assert lines == {number: source[number - 1] for number in lines}
    assert len(lines) > 10
    text = run('annotate', sample, 'quicksort').quiet()
    for number, line in lines.items():
        text.has(f'{number:5}  {line}\n')
    text.matches(r'^ +times +taken +not taken$', r'^ +132 +0x400250  aa0003f7  mov     x23, x0$',
                 r'^ +132 +67 +65 +0x40025c  5400066d  b\.le    0x400328 <quicksort\+0xe4>$')


@pytest.mark.parametrize('text', ['quicksort', '0x400244', '0x400278', '4194936'])
def test_a_function_by_name_and_address(run, sample, text):
    shown = run('annotate', sample, text, '--format', 'json').json_lines()
    assert [function['function'] for function in shown] == ['quicksort']


def test_several_functions_in_their_order(run, sample):
    shown = run('annotate', sample, 'run', 'quicksort', '--format', 'json').json_lines()
    assert [function['function'] for function in shown] == ['run', 'quicksort']


def test_a_function_that_no_program_has(run, sample):
    run('annotate', sample, 'qicksort', expect=2).one_sentence(
        "no function is called 'qicksort'; did you mean 'quicksort'?")
    run('annotate', sample, '0x10', expect=2).one_sentence("no function is called '0x10'.")
    run('annotate', sample, 'a\x1bb', expect=2).one_sentence(r"is called 'a\x1bb'.")
    run('annotate', sample, 'run', '--top', 3, expect=2).one_sentence('--top')


def moved(copy, sample, tmp_path):
    """A copy of the sample whose source is elsewhere."""
    folder = copy(sample, 'copy')
    (tmp_path / 'sources/deep').mkdir(parents=True)
    (folder / 'quicksort.c').rename(tmp_path / 'sources/deep/quicksort.c')
    return folder


def test_sources_elsewhere(run, copy, sample, tmp_path):
    folder = moved(copy, sample, tmp_path)
    missing = run('annotate', folder, 'quicksort')
    missing.one_sentence('the source file ', 'quicksort.c was not found; --source names a folder')
    missing.has('<quicksort+0xe4>')
    assert missing.out.count('last - first') == 0
    expected = run('annotate', sample, 'quicksort').out.replace(str(sample), 'copy')
    for place in ('sources/deep', './=sources/deep/', '././=sources/deep/'):
        assert run('annotate', 'copy', 'quicksort', '--source', 'none', '--source', place).quiet().out == expected


def test_control_characters_in_the_source(run, copy, sample, tmp_path):
    folder = copy(sample, 'copy')
    source = folder / 'quicksort.c'
    source.write_bytes(source.read_bytes().replace(b'  if (last - first < 2)', b'\tif\x1b[2J\xff(last - first < 2)'))
    run('annotate', folder, 'quicksort').has(r'    if\x1b[2J\xff(last - first < 2) return;')
    for form in ('json', 'csv'):
        assert '\x1b' not in run('annotate', folder, 'quicksort', '--format', form).out


def test_a_source_that_is_not_a_file(run, copy, sample, tmp_path):
    folder = copy(sample, 'copy')
    (folder / 'quicksort.c').unlink()
    (folder / 'quicksort.c').mkdir()
    run('annotate', folder, 'quicksort').one_sentence('was not found')


@pytest.mark.skipif(STRIP is None, reason='llvm-strip-19 is not installed (package llvm-19)')
def test_without_debug_information(run, copy, sample, tmp_path):
    folder = copy(sample, 'copy')
    subprocess.run([STRIP, '--strip-debug', folder / 'quicksort.elf'], check=True)
    shown = run('annotate', folder, 'quicksort').quiet()
    assert 'quicksort.c' not in shown.out
    shown.matches(r'^ +132 +67 +65 +0x40025c  5400066d  b\.le    0x400328 <quicksort\+0xe4>$')
    subprocess.run([STRIP, '--strip-all', folder / 'quicksort.elf'], check=True)
    run('annotate', folder, expect=3).says('functions have no names')


def test_without_llvm(run, sample):
    shown = run('annotate', sample, 'quicksort', env={'WAYMARK_LLVM': 'none.so'})
    shown.one_sentence('Without it, instructions are shown as .inst.')
    shown.matches(r'^ +132 +67 +65 +0x40025c  5400066d  \.inst   0x5400066d  ; conditional branch to 0x400328 '
                  r'<quicksort\+0xe4>$')


ARM_PROGRAM = '''
volatile int g;
__attribute__((noinline)) int leaf(int a, int b) { if (a > b) return a * 3 + 0x12345678; return b; }
__attribute__((noinline)) int choose(int x) {
  switch (x & 7) { case 0: return 3; case 1: return leaf(2, x); case 2: return 7; case 3: return leaf(9, x);
                   case 4: return 1; case 5: return 12; }
  return 0;
}
__attribute__((noinline)) void change(volatile int* a, int n) {
  for (int i = 0; i < n; i++) if (a[i & 3] > 3) a[i & 3] += 5; else a[i & 3] -= i;
}
static volatile int array[4];
void _start(void) { for (int i = 0;; i++) { g += choose(i); change((int*)array, i & 15); } }
'''


@pytest.mark.skipif(not all(map(shutil.which, ('clang-19', 'ld.lld-19', 'llvm-objdump-19'))),
                    reason='clang-19, ld.lld-19 or llvm-objdump-19 is not installed')
@pytest.mark.parametrize('state', ['arm', 'thumb'])
def test_a_program_of_aarch32(run, tmp_path, state):
    """Instructions of two sizes, data among them, and the counts of the ground truth's totals."""
    (tmp_path / 'program.c').write_text(ARM_PROGRAM)
    subprocess.run(['clang-19', '--target=armv7a-linux-gnueabihf', f'-m{state}', '-O2', '-g', '-nostdlib', '-static',
                    '-ffreestanding', '--ld-path=' + shutil.which('ld.lld-19'), 'program.c', '-o', 'program.elf'],
                   cwd=tmp_path, check=True)
    out = subprocess.run(['llvm-objdump-19', '-d', 'program.elf'], cwd=tmp_path, capture_output=True, text=True,
                         check=True).stdout
    expected = {int(address, 16): re.sub(r'\s*([<@].*)?$', '', text.replace('\t', ' ')) for address, text in re.findall(
        r'^\s*([0-9a-f]+): (?:[0-9a-f]{8}|[0-9a-f]{4}(?: [0-9a-f]{4})?) +\t([^\n]*)$', out, re.M)}
    run('synth', '-o', 'capture', '--elf', 'program.elf', '--size', 6000, '--protocol', 'ptm', '--exceptions', 0)
    shown = run('annotate', 'capture', '--symbols', 'program.elf', '--top', 100, '--format', 'json').json_lines()
    code = code_of(shown)
    texts = {at: each['text'] for at, each in code.items() if 'times' in each}
    assert texts == {at: text for at, text in expected.items() if at in texts}
    assert {expected[at] for at in expected.keys() - texts.keys()} <= {'nop'}  # Between functions.
    data = {at for at, each in code.items() if 'times' not in each}
    assert data and data.isdisjoint(expected)
    totals = dict(line.split('=') for line in (tmp_path / 'capture/truth/totals.ini').read_text().splitlines()
                  if '=' in line)
    assert sum(function['instructions'] for function in shown) == int(totals['instructions'])


def test_inlined_functions_are_named(run, sample):
    assert re.search(r'quicksort\.c, inlined \w+$', run('annotate', sample, 'run').out, re.M)
    shown = run('annotate', sample, 'run', '--format', 'json').json_lines()
    assert any('inlined' in each for each in shown[0]['code'])
