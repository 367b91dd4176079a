"""What holds for any capture: for the sample, and for the recorded captures of ../shared if there are any."""
import json
import os
import random
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

import waymark

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = [ROOT / 'samples/quicksort', *sorted((ROOT.parent / 'shared/data/snapshots').glob('*/'))]
# With damage, or with nothing to decode.
GOOD = (0, 1)


@pytest.fixture(params=CAPTURES, ids=lambda path: path.name)
def path(request):
    return request.param


def digest(batches):
    """Equal for equal elements, however they are divided."""
    whole = b''.join(batch.tobytes() for batch in batches)
    return len(whole), hash(whole)


def compare(path):
    """Elements are those of waymark decode, one by one."""
    program = os.environ.get('WAYMARK') or ROOT / 'build/dev/bin/waymark'
    environment = {name: value for name, value in os.environ.items() if name != 'LD_PRELOAD'}
    compared = 0
    with waymark.open(path) as capture, subprocess.Popen(
            [program, 'decode', path, '--format', 'json'], env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL) as process:
        elements = (record for batch in capture.batches() for record in waymark.records(batch))
        for line in process.stdout:
            wanted = json.loads(line)
            if wanted['type'] == 'damage':
                continue
            assert next(elements) == wanted, compared
            compared += 1
        assert next(elements, None) is None
    assert process.returncode in GOOD
    return compared


def test_elements_equal_those_of_the_program(path):
    compare(path)


def test_sizes_of_batches_passes_and_threads_change_nothing(path):
    with waymark.open(path) as capture:
        whole = digest(capture.batches())
        sizes = [size for size in (1, 7, 512, 4095) if whole[0] / size < 1 << 24]
        for size in sizes:
            assert digest(capture.batches(size)) == whole
        found = []
        threads = [threading.Thread(target=lambda: found.append(digest(capture.batches(1000)))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [whole] * 3


def test_counts_are_sums_over_elements(path):
    with waymark.open(path) as capture:
        instructions = 0
        for batch in capture.batches():
            instructions += int(batch['count'][batch['kind'] == waymark.Kind.RANGE].sum(dtype='u8'))
        counts = [capture.counts(), capture.counts(threads=3)]
    for each in counts:
        assert each.totals['instructions'] == instructions
    assert counts[0].totals == counts[1].totals
    assert counts[0].ranges().equals(counts[1].ranges())


def test_damage_is_that_of_the_program(path, tmp_path):
    generator = random.Random(path.name)
    copy = tmp_path / 'damaged'
    shutil.copytree(path, copy, copy_function=shutil.copyfile)
    traces = sorted(file for file in copy.iterdir() if file.suffix == '.bin' and 0 < file.stat().st_size < 1 << 20)
    for file in traces:
        data = bytearray(file.read_bytes())
        for _ in range(3):
            data[generator.randrange(len(data))] ^= 1 << generator.randrange(8)
        file.write_bytes(data)
    compare(copy)
