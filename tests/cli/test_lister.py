"""trc_pkt_lister beyond what the recorded listings show: options, log destinations, broken inputs.

Its texts are those of the reference and must not change.
"""
import resource

import pytest
from support.snapshots import append, edit, make_good, make_snapshot
from support.trace_bytes import ATOM_E, ETMV4_START, LOOP_PROGRAM, framed


@pytest.fixture
def listing(lister, tmp_path):
    """listing(OPTION...): lists the folder `good` of tmp_path, or the folder that --ss_dir names."""
    make_good(tmp_path / 'good')

    def run(*options, capture='good', **more):
        return lister('-logstdout', '-no_time_print', '-ss_dir', capture, *options, **more)
    return run


@pytest.fixture
def damaged(tmp_path):
    make_snapshot(tmp_path / 'damaged', ETMV4_START + ATOM_E + b'\x23' + ATOM_E)
    return 'damaged'


@pytest.fixture
def quiet_lister(lister, tmp_path):
    """Runs the lister with its log in the default places."""
    make_good(tmp_path / 'good')
    return lister


def test_packets_and_elements(listing, lister):
    result = listing('-decode').quiet().has(
        'Using ETB_0 as trace source',
        'Trace Packet Lister : Protocol printer ETMV4I on Trace ID 0x0',
        'Gen_Info : FileAcc; Range::0x80000:80007; Mem Space::Any',
        'Filename=good/program.bin',
        'Idx:26; ID:0; [0xf7 ];\tI_ATOM_F1 : Atom format 1.; E',
        'Idx:26; ID:10; OCSD_GEN_TRC_ELEM_INSTR_RANGE(exec range=0x80000:[0x80008] num_i(2) last_sz(4) '
        '(ISA=A64) E BR  )',
        'ID:0\tEND OF TRACE DATA',
        'Trace Packet Lister : Trace buffer done, processed 31 bytes.')
    assert result.lines[:8] == [
        'Trace Packet Lister: CS Decode library testing', '-----------------------------------------------', '',
        '** Library Version : 1.8.0', '', 'Test Command Line:-',
        f'{lister.program}   -logstdout  -no_time_print  -ss_dir  good  -decode  ', '']


def test_the_default_log_is_standard_output_and_a_file(quiet_lister, tmp_path):
    first = quiet_lister('-ss_dir', 'good')
    log = tmp_path / 'trc_pkt_lister.ppl'
    assert log.read_bytes() == first.out_bytes
    second = quiet_lister('-ss_dir', 'good')
    assert log.read_bytes() == first.out_bytes + second.out_bytes, 'it appends'


@pytest.mark.parametrize('args, status, text', [
    (['-ss_dir'], 255, 'Trace Packet Lister : Error: Missing directory string on -ss_dir option'),
    (['-logfilename'], 254, 'Bad logger command line options'),
    (['-ss_dir', 'good', '-id', '0x70'], 255, 'Trace Packet Lister : Error: invalid ID number 0x70 on -id option'),
    (['-help'], 255, '-decode_only'),
])
def test_arguments_that_end_the_run(quiet_lister, args, status, text):
    quiet_lister(*args, expect=status).has(text)


@pytest.mark.parametrize('options, texts', [
    (['-frobnicate'], ['Trace Packet Lister : Warning: Ignored unknown option -frobnicate.', 'Trace buffer done']),
    (['-src_name', 'ETB_7'], ['Trace Packet Lister : Trace source name ETB_7 not found', 'Valid source names are:-']),
    ([], ['ss2_dcdtree : Warning: Default set for register. Missing TRCIDR8']),
    (['-decode', '-stats'], ['Decode stats ID 0x0', 'Total Bytes: 31; Unsynced Bytes: 0']),
    (['-decode', '-profile'], ['Generic Packets processed:-', 'OCSD_GEN_TRC_ELEM_INSTR_RANGE : 5']),
])
def test_options(listing, options, texts):
    listing(*options).has(*texts)


def test_a_profile_prints_nothing_else(listing):
    assert not [line for line in listing('-decode', '-profile').lines if line.startswith('Idx')]


def test_a_snapshot_that_does_not_exist(listing):
    listing(capture='nowhere').has('Trace Packet Lister : Snapshot pathnowhere not found')


