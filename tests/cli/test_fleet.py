"""plan, shard, merge and status: the sum of parts is what export writes for all inputs at once."""
import fcntl
import json
import os
import random
import shutil
import subprocess
import time

import pytest

CAPTURES = 9


@pytest.fixture(scope='module')
def walks(executed):
    return executed('walks')


@pytest.fixture
def runs(tmp_path, walks):
    """Copies of a capture in tmp_path/runs."""
    (tmp_path / 'runs').mkdir()
    for i in range(CAPTURES):
        shutil.copytree(walks.capture, tmp_path / 'runs' / f'{i}')
    return [f'runs/{i}' for i in range(CAPTURES)]


def write_job(folder, walks, text):
    (folder / 'job.toml').write_text(
        f"inputs = ['runs/*']\n{text}\n[options]\nsymbols = ['{walks.program}']\n")


def fresh(run, folder, name='job'):
    shutil.rmtree(folder / name, ignore_errors=True)
    return run('plan', 'job.toml', '-o', name)


def shard_count(folder, name='job'):
    return sum(line.startswith('shard ') for line in (folder / name / 'plan').read_text().splitlines())


@pytest.mark.parametrize('form', ['counts', 'autofdo', 'folded', 'branch-list', 'lcov'])
def test_shards_in_any_order_equal_the_serial_run(run, tmp_path, walks, runs, form):
    serial = run('export', form, *runs, '--symbols', walks.program, '-o', 'serial')
    for shards in (1, 2, 7, 64) if form == 'counts' else (2,):
        write_job(tmp_path, walks, f"format = '{form}'\nshards = {shards}")
        fresh(run, tmp_path)
        numbers = list(range(shard_count(tmp_path)))
        random.Random(shards).shuffle(numbers)
        for number in numbers if form == 'counts' and shards == 2 else []:
            run('shard', 'job', str(number))
        run('shard', 'job', ','.join(map(str, numbers)))
        merged = run('merge', 'job', '-o', 'merged')
        assert (tmp_path / 'merged').read_bytes() == (tmp_path / 'serial').read_bytes()
        assert merged.code == serial.code
    assert (tmp_path / 'serial').stat().st_size > 100


@pytest.mark.parametrize('form, shards', [('findings', 1), ('findings', 2), ('findings', 7), ('findings', 64),
                                          ('findings-csv', 2)])
def test_findings_in_any_order_equal_the_serial_run(run, tmp_path, walks, runs, form, shards):
    trace = tmp_path / 'runs/3/trace.bin'
    trace.write_bytes(bytes(trace.stat().st_size))
    (tmp_path / 'runs/5/trace.ini').unlink()
    (tmp_path / 'runs/7').rename(tmp_path / 'runs/7=,"')
    inputs = sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / 'runs').iterdir())
    serial = run('export', form, *inputs, '-o', 'serial', expect=3)
    (tmp_path / 'job.toml').write_text(f"inputs = ['runs/*']\nformat = '{form}'\nshards = {shards}\n")
    fresh(run, tmp_path)
    numbers = list(range(shard_count(tmp_path)))
    random.Random(shards).shuffle(numbers)
    run('shard', 'job', ','.join(map(str, numbers)))
    merged = run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert (tmp_path / 'merged').read_bytes() == (tmp_path / 'serial').read_bytes()
    assert merged.err == serial.err
    assert '1 of 9 inputs could not be read' in merged.err
    if form == 'findings':
        found = json.loads((tmp_path / 'merged').read_text())
        assert [one['input'] for one in found['captures']] == inputs
        assert [one['input'] for one in found['captures'] if one['code'] == 3] == ['runs/5']


def dataset(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob('*') if path.is_file()}


@pytest.mark.parametrize('shards', [1, 2, 7, 64])
def test_tables_in_any_order_equal_the_serial_run(run, tmp_path, walks, runs, shards):
    # One input is damaged, and its tables show it.
    trace = tmp_path / 'runs/3/trace.bin'
    trace.write_bytes(bytes(trace.stat().st_size))
    serial = run('export', 'parquet', *runs, '--symbols', walks.program, '-o', 'serial', expect=1)
    write_job(tmp_path, walks, f"what = 'events'\nshards = {shards}")
    fresh(run, tmp_path)
    numbers = list(range(shard_count(tmp_path)))
    random.Random(shards).shuffle(numbers)
    run('shard', 'job', ','.join(map(str, numbers)))
    run('merge', 'job', '-o', 'merged', expect=serial.code)
    files = dataset(tmp_path / 'serial')
    assert len(files) == 4 * CAPTURES
    assert dataset(tmp_path / 'merged') == files
    assert 'elements is there already' in run('merge', 'job', '-o', 'merged', expect=2).err
    assert list((tmp_path / 'job/attempts').iterdir()) == []


