"""decode --disassemble: the instructions of ranges, compared with llvm-objdump."""
import csv
import re
import shutil
import subprocess

import pytest

OBJDUMP = shutil.which('llvm-objdump-19')
COMMENT = re.compile(r'\s*(<(?!unknown).*>|//.*|@.*)\s*$')


@pytest.fixture(scope='session')
def sample(repository):
    return repository / 'samples/quicksort'


@pytest.fixture(scope='session')
def listing(sample):
    """Address -> (opcode, text) of the sample's program, by objdump."""
    if OBJDUMP is None:
        pytest.skip('llvm-objdump-19 is not installed (package llvm-19)')
    out = subprocess.run([OBJDUMP, '-d', sample / 'quicksort.elf'], capture_output=True, text=True, check=True).stdout
    rows = re.findall(r'^\s*([0-9a-f]+): ([0-9a-f]{8})\s+(.*)$', out, re.M)
    return {int(address, 16): (int(opcode, 16), COMMENT.sub('', text.replace('\t', ' ')).strip())
            for address, opcode, text in rows}


def instructions(result):
    """Each instruction that was executed, of JSON."""
    for row in result.json_lines():
        if row['type'] == 'element' and row['kind'] == 'range':
            yield from row['disassembly']


def plain(text):
    return re.sub(r' <.*>$', '', text)


def test_it_equals_objdump(run, sample, listing):
    rows = list(instructions(run('decode', sample, '--disassemble', '--format', 'json').quiet()))
    assert len(rows) > 1000
    for row in rows:
        opcode, text = listing[int(row['address'], 16)]
        assert (int(row['opcode'], 16), row['text']) == (opcode, text)


def test_each_instruction_of_each_range(run, sample):
    for row in run('decode', sample, '--disassemble', '--format', 'json').json_lines():
        if row['type'] != 'element' or row['kind'] != 'range':
            assert 'disassembly' not in row
            continue
        addresses = [int(each['address'], 16) for each in row['disassembly']]
        assert addresses == list(range(int(row['start'], 16), int(row['end'], 16), 4))
        assert len(addresses) == row['instructions']


def test_text_and_json_agree(run, sample):
    texts = [plain(row['text']) for row in instructions(run('decode', sample, '--disassemble', '--format', 'json'))]
    lines = [line.split(None, 2) for line in run('decode', sample, '--disassemble', '--color', 'never').lines]
    shown = [' '.join(re.sub('  ; .*', '', rest).split()) for first, _, rest in lines if first.startswith('0x')]
    assert shown == texts


def test_a_conditional_branch_says_whether_it_was_taken(run, sample):
    ranges = [row for row in run('decode', sample, '--disassemble', '--format', 'json').json_lines()
              if row['type'] == 'element' and row['kind'] == 'range']
    expected = [row['taken'] for row in ranges if row['conditional']]
    lines = run('decode', sample, '--disassemble').lines
    assert [not line.endswith('not taken') for line in lines if re.search('; (not )?taken$', line)] == expected
    assert True in expected and False in expected


def test_targets_have_names_with_functions(run, sample):
    run('decode', sample, '--disassemble', '--functions').has('  14000101  b       0x400504 <run>\n')
    assert ' <' not in run('decode', sample, '--disassemble').out


SYMBOLIZER = shutil.which('llvm-symbolizer-19')


@pytest.mark.skipif(SYMBOLIZER is None, reason='llvm-symbolizer-19 is not installed (package llvm-19)')
def test_source_lines(run, sample):
    rows = {row['address']: row for row in instructions(
        run('decode', sample, '--disassemble', '--lines', '--format', 'json'))}
    given = '\n'.join(rows)
    out = subprocess.run([SYMBOLIZER, '--obj', sample / 'quicksort.elf', '--functions=none', '--no-inlines'], text=True,
                         input=given, capture_output=True, check=True).stdout.split()
    assert [f'{row.get("file", "??").split("/")[-1]}:{row.get("line", 0)}' for row in rows.values()] == \
        [line.rsplit(':', 1)[0].split('/')[-1] for line in out]
    listing = run('decode', sample, '--disassemble', '--lines')
    listing.matches(r'^ +0x0000000000400508  d28010c8  mov     x8, #0x86  ; at quicksort\.c:13$',
                    r'^ +0x0000000000400504  a9ac7bfd  stp     \S+ \S+ \S+ #-0x140\]!$')
    csv_rows = csv.DictReader(run('decode', sample, '--disassemble', '--lines', '--format', 'csv').lines)
    for row in csv_rows:
        if row['record'] == 'instruction':
            of_json = rows[row['start']]
            assert (row['file'], row['line']) == (of_json.get('file', ''), str(of_json.get('line', '')))


