"""Profiles of a program that QEMU executed: the programs that read them report what it executed."""
import re
import resource
import shutil
import subprocess

import pytest
from support import executions

BOLT = '/usr/lib/llvm-19/bin/llvm-bolt'
PERF2BOLT = '/usr/lib/llvm-19/bin/perf2bolt'
PROFGEN = shutil.which('llvm-profgen-19')
CREATE_LLVM_PROF = shutil.which('create_llvm_prof')


def need(*tools):
    if not all(tool and shutil.which(tool) for tool in tools):
        pytest.skip('a reader of scripts/packages.txt is missing')


@pytest.fixture(scope='module')
def walks(executed):
    return executed('walks')


def call(*command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_capture_is_what_qemu_executed(run, walks):
    rows = run('count', walks.capture, '--functions', '--symbols', walks.program, '--format', 'json').json_lines()
    counted = {row['name']: row['instructions'] for row in rows if row['type'] == 'count_function'}
    assert counted == walks.instructions()


def test_bolt_executes_what_the_program_executed(run, executed, tmp_path):
    need(BOLT, PERF2BOLT)
    # A block that is entered after a call in it, as by longjmp, has one count for BOLT.
    walks = executed('walks', flags=('-DWITHOUT_JUMP',))
    run('export', 'bolt', walks.capture, '--symbols', walks.program, '-o', 'walks.bolt.txt')
    said = call(PERF2BOLT, '--pa', '-p', 'walks.bolt.txt', '-o', 'walks.fdata', walks.program, folder=tmp_path)
    assert 'traces mismatching disassembled function contents: 0 ' in said
    stats = call(BOLT, walks.program, '-o', '/dev/null', '-data=walks.fdata', '-dyno-stats', folder=tmp_path)
    assert int(re.search(r'(\d+) : executed instructions', stats)[1]) == len(walks.addresses)


def function_totals(profile, functions):
    """{function: (head, body counts)} of an LLVM sample profile in text form.

    create_llvm_prof 0.19 writes whatever is in memory as the names of inlined functions. A name may look like a
    count, or hold the end of a line. So an inlined call is recognised by what follows it: lines that are indented
    further.
    """
    found, bodies, below = {}, [], 0
    for line in reversed(profile.split(b'\n')):
        if head := re.fullmatch(rb'(\w+):\d+:(\d+)', line):
            if head[1].decode() in functions:
                found[head[1].decode()] = int(head[2]), bodies
            bodies, below = [], 0
        elif entry := re.match(rb'( +)[\d.]+: ', line):
            depth = len(entry[1])
            count = re.fullmatch(rb'(\d+)( \w+:\d+)*', line[entry.end():])
            if count and depth >= below:
                bodies.append(int(count[1]))
            below = depth
    return found


@pytest.mark.parametrize('reader', ['llvm-profgen', 'create_llvm_prof'])
def test_sample_profiles_have_the_counts_of_the_program(run, walks, tmp_path, reader):
    if reader == 'llvm-profgen':
        need(PROFGEN)
        run('export', 'llvm-unsymbolized', walks.capture, '--symbols', walks.program, '-o', 'profile.txt')
        call(PROFGEN, '--unsymbolized-profile=profile.txt', f'--binary={walks.program}', '--output=out.prof',
             '--format=text', folder=tmp_path)
    else:
        need(CREATE_LLVM_PROF)
        run('export', 'autofdo', walks.capture, '--symbols', walks.program, '-o', 'profile.txt')
        call(CREATE_LLVM_PROF, '-binary', walks.program, '-profile', 'profile.txt', '-profiler', 'text', '-format',
             'text', '-out', 'out.prof', folder=tmp_path)
    totals = function_totals((tmp_path / 'out.prof').read_bytes(), walks.functions())
    counts = walks.counts()
    for name, (start, end) in walks.functions().items():
        executed = {counts[a] for a in range(start, end, 4)} - {0}
        if not executed:
            assert name not in totals
            continue
        assert name in totals, totals
        head, bodies = totals[name]
        # Each line has the count of its most frequent instruction.
        assert set(bodies) <= executed
        assert max(bodies) == max(executed)
        if name != '_start':
            assert head == counts[start] - walks.jumps_within(name, start)


def test_addresses_of_the_text_are_those_of_its_instructions(run, walks):
    text = run('export', 'autofdo', walks.capture, '--symbols', walks.program, '--offsets', 'file').lines
    load = walks.code_segment()
    sums = dict.fromkeys(walks.counts(), 0)
    for line in text[1:1 + int(text[0])]:
        first, last, times = re.fullmatch(r'([0-9a-f]+)-([0-9a-f]+):(\d+)', line).groups()
        for at in range(int(first, 16), int(last, 16) + 4, 4):
            sums[at - load.offset + load.address] += int(times)
    assert sums == walks.counts()


def test_inputs_are_added_up(run, walks, tmp_path):
    names = ['--symbols', walks.program]
    once = run('export', 'bolt', walks.capture, *names).lines
    twice = run('export', 'bolt', walks.capture, walks.capture, *names).lines

    def double(line):
        words = line.split()
        return ' '.join([*words[:3], str(2 * int(words[3])), *words[4:]])
    assert twice == [double(line) for line in once]
    # A file that cannot be read does not spoil the others.
    mixed = run('export', 'bolt', 'missing', walks.capture, *names, expect=3)
    assert mixed.lines == once
    assert 'this is the sum of 1 of 2 inputs' in mixed.err


def test_a_recording_gives_what_its_trace_gives(run, executed):
    recorded = executed('walks', '--perf-data')
    names = run('export', 'bolt', recorded.capture, '--symbols', recorded.program).lines
    assert run('export', 'bolt', recorded.capture / 'perf.data', '--symfs', recorded.capture).lines == names


def test_a_folder_gets_a_file_for_each_program(run, walks, tmp_path):
    run('export', 'bolt', walks.capture, '--symbols', walks.program, '-o', 'profiles/')
    assert [path.name for path in (tmp_path / 'profiles').iterdir()] == ['program.bolt.txt']


@pytest.mark.parametrize('version', [4, 5])
def test_a_program_that_create_llvm_prof_cannot_read_is_named(run, executed, tmp_path, version):
    need(CREATE_LLVM_PROF)
    made = executed('walks', flags=(f'-gdwarf-{version}',))
    said = run('export', 'autofdo', made.capture, '--symbols', made.program, '-o', 'profile.txt').err
    assert ('has debug information of DWARF 5' in said) == (version == 5)
    call(CREATE_LLVM_PROF, '-binary', made.program, '-profile', 'profile.txt', '-profiler', 'text', '-format', 'text',
         '-out', 'out.prof', folder=tmp_path)
    assert ((tmp_path / 'out.prof').read_bytes() == b'') == (version == 5)
    assert 'DWARF' not in run('export', 'bolt', made.capture, '--symbols', made.program, '-o', 'bolt.txt').err


def test_a_failure_leaves_the_old_file(run, walks, synth, tmp_path, full_device):
    (tmp_path / 'old.txt').write_text('old\n')
    run('export', 'bolt', synth('--size', '5K', '--protocol', 'etmv4', '--no-truth'), '-o', 'old.txt', expect=3)
    assert (tmp_path / 'old.txt').read_text() == 'old\n'
    assert [path.name for path in tmp_path.iterdir()] == ['old.txt']
    run('export', 'bolt', walks.capture, '--symbols', walks.program, stdout=full_device, expect=4)


@pytest.mark.parametrize('arguments, sentence', [
    (['bolt'], 'INPUT is missing'),
    ([], 'FORMAT is missing'),
    (['bold', 'x'], 'did you mean `bolt`?'),
])
def test_wrong_command_lines(run, arguments, sentence):
    assert sentence in run('export', *arguments, expect=2).err


def test_unknown_programs_are_named(run, walks):
    said = run('export', 'bolt', walks.capture, '--symbols', walks.program, '--program', 'other', expect=2).err
    assert '--program other: no program of this name' in said and 'program' in said


def test_the_list_names_all_formats(run):
    text = run('export', '--list').out
    for name in ('autofdo', 'llvm-unsymbolized', 'llvm-sample', 'llvm-sample-binary', 'bolt', 'lcov', 'cobertura'):
        assert re.search(rf'^{name} +for ', text, re.M)


def formats(run):
    return [line.split()[0] for line in run('export', '--list').lines if not line.startswith(' ')]


def test_a_full_disk_leaves_no_half_file(run, walks, itm_file, tmp_path):
    """Whatever the format: the documented exit status, one sentence, and nothing under the final name."""
    before = set(tmp_path.iterdir())
    for name in formats(run):
        source = [itm_file, '--protocol', 'itm'] if name == 'vcd' else [walks.capture, '--symbols', walks.program]
        whole = run('export', name, *source, '-o', tmp_path / 'whole')
        assert (tmp_path / 'whole').stat().st_size > 16, (name, whole.err)
        # parquet writes a folder of tables.
        if (tmp_path / 'whole').is_dir():
            shutil.rmtree(tmp_path / 'whole')
        else:
            (tmp_path / 'whole').unlink()
        run('export', name, *source, '-o', tmp_path / 'half', expect=4, limits={resource.RLIMIT_FSIZE: 16}).says('half')
        assert set(tmp_path.iterdir()) == before, name
