"""Trace without a description: what `info` and `doctor` find, and sources that --source describes."""
import json

import pytest
from support.trace_bytes import ATOM_E, ETMV4_START, ITM_ROUND, ITM_SYNC, framed

REGISTERS = 'TRCCONFIGR=0xC1,TRCIDR0=0x28000EA1,TRCIDR2=0x488'


@pytest.fixture
def dump(tmp_path):
    """Frames of an ETMv4, which has many packets."""
    (tmp_path / 'dump.bin').write_bytes(framed(0x10, (ETMV4_START + ATOM_E * 60) * 12))
    return 'dump.bin'


def examination(run, *arguments):
    done = run(*arguments, '--format', 'json')
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_frames_are_examined(run, dump):
    found = examination(run, 'info', dump)
    assert found['type'] == 'examination'
    assert found['framing']['framing'] == 'mem'
    stream, = found['streams']
    assert (stream['id'], stream['protocol']) == (0x10, 'etmv4')
    assert found['next'].startswith('waymark decode dump.bin --framing mem --source 0x10=etmv4,')
    assert examination(run, 'doctor', dump) == found


def test_the_next_command_lists_packets(run, dump):
    stream, = examination(run, 'doctor', dump)['streams']
    done = run('packets', dump, '--framing', 'mem', '--source', stream['source'])
    assert done.returncode == 0
    assert done.stdout.count('I_ASYNC') == 12


def test_reasons_are_given(run, dump):
    text = run('info', dump, '--explain').stdout
    assert '\nwhy\n' in text and '\nnext\n' in text


def test_a_snapshot_is_written_and_decodes(run, dump, tmp_path):
    done = run('doctor', dump, '--write-snapshot', 'board')
    assert done.returncode == 0, done.stderr
    assert (tmp_path / 'board' / 'trace.bin').read_bytes() == (tmp_path / dump).read_bytes()
    assert run('packets', 'board').stdout.count('I_ASYNC') == 12


def test_swo_is_itm(run, tmp_path):
    (tmp_path / 'swo.bin').write_bytes(ITM_SYNC + ITM_ROUND * 100)
    stream, = examination(run, 'doctor', 'swo.bin')['streams']
    assert stream['protocol'] == 'itm'


def test_frames_after_lost_bytes(run, dump, tmp_path):
    (tmp_path / 'cut.bin').write_bytes((tmp_path / dump).read_bytes()[5:])
    done = run('packets', 'cut.bin', '--source', f'0x10=etmv4,{REGISTERS}')
    assert done.returncode == 0, done.stderr
    assert 'the frames begin at offset 11' in done.stderr
    assert done.stdout.count('I_ASYNC') >= 11


@pytest.mark.parametrize('data, said', [(b'', 'empty'), (b'\xff' * 64, '0xff')])
def test_no_trace(run, tmp_path, data, said):
    (tmp_path / 'none.bin').write_bytes(data)
    done = run('doctor', 'none.bin')
    assert done.returncode == 3
    assert said in done.stderr


@pytest.mark.parametrize('options, status, said', [
    (['--source', '0x10=etm5'], 3, '--source 0x10=etm5'),
    (['--source', 'etmv4'], 3, 'state the trace ID'),
    (['--source', '0x99=etmv4'], 2, 'a trace ID from 1 to 111'),
    (['--source', '0x10=etmv4,TRCIDR0'], 2, '--source 0x10=etmv4,TRCIDR0'),
    (['--source', '0x10=etmv4,TRCIDR0=1'], 3, ',TRCCONFIGR=VALUE,TRCIDR2=VALUE'),
    (['--source', '0x10=stm', '--protocol', 'stm'], 3, 'exclude each other'),
    (['--source', '0x10=stm', '--source', '0x10=itm'], 3, 'another --source'),
    (['--source', '0x10=stm,TRCIDR0=1'], 3, 'no register TRCIDR0'),
])
def test_a_wrong_source(run, dump, options, status, said):
    done = run('decode', dump, '--framing', 'mem', *options)
    assert done.returncode == status
    assert said in done.stderr
