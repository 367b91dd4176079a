"""Names and messages that try to break out of the output, through every command.

Python's parsers and a search for control bytes decide, not the way in which a name is escaped.
"""
import csv
import io
import json
import shutil

import pytest
from support.device_tree import make_tree
from support.hostile import FORBIDDEN, NAME
from support.programs import CONTROL
from support.trace_bytes import ETMV4_REGISTERS

ARGUMENT = '\x1b[31m\u202e\x9b"=\udcff'


@pytest.fixture
def clean(run):
    """clean(ARGUMENT...) runs waymark and checks both streams for bytes that act on a terminal."""
    def call(*args, expect=None, runner=run, **options):
        result = runner(*args, expect=expect, **options)
        for stream in result.out_bytes, result.err_bytes:
            found = CONTROL.search(stream)
            if found:
                result.fail(f'control byte at {found.start()}')
            for sequence in FORBIDDEN:
                if sequence in stream:
                    result.fail(f'{sequence!r} in the output')
            stream.decode()
        return result
    return call


def check_json(result):
    assert result.lines, 'nothing was printed'
    for line in result.out_bytes.decode().split('\n')[:-1]:
        json.loads(line)


def check_csv(result):
    text = result.out_bytes.decode()
    rows = list(csv.reader(io.StringIO(text)))
    assert len(rows) == text.count('\n') > 1, 'a record is not one line'
    assert len({len(row) for row in rows}) == 1, 'rows with different numbers of columns'
    for row in rows[1:]:
        for cell in row:
            assert not cell.startswith(('=', '+', '-', '@')), f'a formula: {cell!r}'


def captures(hostile):
    """(NAME, ARGUMENTS): runs that print records, in all formats."""
    snapshot, symbols = hostile.snapshot, ('--symbols', hostile.elf)
    return [
        ('decode', 'decode', snapshot),
        ('decode_merged', 'decode', snapshot, '--merge', 'time'),
        ('decode_itm', 'decode', hostile.itm),
        ('decode_threads', 'decode', snapshot, '-j', 2),
        ('decode_functions', 'decode', snapshot, '--functions', *symbols),
        ('packets', 'packets', snapshot),
        ('packets_itm', 'packets', hostile.itm),
        ('count', 'count', snapshot, '--all'),
        ('count_functions', 'count', snapshot, '--functions', *symbols),
        ('count_edges', 'count', snapshot, '--edges'),
        ('find', 'find', snapshot, '--address', '0x80000..0x80008'),
        ('find_context', 'find', snapshot, '--context', 'any'),
        ('syst', 'syst', hostile.syst, '--collateral', hostile.collateral),
        ('syst_without_collateral', 'syst', hostile.syst),
    ]


@pytest.mark.parametrize('format', ['text', 'json', 'csv'])
def test_records(clean, hostile_capture, format):
    for name, *args in captures(hostile_capture):
        statistics = [] if args[0] == 'find' else ['--stats']
        result = clean(*args, '--format', format, *statistics)
        if not result.out_bytes:
            continue
        if format == 'json':
            check_json(result)
        if format == 'csv' and len(result.lines) > 1:
            check_csv(result)


def test_names_are_still_there(clean, hostile_capture):
    clean('info', hostile_capture.snapshot, expect=0).has('\\x1b]0;owned\\x07', '\\u{202e}gnp.exe', '\\xff\\xfe')
    clean('decode', hostile_capture.snapshot, '--functions', '--symbols', hostile_capture.elf, expect=0).has(
        'in \\x1b]0;owned\\x07')
    rows = clean('count', hostile_capture.snapshot, '--functions', '--symbols', hostile_capture.elf, '--format',
                 'json', expect=0).json_lines()
    names = [row['name'] for row in rows if row['type'] == 'count_function' and 'name' in row]
    valid = NAME.split(b'\xff')[0].decode()
    assert any(name.startswith(valid) for name in names), 'JSON gives back what is valid'


def test_info(clean, hostile_capture, tmp_path):
    for path in hostile_capture.snapshot, hostile_capture.itm, hostile_capture.syst, hostile_capture.folder:
        clean('info', path)
        result = clean('info', path, '--format', 'json')
        if result.code == 0:
            check_json(result)
    index = hostile_capture.folder / ('index' + ARGUMENT)
    clean('index', hostile_capture.snapshot, '-o', index, expect=0)
    clean('info', hostile_capture.snapshot, '--index', index, expect=0)
    clean('decode', hostile_capture.snapshot, '--from', 4, '--index', index, expect=0)


def test_files_that_are_not_what_is_expected(clean, hostile_capture):
    hostile = hostile_capture
    clean('assemble', hostile.script, '-o', hostile.folder / 'made', expect=3)
    for command in 'decode', 'info', 'packets', 'count', 'index', 'syst':
        clean(command, hostile.script)
        clean(command, hostile.folder / ARGUMENT)
    clean('collateral', hostile.elf)
    clean('collateral', hostile.script)
    clean('syst', hostile.syst, '--collateral', hostile.script)
    clean('decode', hostile.snapshot, '--functions', '--symbols', hostile.script)
    clean('decode', hostile.snapshot, '--data-layouts', hostile.script)
    clean('decode', hostile.itm, '-o', hostile.folder)