def test_verbose_reading_of_the_snapshot(listing, tmp_path):
    append(make_good(tmp_path / 'verbose') / 'etm.ini', '[extra]\nanything\n')
    result = listing('-ss_verbose', capture='verbose')
    assert [line for line in result.lines if line.startswith(('snapshot_', 'Found'))] == [
        'snapshot_parser : Start of snapshot section',
        'snapshot_parser : Start of device_list section',
        'snapshot_parser : Start of trace section',
        'snapshot_reader : Parsed snapshot.ini.',
        'Found 2 devices.',
        'snapshot_reader : Device 1: Ini file = cpu.ini; Name = UNKNOWN',
        'snapshot_parser : Start of device section',
        'snapshot_parser : Start of dump section',
        'snapshot_reader : Device 2: Ini file = etm.ini; Name = UNKNOWN',
        'snapshot_parser : Start of device section',
        'snapshot_parser : Start of regs section',
        'snapshot_parser : Unknown section ignored: extra',
        'snapshot_reader : Trace Metadata ini file found : trace.ini',
        'snapshot_parser : Start of trace_buffers section',
        'snapshot_parser : Start of buffer0 section',
        'snapshot_parser : Start of source_buffers section',
        'snapshot_parser : Start of core_trace_sources section',
        'snapshot_reader : Done.']
    assert not [line for line in listing(capture='verbose').lines if line.startswith('snapshot_')]


def test_verbose_reading_of_eleven_devices(listing, tmp_path):
    devices = ''.join(f'device{number}=cpu.ini\n' for number in range(3, 12))
    edit(make_good(tmp_path / 'many') / 'snapshot.ini', ('b=etm.ini\n', f'b=etm.ini\n{devices}'))
    lines = listing('-ss_verbose', capture='many').lines
    assert [line.split()[3] for line in lines if line.startswith('snapshot_reader : Device')] == [
        f'{number}:' for number in range(1, 12)]


def dump(file, address, length=None, offset=None):
    values = {'file': file, 'address': hex(address), 'length': length, 'offset': offset}
    return '[dump]\n' + ''.join(f'{key}={value}\n' for key, value in values.items() if value is not None)


@pytest.mark.parametrize('dumps, regions', [
    ([('a.bin', 0x80010, 8), ('b.bin', 0x80000, 32)], ['80010:80017', '80000:8001f']),
    ([('a.bin', 0x80000, 8), ('a.bin', 0x90000, 8, 32)], ['80000:8001f', '90000:90007']),
    ([('a.bin', 0x90000, 8, 16), ('a.bin', 0x80000, 8)], ['80000:80007', '90000:90007']),
    ([('b.bin', 0x80000, 32), ('a.bin', 0x90000, 8), ('a.bin', 0x80008, 8, 8)],
     ['80000:8001f', '90000:90007', '80008:8000f']),
    ([('a.bin', 0x80000, 8), ('a.bin', 0x80000, 8)], ['80000:80007']),
], ids=['a_range_around_another', 'the_beginning_of_a_file_reaches_to_the_next_region',
        'the_beginning_of_a_file_comes_first', 'later_regions_are_compared_with_their_file_only', 'twice_the_same'])
def test_memory_dumps(listing, tmp_path, dumps, regions):
    folder = make_good(tmp_path / 'dumps')
    for name in ('a.bin', 'b.bin'):
        (folder / name).write_bytes(LOOP_PROGRAM * 8)
    (folder / 'cpu.ini').write_text('[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n'
                                    + ''.join(dump(*each) for each in dumps))
    lines = listing('-decode', capture='dumps').lacks('Failed to create memory accessor').lines
    assert [line.split('0x')[1].split(';')[0] for line in lines if 'FileAcc' in line] == regions


@pytest.mark.parametrize('dumps, error', [
    ([('b.bin', 0x80000, 32), ('a.bin', 0x80010, 32)], '0x001e'),
    ([('b.bin', 0x80010, 32), ('a.bin', 0x80000, 32)], '0x001e'),
    ([('a.bin', 0x80000, 8), ('a.bin', 0x90000)], '0x0006'),
    ([('a.bin', 0x80000, 8), ('a.bin', 0x90000, 8, 100)], '0x0006'),
    ([('a.bin', 0x80000, 8), ('a.bin', 0x90000, 7, 8)], '0x0006'),
    ([('a.bin', 0x80000, 8, 16), ('a.bin', 0x80004, 8, 32)], '0x0006'),
    ([('a.bin', 0x80000, 8, 100)], '0x0003'),
    ([('a.bin', 0x80000, 100)], '0x0003'),
    ([('empty.bin', 0x80000)], '0x0003'),
    ([('a.bin', 0x80001, 8)], '0x0021'),
    ([('a.bin', 0x80000, 7)], '0x0021'),
    ([('a.bin', 0xFFFFFFFFFFFFFFF8, 16)], '0x0021'),
    ([('a.bin', 0x80000, None, 8)], '0x0021'),
], ids=['begins_inside', 'ends_inside', 'second_without_length', 'second_beyond_the_file', 'second_odd', 'same_file',
        'offset_beyond_the_file', 'length_beyond_the_file', 'empty', 'odd_address', 'odd_length', 'wraps',
        'offset_without_length'])
