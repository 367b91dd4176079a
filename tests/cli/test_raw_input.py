"""Raw trace: errors name each missing option of the command line; ITM and STM need none."""
import pytest
from support.snapshots import edit, make_snapshot
from support.trace_bytes import (ATOM_E, ETMV4_REGISTERS, ETMV4_START, ITM_ROUND, ITM_SYNC, LOOP_PROGRAM, STM_START,
                                 framed)

ETMV4 = ('--protocol', 'etmv4', *ETMV4_REGISTERS)
IMAGE = ('--image', '0x80000=program.bin')


def hexes(text):
    return bytes.fromhex(text)


@pytest.fixture
def file(tmp_path):
    """file(NAME, BYTES): writes a file, and returns its name."""
    def write(name, data):
        (tmp_path / name).write_bytes(data)
        return name
    return write


@pytest.fixture
def inputs(file):
    """The files that the commands of these tests name."""
    file('stream.bin', ETMV4_START + ATOM_E * 2)
    file('frames.bin', framed(0x10, ETMV4_START + ATOM_E * 2))
    file('program.bin', LOOP_PROGRAM)


@pytest.mark.parametrize('options, status, said', [
    (['--framing', 'none'], 3, ['--protocol etmv4']),
    (['--framing', 'none', '--protocol', 'etmv4', '--reg', 'TRCIDR0=0x28000EA1'], 3,
     ['state TRCCONFIGR and TRCIDR2 with --reg']),
    (['--framing', 'none', '--protocol', 'morse'], 2, ['--protocol', 'morse', 'etmv4']),
    (['--framing', 'square'], 2, ['--framing', 'square']),
    (['--reg', 'TRCIDR0'], 2, ['--reg', 'TRCIDR0']),
    (['--image', 'program.bin'], 2, ['--image', 'program.bin']),
    (['--framing', 'none', *ETMV4, '--image', '0x80000=none.bin'], 3, ['none.bin']),
    (['--framing', 'none', *ETMV4, '--core', 'Cortex-M87'], 3, ['--core', 'Cortex-M87', 'mean Cortex-M85', 'ARMv8.1-M']),
])
def test_options_that_are_missing_or_wrong(run, inputs, options, status, said):
    run('decode', 'stream.bin', *options, expect=status).says(*said).empty()


def test_a_core_that_is_not_known(run, tmp_path):
    make_snapshot(tmp_path / 'snap', ETMV4_START + ATOM_E * 2)
    run('decode', 'snap', '--core', 'cortex-a53', expect=3).says('--core', 'did you mean Cortex-A53?').never_says('cpu.ini')
    edit(tmp_path / 'snap/cpu.ini', ('type=Cortex-A53', 'type=Cortex-M8'))
    run('decode', 'snap', expect=3).says('cpu.ini', 'type=Cortex-M8', 'ARMv8.1-M', '--core').never_says('ARMv8-A')
    run('decode', 'snap', '--core', 'Cortex-A53').has('insns')


def test_a_return_without_a_call_has_its_place(run, inputs, file):
    file('code.bin', hexes('c0035fd6'))  # RET
    file('stream.bin', ETMV4_START + ATOM_E * 2)
    options = [x.replace('TRCCONFIGR=0x1', 'TRCCONFIGR=0x1001') for x in ETMV4]
    result = run('decode', 'stream.bin', '--framing', 'none', *options, '--image', '0x80000=code.bin')
    result.has('!! damage: An atom stands for a return, but no call is on the return stack.')
    assert [line.split()[0] for line in result.lines if '!! damage' in line] == ['27']


def test_a_stream_without_frames(run, inputs):
    run('decode', 'stream.bin', '--framing', 'none', *ETMV4, *IMAGE).has('+2  insns  → branch 0x0000000000080000')


def test_an_image_of_zeros_has_no_waypoint(run, inputs, tmp_path):
    """The zeros are instructions, but the decoder does not follow 16 GiB of them."""
    with open(tmp_path / 'sparse.bin', 'wb') as sparse:
        sparse.truncate(16 << 30)
    run('decode', 'stream.bin', '--framing', 'none', *ETMV4, '--image', '0x80000=sparse.bin').has(
        '!! damage', 'range')


