"""Help, version, and errors for command lines that are not understood."""
import re

import pytest

COMMANDS = ('info', 'doctor', 'decode', 'packets', 'view', 'report', 'find', 'index', 'count', 'annotate', 'interval',
            'export', 'diff', 'top', 'syst', 'collateral', 'etm4', 'plan', 'shard', 'merge', 'status', 'synth', 'assemble',
            'help')
ETM4_COMMANDS = ('caps', 'plan', 'explain', 'simulate', 'apply', 'snapshot')
ALL = [(), *((name,) for name in COMMANDS), *(('etm4', name) for name in ETM4_COMMANDS)]


@pytest.mark.parametrize('command', ALL)
def test_three_ways_to_the_same_help(run, command):
    text = run(*command, '--help').quiet().out
    assert text.startswith(f'Usage: {" ".join(("waymark", *command))}')
    assert run(*command, '-h').quiet().out == text
    assert run('help', *command).quiet().out == text


@pytest.mark.parametrize('command', ALL)
def test_help_fits_a_terminal(run, command):
    result = run(*command, '--help')
    for line in result.out.split('\nExamples:')[0].splitlines():
        assert len(line) <= 80, line
    result.lacks('TEXT', 'UINT', 'Excludes', 'Needs:', 'REQUIRED')


def test_an_example_of_a_file_keeps_its_lines(run):
    run('plan', '--help').matches(r'^  shards = 64  ', r'^  \[options\]  ', r'^  symfs = \["sysroot"\]$')


def test_only_the_program_itself_lists_the_exit_status(run):
    run('--help').matches('^Exit status:', '^ +130 ')
    for name in ETM4_COMMANDS:
        run('etm4', name, '--help').lacks('Exit status', 'waymark info')


def test_version(run):
    assert run('-V').quiet().out == run('--version').quiet().out
    run('-V').matches(r'^waymark \d+\.\d+\.\d+$')


@pytest.mark.parametrize('args', [('--help',), ('--version',), ('decode', '--help'), ('help', 'etm4', 'plan')])
def test_help_on_a_full_disk(run, full_device, args):
    run(*args, stdout=full_device, expect=4).one_sentence('standard output')


@pytest.mark.parametrize('args, said', [
    (['decod', 'x'], ["'decod' is not a command of waymark", '`decode`?']),
    (['help', 'decod'], ["'decod' is not a command of waymark", '`decode`?']),
    (['help', 'etm4', 'pln'], ["'pln' is not a command of waymark etm4", '`plan`?', 'waymark etm4 --help']),
    (['help', 'info', 'more'], ["'more'", 'waymark info']),
    (['etm4', 'pln'], ["'pln' is not a command of waymark etm4", '`plan`?', 'waymark etm4 --help']),
    (['etm4'], ['waymark etm4 needs a command', 'waymark etm4 --help']),
    (['decode', 'x', '--formt', 'json'], ["'--formt' is not an option of waymark decode", '`--format`?']),
    (['decode', '--formt=json'], ["'--formt' is not an option of waymark decode", '`--format`?']),
    (['decode', '-format', 'json', 'x'], ['`--format`?']),
    (['decode', 'x', '--format', 'jsn'], ['--format', 'text, json or csv', '`json`?']),
    (['decode', 'x', '--protocol', 'etmv5'], ['--protocol', "'etmv5'", '`etmv4`?']),
    (['decode', 'x', '--framing', 'fsyn'], ['--framing', '`fsync`?']),
    (['decode', 'x', '--nibble-order', 'lest'], ['--nibble-order', '`least`?']),
    (['decode', 'x', '--color', 'alway'], ['--color', '`always`?']),
    (['count', 'x', '--by', 'cycle'], ['--by', '`cycles`?']),
    (['syst', 'x', '--as', 'line'], ['--as', '`lines`?']),
    (['syst', 'x', '--severity', 'warn'], ['--severity', '`warning`?']),
    (['syst', 'x', '--type', 'catalogue'], ['--type', '`catalog`?']),
    (['etm4', 'plan', 'p', '--estimate', '--level', 'el3'], ['--level', '`el0`?']),
    (['assemble', 'x'], ['-o DIR is missing']),
    (['decode', 'x', '--id'], ['--id needs a value']),
    (['count', 'x', '--edges', '--functions'], ['--edges cannot be used with --functions']),
    (['decode', 'x', '--symbols', 'y'], ['--symbols needs --functions']),
    (['decode', 'x', '--last', '0'], ["--last: '0' is not a number from 1 to 100000000; see"]),
    (['decode', 'x', '-j', '-1'], ["--threads: '-1' is not a number from 1 to 256; numbers are decimal"]),
    (['view', 'x', '--port', '80000'], ["--port: '80000' is not a number from 0 to 65535; see"]),
    (['count', 'x', '--top', '0'], ["--top: '0' is not a number of at least 1; see"]),
    (['count', 'x', '--top', '9' * 20], ["'99999999999999999999' is not a number from 1 to 18446744073709551615"]),
    (['synth', '-o', 'x', '--vmids', '5000000000'], ["'5000000000' is not a number from 0 to 4294967295"]),
    (['synth', '-o', 'x', '--size', '99999999999G'], ["'99999999999G' is not a size in bytes from 0 to"]),
    (['export', 'parquet', 'x', '--slice-bytes', '0'], ["'0' is not a size in bytes of at least 1"]),
    (['decode', 'x', '--last', '5', '--last', '6'], ["--last takes one value; 2 were given: '5' and '6'"]),
    (['decode', 'x', '--functions=maybe'], ["--functions takes no value; 'maybe' was given"]),
    (['decode', 'x', '--help=3'], ["--help takes no value; '3' was given"]),
    (['decode', 'x', '-o', '--format', 'json'], ["--output needs a value: FILE; '--format' is an option"]),
    (['decode', '--', 'x', 'y'], ["'y' was not expected", 'only one INPUT']),
    (['decode', ''], ["INPUT: '' is not a path"]),
])
def test_what_was_meant(run, args, said):
    run(*args, expect=2).one_sentence(*said).empty()


