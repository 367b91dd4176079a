"""Coverage and profiles by source line: what their readers report is what QEMU executed."""
import collections
import itertools
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support import executions, source_lines

LCOV = shutil.which('lcov')
GENHTML = shutil.which('genhtml')
PROFGEN = shutil.which('llvm-profgen-19')
PROFDATA = shutil.which('llvm-profdata-19')
CLANG = shutil.which('clang-19')
NODE = shutil.which('node')
READERS = Path(__file__).resolve().parents[1] / 'readers'
PACKAGES = Path(os.environ.get('WAYMARK_READERS') or READERS.parents[1] / 'build/readers') / 'node_modules'


def need(*tools):
    if not all(tools):
        pytest.skip('a reader of scripts/packages.txt is missing')


def call(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors='replace')
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope='module', params=['A64', 'T32'])
def program(request, executed, executed_thumb):
    need(source_lines.DWARFDUMP, source_lines.OBJDUMP)
    return executed('walks') if request.param == 'A64' else executed_thumb('steps')


@pytest.fixture(scope='module')
def walks(executed):
    need(source_lines.DWARFDUMP, source_lines.OBJDUMP)
    return executed('walks')


@pytest.fixture
def export(run):
    """export(FORMAT, EXECUTION, OPTION...): what `waymark export` writes."""
    return lambda name, execution, *options: run('export', name, execution.capture, '--symbols',
                                                 execution.program, *options).out


def read_tracefile(text):
    """{source: {record: [fields]}} of a tracefile of lcov."""
    sources, now = {}, None
    for line in text.splitlines():
        key, _, value = line.partition(':')
        if key == 'SF':
            now = sources[value] = collections.defaultdict(list)
        elif key not in ('TN', 'end_of_record'):
            now[key].append(value.split(','))
    return sources


# --- lcov ----------------------------------------------------------------------------------------

def test_lines_are_those_that_qemu_executed(export, program):
    sources = read_tracefile(export('lcov', program))
    found = {path.rsplit('/', 1)[-1]: {int(line): int(times) for line, times in records['DA']}
             for path, records in sources.items()}
    assert found == source_lines.line_counts(program.program, program.counts(), program.step)
    for records in sources.values():
        assert records['LF'] == [[str(len(records['DA']))]]
        assert records['LH'] == [[str(sum(times != '0' for _, times in records['DA']))]]


def test_functions_are_those_that_qemu_called(export, program):
    (records,) = read_tracefile(export('lcov', program)).values()
    counts = program.counts()
    calls = {name: int(times) for times, name in records['FNDA']}
    assert calls == {name: counts[start] - program.jumps_within(name, start)
                     for name, (start, _) in program.functions().items()}
    text = (program.program.parent / program.source).read_text().splitlines()
    for line, name in records['FN']:
        assert name in text[int(line) - 1]
    assert calls['never'] == 0


def test_branches_are_those_that_qemu_took(export, program):
    (records,) = read_tracefile(export('lcov', program)).values()
    rows = source_lines.rows_of(program.program)
    pairs = collections.Counter(itertools.pairwise(program.addresses))
    expected = collections.defaultdict(list)
    for at, size in sorted(source_lines.conditional_branches(program.program).items()):
        taken = sum(times for (a, b), times in pairs.items() if a == at and b != at + size)
        others = pairs[(at, at + size)]
        reached = at in program.counts()
        line = source_lines.line_at(rows, at)[1]
        expected[line] += [str(taken), str(others)] if reached else ['-', '-']
    found = collections.defaultdict(list)
    for number, (line, block, branch, times) in enumerate(records['BRDA']):
        assert int(branch) == number % 2
        assert int(block) == len(found[int(line)]) // 2
        found[int(line)].append(times)
    statements = {int(line) for line, _ in records['DA']}
    assert found == {line: counts for line, counts in expected.items() if line in statements}
    assert found


def percentages(text):
    return {kind: (int(hit), int(all_)) for kind, hit, all_ in
            re.findall(r'(lines|functions|branches)\.+: [\d.]+% \((\d+) of (\d+)', text)}