@pytest.mark.parametrize('args', [
    [ARGUMENT], ['decode'], ['decode', ARGUMENT, ARGUMENT], ['decode', 'x', '--' + ARGUMENT], ['--' + ARGUMENT],
    ['decode', 'x', '--id', ARGUMENT], ['decode', 'x', '--reg', ARGUMENT], ['decode', 'x', '--core', ARGUMENT],
    ['decode', 'x', '--framing', ARGUMENT], ['decode', 'x', '--protocol', ARGUMENT],
    ['decode', 'x', '--image', ARGUMENT], ['decode', 'x', '--from', ARGUMENT], ['decode', 'x', '--format', ARGUMENT],
    ['find', 'x', '--address', ARGUMENT], ['find', 'x', '--event', ARGUMENT], ['count', 'x', '--by', ARGUMENT],
    ['syst', 'x', '--guid', ARGUMENT], ['syst', 'x', '--as', ARGUMENT], ['synth', '-o', 'x', '--protocol', ARGUMENT],
    ['etm4', ARGUMENT], ['etm4', 'caps', '--root', ARGUMENT], ['etm4', 'caps', '--reg', ARGUMENT],
    ['etm4', 'plan', ARGUMENT], ['etm4', 'simulate', ARGUMENT],
])
def test_arguments(clean, args):
    assert clean(*args).err_bytes.count(b'\n') >= 1


def test_synth(clean, hostile_capture):
    folder = hostile_capture.folder / ('synth' + ARGUMENT)
    clean('synth', '-o', folder, '--size', 4000, expect=0)
    clean('synth', '--check', folder, expect=0)
    clean('synth', '-o', folder / 'x', '--elf', hostile_capture.script)
    clean('synth', '-o', folder / 'y', '--graph', hostile_capture.script)


def test_etm4(clean, hostile_capture, tmp_path):
    hostile = hostile_capture
    root = hostile.folder / ('root' + ARGUMENT)
    make_tree(root)
    plan = hostile.folder / 'hostile.plan'
    plan.write_bytes(b'etm4-plan 1\ninclude ' + NAME + b'\n')
    good = tmp_path / 'good.plan'
    good.write_text('etm4-plan 1\ninclude 0x80000..0x80008\n')
    clean('etm4', 'caps', '--root', root)
    for name in plan, good:
        for options in [], ['--normal-form'], ['--script', '-'], ['--estimate', '--program', hostile.elf]:
            if options == ['--script', '-'] and name == good:
                continue  # A script must find the folder, so it contains the name unescaped.
            clean('etm4', 'plan', name, '--root', root, '--elf', hostile.elf, *options)
        clean('etm4', 'apply', name, '--root', root, '--elf', hostile.elf, '--dry-run')
    clean('etm4', 'explain', '--root', root)
    clean('etm4', 'explain', hostile.snapshot, expect=0)
    clean('etm4', 'explain', hostile.snapshot, '--as-plan')
    clean('etm4', 'snapshot', '--root', root, '--trace', hostile.itm, '-o', hostile.folder / 'snapshot')
    cases = tmp_path / 'cases.json'
    cases.write_text(json.dumps({'format': 1, 'cases': [
        {'id': ARGUMENT[:-1] + '\x00\n', 'caps': {}, 'env': {},
         'steps': [{'write': ARGUMENT[:-1], 'value': '0', 'expect': ARGUMENT[:-1]}]}]}))
    clean('etm4', 'simulate', cases)
    clean('etm4', 'simulate', cases, '--check')


def test_the_lister_escapes_on_a_terminal(lister, hostile_capture, tmp_path):
    args = ('-logstdout', '-decode', '-ss_verbose', '-ss_dir', hostile_capture.snapshot)
    shown = lister.in_terminal(*args, on=('stdout',))
    assert not CONTROL.search(shown.out_bytes)
    for sequence in FORBIDDEN:
        assert sequence not in shown.out_bytes
    # The rest of the listing is that of the reference.
    assert b'\x1b]0;owned' in lister(*args).out_bytes


def test_systprint_escapes_on_a_terminal(systprint, hostile_capture):
    args = ('-c', hostile_capture.collateral, hostile_capture.syst)
    assert not CONTROL.search(systprint.in_terminal(*args, on=('stdout',), expect=None).out_bytes)


def test_raw_trace_with_hostile_names(clean, hostile_capture, tmp_path):
    trace = hostile_capture.folder / ('trace' + ARGUMENT)
    shutil.copyfile(hostile_capture.snapshot / 'trace.bin', trace)
    for command in 'info', 'decode', 'packets', 'count':
        clean(command, trace, '--framing', 'none', '--protocol', 'etmv4', *ETMV4_REGISTERS, '--image',
              f'0x80000={hostile_capture.snapshot / "program.bin"}')
    clean('decode', trace, '--framing', 'none', '--protocol', 'etmv4', *ETMV4_REGISTERS, '--image',
          f'0x80000={trace}')


def test_diff_of_a_hostile_capture(clean, hostile_capture):
    snapshot, symbols = hostile_capture.snapshot, ('--symbols', hostile_capture.elf)
    clean('diff', snapshot, snapshot, *symbols, '--ignore-function', ARGUMENT, expect=2)
    clean('diff', snapshot, snapshot, *symbols, '--ignore-function', '0x80004', expect=0).has('The runs are the same.')
    check_json(clean('diff', snapshot, snapshot, *symbols, '--format', 'json', expect=0))