@pytest.mark.parametrize('args, order', [
    (['decode', 'x', 'one', 'two', 'three'], ['one', 'two', 'three']),
    (['decode', 'x', '--one', '--two=2', '-3'], ['--one', '--two', '-3']),
    (['etm4', 'caps', 'one', 'two'], ['one', 'two']),
])
def test_unknown_words_are_named_in_the_order_typed(run, args, order):
    said = run(*args, expect=2).one_sentence(*order).err
    places = [said.index(f"'{word}'") for word in order]
    assert places == sorted(places)


@pytest.mark.parametrize('value, code', [('2', 0), ('0x2', 0), ('002', 0), ('08', 0), ('two', 2), ('0b1', 2), ('-1', 2)])
def test_numbers_are_decimal_or_hexadecimal_after_0x(run, good, value, code):
    assert run('count', good, '--top', value, expect=code).code == code


def test_a_leading_zero_does_not_make_a_number_octal(run, good):
    run('count', good, '-j', '010', '--top', '08').quiet()
    run('count', good, '-j', '0400', expect=2)  # 256 in octal


@pytest.mark.parametrize('size, bytes_made', [('4096', 4096), ('0x1000', 4096), ('4K', 4096), ('4KiB', 4096)])
def test_sizes(run, tmp_path, size, bytes_made):
    run('synth', '-o', 'a', '--size', size)
    run('synth', '-o', 'b', '--size', bytes_made)
    assert (tmp_path / 'a/trace.bin').read_bytes() == (tmp_path / 'b/trace.bin').read_bytes()


@pytest.mark.parametrize('size', ['4Q', 'K', '4 K', '0x1K', '99999999999T', ''])
def test_sizes_that_are_not_sizes(run, size):
    run('synth', '-o', 'a', '--size', size, expect=2).one_sentence('--size')


def test_the_program_without_arguments_shows_its_help(run):
    assert run().quiet().out == run('--help').out


def test_commands_are_in_groups(run):
    text = run('--help').out
    groups = ('Look at a capture', 'Find places', 'Measure', 'Export', 'Compare', 'Watch live trace', 'Read SyS-T messages',
              'Program a trace unit', 'Process many captures on many machines', 'Make captures for tests', 'Get help')
    places = [text.index(f'\n{group}:\n') for group in groups]
    assert places == sorted(places)
    listed = [line.split()[0] for line in text.split('\nOptions:')[0].splitlines() if line.startswith('  ') and line[2] != ' ']
    assert sorted(listed) == sorted(COMMANDS)


@pytest.mark.parametrize('command', ['decode', 'count', 'export', 'view'])
def test_options_for_special_inputs_come_last(run, command):
    text = run(command, '--help').lacks('cannot be used with').out.split('\nExamples:')[0]
    special = [text.index(f'\n{group}') for group in ('For perf and simpleperf recordings:', 'For raw trace', 'For sigrok')]
    usual = [text.index(f'\n{group}:\n') for group in ('Options', 'The capture and its programs')]
    assert max(usual) < min(special)
    for option in ('--vmlinux', '--pid', '--symfs', '--protocol', '--reg', '--pin'):
        assert re.search(rf'^ +{option}\b', text[min(special):], re.MULTILINE) or option not in text, option
        assert not re.search(rf'^ +{option}\b', text[:min(special)], re.MULTILINE), option


@pytest.mark.parametrize('args, said', [
    (['decode'], ['INPUT is missing', 'a snapshot folder', 'waymark decode --help']),
    (['decode', 'trace.bn'], ['Cannot open trace.bn', 'did you mean trace.bin?']),
    (['trace.bin'], ["'trace.bin' is a file", 'waymark info trace.bin']),
    (['decode', 'trace.bin'], ['`waymark info trace.bin`']),
    (['decode', 'trace.bin', '--framing', 'none'], ['`waymark info trace.bin` identifies it']),
    (['plan'], ['waymark plan job.toml -o job']),
])
def test_errors_lead_to_the_next_step(run, tmp_path, args, said):
    (tmp_path / 'trace.bin').write_bytes(bytes(range(256)) * 4)
    run(*args, expect=None).one_sentence(*said)