def test_frames_have_their_ids(run, inputs):
    run('decode', 'frames.bin', '--framing', 'mem', *ETMV4, *IMAGE).has('0x10  0x0000000000080000')


def test_the_last_frame_is_cut(run, inputs, file):
    file('cut.bin', framed(0x10, ETMV4_START + ATOM_E * 2) * 8 + bytes([1, 2, 3]))
    run('decode', 'cut.bin', *ETMV4, *IMAGE).one_sentence(
        'cut.bin: 259 bytes', 'multiple of 16', 'last 3').has('0x10  0x0000000000080000')


def test_the_last_dstream_record_is_cut(run, inputs, file):
    padding = hexes('ffffff7f')
    record = padding + framed(0x10, ETMV4_START + ATOM_E * 2)[:32]
    record += padding * ((504 - len(record)) // 4) + hexes('000000007e00fe0f')
    file('whole.bin', record)
    run('decode', 'whole.bin', '--framing', 'dstream', *ETMV4, *IMAGE).quiet()
    file('cut.bin', record + padding + bytes([1, 2, 3]))
    run('decode', 'cut.bin', '--framing', 'dstream', *ETMV4, *IMAGE).one_sentence(
        '7 bytes', 'multiple of 4', 'last 3').has('0x10  0x0000000000080000')


def test_swo_needs_no_option(run, itm_file):
    run('decode', itm_file).quiet().has('-- port 0: "Hi\\n", time 21', '-- SysTick (15) entered, time 25')
    run('info', itm_file).has('ITM stream', 'nothing')


def test_swo_without_synchronisation_is_read_from_its_first_byte(run, file):
    file('x.bin', ITM_ROUND)
    run('decode', 'x.bin').one_sentence('SYNCENA').has('-- port 0: "Hi\\n", time 21')
    run('packets', 'x.bin').has('ITM_SWIT: {src id: 0x00}  0x48')


def test_swo_before_its_first_synchronisation(run, file):
    file('x.bin', ITM_ROUND + ITM_SYNC + hexes('0141'))
    options = ('--protocol', 'itm', '--framing', 'none')
    run('decode', 'x.bin', *options).has('port 0: "A"').lacks('Hi')
    run('decode', 'x.bin', *options, '--assume-sync').has('port 0: "Hi\\n"')


def test_swo_with_damage(run, file):
    file('x.bin', ITM_SYNC + ITM_ROUND + hexes('040102') + ITM_SYNC + hexes('0141'))
    run('decode', 'x.bin').has('!! damage: A packet header is reserved.', 'port 0: "A"')


def test_itm_with_a_prescaler_and_in_frames(run, itm_file, file):
    run('decode', itm_file, '--reg', 'ITMTCR=0x112').has('time 84')
    file('frames.bin', framed(0x14, ITM_SYNC + hexes('01410142014301440145')))
    run('decode', 'frames.bin', '--framing', 'mem', '--protocol', 'itm').has('0x14  -- port 0: "ABCDE')


def test_stm_needs_no_option(run, stm_file):
    run('decode', stm_file).quiet().has('-- timestamps count at 19200000 Hz', '-- master 0x40, channel 0: 0x2134')
    run('info', stm_file).has('STM stream', 'nothing')
    run('packets', stm_file).has('M8:Set current master; Master=0x40')


def test_stm_in_the_nibble_order_of_the_simulator(run, file):
    file('least.bin', STM_START + hexes('0f0870383910042531') + hexes('04'))
    run('decode', 'least.bin').one_sentence('least significant nibble').has(
        '-- timestamps count at 60000000 Hz', '-- master 0x04, channel 0: 0x4312')
    run('decode', 'least.bin', '--nibble-order', 'most').quiet().has(
        '-- timestamps count at 7878960 Hz', '-- master 0x40, channel 0: 0x2134')
    run('decode', 'least.bin', '--nibble-order', 'middle', expect=2).says('--nibble-order', 'middle')


@pytest.mark.parametrize('protocol, stream', [
    ('stm', STM_START + hexes('1ee101')),
    ('itm', ITM_SYNC + hexes('0141 0501 2020 2020')),
])
def test_missing_registers_cause_no_damage(run, file, protocol, stream):
    """Frames give the ID of a stream, but not the rest of the register."""
    file('frames.bin', framed(0x14, stream, fill=b'\x20' if protocol == 'itm' else b'\0'))
    for command in ('decode', 'packets'):
        run(command, 'frames.bin', '--framing', 'mem', '--protocol', protocol).quiet()


def test_stm_in_frames(run, file):
    options = ('--framing', 'mem', '--protocol', 'stm')
    file('most.bin', framed(0x20, STM_START + hexes('4140a5000000000000000000000000')))
    run('decode', 'most.bin', *options).has('0x20  -- master 0x40, channel 0: 0x5a')
    file('least.bin', framed(0x20, STM_START + hexes('21313454fa8000879303540a000000')))
    run('decode', 'least.bin', *options).one_sentence('0x20', 'least significant nibble').has(
        '-- timestamps count at 60000000 Hz', '-- master 0x12, channel 52: 0xa5')


def test_stm_with_damage(run, file):
    file('x.bin', STM_START + hexes('0f0c40') + STM_START + hexes('1402'))
    run('decode', 'x.bin').has('!! damage', '0x12')


@pytest.fixture
def with_data_stream():
    """An ETMv4 with ID 0x10 whose data stream has ID 0x11: a numbered marker, an unknown packet."""
    return (framed(0x10, ETMV4_START + ATOM_E * 2) +
            framed(0x11, hexes('0000000000000000000000800100' '1b75' '1234')))


def test_the_data_stream_of_an_etmv4(run, file, tmp_path, with_data_stream):
    file('frames.bin', with_data_stream)
    run('packets', 'frames.bin', '--framing', 'mem', '--protocol', 'etmv4', '--reg', 'TRCCONFIGR=0x10007',
        '--reg', 'TRCIDR0=0x28000EB9', '--reg', 'TRCIDR2=0x488').has(
            'I_TRACE_INFO', 'D_NUM_DS_MKR : Data Synchronisation Marker - Numbered.; 5',
            'D_UNKNOWN : Packets of unknown layout.[D_P1_F1]')
    snapshot = make_snapshot(tmp_path / 'x', with_data_stream, 'coresight')
    edit(snapshot / 'etm.ini', ('TRCCONFIGR=0x1', 'TRCCONFIGR=0x10007'), ('0x28000EA1', '0x28000EB9'))
    run('info', 'x').has('ETM_0 data')
    (tmp_path / 'layouts').write_text('D_P1_F1 fixed=2\nD_P1_F6\n')
    run('packets', 'x', '--id', '0x11', '--data-layouts', 'layouts').has('[0x75 0x12 0x34 ];')
    (tmp_path / 'layouts').write_text('D_P1_F1 fixed=2\nI_ASYNC\n')
    run('packets', 'x', '--data-layouts', 'layouts', expect=2).says('line 2', 'I_ASYNC')


DSTREAM_SCRIPT = """\
waymark-trace 1
device etm ETM4 Cortex-A53
reg TRCCONFIGR=0x1 TRCTRACEIDR=0x10 TRCIDR0=0x28000EA1 TRCIDR2=0x488
buffer a dstream
async; trace_info info=0; trace_on
repeat 2000 { atom_f1 E }
"""


def test_a_snapshot_with_dstream_records(run, tmp_path, assembled):
    trace = (assembled('dstream', DSTREAM_SCRIPT) / 'buffer_0.bin').read_bytes()
    make_snapshot(tmp_path / 'x', trace, 'dstream_coresight')
    run('decode', 'x').says('DSTREAM records').lacks('damage')


def test_an_elf_file_is_not_trace(run, file):
    file('program.elf', hexes('7f454c4602010100') + bytes(200))
    result = run('decode', 'program.elf', expect=3).one_sentence('program.elf')
    assert '--elf' in result.err or '--image' in result.err
