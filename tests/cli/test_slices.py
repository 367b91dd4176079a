"""Captures that a job cuts into slices: the sum of the slices is what export writes for the whole capture."""
import filecmp
import hashlib
import random
import shutil
import subprocess

import pytest
from support import duckdb


def write_job(folder, text, *inputs, options=''):
    (folder / 'job.toml').write_text(f'inputs = {[str(path) for path in inputs]}\n{text}\n[options]\n{options}\n')


def shard_lines(folder, name='job'):
    return [line for line in (folder / name / 'plan').read_text().splitlines()
            if line.startswith(('shard ', 'slice '))]


def do_shards(run, folder, seed=0):
    numbers = list(range(len(shard_lines(folder))))
    random.Random(seed).shuffle(numbers)
    return run('shard', 'job', ','.join(map(str, numbers)))


def same(folder, one, other):
    return (folder / one).read_bytes() == (folder / other).read_bytes()


@pytest.fixture(scope='module')
def long(synth):
    """Two trace units, with much that a decoder must know at the start of a slice."""
    return synth('--size', '600K', '--protocol', 'etmv4', '--cores', 2, '--cycle-counts', '--return-stack',
                 '--context-ids', 3, '--exceptions', 100, '--timestamps', 50, '--sync-period', 1024, '--no-truth')


@pytest.mark.parametrize('slices', [1, 2, 7, 64])
def test_slices_in_any_order_equal_the_serial_run(run, tmp_path, long, slices):
    run('export', 'counts', long, '-o', 'serial')
    write_job(tmp_path, f"what = 'counts'\nslices = {slices}", long)
    run('plan', 'job.toml', '-o', 'job').has(f'{slices} shard')
    assert len(shard_lines(tmp_path)) == slices
    do_shards(run, tmp_path, slices)
    run('merge', 'job', '-o', 'merged')
    assert same(tmp_path, 'merged', 'serial')
    assert (tmp_path / 'serial').stat().st_size > 1000


@pytest.mark.parametrize('form', ['autofdo', 'llvm-unsymbolized', 'llvm-sample', 'llvm-sample-binary', 'bolt', 'afl',
                                  'afl-map', 'lcov', 'cobertura'])
def test_formats_of_slices(run, tmp_path, synth, quicksort, form, monkeypatch):
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '0')
    program = quicksort / 'quicksort.elf'
    capture = synth('--elf', program, '--size', '100K', '--context-ids', 3, '--no-truth')
    serial = run('export', form, capture, '--symbols', program, '-o', 'serial')
    write_job(tmp_path, f"format = '{form}'\nslice_bytes = 20000", capture, options=f"symbols = ['{program}']")
    run('plan', 'job.toml', '-o', 'job')
    assert len(shard_lines(tmp_path)) > 4
    do_shards(run, tmp_path)
    merged = run('merge', 'job', '-o', 'merged')
    assert same(tmp_path, 'merged', 'serial')
    assert merged.code == serial.code


@pytest.mark.parametrize('slices', [1, 2, 7, 64])
@pytest.mark.parametrize('options', [('--context-ids', 3), ('--sync-period', 100000), ('--damage', 20000),
                                     ('--cores', 2, '--speculation', 5, '--mispredicts', 200, '--overflows', 50)])
def test_branch_lists(run, tmp_path, synth, quicksort, slices, options):
    program = quicksort / 'quicksort.elf'
    capture = synth('--elf', program, '--size', '100K', '--no-truth', *options)
    serial = run('export', 'branch-list', capture, '--symbols', program, '-o', 'serial')
    write_job(tmp_path, f"what = 'branches'\nslices = {slices}", capture, options=f"symbols = ['{program}']")
    run('plan', 'job.toml', '-o', 'job')
    assert len(shard_lines(tmp_path)) == slices
    do_shards(run, tmp_path, slices)
    merged = run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert same(tmp_path, 'merged', 'serial')
    assert (tmp_path / 'serial').stat().st_size > 500
    # Notes about a capture that is not cut come from its shard.
    if slices > 1:
        said = [line for line in merged.err.splitlines() if 'decoded again' not in line]
        assert said == serial.err.splitlines()


