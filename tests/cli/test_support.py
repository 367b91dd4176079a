"""Tests of the helpers: what the other tests rely on."""
import os
import signal
import sys

import pytest
from support import hostile
from support.programs import Runner


@pytest.fixture
def python(tmp_path, home):
    runner = Runner(sys.executable, tmp_path, home)
    runner.command = lambda text, **options: runner('-c', text, **options)
    return runner


@pytest.mark.parametrize('text, reason', [
    ('import sys; sys.exit(3)', 'exit status 3, expected 0'),
    ('import sys; sys.stderr.write("terminate called after")', 'crashed'),
    ('import sys; sys.stderr.write("ERROR: AddressSanitizer: x")', 'crashed'),
    ('import sys; sys.stderr.write("a.cc:1:2: runtime error: shift")', 'crashed'),
    ('import sys; sys.stderr.write("\\x1b[31mred")', 'control character'),
    ('import sys; sys.stderr.buffer.write(b"\\xc2\\x9b31m")', 'control character'),
    ('import os; os.kill(os.getpid(), 11)', 'exit status -11'),
])
def test_what_every_run_must_not_do(python, text, reason):
    with pytest.raises(AssertionError, match=reason):
        python.command(text)


def test_any_status_is_not_any_signal(python):
    assert python.command('import sys; sys.exit(9)', expect=None).code == 9
    with pytest.raises(AssertionError, match='signal 6'):
        python.command('import os; os.abort()', expect=None)


def test_a_reader_that_leaves(python):
    result = python.and_leave('-c', 'while True: print("line")', lines=3, expect=1)
    assert result.lines == ['line'] * 3 and 'BrokenPipeError' in result.err
    result = python.and_leave('-c', 'import signal; signal.signal(13, signal.SIG_DFL)\nwhile True: print(1)',
                              expect=-signal.SIGPIPE)
    assert result.lines == ['1']


def test_interrupted_while_the_output_is_not_read(python):
    result = python.interrupted(
        '-c', 'import signal, sys\nsignal.signal(2, lambda *_: sys.exit(130))\nwhile True: print("line")')
    assert result.lines[0] == 'line'


def test_terminals_and_closed_descriptors(python):
    asks = 'import os, sys; print(os.isatty(1), os.isatty(2), os.get_terminal_size(1).columns, flush=True)'
    assert python.in_terminal('-c', asks, columns=44).out == 'True True 44\n'
    assert python.in_terminal('-c', asks, on=['stdout']).out == 'True False 80\n'
    result = python('-c', 'import os\ntry: os.fstat(2)\nexcept OSError: print("closed")', closed=[2])
    assert result.out == 'closed\n'


def test_full_device(python, full_device):
    python('-c', 'import os\ntry: os.write(1, b"x")\nexcept OSError as e: os._exit(e.errno)',
           stdout=full_device, expect=28)


def test_input_is_given_and_empty_otherwise(python):
    assert python('-c', 'print(input())', stdin='text\n').out == 'text\n'
    assert python('-c', 'import sys; print(len(sys.stdin.read()))').out == '0\n'


def test_every_capture_is_good(run, good, quicksort, itm_file, stm_file):
    for capture in good, quicksort, itm_file, stm_file:
        run('decode', capture).quiet()


def test_synthetic_captures_are_as_it_happened(run, synthetic):
    run('synth', '--check', synthetic).has('equal to the ground truth')


def test_the_hostile_capture_is_read(run, hostile_capture):
    assert hostile.ESCAPES in os.fsencode(hostile_capture.folder)
    names = {'cwd': hostile_capture.folder}
    result = run('decode', 'board', '--functions', '--symbols', 'program.elf', **names)
    assert b'quoted' in result.out_bytes
    assert b'quoted' in run('decode', 'itm.bin', **names).out_bytes
    result = run('syst', 'console.txt', '--collateral', 'collateral.xml', **names)
    assert result.out_bytes.count(b'quoted') >= 4