def test_memory_dumps_that_are_refused(listing, tmp_path, dumps, error):
    folder = make_good(tmp_path / 'dumps')
    for name, data in (('a.bin', LOOP_PROGRAM * 8), ('b.bin', LOOP_PROGRAM * 8), ('empty.bin', b'')):
        (folder / name).write_bytes(data)
    (folder / 'cpu.ini').write_text('[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n'
                                    + ''.join(dump(*each) for each in dumps))
    listing('-decode', capture='dumps').matches(
        rf'ss2_dcdtree : {error} .*Failed to create memory accessor for file dumps/{dumps[-1][0]}\.')


def test_a_log_that_may_not_grow(quiet_lister, tmp_path):
    (tmp_path / 'limited.ppl').write_bytes(bytes(1000))
    quiet_lister('-ss_dir', 'good', '-decode', '-logfilename', 'limited.ppl', expect=1,
                 limits={resource.RLIMIT_FSIZE: 1024}).says('cannot write the listing')


def test_a_log_on_a_full_disk(quiet_lister):
    quiet_lister('-ss_dir', 'good', '-logfilename', '/dev/full', expect=1).says('cannot write the listing')


def test_an_id_that_leaves_nothing_to_print(listing, tmp_path):
    make_snapshot(tmp_path / 'frames', framed(0x10, ETMV4_START), 'coresight')
    for option in ((), ('-pkt_mon',), ('-stats',), ('-multi_session',)):
        result = listing('-id', '0x20', *option, capture='frames').lacks('Trace buffer done')
        assert result.lines[-1] == 'Trace Packet Lister : No supported protocols found.', option
    for option in ('-decode', '-o_raw_packed'):
        listing('-id', '0x20', option, capture='frames').has('Trace buffer done').lacks('No supported')


@pytest.mark.parametrize('size, count, last_footer', [
    (512, 3, [0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7]),
    (508, 2, [0xF0, 0xF1, 0xF2, 0xF3, 0x08, 0xF7, 0xF7, 0xF7]),
    (504, 2, [0x04, 0x05, 0x06, 0x07, 0x08, 0xF7, 0xF7, 0xF7]),
    (0, 2, [0xF0, 0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7]),
], ids=['whole', 'half_a_footer', 'no_footer', 'no_record'])
def test_the_footer_of_a_record_that_the_file_ends_in(listing, tmp_path, size, count, last_footer):
    """What the file lacks of a footer shows the first bytes of the record."""
    trace = (ETMV4_START + ATOM_E * 1000)[:1008]
    footer = bytes(range(0xF0, 0xF8))
    (make_good(tmp_path / 'dstream') / 'trace.bin').write_bytes(
        trace[:504] + footer + (bytes.fromhex('0405060708') + trace[509:] + footer)[:size])
    result = listing('-dstream_format', '-o_raw_packed', capture='dstream')
    footers = [line for line in result.lines if line.startswith('DSTREAM')]
    assert len(footers) == count
    assert footers[-1] == f"DSTREAM footer [{''.join(f'0x{byte:x} ' for byte in last_footer)}]"


def test_the_footer_after_a_fatal_error(listing, tmp_path):
    make_snapshot(tmp_path / 'unframed', ETMV4_START + ATOM_E * 3, 'coresight')
    lines = listing('-dstream_format', '-o_raw_packed', capture='unframed').lines
    at = lines.index('DSTREAM footer [0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 ]')
    assert lines[at + 1] == 'Trace Packet Lister : Data Path fatal error'


def test_a_missing_register(listing, tmp_path):
    edit(make_good(tmp_path / 'register') / 'etm.ini', ('TRCIDR0=0x28000EA1\n', ''))
    listing(capture='register').has('ss2_dcdtree : Error:Missing TRCIDR0',
                                    'Failed to create decoder for source ETM_0.')