@pytest.mark.parametrize('protocol', ['ptm', 'stm', 'etmv3'])
def test_a_branch_list_needs_packets_of_an_etm4(run, tmp_path, synth, quicksort, protocol):
    program = quicksort / 'quicksort.elf'
    capture = synth('--size', '100K', '--protocol', protocol, '--isa', 'A32', '--no-truth')
    serial = run('export', 'branch-list', capture, '--symbols', program, '-o', 'serial', expect=1)
    write_job(tmp_path, "what = 'branches'\nslices = 3", capture, options=f"symbols = ['{program}']")
    run('plan', 'job.toml', '-o', 'job')
    done = do_shards(run, tmp_path)
    merged = run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert serial.err in done.err + merged.err
    assert not (tmp_path / 'merged').exists()


def merged_stacks(run, tmp_path, capture, slices, arguments=(), options=''):
    """Checks that slices give what export gives, and returns the result of the merge."""
    serial = run('export', 'folded', capture, *arguments, '-o', 'serial', expect=None)
    write_job(tmp_path, f"what = 'stacks'\nslices = {slices}", capture, options=options)
    run('plan', 'job.toml', '-o', 'job')
    assert len(shard_lines(tmp_path)) == slices
    do_shards(run, tmp_path, slices)
    merged = run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert (tmp_path / 'serial').exists() == (tmp_path / 'merged').exists()
    if serial.code == 0:
        assert same(tmp_path, 'merged', 'serial')
    # Notes about a capture that is not cut come from its shard.
    if slices > 1:
        said = [line for line in merged.err.splitlines() if 'decoded again' not in line]
        assert said == serial.err.splitlines()
    return merged


@pytest.mark.parametrize('slices', [1, 2, 7, 64])
@pytest.mark.parametrize('options', [
    ('--return-stack', '--context-ids', 3, '--exceptions', 100, '--timestamps', 50, '--cycle-counts'),
    ('--cores', 2, '--exceptions', 50, '--cycle-counts', '--sync-period', 1024),
    ('--protocol', 'ete', '--cores', 2, '--return-stack', '--speculation', 5, '--mispredicts', 200, '--overflows', 50),
    ('--protocol', 'ptm', '--cores', 3, '--exceptions', 50, '--return-stack', '--cycle-counts'),
    ('--protocol', 'etmv3', '--context-ids', 2, '--exceptions', 50, '--cycle-counts'),
    ('--damage', 20000), ('--sync-period', 100000)])
def test_stacks(run, tmp_path, synth, slices, options):
    """Call stacks of generated programs, whose functions have no names."""
    isa = ('--isa', 'A32') if 'ptm' in options or 'etmv3' in options else ()
    merged_stacks(run, tmp_path, synth('--size', '150K', '--no-truth', *isa, *options), slices)


@pytest.mark.parametrize('slices', [1, 2, 7, 64])
@pytest.mark.parametrize('options', [('--context-ids', 3, '--exceptions', 100),
                                     ('--cores', 2, '--return-stack', '--cycle-counts', '--damage', 20000)])
def test_stacks_of_functions_with_names(run, tmp_path, synth, quicksort, slices, options):
    program = quicksort / 'quicksort.elf'
    capture = synth('--elf', program, '--size', '150K', '--no-truth', *options)
    merged_stacks(run, tmp_path, capture, slices, ['--symbols', program], f"symbols = ['{program}']")
    assert 'quicksort;quicksort' in (tmp_path / 'merged').read_text()


@pytest.mark.parametrize('option', ['tail-calls', 'exceptions'])
def test_options_of_stacks(run, tmp_path, long, option):
    word = {'tail-calls': 'replace', 'exceptions': 'apart'}[option]
    merged_stacks(run, tmp_path, long, 5, [f'--{option}', word], f"{option} = '{word}'")