def test_lcov_and_genhtml_read_it(run, export, program, tmp_path):
    need(LCOV, GENHTML)
    text = export('lcov', program)
    (tmp_path / 'walks.info').write_text(text)
    (records,) = read_tracefile(text).values()
    expected = {kind: (int(records[hit][0][0]), int(records[all_][0][0])) for kind, hit, all_ in
                [('lines', 'LH', 'LF'), ('functions', 'FNH', 'FNF'), ('branches', 'BRH', 'BRF')]}
    said = call(LCOV, '--rc', 'lcov_branch_coverage=1', '--summary', 'walks.info', folder=tmp_path)
    assert percentages(said) == expected
    said = call(GENHTML, '--branch-coverage', '-o', 'html', 'walks.info', folder=tmp_path)
    assert percentages(said) == expected
    assert list((tmp_path / 'html').rglob(program.source + '.gcov.html'))
    # Two runs together are what lcov adds up.
    call(LCOV, '--rc', 'lcov_branch_coverage=1', '-a', 'walks.info', '-a', 'walks.info', '-o', 'sum.info',
         folder=tmp_path)
    (theirs,) = read_tracefile((tmp_path / 'sum.info').read_text()).values()
    (ours,) = read_tracefile(run('export', 'lcov', program.capture, program.capture, '--symbols',
                                 program.program).out).values()
    for kind in ('FN', 'FNDA', 'DA', 'BRDA', 'LH', 'LF', 'BRH', 'BRF'):
        assert sorted(ours[kind]) == sorted(theirs[kind])


def test_paths_of_sources_can_be_replaced(export, walks, tmp_path):
    folder = str(walks.program.parent)
    assert list(read_tracefile(export('lcov', walks, '--source', f'{folder}=/new'))) == ['/new/walks.c']
    assert list(read_tracefile(export('lcov', walks, '--source', f'{folder}=.'))) == ['walks.c']
    (tmp_path / 'sources').mkdir()
    (tmp_path / 'sources/walks.c').write_text('')
    assert list(read_tracefile(export('lcov', walks, '--source', 'sources'))) == ['sources/walks.c']
    assert list(read_tracefile(export('lcov', walks, '--source', 'elsewhere'))) == [f'{folder}/walks.c']


# --- Cobertura -----------------------------------------------------------------------------------

# The content of each element, by the DTD; "*" any number of them.
CONTENT = {
    'coverage': ['sources', 'packages'], 'sources': 'source*', 'packages': 'package*', 'package': ['classes'],
    'classes': 'class*', 'class': ['methods', 'lines'], 'methods': 'method*', 'method': ['lines'], 'lines': 'line*',
    'conditions': 'condition*', 'source': [], 'condition': [],
}
ATTRIBUTES = {
    'coverage': {'line-rate', 'branch-rate', 'lines-covered', 'lines-valid', 'branches-covered', 'branches-valid',
                 'complexity', 'version', 'timestamp'},
    'package': {'name', 'line-rate', 'branch-rate', 'complexity'},
    'class': {'name', 'filename', 'line-rate', 'branch-rate', 'complexity'},
    'method': {'name', 'signature', 'line-rate', 'branch-rate', 'complexity'},
    'condition': {'number', 'type', 'coverage'},
}


def check_element(element):
    children = [child.tag for child in element]
    if element.tag == 'line':
        assert {'number', 'hits', 'branch'} <= set(element.attrib)
        assert children in ([], ['conditions'])
        assert (element.get('branch') == 'true') == bool(children) == ('condition-coverage' in element.attrib)
    else:
        content = CONTENT[element.tag]
        if isinstance(content, str):
            assert set(children) <= {content[:-1]}
        else:
            assert children == content
        assert set(element.attrib) == ATTRIBUTES.get(element.tag, set())
    for child in element:
        check_element(child)