def test_a_missing_trace_file(listing, tmp_path):
    (make_good(tmp_path / 'untraced') / 'trace.bin').unlink()
    listing(capture='untraced').has('Trace Packet Lister : Error : Unable to open trace buffer.')


def test_raw_data_read_as_frames(listing, tmp_path):
    make_snapshot(tmp_path / 'unframed', ETMV4_START + ATOM_E * 3, 'coresight')
    listing('-decode', capture='unframed').has('Trace Packet Lister : Data Path fatal error', 'processed 0 bytes')


@pytest.mark.parametrize('options, texts', [
    (['-decode'], ['DCD_ETMV4 : 0x0019 (OCSD_ERR_BAD_DECODE_PKT) [Reserved or unknown packet in decoder.]; '
                   'TrcIdx=27; CS ID=10; Unknown packet type.']),
    ([], ['PKTP_ETMV4I : 0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet header]; TrcIdx=27; CS ID=10; '
          'Idx:27; ID:0;']),
    (['-decode', '-halt_err'], ['Trace Packet Lister : Data Path fatal error', 'processed 28 bytes']),
    (['-decode', '-halt_err', '-stats'], ['Total Bytes: 28; Unsynced Bytes: 0']),
], ids=['decoding', 'packets_only', 'halt_on_error', 'statistics_after_it'])
def test_a_bad_packet(listing, damaged, options, texts):
    listing(*options, capture=damaged).has(*texts)


def test_an_unsupported_configuration(listing, tmp_path):
    edit(make_good(tmp_path / 'loads') / 'etm.ini', ('TRCCONFIGR=0x1', 'TRCCONFIGR=0x7'))
    listing('-decode', capture='loads').has(
        'I_ASYNC',
        'DCD_ETMV4 : 0x0003 (OCSD_ERR_NOT_INIT) [Component not initialised.]; No decoder configuration information',
        'Trace Packet Lister : Data Path fatal error')


def make_two(folder, trace):
    """Frames of two ETMv4 with the trace IDs 0x10 and 0x11."""
    make_snapshot(folder, trace, 'coresight')
    edit(folder / 'snapshot.ini', ('b=etm.ini\n', 'b=etm.ini\nc=other.ini\n'))
    edit(folder / 'trace.ini', ('ETM_0=ETB_0\n', 'ETM_0=ETB_0\nETM_1=ETB_0\n'),
         ('cpu_0=ETM_0\n', 'cpu_0=ETM_0\ncpu_0=ETM_1\n'))
    other = (folder / 'etm.ini').read_text().replace('name=ETM_0', 'name=ETM_1')
    (folder / 'other.ini').write_text(other.replace('IDR=0x10', 'IDR=0x11'))
    return folder


def test_nothing_is_printed_after_the_first_packet_that_is_not_decoded(listing, tmp_path):
    """Not even what the same block holds of other IDs, or of its frames."""
    folder = make_two(tmp_path / 'two', framed(0x10, ETMV4_START + ATOM_E * 2)
                      + framed(0x11, ETMV4_START + ATOM_E * 2) + framed(0x10, ATOM_E * 14))
    edit(folder / 'other.ini', ('CONFIGR=0x1', 'CONFIGR=0x7'))
    lines = listing('-decode', '-o_raw_packed', capture='two').lines
    at = next(i for i, line in enumerate(lines) if line.startswith('Idx:32; ID:11;'))
    assert lines[at + 1].startswith('DCD_ETMV4_0017 : 0x0003 (OCSD_ERR_NOT_INIT)')
    assert lines[at + 1].endswith('Trace Packet Lister : Data Path fatal error')
    assert lines[at + 2].endswith('Trace Packet Lister : Trace buffer done, processed 48 bytes.')
    assert len(lines) == at + 3


def test_statistics_count_what_was_read_before_a_source_is_refused(listing, tmp_path):
    folder = make_snapshot(tmp_path / 'refused', ETMV4_START + ATOM_E)
    edit(folder / 'etm.ini', ('CONFIGR=0x1', 'CONFIGR=0x7'))
    listing('-decode_only', '-stats', capture='refused').has('processed 12 bytes', 'Total Bytes: 12; Unsynced')
    folder = make_two(tmp_path / 'two', framed(0x10, ETMV4_START) + framed(0x11, ETMV4_START))
    edit(folder / 'other.ini', ('CONFIGR=0x1', 'CONFIGR=0x7'))
    # The third frame counts with the twelve bytes of the first packet.
    listing('-decode', '-stats', capture='two').has(
        'processed 48 bytes', 'Decode stats ID 0x11\nTotal Bytes: 12; Unsynced',
        'Trace data bytes sent to registered ID decoders: 40')


