"""Trace without a description: what `info` and `doctor` find, and sources that --source describes."""
import json

import pytest
from support.trace_bytes import ATOM_E, ETMV4_START, ITM_ROUND, ITM_SYNC, framed


@pytest.fixture
def dump(tmp_path):
    """Frames of an ETMv4, which has many packets."""
    (tmp_path / 'dump.bin').write_bytes(framed(0x10, (ETMV4_START + ATOM_E * 60) * 12))
    return 'dump.bin'


def examination(run, *arguments):
    return json.loads(run(*arguments, '--format', 'json').out)


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
    assert done.out.count('I_ASYNC') == 12


def test_reasons_are_given(run, dump):
    text = run('info', dump, '--explain').out
    assert '\nwhy\n' in text and '\nnext\n' in text


def test_a_snapshot_is_written_and_decodes(run, dump, tmp_path):
    run('doctor', dump, '--write-snapshot', 'board')
    assert (tmp_path / 'board' / 'trace.bin').read_bytes() == (tmp_path / dump).read_bytes()
    assert run('packets', 'board').out.count('I_ASYNC') == 12


def test_swo_is_itm(run, tmp_path):
    (tmp_path / 'swo.bin').write_bytes(ITM_SYNC + ITM_ROUND * 100)
    stream, = examination(run, 'doctor', 'swo.bin')['streams']
    assert stream['protocol'] == 'itm'


@pytest.mark.parametrize('data, said', [(b'\x00' * 64, '0x00'), (b'\xff' * 64, '0xff')])
def test_no_trace(run, tmp_path, data, said):
    (tmp_path / 'none.bin').write_bytes(data)
    done = run('doctor', 'none.bin', expect=3)
    assert said in done.err


@pytest.mark.parametrize('options', [[], ['--format', 'json']])
def test_a_report_without_a_protocol_has_a_sentence(run, tmp_path, options):
    (tmp_path / 'text.bin').write_bytes(bytes(range(1, 120)) * 40)
    for command in ['doctor', 'info']:
        run(command, 'text.bin', *options, expect=3).says('text.bin: no protocol fits', '--source')


@pytest.mark.parametrize('options, status, said', [
    (['--source', '0x10=etm5'], 3, '--source 0x10=etm5'),
    (['--source', 'etmv4'], 3, 'state the trace ID'),
    (['--source', '0x99=etmv4'], 2, 'a trace ID from 1 to 111'),
    (['--source', '0x10=etmv4,TRCIDR0'], 2, '--source 0x10=etmv4,TRCIDR0'),
    (['--source', '0x10=etmv4,TRCIDR0=1'], 3, 'add the registers TRCCONFIGR and TRCIDR2 to --source 0x10=etmv4'),
    (['--source', '0x10=stm', '--protocol', 'stm'], 3, 'exclude each other'),
    (['--source', '0x10=stm', '--source', '0x10=itm'], 3, 'another --source'),
    (['--source', '0x10=stm,TRCIDR0=1'], 3, 'no register TRCIDR0'),
])
def test_a_wrong_source(run, dump, options, status, said):
    done = run('decode', dump, '--framing', 'mem', *options, expect=status)
    assert said in done.err
