"""MTB: dumps of its buffer, the texts of debuggers, and what the commands show of them."""
import collections
import struct

import pytest
from support.viewer import viewing

# The example of docs/spec/mtb.md 5.
CODE = (0x2000, 0xF000, 0xF803, 0x3001, 0x2803, 0xD1FA, 0x4770, 0)
HANDLER = (0xBF00, 0x4770, 0)
RECORDS = [(0x102, 0x10D), (0x10C, 0x106), (0x107, 0x200), (0x202, 0xFFFFFFF8), (0xFFFFFFF9, 0x106),
           (0x10A, 0x102), (0x102, 0x10C), (0x10C, 0x106), (0x10A, 0x102)]
SRAM = 0x20000000
WRAPPED = ('--reg', 'POSITION=0x0c', '--reg', 'MASTER=0x80000002')
IMAGE = ('--image', '0=memory.bin')


def buffer_of(records, size=64):
    """The buffer after the hardware has written the records."""
    data = bytearray(size)
    for number, record in enumerate(records):
        struct.pack_into('<II', data, number * 8 % size, *record)
    return bytes(data)


def words_of(data):
    return [word for word, in struct.iter_unpack('<I', data)]


def gdb_words(address, data):
    """As GDB prints them with x/wx."""
    words = words_of(data)
    return ''.join(f'{address + 4 * at:#x}:' + ''.join(f'\t{word:#010x}' for word in words[at:at + 4]) + '\n'
                   for at in range(0, len(words), 4))


def openocd_words(address, data):
    """As OpenOCD prints them with mdw."""
    words = words_of(data)
    return ''.join(f'{address + 4 * at:#010x}: ' + ''.join(f'{word:08x} ' for word in words[at:at + 8]) + '\r\n'
                   for at in range(0, len(words), 8))


REGISTERS = struct.pack('<IIII', 0x0C, 0x80000002, 0, SRAM)