def test_a_refused_source_says_so_at_each_operation(listing, tmp_path):
    folder = make_snapshot(tmp_path / 'refused', ETMV4_START + ATOM_E)
    edit(folder / 'etm.ini', ('CONFIGR=0x1', 'CONFIGR=0x7'))
    lines = listing('-decode', '-multi_session', capture='refused').lines
    at = next(i for i, line in enumerate(lines) if 'Trace buffer done' in line)
    assert lines[at + 1].startswith('DCD_ETMV4 : 0x0003 (OCSD_ERR_NOT_INIT)')
    assert lines[at + 1].endswith('No decoder configuration informationID:0\tRESET operation on trace decode path')
    assert lines[at + 2] == ('Trace Packet Lister : ERROR : Multi-session decode for buffer ETB_0 failed. Aborting.')
    # A source without data is refused at the end, and a FLUSH ends decoding.
    folder = make_two(tmp_path / 'two', framed(0x10, ETMV4_START + ATOM_E * 2))
    edit(folder / 'other.ini', ('CONFIGR=0x1', 'CONFIGR=0x7'))
    listing('-decode', capture='two').has('No decoder configuration informationID:11\tEND OF TRACE DATA')
    listing('-decode', '-test_waits', '1', capture='two').has(
        'Idx:0; ID:10; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])\nDCD_ETMV4_0017 : 0x0003 (OCSD_ERR_NOT_INIT)',
        'No decoder configuration informationTrace Packet Lister : Data Path fatal error')


FSYNC = b'\xff\xff\xff\x7f'


@pytest.mark.parametrize('trace, processed', [
    (bytes(4), 1), (bytes(288), 285), (bytes(1024) + FSYNC + framed(0x10, ETMV4_START), 1021),
    (bytes(13) + FSYNC[:3], 13),
])
def test_a_first_block_without_an_fsync(listing, tmp_path, trace, processed):
    """The lister gives the last three bytes again, alone."""
    make_snapshot(tmp_path / 'unsynced', trace, 'dstream_coresight')
    lines = listing('-decode', capture='unsynced').lines
    assert lines[-2].endswith('Data Path fatal error')
    assert lines[-1].endswith(f'processed {processed} bytes.')


def test_the_statistics_of_frames_end_at_an_error(listing, tmp_path):
    make_snapshot(tmp_path / 'bad', FSYNC + framed(0x10, ETMV4_START[:14]) + FSYNC + bytes.fromhex('1234ff7f'),
                  'dstream_coresight')
    listing('-stats', capture='bad').has('processed 20 bytes', 'ID bytes and sync bytes: 6',
                                         'Total bytes processed by frame demux: 20')


def test_an_empty_segment_is_an_error_of_the_id_in_byte_12(listing, tmp_path):
    make_two(tmp_path / 'empty', framed(0x10, ETMV4_START) + bytes.fromhex('21000000000000000000000023002540'))
    listing(capture='empty').has('PKTP_ETMV4I_0017 : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value parameter '
                                 'passed to component.]; Packet Processor: Zero length data block')


def test_a_level_of_the_reference(listing):
    first = listing('-decode')
    for level in ('', '1.8.0', '1.8.3'):
        assert listing('-decode', env={'WAYMARK_OPENCSD_LEVEL': level}).out == first.out
    listing('-decode', env={'WAYMARK_OPENCSD_LEVEL': '1.7'}, expect=255).has(
        'Trace Packet Lister : Error: WAYMARK_OPENCSD_LEVEL=1.7 is not a level of compatibility; '
        'the levels are 1.3.3, 1.5.5, 1.8.0, 1.8.3.')


def test_the_levels_of_debian_have_shorter_texts(listing):
    now = listing('-decode', env={'WAYMARK_OPENCSD_LEVEL': '1.8.0'})
    now.has('Decoder Sync point TINFO')
    for level in ('1.3.3', '1.5.5'):
        old = listing('-decode', env={'WAYMARK_OPENCSD_LEVEL': level})
        assert 'Decoder Sync point' not in old.out
        assert old.out == now.out.replace('; Decoder Sync point TINFO', '')