def test_csv(run, sample):
    rows = list(csv.DictReader(run('decode', sample, '--disassemble', '--functions', '--format', 'csv').lines))
    assert list(rows[0])[-2:] == ['opcode', 'text']
    expected = [(row['address'], row['opcode'], row['text'])
                for row in instructions(run('decode', sample, '--disassemble', '--functions', '--format', 'json'))]
    given = [row for row in rows if row['record'] == 'instruction']
    assert [(row['start'], row['opcode'], row['text']) for row in given] == expected
    assert all(row['opcode'] == '' for row in rows if row['record'] != 'instruction')
    assert any(row['taken'] == '0' and row['conditional'] == '1' for row in given)


@pytest.mark.parametrize('form', ['text', 'json', 'csv'])
def test_a_merged_view_and_threads(run, synth, form):
    both = synth('--protocol', 'etmv4,ptm', '--isa', 'T32', '--size', 20000, '--exceptions', 5, '--timestamps', 100)
    options = ('--disassemble', '--format', form)
    one = run('decode', both, *options, '-j', 1)
    assert run('decode', both, *options, '-j', 3).out_bytes == one.out_bytes
    merged = run('decode', both, *options, '--merge', 'time')
    what = {'text': r'^ +(0x.*)$', 'json': r'"disassembly":(.*)$', 'csv': r'instruction,(.*)$'}[form]
    assert sorted(re.findall(what, merged.out, re.M)) == sorted(re.findall(what, one.out, re.M)) != []


def test_a_recording_in_the_memory_of_each_process(run, synth):
    """Processes with different programs at the same addresses."""
    snapshot = synth('--protocol', 'etmv4', '--size', 8000, '--exceptions', 5, '--context-ids', 2, '--perf-data')
    options = ('--disassemble', '--format', 'json')
    recorded = list(instructions(run('decode', snapshot / 'perf.data', '--symfs', snapshot, *options)))
    assert recorded == list(instructions(run('decode', snapshot, *options)))


def test_without_llvm(run, sample):
    said = 'Without it, instructions are shown as .inst.'
    result = run('decode', sample, '--disassemble', '--functions', env={'WAYMARK_LLVM': 'none.so'}).says(said)
    assert '14000101  .inst   0x14000101  ; branch to 0x400504 <run>\n' in result.out
    texts = [line for line in result.lines if re.match(' +0x[0-9a-f]{16}  [0-9a-f]{8}  ', line)]
    assert texts and all('  .inst   0x' in line for line in texts)
    assert re.search(r'  ; conditional branch to 0x[0-9a-f]+ <\S+>, (not )?taken\n', result.out)


def test_a_name_of_a_library_cannot_act_on_the_terminal(run, sample):
    run('decode', sample, '--disassemble', env={'WAYMARK_LLVM': 'a\x1b[2J.so'}).says(r'a\x1b[2J.so')


def test_names_are_escaped(run, sample, tmp_path):
    shutil.copytree(sample, tmp_path / 'copy')
    elf = tmp_path / 'copy/quicksort.elf'
    assert elf.read_bytes().count(b'\0run\0') == 1
    elf.write_bytes(elf.read_bytes().replace(b'\0run\0', b'\0r\x1bn\0'))
    for form in ('text', 'json', 'csv'):
        out = run('decode', 'copy', '--disassemble', '--functions', '--format', form).out
        assert ('<r\\u001bn' if form == 'json' else '<r\\x1bn') in out