def same_folders(folder, one, other):
    """Whether two folders have the same files, and which."""
    def files_in(path):
        return {file.relative_to(path): file for file in sorted(path.rglob('*')) if file.is_file()}
    ours, theirs = files_in(folder / one), files_in(folder / other)
    return ours and ours.keys() == theirs.keys() and all(filecmp.cmp(ours[name], theirs[name], shallow=False)
                                                         for name in ours)


def slice_bytes(folder):
    """The size of the slices of a job, in bytes."""
    return next(line.split()[3] for line in (folder / 'job/plan').read_text().splitlines() if line.startswith('cut '))


def merged_tables(run, tmp_path, capture, slices, arguments=(), options='', seed=0):
    """Checks that slices give what export gives, and returns the result of the merge."""
    write_job(tmp_path, f"what = 'events'\nslices = {slices}", capture, options=options)
    run('plan', 'job.toml', '-o', 'job')
    assert len(shard_lines(tmp_path)) == slices
    cuts = ('--slice-bytes', slice_bytes(tmp_path)) if slices > 1 else ()
    serial = run('export', 'parquet', capture, *arguments, *cuts, '-o', 'serial', expect=None)
    do_shards(run, tmp_path, seed)
    merged = run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert same_folders(tmp_path, 'serial', 'merged')
    return merged


EVENTS = [('--return-stack', '--context-ids', 3, '--exceptions', 100, '--timestamps', 50, '--cycle-counts'),
          ('--cores', 2, '--exceptions', 50, '--timestamps', 200, '--sync-period', 1024),
          ('--protocol', 'ete', '--cores', 2, '--return-stack', '--speculation', 5, '--mispredicts', 200, '--overflows',
           50),
          ('--protocol', 'ptm', '--cores', 3, '--exceptions', 50, '--return-stack', '--cycle-counts'),
          ('--protocol', 'etmv3', '--context-ids', 2, '--exceptions', 50, '--cycle-counts'),
          ('--protocol', 'stm', '--damage', 20000), ('--damage', 20000), ('--sync-period', 100000)]


@pytest.mark.parametrize('options, slices', [(EVENTS[0], 1), (EVENTS[0], 64), (EVENTS[3], 64),
                                             *((options, slices) for options in EVENTS for slices in (2, 7))])
def test_tables(run, tmp_path, synth, slices, options):
    isa = ('--isa', 'A32') if 'ptm' in options or 'etmv3' in options else ()
    capture = synth('--size', '70K', '--no-truth', *isa, *options)
    merged_tables(run, tmp_path, capture, slices, seed=slices)
    files = sorted(path.name for path in (tmp_path / 'merged/elements').iterdir())
    if slices == 1:
        assert files == ['part-00000.parquet']
        return
    # One more file has what is known only at the end.
    assert files == [f'part-00000-{number:05}.parquet' for number in range(slices + 1)]
    run('export', 'parquet', capture, '-o', 'whole', expect=None)
    for table in 'calls', 'counts', 'messages':
        assert same_folders(tmp_path, f'whole/{table}', f'merged/{table}')


@pytest.mark.parametrize('options', EVENTS[::2])
def test_rows_of_slices_are_those_of_the_whole(run, tmp_path, synth, options):
    isa = ('--isa', 'A32') if 'ptm' in options or 'etmv3' in options else ()
    capture = synth('--size', '40K', '--no-truth', *isa, *options)
    for folder, cuts in ('whole', ()), ('cut', ('--slice-bytes', 5000)):
        run('export', 'parquet', capture, '--table', 'elements', *cuts, '-o', folder)
    one, other = (f"SELECT * EXCLUDE (slice, seq, time), row_number() OVER (ORDER BY part, slice, seq) AS place "
                  f"FROM '{folder}/elements/*.parquet'" for folder in ('whole', 'cut'))
    rows, missing, more, starts = duckdb.ask(
        tmp_path, f'SELECT count(*) AS n FROM ({one})', f'SELECT count(*) AS n FROM ({one} EXCEPT ALL {other})',
        f'SELECT count(*) AS n FROM ({other} EXCEPT ALL {one})',
        "SELECT slice, min(seq) AS first, max(seq) + 1 AS n, count(*) AS rows FROM 'cut/elements/*.parquet' "
        'GROUP BY ALL ORDER BY slice')
    assert rows[0]['n'] > 1000
    assert missing == more == [{'n': 0}]
    assert [row['slice'] for row in starts] == list(range(len(starts)))
    assert all(row['first'] == 0 and row['n'] == row['rows'] for row in starts)