def test_a_limit_of_ranges_from_the_environment(listing):
    listing('-decode', env={'OPENCSD_INSTR_RANGE_LIMIT': 1}).has('OCSD_ERR_I_RANGE_LIMIT_OVERRUN')


SHORT_ADDRESS = b'\x95\x00'
LISTER_MISSES_WAIT = 'Trace Packet Lister : WARNING : Data in; data Path expected WAIT response'
PRINTER_MISSES_WAIT = 'WARNING: Generic Element Printer; New element without previous _WAIT acknowledged'


def kinds(listing, *options, **more):
    """The kinds of the elements, and the warnings, of a listing with -decode_only."""
    lines = [line for line in listing('-decode_only', *options, **more).lines
             if line.startswith('Idx:') or 'WARNING' in line]
    return [line.split('OCSD_GEN_TRC_ELEM_')[1].split('(')[0] if line.startswith('Idx:') else line for line in lines]


def test_waits_that_end_before_the_trace_change_nothing(listing):
    assert kinds(listing) == kinds(listing, '-test_waits', '3')


def test_an_element_at_the_end_of_the_trace_answered_with_wait(listing):
    """The trace ends with an element, so that no FLUSH acknowledges its WAIT before EO_TRACE."""
    expected = kinds(listing)
    assert expected[-2:] == ['INSTR_RANGE', 'EO_TRACE']
    count = len(expected)
    assert kinds(listing, '-test_waits', str(count - 2)) == expected
    assert kinds(listing, '-test_waits', str(count - 1)) == [*expected, PRINTER_MISSES_WAIT]


def test_elements_that_a_wait_at_the_end_of_the_trace_loses(listing, tmp_path):
    make_snapshot(tmp_path / 'three', ETMV4_START + b'\xff')
    expected = kinds(listing, capture='three')
    assert expected[-4:] == ['INSTR_RANGE', 'INSTR_RANGE', 'INSTR_RANGE', 'EO_TRACE']
    # The first element of the last packet comes with it, the second one with EOT.
    assert kinds(listing, '-test_waits', '100', capture='three') == ['NO_SYNC', 'TRACE_ON', 'PE_CONTEXT',
                                                                     PRINTER_MISSES_WAIT]


def test_a_block_that_ends_without_an_element_misses_its_wait(listing, tmp_path):
    make_snapshot(tmp_path / 'rest', ETMV4_START + ATOM_E + SHORT_ADDRESS)
    expected = kinds(listing, capture='rest')
    assert expected[-1] == 'EO_TRACE'
    assert kinds(listing, '-test_waits', str(len(expected) - 1), capture='rest') == expected
    assert kinds(listing, '-test_waits', '100', capture='rest') == [*expected[:-1], LISTER_MISSES_WAIT, 'EO_TRACE']


def test_a_wait_in_the_last_frame_loses_the_rest_of_it(listing, tmp_path):
    make_snapshot(tmp_path / 'lost', framed(0x10, ETMV4_START + ATOM_E * 2), 'coresight')
    assert kinds(listing, capture='lost')[-3:] == ['INSTR_RANGE', 'INSTR_RANGE', 'EO_TRACE']
    # The first atom of the second frame gives three elements: the first comes with it, the second with EOT.
    lines = listing('-decode', '-test_waits', '100', '-stats', capture='lost').has(
        'Total Bytes: 27; Unsynced', 'Trace data bytes sent to registered ID decoders: 27').lines
    assert [line.split()[0] for line in lines if line.startswith('Idx:')][-3:] == ['Idx:28;', 'Idx:17;', 'Idx:18;']


def test_a_wait_at_the_end_of_a_session_stays_unacknowledged(listing, tmp_path):
    folder = make_two(tmp_path / 'sessions', ETMV4_START + ATOM_E)
    edit(folder / 'trace.ini', ('format=coresight', 'format=source_data'),
         ('buffers=buffer0\n', 'buffers=buffer0,buffer1\n'),
         ('[source_buffers]', '[buffer1]\nname=ETB_1\nfile=trace.bin\nformat=source_data\n[source_buffers]'),
         ('ETM_1=ETB_0', 'ETM_1=ETB_1'))
    found = kinds(listing, '-multi_session', '-test_waits', '100', capture='sessions')
    first = ['NO_SYNC', 'TRACE_ON', 'PE_CONTEXT', PRINTER_MISSES_WAIT]
    assert found == [*first, 'NO_SYNC', PRINTER_MISSES_WAIT, *first[1:]]