def test_tables_that_are_missing_or_damaged_are_named_and_made_again(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'events'\nshards = 3")
    with (tmp_path / 'job.toml').open('a') as job:
        job.write("table = ['calls', 'counts']\n")
    fresh(run, tmp_path)
    run('shard', 'job', 'missing')
    run('merge', 'job', '-o', 'before')
    before = dataset(tmp_path / 'before')
    assert len(before) == 2 * CAPTURES
    files = sorted((tmp_path / 'job/tables').rglob('*.parquet'))
    gone, cut, changed = files[0], files[5], files[-1]
    # The result of an earlier merge may be the same file.
    for path, content in (gone, None), (cut, cut.read_bytes()[:-1]), (changed, changed.read_bytes()[:-1] + b'x'):
        path.unlink()
        if content is not None:
            path.write_bytes(content)
    for number, path in enumerate([gone, cut, changed]):
        said = run('merge', 'job', '-o', 'merged', expect=3).err
        assert path.name in said and f'do shard {number} again' in said
        assert not (tmp_path / 'merged').exists()
        run('shard', 'job', str(number))
    run('merge', 'job', '-o', 'merged')
    assert dataset(tmp_path / 'merged') == before == dataset(tmp_path / 'before')


def test_what_is_missing_is_named_and_resumed(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'counts'")
    fresh(run, tmp_path).has('9 inputs, 9 shards.')
    run('shard', 'job', '0,2-5')
    failed = run('merge', 'job', '-o', 'merged', expect=3)
    assert '4 of 9 parts are missing: 1,6-8.' in failed.err
    assert not (tmp_path / 'merged').exists()
    run('status', 'job', expect=1).has('done      5 of 9 shards', 'missing   1,6-8')
    assert run('plan', '--resume', 'job').out == '1,6-8\n'
    run('plan', '--resume', 'job', '--slurm')
    assert (tmp_path / 'job/scripts/shards.txt').read_text() == '1\n6\n7\n8\n'
    run('shard', 'job', 'missing')
    run('status', 'job').has('done      9 of 9 shards')
    run('merge', 'job', '-o', 'merged')
    run('plan', '--resume', 'job').has('Nothing is missing')


def test_inputs_that_changed_or_are_gone_are_refused_by_name(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'counts'")
    fresh(run, tmp_path)
    trace = tmp_path / 'runs/3/trace.bin'
    trace.write_bytes(trace.read_bytes() + b'\0')
    assert 'runs/3 has changed since the job was planned' in run('shard', 'job', '3', expect=3).err
    shutil.rmtree(tmp_path / 'runs/4')
    assert 'runs/4' in run('shard', 'job', '4', expect=3).err
    run('status', 'job', expect=1).has('failed    3: shard 3: runs/3 has changed', 'failed    4: ')
    assert 'already has a plan' in run('plan', 'job.toml', '-o', 'job', expect=3).err


def test_an_input_that_cannot_be_decoded_is_a_result(run, tmp_path, walks, runs):
    trace = tmp_path / 'runs/3/trace.bin'
    trace.write_bytes(bytes(trace.stat().st_size))
    serial = run('export', 'counts', *runs, '--symbols', walks.program, '-o', 'serial', expect=1)
    write_job(tmp_path, walks, "what = 'counts'\ninputs_per_shard = 2")
    fresh(run, tmp_path)
    run('shard', 'job', 'missing')
    merged = run('merge', 'job', '-o', 'merged', expect=serial.code)
    assert 'runs/3 gave nothing' in merged.err and 'the sum of 8 of 9 inputs' in merged.err
    assert (tmp_path / 'merged').read_bytes() == (tmp_path / 'serial').read_bytes()


def test_damaged_parts_are_named_and_made_again(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'counts'\nshards = 3")
    fresh(run, tmp_path)
    run('shard', 'job', 'missing')
    run('merge', 'job', '-o', 'before')
    part = sorted((tmp_path / 'job/parts').glob('*/*.part'))[1]
    part.write_bytes(part.read_bytes()[:-7])
    assert part.name in run('merge', 'job', '-o', 'merged', expect=3).err
    assert 'damaged' in run('shard', 'job', '1').err
    run('merge', 'job', '-o', 'merged')
    assert (tmp_path / 'merged').read_bytes() == (tmp_path / 'before').read_bytes()


def kill_and_finish(run, tmp_path, walks, kill_shards, what, seed):
    """A job whose shards are killed at random moments, then finished and merged."""
    write_job(tmp_path, walks, f"what = '{what}'")
    fresh(run, tmp_path)
    kill_shards(CAPTURES, seed)
    run('shard', 'job', 'missing')
    run('merge', 'job', '-o', 'merged')


def test_kills_lose_nothing(run, tmp_path, walks, runs, kill_shards):
    run('export', 'counts', *runs, '--symbols', walks.program, '-o', 'serial')
    kill_and_finish(run, tmp_path, walks, kill_shards, 'counts', 23)
    assert (tmp_path / 'merged').read_bytes() == (tmp_path / 'serial').read_bytes()


def abandon(folder):
    """What processes leave that are killed early and late, and one that belongs to a process; its lock."""
    for name, files in (('.part.early1', []), ('.part.later1', ['.lock', 'calls/part-00000.parquet']),
                        ('.part.in_use', ['.lock', 'calls/part-00000.parquet']), ('.part.folder', ['file'])):
        (folder / name).mkdir(parents=True)
        for file in files:
            (folder / name / file).parent.mkdir(exist_ok=True)
            (folder / name / file).write_text('')
    lock = (folder / '.part.in_use/.lock').open('r+')
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def left(folder):
    return {path.name for path in folder.glob('.part.*')}


def test_folders_that_killed_processes_leave_are_removed_when_nobody_uses_them(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'events'\nshards = 3")
    fresh(run, tmp_path)
    attempts = tmp_path / 'job/attempts'
    with abandon(attempts):
        run('shard', 'job', '0')
        assert left(attempts) == {'.part.in_use', '.part.folder'}
    run('shard', 'job', 'missing')
    assert left(attempts) == {'.part.folder'}
    shutil.rmtree(attempts)
    with abandon(attempts), abandon(tmp_path / 'merged'):
        run('merge', 'job', '-o', 'merged')
        assert left(attempts) == left(tmp_path / 'merged') == {'.part.in_use', '.part.folder'}


def test_killed_shards_of_tables_leave_nothing_in_the_end(run, tmp_path, walks, runs, kill_shards):
    run('export', 'parquet', *runs, '--symbols', walks.program, '-o', 'serial')
    kill_and_finish(run, tmp_path, walks, kill_shards, 'events', 5)
    assert dataset(tmp_path / 'merged') == dataset(tmp_path / 'serial')
    assert left(tmp_path / 'job/attempts') == set()


def test_a_full_disk_is_named_and_another_attempt_completes_the_job(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'counts'\nshards = 3")
    fresh(run, tmp_path)
    # For this process only, the folder in which parts are written is a full disk.
    full = ['unshare', '--mount', '--map-root-user', 'sh', '-c',
            'mount -t tmpfs -o size=4k none job/attempts && head -c 4096 /dev/zero > job/attempts/0 && exec "$@"', 'sh']
    if subprocess.run([*full, 'true'], cwd=tmp_path, capture_output=True, check=False).returncode != 0:
        pytest.skip('this machine does not let a user mount a file system')
    failed = subprocess.run([*full, run.program, 'shard', 'job', '0-2'], cwd=tmp_path, capture_output=True, text=True,
                            check=False)
    assert failed.returncode == 4, failed.stderr
    assert 'No space left on device' in failed.stderr and 'job/attempts' in failed.stderr
    assert '3 of 3' in run('merge', 'job', '-o', 'merged', expect=3).err
    run('shard', 'job', '0-2')
    run('merge', 'job', '-o', 'merged')
    run('export', 'counts', *runs, '--symbols', walks.program, '-o', 'serial')
    assert (tmp_path / 'merged').read_bytes() == (tmp_path / 'serial').read_bytes()


def test_bad_jobs_and_shards(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'count'")
    assert 'what = "count" is not known' in run('plan', 'job.toml', '-o', 'job', expect=3).err
    (tmp_path / 'job.toml').write_text("what = 'counts'\ninputs = ['runs/*']\n[options]\nsymfsx = 'a'\n")
    run('plan', 'job.toml', '-o', 'job', expect=2).one_sentence("[options]: '--symfsx' is not an option", '`--symfs`?')
    (tmp_path / 'job.toml').write_text("what = 'counts'\ninputs = ['none/*']\n")
    assert 'nothing is found for none/*' in run('plan', 'job.toml', '-o', 'job', expect=3).err
    write_job(tmp_path, walks, "what = 'counts'")
    fresh(run, tmp_path)
    assert "'9' is not a shard of this job" in run('shard', 'job', '9', expect=2).err
    assert 'is not the folder of a job' in run('shard', 'runs', '0', expect=3).err
    plan = tmp_path / 'job/plan'
    plan.write_text(plan.read_text().replace('runs/1', 'runs/2'))
    assert 'its digest does not fit' in run('merge', 'job', expect=3).err


@pytest.mark.parametrize('engine, tool, command', [
    ('make', 'make', ['make', '-j2', '-f', 'job/scripts/Makefile']),
    ('ninja', 'ninja', ['ninja', '-f', 'job/scripts/build.ninja']),
    ('parallel', 'parallel', ['job/scripts/parallel.sh', '-j2']),
])
def test_engines_give_the_serial_result(run, tmp_path, walks, runs, engine, tool, command):
    if not shutil.which(tool):
        pytest.skip(f'{tool} is missing')
    write_job(tmp_path, walks, "what = 'counts'\nshards = 3")
    shutil.rmtree(tmp_path / 'job', ignore_errors=True)
    run('plan', 'job.toml', '-o', 'job', f'--{engine}')
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    run('export', 'counts', *runs, '--symbols', walks.program, '-o', 'serial')
    assert (tmp_path / 'job/merged').read_bytes() == (tmp_path / 'serial').read_bytes()


def test_a_slurm_task_whose_worker_is_killed_asks_for_another_run(run, tmp_path, walks, runs):
    write_job(tmp_path, walks, "what = 'counts'\nshards = 3")
    shutil.rmtree(tmp_path / 'job', ignore_errors=True)
    fake = tmp_path / 'killed'
    fake.write_text('#!/bin/sh\nkill -9 $$\n')
    fake.chmod(0o755)
    run('plan', 'job.toml', '-o', 'job', '--slurm', '--tasks', '2', '--program', fake)
    # Stands for the command of Slurm.
    scontrol = tmp_path / 'scontrol'
    scontrol.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nkill $PPID\n')
    scontrol.chmod(0o755)
    task = subprocess.run([tmp_path / 'job/scripts/slurm_task.sh'], capture_output=True,
                          env={**os.environ, 'PATH': f'{tmp_path}:{os.environ["PATH"]}',
                               'SLURM_ARRAY_TASK_ID': '0', 'SLURM_JOB_ID': '7'})
    assert (tmp_path / 'asked').read_text() == 'requeue 7\n', task.stderr


def test_slurm_gives_the_serial_result(run, repository, tmp_path, walks, runs):
    if not shutil.which('slurmctld', path=os.environ['PATH'] + ':/usr/sbin'):
        pytest.skip('slurm-wlm is missing')
    write_job(tmp_path, walks, "what = 'counts'\nshards = 4")
    shutil.rmtree(tmp_path / 'job', ignore_errors=True)
    # The first attempt at shard 2 is killed.
    worker = tmp_path / 'worker'
    worker.write_text(f'#!/bin/sh\n[ "$1$3" = shard2 ] && mkdir {tmp_path}/died 2>/dev/null && kill -9 $$\n'
                      f'exec {run.program} "$@"\n')
    worker.chmod(0o755)
    run('plan', 'job.toml', '-o', 'job', '--slurm', '--program', worker)
    cluster = repository / 'scripts/cluster'
    subprocess.run([cluster, 'up', tmp_path / 'cluster'], check=True, capture_output=True)
    try:
        environment = {**os.environ, 'SLURM_CONF': str(tmp_path / 'cluster/slurm.conf')}
        subprocess.run([tmp_path / 'job/scripts/slurm_submit.sh'], check=True, env=environment, cwd=tmp_path)
        # Sanitized programs are slow, and a task that was killed waits before it runs again.
        deadline = time.monotonic() + 300
        while not (tmp_path / 'job/merged').exists() and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        subprocess.run([cluster, 'down', tmp_path / 'cluster'], check=True)
    assert (tmp_path / 'died').is_dir()
    run('export', 'counts', *runs, '--symbols', walks.program, '-o', 'serial')
    assert (tmp_path / 'job/merged').read_bytes() == (tmp_path / 'serial').read_bytes()