@pytest.mark.parametrize('table', ['elements', 'calls', 'counts', 'messages'])
def test_one_table_of_slices(run, tmp_path, synth, quicksort, table):
    program = quicksort / 'quicksort.elf'
    capture = synth('--elf', program, '--size', '100K', '--no-truth')
    merged_tables(run, tmp_path, capture, 5, ['--symbols', program, '--table', table],
                  f"symbols = ['{program}']\ntable = '{table}'")
    assert [path.name for path in (tmp_path / 'merged').iterdir()] == [table]


@pytest.mark.parametrize('option, word', [('tail-calls', 'replace'), ('exceptions', 'apart'), ('time', 'instructions'),
                                          ('time', 'cycles')])
def test_options_of_calls_in_slices(run, tmp_path, long, option, word):
    merged_tables(run, tmp_path, long, 5, [f'--{option}', word, '--table', 'calls'],
                  f"{option} = '{word}'\ntable = 'calls'")


def test_whole_and_cut_tables_in_one_job(run, tmp_path, long, synth):
    itm = synth('--size', '200K', '--protocol', 'itm', '--no-truth')
    small = synth('--size', '5K', '--protocol', 'etmv4', '--no-truth')
    inputs = [small, long, itm]
    write_job(tmp_path, "what = 'events'\nslice_bytes = 100000", *inputs)
    run('plan', 'job.toml', '-o', 'job')
    serial = run('export', 'parquet', *inputs, '--slice-bytes', slice_bytes(tmp_path), '-o', 'serial', expect=None)
    assert f'{itm} is not cut: a source of it can only be decoded from the start of the trace.' in serial.err
    do_shards(run, tmp_path)
    run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert same_folders(tmp_path, 'serial', 'merged')


def test_tables_of_a_capture_without_events(run, tmp_path):
    (tmp_path / 'noise').write_bytes(random.Random(1).randbytes(50000))
    raw = ['--protocol', 'stm', '--framing', 'none']
    options = "protocol = 'stm'\nframing = 'none'"
    merged = merged_tables(run, tmp_path, 'noise', 3, raw, options)
    assert merged.code == 1


def test_slices_are_for_whole_tables(run, tmp_path, long):
    assert 'leave out --from' in run('export', 'parquet', long, '--slice-bytes', '64K', '--from', '@100', '-o', 'out',
                                     expect=2).err
    assert 'folded has no tables' in run('export', 'folded', long, '--slice-bytes', '64K', expect=2).err
    write_job(tmp_path, "what = 'events'", long, options="slice-bytes = '64K'")
    assert 'a job has slice_bytes before [options]' in run('plan', 'job.toml', '-o', 'job', expect=2).err
    write_job(tmp_path, "what = 'events'", long, options="dso = 'app'")
    assert 'dso: call stacks lead through all programs' in run('plan', 'job.toml', '-o', 'job', expect=2).err


