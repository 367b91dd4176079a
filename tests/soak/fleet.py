#!/usr/bin/env python3
"""Kills what takes part in a job on a private Slurm cluster, and compares the merged result with a serial run.

    tests/soak/fleet.py [--waymark PATH] [--what counts|events] [--faults N] [--seed N]

Each round plans a job, of short captures and of one that is cut into slices, submits it, and kills one to three of
these at random moments with SIGKILL: a worker, its supervisor, the task of Slurm, a daemon of a node, the controller.
Daemons are started again. What is then missing is named by `waymark merge`, and submitted again by
`waymark plan --resume --slurm`. At the end of a round, the merged file must equal the serial one, byte for byte, and
no part may be there twice.
Two more rounds follow. In one, the disk of a task is full at its first attempt, and the job must still complete. In the
other one, a shard always fails: all others must be done, and it must be named.
Needs the packages of the group [cluster] of scripts/packages.txt.
"""
import argparse
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = 12
SLICES = 5  # Of one more capture.
ROUND_SECONDS = 240
TABLES = ('elements', 'calls', 'counts', 'messages')
KINDS = ['worker', 'supervisor', 'task', 'node daemon', 'controller']


class Failed(Exception):
    """The job did not give what it should."""


def run(*command, cwd, env=None, expect=(0,)):
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode not in expect:
        raise Failed(f'{" ".join(map(str, command))} ended with {done.returncode}: {done.stdout}{done.stderr}')
    return done.stdout


def processes(folder):
    """{PID: words of its command} of what belongs to the job or the cluster in this folder."""
    found = {}
    for path in Path('/proc').glob('[0-9]*/cmdline'):
        try:
            words = path.read_bytes().decode(errors='replace').split('\0')
            environment = (path.parent / 'environ').read_bytes().decode(errors='replace')
        except OSError:
            continue
        if str(folder) in ' '.join(words) or f'SLURM_CONF={folder}' in environment:
            found[int(path.parent.name)] = words
    return found