@pytest.fixture
def files(tmp_path):
    """mtb.bin and memory.bin, and write(NAME, CONTENT)."""
    memory = bytearray(0x208)
    struct.pack_into('<17I', memory, 0, 0x20001000, 0x101, *[0x1FF] * 14, 0x201)
    struct.pack_into('<8H', memory, 0x100, *CODE)
    struct.pack_into('<3H', memory, 0x200, *HANDLER)
    (tmp_path / 'memory.bin').write_bytes(memory)
    (tmp_path / 'mtb.bin').write_bytes(buffer_of(RECORDS))

    def write(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name
    return write


def ranges(result):
    return [(element['index'], int(element['start'], 16), int(element['end'], 16))
            for element in result.json_lines() if element.get('kind') == 'range']


def test_a_buffer_that_wrapped_is_read_from_its_oldest_record(run, files):
    result = run('decode', 'mtb.bin', '--protocol', 'mtb', *WRAPPED, *IMAGE, '--format', 'json')
    result.says('8 records wrap around the end of the buffer')
    assert ranges(result) == [(0, 0x10C, 0x10E), (16, 0x200, 0x204), (32, 0x106, 0x10C), (40, 0x102, 0x106),
                              (48, 0x10C, 0x10E), (56, 0x106, 0x10C)]
    exceptions = [element for element in result.json_lines() if element.get('kind') == 'exception']
    assert [element['number'] for element in exceptions] == [16]


def test_exceptions_are_found_although_records_do_not_have_their_numbers(run, files):
    trace = ('mtb.bin', '--protocol', 'mtb', *WRAPPED, *IMAGE)
    for wanted, count in (('any', 1), ('16', 1), ('15', 0)):
        rows = run('find', *trace, '--exception', wanted, '--format', 'json', expect=0 if count else 1).json_lines()
        assert [(row['what'], row['value']) for row in rows] == [('exception', '16')] * count
        run('find', *trace, '--exception', wanted, '--count').has(str(count))


def test_the_pc_completes_the_last_run(run, files):
    result = run('decode', 'mtb.bin', '--protocol', 'mtb', *WRAPPED, '--reg', 'PC=0x102', *IMAGE, '--format', 'json')
    assert ranges(result)[-1] == (56, 0x106, 0x10C), 'nothing was executed at 0x102'
    files('mtb.bin', buffer_of(RECORDS[:8]))
    options = ('--reg', 'POSITION=4', '--reg', 'MASTER=2', '--reg', 'PC=0x10a')
    result = run('decode', 'mtb.bin', '--protocol', 'mtb', *options, *IMAGE, '--format', 'json')
    assert ranges(result)[-1] == (56, 0x106, 0x10A)


@pytest.mark.parametrize('session', [
    '(gdb) x/16wx 0x20000000\n' + gdb_words(SRAM, buffer_of(RECORDS)) + '(gdb) x/4wx 0x41006000\n'
    + gdb_words(0x41006000, REGISTERS) + '(gdb) info registers pc\npc             0x104               0x104\n',
    'Open On-Chip Debugger\r\n> halt\r\ntarget halted due to debug-request, current mode: Thread\r\n'
    'xPSR: 0x61000000 pc: 0x00000104 msp: 0x20001fe0\r\n> mdw 0x20000000 16\r\n'
    + openocd_words(SRAM, buffer_of(RECORDS)) + '\r\n> mdw 0x41006000 4\r\n' + openocd_words(0x41006000, REGISTERS),
], ids=['gdb', 'openocd'])
def test_the_text_of_a_session_is_an_input(run, files, session):
    session = session.replace('0x104', '0x102').replace('0x00000104', '0x00000102')
    files('session.txt', session)
    wanted = run('decode', 'mtb.bin', '--protocol', 'mtb', *WRAPPED, '--reg', 'PC=0x102', *IMAGE).lines
    assert run('decode', 'session.txt', *IMAGE).lines == wanted
    assert run('decode', 'mtb.bin', '--registers', 'session.txt', *IMAGE).lines == wanted
    run('info', 'session.txt', *IMAGE).has('MTB')
    run('packets', 'session.txt').has('MTB_EXC_RTN : EXC_RETURN=0xfffffff9; dst=0x00000106; A=1; S=0')


def test_a_gdb_listing_without_registers(run, files):
    files('listing.txt', gdb_words(SRAM, buffer_of(RECORDS[:8])))
    result = run('decode', 'listing.txt', '--protocol', 'mtb', *IMAGE)
    result.says('POSITION is not known', '64 bytes from 0x20000000 on')
    assert len(result.lines) > 8


@pytest.mark.parametrize('name, content, options, said', [
    ('mtb.bin', None, ('--reg', 'POSITION=0x0c'), 'state MASTER with --reg'),
    ('mtb.bin', None, ('--reg', 'POSITION=0', '--reg', 'MASTER=2'), 'has no record'),
    ('mtb.bin', None, ('--reg', 'POSITION=0x48', '--reg', 'MASTER=9'), 'dump the whole buffer'),
    ('mtb.bin', None, ('--reg', 'POSITON=0'), 'did you mean POSITION?'),
    ('mtb.bin', None, ('--framing', 'mem'), '--framing none'),
    ('mtb.bin', None, ('--registers', 'none.txt'), 'none.txt'),
    ('mtb.bin', None, ('--registers', 'mtb.bin'), 'x/4wx ADDRESS'),
    ('text', openocd_words(0x41006000, REGISTERS), (), 'but not the buffer'),
    ('text', openocd_words(SRAM + 32, buffer_of(RECORDS)) + openocd_words(0x41006000, REGISTERS), (),
     'records are at 0x20000000..0x20000040'),
    ('text', gdb_words(SRAM, buffer_of(RECORDS)) + '0x20000040:\tCannot access memory at address 0x20000040\n', (),
     'Line 5: the debugger could not read this memory'),
    ('text', '0x20000000:\t258\t269\n', (), 'x/64wx ADDRESS'),
    ('text', gdb_words(SRAM, buffer_of(RECORDS)) + gdb_words(SRAM + 128, buffer_of(RECORDS)), (), 'keep only the trace'),
    ('empty', b'', (), 'empty'),
])
def test_bad_inputs_have_one_sentence(run, files, name, content, options, said):
    if content is not None:
        files(name, content)
    run('decode', name, '--protocol', 'mtb', *options, *IMAGE, expect=3).one_sentence(said).empty()


def test_unused_memory_is_reported(run, files):
    files('mtb.bin', buffer_of(RECORDS[:6]))
    result = run('decode', 'mtb.bin', '--protocol', 'mtb', *IMAGE)
    result.has('This part of the buffer was never written')
    run('info', 'mtb.bin', '--protocol', 'mtb', *IMAGE).has('MTB')


# --- What QEMU executed ----------------------------------------------------------------------------

@pytest.fixture(scope='module')
def steps(executed_thumb):
    return executed_thumb('steps', '--protocol', 'mtb')


def after_the_first_branch(execution):
    """Before the first record, only its branch is known."""
    for at, (address, after) in enumerate(zip(execution.addresses, execution.addresses[1:])):
        if after - address not in (2, 4):
            return execution.addresses[at:]
    raise AssertionError('there is no branch')


@pytest.fixture(scope='module')
def executed_instructions(steps):
    """{function: instructions}."""
    owners = {address: name for name, (start, end) in steps.functions().items()
              for address in range(start & ~1, end, 2)}
    return dict(collections.Counter(owners[address] for address in after_the_first_branch(steps)))


def test_counts_are_those_of_the_execution(run, steps, executed_instructions):
    rows = run('count', steps.capture, '--symbols', steps.program, '--functions', '--all', '--format', 'json').json_lines()
    assert {row['name']: row['instructions'] for row in rows
            if row['type'] == 'count_function' and 'name' in row} == executed_instructions


def test_call_stacks_are_those_of_the_execution(run, steps, executed_instructions):
    own = collections.Counter()
    for line in run('export', 'folded', steps.capture, '--symbols', steps.program).lines:
        stack, count = line.rsplit(' ', 1)
        own[stack.split(';')[-1]] += int(count)
    assert dict(own) == executed_instructions


def test_all_exports_but_those_of_packets(run, steps, tmp_path):
    names = [line.split()[0] for line in run('export', '--list').lines if line and line[0] != ' ']
    assert len(names) > 15
    for name in names:
        made = run('export', name, steps.capture, '--symbols', steps.program, '-o', name,
                   expect=1 if name == 'branch-list' else 0)
        if name == 'branch-list':
            made.one_sentence('packets of an ETMv4 or ETE')
        else:
            assert (tmp_path / name).stat().st_size > 0, name


def test_the_viewer_has_all_instructions(run, steps, executed_instructions):
    if 'without the viewer' in run('view', steps.capture, '--port', 'x', expect=2).err:
        pytest.skip('the program was built without the viewer')
    with viewing(run, steps.capture, '--symbols', steps.program) as viewer:
        viewer.wait()
        assert viewer.ask('capture')['axis']['length'] == sum(executed_instructions.values())


def test_the_ground_truth_is_decoded(run, steps, synth):
    run('synth', '--check', steps.capture).has('equal to the ground truth')
    run('synth', '--check', synth('--protocol', 'mtb', '--size', 100000, '--exceptions', 20)).has(
        'equal to the ground truth')