def test_rows_of_slices_that_are_damaged_are_named(run, tmp_path, long):
    write_job(tmp_path, "what = 'events'\nslices = 4", long)
    run('plan', 'job.toml', '-o', 'job')
    run('export', 'parquet', long, '--slice-bytes', slice_bytes(tmp_path), '-o', 'serial')
    do_shards(run, tmp_path)
    files = sorted((tmp_path / 'job/tables').rglob('*.parquet'))
    assert len(files) == 4
    files[1].write_bytes(files[1].read_bytes()[:-1])
    files[2].unlink()
    said = run('merge', 'job', '-o', 'merged', expect=3).err
    assert f'{files[1].name}: the file is damaged' in said and 'run shard 1 again' in said
    assert not (tmp_path / 'merged').exists()
    run('shard', 'job', '1')
    said = run('merge', 'job', '-o', 'merged', expect=3).err
    assert f'{files[2].name}: this file of a table is missing; run shard 2 again' in said
    run('shard', 'job', '2')
    run('merge', 'job', '-o', 'merged')
    assert same_folders(tmp_path, 'serial', 'merged')


@pytest.mark.parametrize('protocol', ['ete', 'ptm', 'etmv3', 'stm'])
def test_protocols(run, tmp_path, synth, protocol):
    capture = synth('--size', '200K', '--protocol', protocol, '--isa', 'A32', '--damage', 20000, '--no-truth')
    serial = run('export', 'counts', capture, '-o', 'serial', expect=None)
    write_job(tmp_path, "what = 'counts'\nslices = 5", capture)
    run('plan', 'job.toml', '-o', 'job')
    assert len(shard_lines(tmp_path)) == 5
    do_shards(run, tmp_path)
    assert run('merge', 'job', '-o', 'merged', expect=serial.code).code == serial.code
    assert (tmp_path / 'serial').exists() == (tmp_path / 'merged').exists()
    if serial.code == 0:
        assert same(tmp_path, 'merged', 'serial')


def test_whole_and_cut_inputs_in_one_job(run, tmp_path, long, synth):
    itm = synth('--size', '200K', '--protocol', 'itm', '--no-truth')
    small = synth('--size', '5K', '--protocol', 'etmv4', '--no-truth')
    inputs = [small, long, itm]
    serial = run('export', 'counts', *inputs, '-o', 'serial', expect=None)
    write_job(tmp_path, "what = 'counts'\nslice_bytes = 100000", *inputs)
    planned = run('plan', 'job.toml', '-o', 'job')
    assert f'{itm} is not cut: a source of it can only be decoded from the start of the trace.' in planned.err
    assert [line.split()[0] for line in shard_lines(tmp_path)] == ['shard', *['slice'] * 7, 'shard']
    do_shards(run, tmp_path)
    run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert same(tmp_path, 'merged', 'serial')


RECORDED = ('--size', '300K', '--protocol', 'etmv4', '--cores', 2, '--context-ids', 3, '--timestamps', 50,
            '--perf-data', '--no-truth')


def test_recordings(run, tmp_path, synth):
    capture = synth(*RECORDED)
    recording = capture / 'perf.data'
    for options, arguments in ('', []), ("tid = ['1001']", ['--tid', '1001']):
        shutil.rmtree(tmp_path / 'job', ignore_errors=True)
        serial = run('export', 'counts', recording, '--symfs', capture, *arguments, '-o', 'serial', expect=None)
        if serial.code != 0:
            continue
        write_job(tmp_path, "what = 'counts'\nslices = 6", recording, options=f"symfs = ['{capture}']\n{options}")
        run('plan', 'job.toml', '-o', 'job')
        assert len(shard_lines(tmp_path)) == 6
        do_shards(run, tmp_path)
        run('merge', 'job', '-o', 'merged')
        assert same(tmp_path, 'merged', 'serial')


@pytest.mark.parametrize('slices', [2, 7])
def test_stacks_of_recordings(run, tmp_path, synth, slices):
    capture = synth(*RECORDED)
    recording = capture / 'perf.data'
    for tid in None, 256, 258:
        shutil.rmtree(tmp_path / 'job', ignore_errors=True)
        for name in 'serial', 'merged':
            (tmp_path / name).unlink(missing_ok=True)
        arguments = ['--symfs', capture] + (['--tid', tid] if tid else [])
        merged_stacks(run, tmp_path, recording, slices, arguments,
                      f"symfs = ['{capture}']" + (f"\ntid = ['{tid}']" if tid else ''))


