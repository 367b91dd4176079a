"""Elements: the arrays, who owns their memory, and that they are those of `waymark decode`."""
import csv
import gc
import io

import numpy as np
import pandas as pd
import pytest
from helpers import in_threads

import waymark


def flat(batches):
    return [record for batch in batches for record in waymark.records(batch)]


def test_dtype_is_the_element():
    assert waymark.ELEMENT.itemsize == 64
    assert waymark.ELEMENT.fields['kind'][1] == 48


def test_kinds_are_the_words_of_json():
    from waymark import _native
    assert [kind.name.lower() for kind in waymark.Kind] == _native.KINDS
    assert [kind.value for kind in waymark.Kind] == list(range(len(_native.KINDS)))


def test_records_equal_those_of_the_program(capture, sample, tool_records):
    wanted = [record for record in tool_records('decode', sample) if record['type'] != 'damage']
    assert flat(capture.batches(1000)) == wanted


def test_fields_of_arrays_equal_those_of_json(capture, sample, tool_records):
    elements = capture.elements()
    for element, record in zip(elements, tool_records('decode', sample)):
        assert (element['index'], element['id']) == (record['index'], record['id'])
        if element['kind'] != waymark.Kind.RANGE:
            continue
        assert element['start'] == int(record['start'], 16)
        assert element['end'] == int(record['end'], 16)
        assert element['count'] == record['instructions']
        assert bool(element['flags'] & waymark.Flag.TAKEN) == record['taken']


def test_frame_equals_csv_of_the_program(capture, sample, tool):
    frame = waymark.frame(capture.elements())
    rows = list(csv.DictReader(io.StringIO(tool('decode', sample, '--format', 'csv').decode())))
    assert len(frame) == len(rows)
    for column in ('start', 'count', 'isa', 'last', 'subtype', 'taken', 'timestamp', 'reason', 'el'):
        for value, row in zip(frame[column].astype(object), rows):
            cell = row[column]
            if pd.isna(value):
                assert cell == ''
            elif column == 'start':
                assert value == int(cell, 16)
            elif column == 'taken':
                assert value == (cell not in ('0', 'false'))
            else:
                assert str(value) == cell


def test_words_are_categories(capture):
    frame = waymark.frame(capture.elements())
    assert frame['kind'].dtype == 'category'
    assert frame['last'].dtype == 'category'
    assert set(frame['isa'].dropna()) == {'A64'}


@pytest.mark.parametrize('size', [1, 7, 512, 65536])
def test_size_of_batches_changes_nothing(capture, size):
    arrays = list(capture.batches(size))
    assert all(len(array) == size for array in arrays[:-1])
    assert b''.join(array.tobytes() for array in arrays) == capture.elements().tobytes()


def test_all_elements_of_many_batches_are_one_array(capture, monkeypatch):
    whole = capture.elements()
    monkeypatch.setattr(waymark.Capture.batches, '__defaults__', (10,))
    joined = capture.elements()
    assert joined.dtype == waymark.ELEMENT
    assert joined.tobytes() == whole.tobytes()


def test_arrays_outlive_batches_and_capture(sample):
    capture = waymark.open(sample)
    whole = capture.elements().tobytes()
    arrays = list(capture.batches(100))
    capture.close()
    del capture
    gc.collect()
    assert b''.join(array.tobytes() for array in arrays) == whole


def test_a_part_of_an_array_keeps_its_memory(capture):
    batches = capture.batches(100)
    column = next(batches)['start'][10:20]
    wanted = column.copy()
    # Memory that nothing refers to is used again; this must not be that of the column.
    for batch in batches:
        batch['start'] = 0xDEAD
    gc.collect()
    assert (column == wanted).all()


def test_memory_of_batches_is_used_again(capture):
    addresses = set()
    for batch in capture.batches(50):
        addresses.add(batch.__array_interface__['data'][0])
    assert len(addresses) <= 3


def test_nothing_is_copied(capture):
    batch = next(capture.batches())
    assert not batch.flags.owndata
    assert np.shares_memory(batch, batch['start'])


def test_several_passes_at_once(capture):
    whole = capture.elements().tobytes()
    passes = [capture.batches(100) for _ in range(3)]
    found = [b'', b'', b'']
    while True:
        parts = [next(each, None) for each in passes]
        if all(part is None for part in parts):
            break
        for at, part in enumerate(parts):
            found[at] += part.tobytes()
    assert found == [whole] * 3


def test_threads_share_a_capture(capture):
    whole = capture.elements().tobytes()
    results = in_threads(4, lambda: b''.join(batch.tobytes() for batch in capture.batches(64)))
    assert results == [whole] * 4


def test_threads_share_a_pass(capture):
    whole = capture.elements()
    batches = capture.batches(10)
    found = in_threads(4, lambda: sum(len(batch) for batch in batches))
    # Which thread gets which batch is not known, but each comes once.
    assert sum(found) == len(whole)


def test_strided_elements_have_columns(capture):
    elements = capture.elements()
    frame = waymark.frame(elements[::3])
    assert (frame['index'].to_numpy() == elements['index'][::3]).all()


def test_any_bytes_are_a_frame():
    random = np.random.default_rng(1).integers(0, 256, 64 * 5000, dtype=np.uint8)
    elements = random.view(waymark.ELEMENT)
    assert len(waymark.frame(elements)) == 5000
    assert len(waymark.records(elements)) == 5000


def test_no_elements():
    empty = np.empty(0, waymark.ELEMENT)
    assert waymark.records(empty) == []
    assert len(waymark.frame(empty)) == 0
