"""What holds for any capture: for the sample, and for the recorded captures of ../shared if there are any."""
import hashlib
import json
import random
import shutil
import subprocess

import pytest
from helpers import PROGRAM, ROOT, in_threads, program_environment

import waymark

CAPTURES = [ROOT / 'samples/quicksort', *sorted((ROOT.parent / 'shared/data/snapshots').glob('*/'))]
# With damage, or with nothing to decode.
GOOD = (0, 1)


@pytest.fixture(params=CAPTURES, ids=lambda path: path.name)
def path(request):
    return request.param


def digest(batches):
    """Equal for equal elements, however they are divided."""
    whole = hashlib.sha256()
    count = 0
    for batch in batches:
        whole.update(batch.tobytes())
        count += len(batch)
    return count, whole.digest()


def expect_elements_of_the_program(path):
    """Compares with waymark decode, element by element."""
    with waymark.open(path) as capture, subprocess.Popen(
            [PROGRAM, 'decode', path, '--format', 'json'], env=program_environment(), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL) as process:
        elements = (record for batch in capture.batches() for record in waymark.records(batch))
        compared = 0
        for line in process.stdout:
            wanted = json.loads(line)
            if wanted['type'] == 'damage':
                continue
            assert next(elements, None) == wanted, f'element {compared}'
            compared += 1
        assert next(elements, None) is None
    assert process.returncode in GOOD


def test_elements_equal_those_of_the_program(path):
    expect_elements_of_the_program(path)


def test_sizes_of_batches_passes_and_threads_change_nothing(path):
    with waymark.open(path) as capture:
        whole = digest(capture.batches())
        # One by one only where there are not too many.
        for size in (1, 7, 512, 4095) if whole[0] < 1 << 18 else (512, 4095):
            assert digest(capture.batches(size)) == whole
        assert in_threads(3, lambda: digest(capture.batches(1000))) == [whole] * 3


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
    expect_elements_of_the_program(copy)