@pytest.mark.parametrize('slices', [2, 7])
def test_tables_of_recordings(run, tmp_path, synth, slices):
    capture = synth(*RECORDED)
    recording = capture / 'perf.data'
    for tid in None, 257:
        for name in 'job', 'serial', 'merged':
            shutil.rmtree(tmp_path / name, ignore_errors=True)
        merged_tables(run, tmp_path, recording, slices, ['--symfs', capture] + (['--tid', tid] if tid else []),
                      f"symfs = ['{capture}']" + (f"\ntid = ['{tid}']" if tid else ''))


@pytest.mark.parametrize('slices', [2, 7])
def test_branch_lists_of_recordings(run, tmp_path, synth, slices):
    capture = synth(*RECORDED)
    recording = capture / 'perf.data'
    run('export', 'branch-list', recording, '--symfs', capture, '-o', 'serial')
    write_job(tmp_path, f"what = 'branches'\nslices = {slices}", recording, options=f"symfs = ['{capture}']")
    run('plan', 'job.toml', '-o', 'job')
    do_shards(run, tmp_path)
    run('merge', 'job', '-o', 'merged')
    assert same(tmp_path, 'merged', 'serial')


@pytest.mark.parametrize('what, form', [('counts', 'counts'), ('branches', 'branch-list'), ('stacks', 'folded')])
def test_slices_on_gnu_parallel(run, tmp_path, synth, quicksort, what, form):
    if not shutil.which('parallel'):
        pytest.skip('parallel is missing')
    program = quicksort / 'quicksort.elf'
    capture = synth('--elf', program, '--size', '100K', '--no-truth')
    run('export', form, capture, '--symbols', program, '-o', 'serial')
    write_job(tmp_path, f"what = '{what}'\nslices = 7", capture, options=f"symbols = ['{program}']")
    run('plan', 'job.toml', '-o', 'job', '--parallel')
    done = subprocess.run(['job/scripts/parallel.sh', '-j2'], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / 'job/merged').read_bytes() == (tmp_path / 'serial').read_bytes()