def test_cobertura_and_lcov_agree(export, program):
    (records,) = read_tracefile(export('lcov', program)).values()
    report = ElementTree.fromstring(export('cobertura', program))
    check_element(report)
    assert report.find('sources/source').text == f'{program.program.parent}/'
    (file,) = report.iter('class')
    assert file.get('filename') == program.source
    lines = file.findall('lines/line')
    assert [[line.get('number'), line.get('hits')] for line in lines] == records['DA']
    outcomes = [re.fullmatch(r'(\d+)% \((\d+)/(\d+)\)', line.get('condition-coverage')).groups()
                for line in lines if line.get('branch') == 'true']
    assert sum(int(hit) for _, hit, _ in outcomes) == int(report.get('branches-covered')) == int(records['BRH'][0][0])
    assert sum(int(all_) for *_, all_ in outcomes) == int(report.get('branches-valid')) == int(records['BRF'][0][0])
    methods = [[method.find('lines/line').get('hits'), method.get('name')] for method in file.iter('method')]
    assert methods == records['FNDA']
    assert report.get('line-rate') == f'{int(records["LH"][0][0]) / int(records["LF"][0][0]):.4f}'


def test_an_independent_reader_of_cobertura(run, export, program):
    if NODE is None or not (PACKAGES / 'cobertura-parse').is_dir():
        pytest.skip('Node.js or the npm packages of tests/readers are missing; scripts/install gets them')
    (records,) = read_tracefile(export('lcov', program)).values()
    run('export', 'cobertura', program.capture, '--symbols', program.program, '-o', 'report.xml')
    done = subprocess.run([NODE, READERS / 'cobertura.cjs', PACKAGES, run.folder / 'report.xml'], capture_output=True,
                          text=True)
    (file,) = json.loads(done.stdout)
    assert file['file'] == program.source
    for kind, found, hit in [('lines', 'LF', 'LH'), ('functions', 'FNF', 'FNH'), ('branches', 'BRF', 'BRH')]:
        assert [file[kind]['found'], file[kind]['hit']] == [int(records[found][0][0]), int(records[hit][0][0])]
    assert [[str(line['line']), str(line['hit'])] for line in file['lines']['details']] == records['DA']


def test_the_time_of_a_report_can_be_fixed(run, walks):
    text = run('export', 'cobertura', walks.capture, '--symbols', walks.program, env={'SOURCE_DATE_EPOCH': '77'}).out
    assert ElementTree.fromstring(text).get('timestamp') == '77'


# --- Sample profiles of LLVM ---------------------------------------------------------------------

def without_line_0(text):
    """Without rows of code that is from no line: their offsets are below that of the declaration."""
    return [line for line in text.splitlines() if not re.match(r' +65\d\d\d(\.\d+)?: ', line)]


@pytest.mark.parametrize('name, flags', [
    ('walks', ()), ('walks', ('-O0', '-gdwarf-5')), ('packer', ()), ('packer', ('-O3', '-gdwarf-5')),
    ('packer', ('-O1', '-g1')),
    # The linker prefers another name than the compiler, as for constructors.
    ('walks', ('-Wl,--defsym=middle_by_a_longer_name=middle',)),
])
def test_it_is_what_llvm_profgen_makes(run, export, executed, tmp_path, name, flags):
    need(PROFGEN)
    execution = executed(name, flags=flags)
    run('export', 'llvm-unsymbolized', execution.capture, '--symbols', execution.program, '-o', 'raw.txt')
    call(PROFGEN, '--unsymbolized-profile=raw.txt', f'--binary={execution.program}', '--output=out.prof',
         '--format=text', folder=tmp_path)
    ours = export('llvm-sample', execution)
    assert without_line_0(ours) == without_line_0((tmp_path / 'out.prof').read_text())
    assert not re.search(r'^ +65\d\d\d(\.\d+)?: \d', ours, re.M)


def test_both_forms_are_the_same_profile(run, program, tmp_path):
    need(PROFDATA)
    for name in ('llvm-sample', 'llvm-sample-binary'):
        run('export', name, program.capture, '--symbols', program.program, '-o', name)
        call(PROFDATA, 'merge', '--sample', '--text', name, '-o', name + '.text', folder=tmp_path)
    text = (tmp_path / 'llvm-sample.text').read_text()
    assert (tmp_path / 'llvm-sample-binary.text').read_text() == text
    assert text.splitlines() == (tmp_path / 'llvm-sample').read_text().splitlines()
    # The summary of the binary form is the one that LLVM computes.
    call(PROFDATA, 'merge', '--sample', '--extbinary', 'llvm-sample', '-o', 'merged', folder=tmp_path)
    summaries = [call(PROFDATA, 'show', '--sample', '--detailed-summary', name, folder=tmp_path).split('Total functions')[-1]
                 for name in ('llvm-sample-binary', 'merged')]
    assert summaries[0] == summaries[1]


