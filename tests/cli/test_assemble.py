"""Makes snapshots from trace scripts."""
import pytest
from support.trace_bytes import LOOP_PROGRAM

LOOP = """\
waymark-trace 1
description A loop of two instructions.
device etm ETM4 Cortex-A53
reg TRCCONFIGR=0xC1 TRCTRACEIDR=0x10 TRCIDR0=0x28000EA1 TRCIDR1=0x4100F403 TRCIDR2=0x488
image 0x80000 hex d503201f 17ffffff
async
trace_info info=0
trace_on
address_context64 value=0x80000 el=1 sf=1 ns=1
atom_f1 E
"""


def with_image_file(name):
    return LOOP.replace('hex d503201f 17ffffff', f'file {name}')


@pytest.fixture
def loop(tmp_path):
    (tmp_path / 'loop.trace').write_text(LOOP)
    return 'loop.trace'


def test_a_script_becomes_a_snapshot_that_decodes(run, loop):
    run('assemble', loop, '-o', 'loop').quiet()
    run('decode', 'loop').has('0x0000000000080000      +2  insns')


def test_a_script_on_standard_input(run):
    run('assemble', '-', '-o', 'loop', stdin=LOOP).quiet()
    run('decode', 'loop').has('0x0000000000080000      +2  insns')
    run('assemble', '-', '-o', 'bad', stdin='bad', expect=3).one_sentence('standard input: line 1:')


def test_an_image_file_is_found_relative_to_the_script(run, tmp_path):
    deep = tmp_path / 'deep'
    deep.mkdir()
    (deep / 'program.bin').write_bytes(LOOP_PROGRAM)
    (deep / 'file.trace').write_text(with_image_file('program.bin'))
    run('assemble', 'deep/file.trace', '-o', 'made').quiet()
    run('decode', 'made').quiet().has('0x0000000000080000      +2  insns')


def test_an_image_file_that_does_not_exist(run, tmp_path):
    (tmp_path / 'none.trace').write_text(with_image_file('none.bin'))
    run('assemble', 'none.trace', '-o', 'nothing', expect=3).one_sentence('none.trace: line 5:', 'none.bin')
    assert not (tmp_path / 'nothing').exists()


def test_the_script_is_not_replaced_by_the_snapshot(run, tmp_path):
    (tmp_path / 'snapshot.ini').write_text(LOOP)
    run('assemble', 'snapshot.ini', '-o', '.', expect=2).one_sentence()
    assert (tmp_path / 'snapshot.ini').read_text() == LOOP
    assert [file.name for file in tmp_path.iterdir()] == ['snapshot.ini']


def test_an_image_file_is_not_replaced_by_the_snapshot(run, tmp_path):
    (tmp_path / 'image_0.bin').write_bytes(LOOP_PROGRAM)
    (tmp_path / 'file.trace').write_text(with_image_file('image_0.bin'))
    run('assemble', 'file.trace', '-o', '.', expect=2).one_sentence()
    assert (tmp_path / 'image_0.bin').read_bytes() == LOOP_PROGRAM


def test_decode_of_a_script_names_the_command_that_it_needs(run, loop):
    run('decode', loop, expect=3).says(f'waymark assemble {loop} -o {loop.removesuffix(".trace")}')


def test_an_error_in_a_script_has_its_line(run, tmp_path):
    (tmp_path / 'wrong.trace').write_text(LOOP.replace('atom_f1', 'atom_f99'))
    run('assemble', 'wrong.trace', '-o', 'wrong', expect=3).one_sentence('wrong.trace: line 10:')


def test_a_script_that_does_not_exist(run):
    run('assemble', 'none.trace', '-o', 'none', expect=3).one_sentence('none.trace')


def test_a_folder_that_cannot_be_made(run, loop, tmp_path):
    (tmp_path / 'taken').write_text('a file')
    run('assemble', loop, '-o', 'taken/loop', expect=4).one_sentence('taken')


INTERRUPT = """\
waymark-trace 1
device etm ETM4
reg TRCCONFIGR=1 TRCTRACEIDR=0x10 TRCIDR0=0x280006E1 TRCIDR1=0x4100F421 TRCIDR2=4
# 1000 nop, nop    2000 bx lr
image 0x1000 hex bf00 bf00 bf00 bf00
image 0x2000 hex 4770 bf00
async
trace_info info=0
trace_on
address_context32 is=1 value=0x1000
exception type=IRQ9 e1e0=1; address_short is=1 value=0x02
address_context32 is=1 value=0x2000 el=3
atoms E
exception_return
address_context32 is=1 value=0x1002
"""


def test_the_core_of_a_script(run, tmp_path):
    (tmp_path / 'interrupt.trace').write_text(INTERRUPT)
    run('assemble', 'interrupt.trace', '-o', 'm', expect=3).one_sentence('line 2:', 'the core')
    for core in ('Cortex-M33', 'cortex-m7'):
        run('assemble', 'interrupt.trace', '-o', 'm', '--core', core).quiet()
        run('decode', 'm').has('(IRQ9)').has('return from exception')
    run('assemble', 'interrupt.trace', '-o', 'm', '--core', 'Cortex-A53', expect=3).says('type')


def test_the_core_replaces_that_of_the_script(run, loop, tmp_path):
    run('assemble', loop, '-o', 'loop', '--core', 'cortex-a57')
    assert 'type=Cortex-A57' in ''.join(path.read_text() for path in (tmp_path / 'loop').glob('*.ini'))