def test_tables_of_slices_on_gnu_parallel(run, tmp_path, long):
    if not shutil.which('parallel'):
        pytest.skip('parallel is missing')
    write_job(tmp_path, "what = 'events'\nslices = 7", long)
    run('plan', 'job.toml', '-o', 'job', '--parallel')
    run('export', 'parquet', long, '--slice-bytes', slice_bytes(tmp_path), '-o', 'serial')
    done = subprocess.run(['job/scripts/parallel.sh', '-j2'], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert same_folders(tmp_path, 'serial', 'job/merged')


def test_a_wrong_start_is_decoded_again(run, tmp_path, synth):
    # Between two synchronisation points are several slices.
    capture = synth('--size', '400K', '--protocol', 'etmv4', '--sync-period', 100000, '--cycle-counts', '--no-truth')
    run('export', 'counts', capture, '-o', 'serial')
    write_job(tmp_path, "what = 'counts'\nslices = 16", capture)
    run('plan', 'job.toml', '-o', 'job')
    do_shards(run, tmp_path)
    assert 'of 16 slices were decoded again' in run('merge', 'job', '-o', 'merged').err
    assert same(tmp_path, 'merged', 'serial')


def copied(tmp_path, capture):
    shutil.copytree(capture, tmp_path / 'capture')
    return tmp_path / 'capture/trace.bin'


def test_slices_of_a_capture_that_changed_are_refused(run, tmp_path, long):
    trace = copied(tmp_path, long)
    write_job(tmp_path, "what = 'counts'\nslices = 10", 'capture')
    run('plan', 'job.toml', '-o', 'job')
    good = trace.read_bytes()
    changed = bytearray(good)
    changed[len(good) * 55 // 100] ^= 1
    trace.write_bytes(changed)
    # Slice 5 has the byte; others do not read it.
    assert 'capture has changed since the job was planned' in run('shard', 'job', '5', expect=3).err
    run('status', 'job', expect=1).has('failed    5: shard 5: capture has changed since the job was planned')
    run('shard', 'job', '0-4,6-9')
    trace.write_bytes(good[:-16])
    assert 'has changed' in run('shard', 'job', '5', expect=3).err
    trace.write_bytes(good)
    run('shard', 'job', '5')
    run('export', 'counts', 'capture', '-o', 'serial')
    (tmp_path / 'capture/more').write_text('more')
    assert 'capture has changed since the job was planned' in run('merge', 'job', '-o', 'merged', expect=3).err
    assert not (tmp_path / 'merged').exists()
    (tmp_path / 'capture/more').unlink()
    run('merge', 'job', '-o', 'merged')
    assert same(tmp_path, 'merged', 'serial')


def test_what_is_decoded_again_must_not_have_changed(run, tmp_path, synth):
    trace = copied(tmp_path, synth('--size', '400K', '--protocol', 'etmv4', '--sync-period', 100000, '--cycle-counts',
                                   '--no-truth'))
    write_job(tmp_path, "what = 'counts'\nslices = 16", 'capture')
    run('plan', 'job.toml', '-o', 'job')
    do_shards(run, tmp_path)
    trace.write_bytes(bytes(trace.stat().st_size))
    assert 'capture has changed since the job was planned' in run('merge', 'job', '-o', 'merged', expect=3).err
    assert not (tmp_path / 'merged').exists()


def varint(data, at):
    """A number with 7 bits a byte, and what follows it."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def written(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def with_steps(part, steps):
    """The part of a slice whose capture has no other files and one source, with other steps."""
    _, at = varint(part, 8)
    at += 32
    for _ in 'shard', 'payload':
        _, at = varint(part, at)
    codes, at = varint(part, at)
    at += codes
    _, begin = varint(part, at)
    assert part[begin] == 0 and part[begin + 2] == 1
    seam = part[begin:begin + 6]
    size, first = varint(part, begin + 6)
    content = seam + written(len(steps)) + steps + part[first + size:-32]
    whole = part[:at] + written(len(content)) + content
    return whole + hashlib.sha256(whole).digest()


def test_steps_that_cannot_be_followed(run, tmp_path, synth):
    capture = synth('--size', '50K', '--protocol', 'etmv4', '--no-truth')
    run('export', 'folded', capture, '-o', 'serial')
    write_job(tmp_path, "what = 'stacks'\nslices = 4", capture)
    run('plan', 'job.toml', '-o', 'job')
    do_shards(run, tmp_path)
    parts = sorted((tmp_path / 'job/parts').glob('*/*.part'))
    good = parts[2].read_bytes()
    # A range, and ranges after it in a function that has no address.
    bad = bytes([0x0C, 0, 5, *[0] * 13, 2, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    parts[2].write_bytes(with_steps(good, bad))
    said = run('merge', 'job', '-o', 'merged').err
    assert '1 of 4 slices was decoded again, because the programs in memory changed' in said
    assert same(tmp_path, 'merged', 'serial')
    # This element does not exist.
    parts[2].write_bytes(with_steps(good, bytes([0x08, 0, 0x7F])))
    (tmp_path / 'merged').unlink()
    said = run('merge', 'job', '-o', 'merged', expect=3).err
    assert f'{parts[2].name}: the content of the part is inconsistent' in said
    assert not (tmp_path / 'merged').exists()


def test_a_trace_without_cores_has_no_stacks_in_slices(run, tmp_path, synth):
    capture = synth('--size', '100K', '--protocol', 'stm', '--no-truth')
    write_job(tmp_path, "what = 'stacks'\nslices = 3", capture)
    assert f'{capture} is not cut: it traces no core.' in run('plan', 'job.toml', '-o', 'job').err


def test_stacks_in_damaged_parts_are_named(run, tmp_path, long):
    run('export', 'folded', long, '-o', 'serial')
    write_job(tmp_path, "what = 'stacks'\nslices = 4", long)
    run('plan', 'job.toml', '-o', 'job')
    do_shards(run, tmp_path)
    parts = sorted((tmp_path / 'job/parts').glob('*/*.part'))
    damaged = bytearray(parts[2].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    parts[2].write_bytes(damaged)
    said = run('merge', 'job', '-o', 'merged', expect=3).err
    assert 'the part is damaged' in said and 'run shard 2 again' in said
    run('shard', 'job', '2')
    run('merge', 'job', '-o', 'merged')
    assert same(tmp_path, 'merged', 'serial')


def test_parts_that_are_missing_damaged_or_of_another_job_are_named(run, tmp_path, long):
    run('export', 'counts', long, '-o', 'serial')
    for slices in 9, 8:
        shutil.rmtree(tmp_path / 'other', ignore_errors=True)
        if (tmp_path / 'job').exists():
            (tmp_path / 'job').rename(tmp_path / 'other')
        write_job(tmp_path, f"what = 'counts'\nslices = {slices}", long)
        run('plan', 'job.toml', '-o', 'job')
        run('shard', 'job', '0-5')
    assert '2 of 8 parts are missing: 6-7.' in run('merge', 'job', '-o', 'merged', expect=3).err
    run('shard', 'job', 'missing')
    parts = sorted((tmp_path / 'job/parts').glob('*/*.part'))
    # Done twice: the second attempt leaves the part.
    before = parts[2].stat()
    run('shard', 'job', '2')
    assert parts[2].stat().st_mtime_ns == before.st_mtime_ns
    parts[2].write_bytes(parts[2].read_bytes()[:-9])
    shutil.copy(parts[4], parts[5])
    shutil.copy(sorted((tmp_path / 'other/parts').glob('*/*.part'))[3], parts[3])
    said = run('merge', 'job', '-o', 'merged', expect=3).err
    assert not (tmp_path / 'merged').exists()
    for number, why in (2, 'damaged'), (3, 'this is a part of another job'), (5, 'this is the part of another shard'):
        assert f'{why}' in said and f'run shard {number} again' in said
    run('shard', 'job', '2,3,5')
    run('merge', 'job', '-o', 'merged')
    assert same(tmp_path, 'merged', 'serial')


def test_kills_lose_nothing(run, tmp_path, long, kill_shards):
    run('export', 'counts', long, '-o', 'serial')
    write_job(tmp_path, "what = 'counts'\nslices = 12", long)
    run('plan', 'job.toml', '-o', 'job')
    kill_shards(12, 7)
    run('shard', 'job', 'missing')
    run('merge', 'job', '-o', 'merged')
    assert same(tmp_path, 'merged', 'serial')


def test_a_program_that_changed_is_named(run, tmp_path, synth):
    shutil.copytree(synth(*RECORDED), tmp_path / 'capture')
    write_job(tmp_path, "what = 'counts'\nslices = 3", 'capture/perf.data', options="symfs = ['capture']")
    run('plan', 'job.toml', '-o', 'job')
    do_shards(run, tmp_path)
    program = tmp_path / 'capture/memory_1.bin'
    program.write_bytes(program.read_bytes() + b'more')
    said = run('merge', 'job', '-o', 'merged', expect=3).err
    assert f'{program.name} is not the program that a shard read; restore that one.' in said


def test_jobs_that_cannot_be_made_of_slices(run, tmp_path, long):
    write_job(tmp_path, "what = 'findings'\nslices = 4", long)
    assert 'what = "findings" cannot be computed in slices' in run('plan', 'job.toml', '-o', 'job', expect=3).err
    write_job(tmp_path, "what = 'counts'\nslices = 4\nslice_bytes = 4", long)
    assert 'slices and slice_bytes exclude each other' in run('plan', 'job.toml', '-o', 'job', expect=3).err
