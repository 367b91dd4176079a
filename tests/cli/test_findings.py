"""export findings: what info says about each of many captures, in one file."""
import csv
import io
import json
import shutil
import struct

import pytest
from support.trace_bytes import ATOM_E, ETMV4_START, framed


@pytest.fixture
def captures(tmp_path, good, synth, quicksort, itm_file):
    """Captures with different findings in tmp_path, by name."""
    shutil.copytree(good, tmp_path / 'good')
    shutil.copytree(quicksort, tmp_path / 'zeros')
    trace = tmp_path / 'zeros/trace.bin'
    trace.write_bytes(bytes(trace.stat().st_size))
    shutil.copytree(synth('--size', '20K', '--protocol', 'etmv4', '--perf-data', '--no-truth'), tmp_path / 'perf')
    shutil.copyfile(itm_file, tmp_path / 'swo.bin')
    (tmp_path / 'dump.bin').write_bytes(framed(0x10, (ETMV4_START + ATOM_E * 60) * 12))
    (tmp_path / 'notes.txt').write_text('This is not a trace.\n' * 20)
    return ['good', 'zeros', 'perf/perf.data', 'swo.bin', 'dump.bin', 'notes.txt', 'gone']


def findings(run, *words, expect=0):
    return json.loads(run('export', 'findings', *words, expect=expect).out)


def test_findings_match_those_of_info(run, captures):
    of = {one['input']: one for one in findings(run, *captures, expect=3)['captures']}
    assert list(of) == captures
    for path in ('good', 'zeros', 'perf/perf.data', 'swo.bin'):
        said = json.loads(run('info', path, '--format', 'json').out)
        assert [finding['text'] for finding in of[path]['findings']] == said['doubts'], path
        assert of[path]['framing'] == said['framing'] and of[path]['bytes'] == said['bytes']
        assert of[path]['kind'] == said['kind'] and of[path]['code'] == 0
    kinds = {path: {finding['kind'] for finding in one['findings']} for path, one in of.items()}
    assert 'no_bytes' in kinds['zeros'] or 'no_sync_point' in kinds['zeros']


def test_findings_include_what_info_reports_about_undescribed_trace(run, captures):
    of = {one['input']: one for one in findings(run, *captures, expect=3)['captures']}
    said = json.loads(run('info', 'dump.bin', '--format', 'json').out)
    finding, = of['dump.bin']['findings']
    assert finding['kind'] == 'not_described' and finding['text'].endswith(said['next'])
    assert of['dump.bin']['framing'] == 'mem' and of['dump.bin']['code'] == 0
    for path in ('notes.txt', 'gone'):
        assert of[path]['code'] == run('info', path, expect=None).code == 3
        assert {finding['kind'] for finding in of[path]['findings']} <= {'unreadable', 'not_described'}


def test_kinds_are_counted_and_csv_has_the_same(run, captures):
    found = findings(run, *captures, expect=3)
    rows = list(csv.DictReader(io.StringIO(run('export', 'findings-csv', *captures, expect=3).out)))
    assert list(dict.fromkeys(row['input'] for row in rows)) == captures
    rows = [row for row in rows if row['kind']]
    assert {kind['kind']: (kind['inputs'], kind['findings']) for kind in found['kinds']} == {
        kind: (len({row['input'] for row in rows if row['kind'] == kind}),
               sum(row['kind'] == kind for row in rows)) for kind in {row['kind'] for row in rows}}
    texts = [finding['text'] for one in found['captures'] for finding in one['findings']]
    assert [row['text'] for row in rows] == texts
    assert found['inputs'] == len(captures)
    assert found['inputs_with_findings'] == sum(bool(one['findings']) for one in found['captures'])


AUX_RECORD = 11
AUX_TRUNCATED = 1


def with_a_full_buffer(recording):
    """A perf recording in which the first piece of trace did not fit."""
    data = bytearray(recording)
    at, size = struct.unpack_from('<QQ', data, 40)
    end = at + size
    while at < end:
        kind, _, size = struct.unpack_from('<IHH', data, at)
        if kind == AUX_RECORD:
            flags, = struct.unpack_from('<Q', data, at + 24)
            struct.pack_into('<Q', data, at + 24, flags | AUX_TRUNCATED)
            return data
        at += size
    raise AssertionError('no trace')


def test_losses_have_a_kind_of_their_own(run, captures, tmp_path):
    path = tmp_path / 'perf/perf.data'
    before, = findings(run, path)['captures']
    path.write_bytes(with_a_full_buffer(path.read_bytes()))
    after, = findings(run, path)['captures']
    assert [finding for finding in after['findings'] if finding['kind'] != 'loss'] == before['findings']
    loss, = (finding for finding in after['findings'] if finding['kind'] == 'loss')
    assert 'trace was lost 1 time' in loss['text']


def test_parts_of_inputs_are_refused(run, good):
    for option in (['--pid', '1'], ['--from', '5'], ['--program', 'x']):
        run('export', 'findings', good, *option, expect=2).one_sentence('whole inputs')
    run('export', 'findings', good, '--framing', 'frames', expect=2).one_sentence('--framing')