class Cluster:
    """The daemons of scripts/cluster, which can be started again one by one."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {**os.environ, 'SLURM_CONF': str(folder / 'slurm.conf'), 'PATH': os.environ['PATH'] + ':/usr/sbin'}

    def __enter__(self):
        subprocess.run([ROOT / 'scripts/cluster', 'up', self.folder], check=True)
        return self

    def __exit__(self, *_):
        subprocess.run([ROOT / 'scripts/cluster', 'down', self.folder], check=True)

    def pid(self, name):
        try:
            return int((self.folder / f'run/{name}.pid').read_text())
        except (OSError, ValueError):
            return None

    def start(self, name):
        command = ['slurmctld'] if name == 'slurmctld' else ['slurmd', '-N', name.removeprefix('slurmd-')]
        # A port may still be taken for a moment.
        for _ in range(50):
            if subprocess.run(command, env=self.env, capture_output=True, check=False).returncode == 0:
                return
            time.sleep(0.2)
        raise Failed(f'{name} does not start again; see {self.folder}/log')

    def resume(self):
        """What an administrator does. A controller that was killed gives numbers of jobs again that it has forgotten.

        A node that knows the number refuses the job. Then the controller drains the node, and holds the job.
        """
        done = subprocess.run(['sinfo', '-h', '-o', '%T'], env=self.env, capture_output=True, text=True, check=False)
        if re.search('drain|down', done.stdout):
            subprocess.run(['scontrol', 'update', 'NodeName=n[1-2]', 'State=RESUME'], env=self.env, capture_output=True,
                           check=False)
        held = subprocess.run(['squeue', '-h', '-o', '%i %r'], env=self.env, capture_output=True, text=True, check=False)
        for line in held.stdout.splitlines():
            if 'held' in line:
                subprocess.run(['scontrol', 'release', line.split()[0]], env=self.env, capture_output=True, check=False)

    def waiting(self):
        done = subprocess.run(['squeue', '-h'], env=self.env, capture_output=True, text=True, check=False)
        return done.returncode != 0 or bool(done.stdout.strip())


def kill(cluster, folder, kind):
    """Kills one of this kind, if there is any; what was killed, or None."""
    if kind in ('node daemon', 'controller'):
        name = 'slurmctld' if kind == 'controller' else random.choice(['slurmd-n1', 'slurmd-n2'])
        pid = cluster.pid(name)
        if pid is None:
            return None
        os.kill(pid, signal.SIGKILL)
        time.sleep(random.random())
        cluster.start(name)
        return name
    mark = {'worker': 'worker', 'supervisor': 'task.sh', 'task': 'slurm_script'}[kind]
    pids = [pid for pid, words in processes(folder).items() if any(Path(word).name == mark for word in words[:3])]
    if not pids:
        return None
    try:
        os.kill(random.choice(pids), signal.SIGKILL)
    except ProcessLookupError:
        return None
    return kind


def is_complete(merged):
    """Whether the result is there: a file, or a folder with all tables."""
    return merged.is_file() or all((merged / table).is_dir() for table in TABLES)


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def compare(folder):
    """The merged result must be the serial one."""
    def files_of(path):
        return {file.relative_to(path): file for file in path.rglob('*') if file.is_file()} or {'': path}
    ours, theirs = files_of(folder / 'job/merged'), files_of(folder / 'serial')
    if ours.keys() != theirs.keys() or not all(filecmp.cmp(ours[name], theirs[name], shallow=False) for name in ours):
        raise Failed('the merged result is not the serial one')


def make_inputs(folder, waymark, what):
    for i in range(CAPTURES):
        shutil.copytree(ROOT / 'samples/quicksort', folder / f'runs/{i:02}')
    run(waymark, 'synth', '--size', '400K', '--protocol', 'etmv4', '--sync-period', '1024', '--no-truth', '-o',
        'runs/long', cwd=folder)
    trace = (folder / 'runs/long/trace.bin').stat().st_size
    size = trace // SLICES + 16
    (folder / 'job.toml').write_text(f"what = '{what}'\ninputs = ['runs/*']\nslice_bytes = {size}\n")
    form = ['counts'] if what == 'counts' else ['parquet', '--slice-bytes', size]
    run(waymark, 'export', *form, *sorted(f'runs/{path.name}' for path in (folder / 'runs').iterdir()), '-o', 'serial',
        cwd=folder)
    # It takes long enough to be killed.
    worker = folder / 'worker'
    worker.write_text(f'''#!/bin/bash
if [ "$1" = shard ]; then
  [ "$3" = "$(cat {folder}/always 2>/dev/null)" ] && kill -9 $$
  sleep 0.$((RANDOM % 10))
  if [ "$3" = "$(cat {folder}/full 2>/dev/null)" ]; then
    rm {folder}/full
    # For this process only, the folder in which parts are written is a full disk.
    exec unshare --mount --map-root-user sh -c 'mount -t tmpfs -o size=4k none "$3/attempts" &&
      head -c 4096 /dev/zero > "$3/attempts/0" && exec "$@"' sh {waymark} "$@" 2> {folder}/full.log
  fi
fi
exec {waymark} "$@"
''')
    worker.chmod(0o755)


def parts_once(job):
    shards = [path.name.split('-')[0] for path in (job / 'parts').glob('*/*.part')]
    if len(shards) != len(set(shards)):
        raise Failed(f'a part is there twice: {sorted(shards)}')
    return shards


def wait(cluster, merged, deadline):
    """Until the job has its result, or nothing of it is left; False: until the deadline."""
    while time.monotonic() < deadline:
        if is_complete(merged) or not cluster.waiting():
            return True
        cluster.resume()
        time.sleep(1)
    return False


def submit(cluster, folder, *options):
    shutil.rmtree(folder / 'job/scripts', ignore_errors=True)
    run(folder / 'worker', 'plan', *options, '--slurm', '--tasks', '4', '--program', folder / 'worker', cwd=folder)
    for _ in range(50):
        done = subprocess.run([folder / 'job/scripts/slurm_submit.sh'], cwd=folder, env=cluster.env, capture_output=True,
                              check=False)
        if done.returncode == 0:
            return
        time.sleep(0.2)
    raise Failed(f'sbatch refuses: {done.stderr.decode()}')


def cancel(cluster):
    for _ in range(100):
        if not cluster.waiting():
            return
        subprocess.run(['scancel', '-u', str(os.getuid())], env=cluster.env, capture_output=True, check=False)
        time.sleep(0.2)
    raise Failed('jobs remain after scancel')


def round_of_faults(cluster, folder, faults):
    """What was killed."""
    shutil.rmtree(folder / 'job', ignore_errors=True)
    merged = folder / 'job/merged'
    submit(cluster, folder, 'job.toml', '-o', 'job')
    killed = []
    deadline = time.monotonic() + ROUND_SECONDS
    wanted = random.choices(KINDS, weights=[4, 3, 3, 1, 1], k=faults)
    while wanted and not is_complete(merged) and cluster.waiting() and time.monotonic() < deadline:
        time.sleep(random.random() / 2)
        if name := kill(cluster, folder, wanted[0]):
            killed.append(name)
            wanted.pop(0)
    again = 0
    while not wait(cluster, merged, deadline) or not is_complete(merged):
        if again == 3:
            raise Failed(f'not complete after {again} resumptions')
        again += 1
        cancel(cluster)
        # A merge that was killed may have written some tables.
        remove(merged)
        named = run(folder / 'worker', 'plan', '--resume', 'job', cwd=folder).strip()
        done = parts_once(folder / 'job')
        # A controller that is killed may forget a job that was just submitted, such as the merge.
        if len(done) == CAPTURES + SLICES:
            run(folder / 'worker', 'merge', 'job', '-o', 'job/merged', cwd=folder)
            break
        print(f'  {len(done)} of {CAPTURES + SLICES} parts after {", ".join(killed)}; resumed: {named}', flush=True)
        submit(cluster, folder, '--resume', 'job')
        deadline = time.monotonic() + ROUND_SECONDS
    compare(folder)
    if len(parts_once(folder / 'job')) != CAPTURES + SLICES:
        raise Failed('parts are missing after the merge')
    # The last attempts may still be there, but they change nothing.
    cancel(cluster)
    return killed


def round_with_a_full_disk(cluster, folder):
    shutil.rmtree(folder / 'job', ignore_errors=True)
    (folder / 'full').write_text('3')
    submit(cluster, folder, 'job.toml', '-o', 'job')
    if not wait(cluster, folder / 'job/merged', time.monotonic() + 2 * ROUND_SECONDS):
        raise Failed('the job is not complete after one task had a full disk')
    log = (folder / 'full.log').read_text()
    if 'No space left on device' not in log and 'the disk is full' not in log:
        raise Failed(f'the shard does not say that the disk was full: {log}')
    compare(folder)
    parts_once(folder / 'job')
    cancel(cluster)


def round_with_a_shard_that_fails(cluster, folder):
    shutil.rmtree(folder / 'job', ignore_errors=True)
    (folder / 'always').write_text('5')
    submit(cluster, folder, 'job.toml', '-o', 'job')
    if not wait(cluster, folder / 'job/merged', time.monotonic() + 2 * ROUND_SECONDS):
        raise Failed('the cluster does not give up a shard that always fails')
    if (folder / 'job/merged').exists():
        raise Failed('it was merged without the shard that fails')
    log = (folder / 'job/scripts/slurm_merge.log').read_text()
    if not re.search(r'\b5\b', log):
        raise Failed(f'the merge does not name the shard: {log}')
    if (named := run(folder / 'worker', 'plan', '--resume', 'job', cwd=folder).strip()) != '5':
        raise Failed(f'all but shard 5 should be done, but these are missing: {named}')
    (folder / 'always').unlink()
    submit(cluster, folder, '--resume', 'job')
    wait(cluster, folder / 'job/merged', time.monotonic() + ROUND_SECONDS)
    compare(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--waymark', default=ROOT / 'build/release/bin/waymark', type=Path)
    parser.add_argument('--what', default='counts', choices=['counts', 'events'], help='default: %(default)s')
    parser.add_argument('--faults', default=50, type=int, help='default: %(default)s')
    parser.add_argument('--seed', default=1, type=int)
    options = parser.parse_args()
    random.seed(options.seed)
    kinds = {}
    with tempfile.TemporaryDirectory(prefix='waymark-fleet-') as name:
        folder = Path(name).resolve()
        make_inputs(folder, options.waymark.resolve(), options.what)
        with Cluster(folder / 'cluster') as cluster:
            while sum(kinds.values()) < options.faults:
                killed = round_of_faults(cluster, folder, random.randint(1, 3))
                for one in killed:
                    kinds[one] = kinds.get(one, 0) + 1
                print(f'{sum(kinds.values()):3} killed; equal after {", ".join(killed) or "nothing"}', flush=True)
            if subprocess.run(['unshare', '--mount', '--map-root-user', 'true'], check=False).returncode == 0:
                round_with_a_full_disk(cluster, folder)
                print('The task whose disk was full succeeded at another attempt.', flush=True)
            else:
                print('Not tried: a full disk. This machine does not let a user mount a file system.')
            round_with_a_shard_that_fails(cluster, folder)
    print('A shard that always fails was named, and done later.')
    print(f'{sum(kinds.values())} killed ({", ".join(f"{n} {kind}" for kind, n in sorted(kinds.items()))}): '
          'nothing was lost, and nothing was counted twice.')


if __name__ == '__main__':
    try:
        main()
    except Failed as failure:
        raise SystemExit(f'fleet.py: {failure}') from failure
