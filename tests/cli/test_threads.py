"""decode -j: text, counts and exit status do not depend on the number of threads."""
import re
import resource

import pytest

# Long enough for several pieces of 256 KiB, with few instructions per byte.
CAPTURES = {
    'many': ('--size', '540K', '--protocol', 'etmv4', '--cores', 2, '--return-stack', '--timestamps', 2,
             '--cycle-counts', '--cycle-threshold', 1, '--no-truth', '--damage', 100000),
    'raw': ('--size', '540K', '--protocol', 'ptm', '--isa', 'T32', '--cycle-counts', '--timestamps', 2,
            '--framing', 'none', '--no-truth'),
}


def same(run, tmp_path, capture, *options):
    """Compares one thread with three, and returns the output."""
    written = []
    said = []
    for threads in 1, 3:
        said.append(run('decode', capture, '-j', threads, *options, '-o', 'written').err)
        written.append((tmp_path / 'written').read_bytes())
    assert said[0] == said[1], 'the statistics differ'
    if written[0] != written[1]:
        pairs = zip(written[0].splitlines(), written[1].splitlines())
        line, (one, three) = next((i, pair) for i, pair in enumerate(pairs, 1) if pair[0] != pair[1])
        pytest.fail(f'line {line} differs:\n1 thread:  {one!r}\n3 threads: {three!r}')
    assert written[0]
    return written[0].decode()


@pytest.mark.parametrize('name, format', [('many', 'text'), ('many', 'json'), ('raw', 'csv')])
def test_the_same_output(run, tmp_path, synth, name, format):
    same(run, tmp_path, synth(*CAPTURES[name]), '--format', format, '--stats')


def test_the_same_functions(run, tmp_path, synth, quicksort):
    capture = synth(*CAPTURES['many'])
    start = int(re.findall('^address=(.*)$', (capture / 'cpu_0.ini').read_text(), re.MULTILINE)[-1], 0)
    moved = f'{quicksort}/quicksort.elf@{start - 0x400000:#x}'
    written = same(run, tmp_path, capture, '--functions', '--symbols', moved)
    assert re.search('  in [a-z]', written), 'no function is named'


@pytest.mark.parametrize('threads', ['0', '10000', '-1', 'x'])
def test_numbers_of_threads_that_are_refused(run, good, threads):
    run('decode', good, '-j', threads, expect=2).one_sentence()


def test_a_reader_that_leaves(run, synth):
    result = run.and_leave('decode', synth(*CAPTURES['many']), '-j', 2, lines=3, expect=None)
    assert len(result.lines) == 3


@pytest.mark.parametrize('threads', [1, 2, 8])
def test_memory_that_runs_out_gives_no_partial_counts(run, synth, sanitized, threads):
    if sanitized:
        pytest.skip('a sanitizer needs memory without limits')
    options = ('count', synth(*CAPTURES['many']), '--all', '--format', 'csv', '-j', threads)
    whole = run(*options).out
    for megabytes in 20, 40, 60, 90, 150:
        result = run(*options, limits={resource.RLIMIT_AS: megabytes << 20}, expect=None)
        if result.code == 0:
            assert result.out == whole
        else:
            assert result.code in (3, 5)
            result.says('Out of memory' if result.code == 5 else '').empty()