@pytest.mark.parametrize('form', ['llvm-sample', 'llvm-sample-binary'])
def test_clang_finds_its_lines(run, walks, tmp_path, form):
    """Clang uses the records of each function, and every function is entered as often as it was called."""
    need(CLANG)
    run('export', form, walks.capture, '--symbols', walks.program, '-o', 'profile')
    shutil.copy(walks.program.parent / 'walks.c', tmp_path)
    said = call(CLANG, '--target=aarch64-linux-gnu', *executions.USUAL, '-fprofile-sample-use=profile', '-mllvm',
                '-sample-profile-check-record-coverage=100', '-S', '-emit-llvm', '-o', 'walks.ll', 'walks.c',
                folder=tmp_path)
    applied = [(int(used), int(all_)) for used, all_ in
               re.findall(r'(\d+) of (\d+) available profile records', said)]
    assert sum(used for used, _ in applied) * 3 >= sum(all_ for _, all_ in applied) * 2
    code = (tmp_path / 'walks.ll').read_text()
    entries = {number: int(count) - 1 for number, count in
               re.findall(r'^!(\d+) = !{!"function_entry_count", i64 (\d+)}', code, re.M)}
    heads = {name: int(head) for name, head in
             re.findall(r'^(\w+):\d+:(\d+)$', run('export', 'llvm-sample', walks.capture, '--symbols',
                                                  walks.program).out, re.M)}
    found = {name: entries[number] for name, number in re.findall(r'^define .*@(\w+)\(.*!prof !(\d+)', code, re.M)
             if number in entries}
    for name in ('leaf', 'middle', 'tail', 'recursive'):
        assert found[name] == heads[name], said


def test_names_cannot_break_a_format(run, executed, tmp_path):
    """A function and a folder with characters that mean something in each format."""
    need(LCOV, PROFDATA)
    walks = executed('walks', flags=('-fdebug-compilation-dir=/o,d:d <&">\x1b',))
    code = walks.program.read_bytes()
    # Each name is as long as the one that it replaces.
    for old, new in [(b'save_place\0', b'[a,<&">:9\n\0'), (b'recursive\0', b'#b\x1b :1:2\x80\0')]:
        assert len(old) == len(new) and old in code
        code = code.replace(old, new)
    (tmp_path / 'odd').write_bytes(code)
    names = ['--symbols', 'odd']
    for name in ('lcov', 'cobertura', 'llvm-sample', 'llvm-sample-binary'):
        run('export', name, walks.capture, *names, '-o', name)
    said = call(LCOV, '--summary', 'lcov', folder=tmp_path)
    assert percentages(said)['functions'][1] == len(walks.functions())
    report = ElementTree.parse(tmp_path / 'cobertura').getroot()
    check_element(report)
    for name in ('llvm-sample', 'llvm-sample-binary'):
        said = call(PROFDATA, 'show', '--sample', name, folder=tmp_path)
        assert len(re.findall('^Function: ', said, re.M)) == len(walks.functions()) - 1  # One is never executed.


@pytest.mark.parametrize('name', ['lcov', 'cobertura', 'llvm-sample', 'llvm-sample-binary'])
def test_a_full_disk_leaves_no_half_file(run, walks, synth, tmp_path, full_device, name):
    names = ['--symbols', walks.program]
    run('export', name, walks.capture, *names, stdout=full_device, expect=4)
    run('export', name, walks.capture, *names, '-o', 'missing/out', expect=4)
    (tmp_path / 'old').write_text('old')
    run('export', name, synth('--size', '5K', '--protocol', 'etmv4', '--no-truth'), '-o', 'old', expect=3)
    assert (tmp_path / 'old').read_text() == 'old'
    assert [path.name for path in tmp_path.iterdir()] == ['old']


def test_a_program_without_debug_information_is_refused(run, executed):
    bare = executed('walks', flags=('-g0',))
    for name in ('llvm-sample', 'llvm-sample-binary', 'lcov', 'cobertura'):
        said = run('export', name, bare.capture, '--symbols', bare.program, '-o', 'out', expect=3).err
        assert 'debug information' in said
