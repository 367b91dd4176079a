"""Synthetic captures: makes them, reads them with every reader, compares them with their ground truth."""
import configparser
import re
import resource
import shutil
import signal
import struct
import subprocess

import pytest
from conftest import PROTOCOLS
from support.elf import make_elf

SMALL = ('--isa', 'A32', '--size', 100000, '--timestamps', 100)


@pytest.fixture(scope='module', params=PROTOCOLS)
def capture(request, synth):
    return synth('--protocol', request.param, *SMALL)


def test_it_decodes_as_it_happened(run, capture):
    run('synth', '--check', capture).has('equal to the ground truth')
    run('decode', capture, '--strict')


def test_the_lister_reads_it(lister, synthetic):
    log = lister('-ss_dir', synthetic, '-decode', '-logstdout').out
    assert not re.search('OCSD_ERR|BAD_SEQUENCE|RESERVED', log)
    assert 'ID:10' in log


def test_making_one_is_silent_on_standard_error(run):
    run('synth', '-o', 'x', '--size', 1000).quiet().has(' bytes of 1 source, ')


@pytest.mark.parametrize('protocol', ['etmv4', 'ete'])
@pytest.mark.parametrize('period', [64, 96, 128, 250, 512, 1000, 4096])
def test_synchronisation_changes_nothing_in_a_return_stack(run, protocol, period):
    for exceptions in (0, 30, 200):
        run('synth', '-o', f'x{exceptions}', '--protocol', protocol, '--isa', 'A64', '--return-stack', '--size', 10000,
            '--sync-period', period, '--exceptions', exceptions, '--seed', period)
        run('synth', '--check', f'x{exceptions}').has('equal to the ground truth')
        # Each block may be decoded from a synchronisation point on.
        one, four = (run('count', f'x{exceptions}', '--format', 'json', '--threads', n).out for n in (1, 4))
        assert one == four


def test_the_size_of_the_ground_truth_is_announced_first(run, tmp_path):
    def messages_before_the_trace(*options):
        _, process = run.start('synth', '-o', 'x', '--size', '900G', *options, start_new_session=True,
                               stderr=subprocess.PIPE)
        while not (tmp_path / 'x/trace.bin').exists():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=600)[1].decode()
        assert process.returncode == 130
        return said
    said = messages_before_the_trace()
    assert 'ground truth will take about' in said and '--no-truth' in said
    assert 'ground truth' not in messages_before_the_trace('--no-truth')


def test_a_capture_without_ground_truth(run, tmp_path):
    run('synth', '-o', 'x', *SMALL).quiet()
    assert (tmp_path / 'x/truth/ETM_0.truth').stat().st_size > 0
    run('synth', '-o', 'x', *SMALL, '--no-truth').quiet()
    assert [path.name for path in (tmp_path / 'x/truth').iterdir()] == ['totals.ini']
    run('synth', '--check', 'x', expect=3).one_sentence('no ground truth')


def test_an_interrupt_leaves_nothing(run, tmp_path):
    command, process = run.start('synth', '-o', 'x', '--size', '900G', start_new_session=True,
                                 stderr=subprocess.PIPE)
    while not (tmp_path / 'x/trace.bin').exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=600)[1]
    assert (process.returncode, b'no capture was written to x' in said) == (130, True)
    assert not (tmp_path / 'x').exists()


def test_a_full_disk_leaves_nothing(run, tmp_path):
    run('synth', '-o', 'x', '--size', '2M', expect=4, limits={resource.RLIMIT_FSIZE: 1 << 20}).says(
        'Cannot write')
    assert not (tmp_path / 'x').exists()


def test_json(run):
    made = run('synth', '-o', 'x', '--size', 10000, '--format', 'json').json_lines()[0]
    assert made['directory'] == 'x' and made['bytes'] >= 10000 and made['seed'] == '1' and made['truth_bytes'] > 0
    checked = run('synth', '--check', 'x', '--format', 'json').json_lines()[0]
    assert (checked['device'], checked['trace_id'], checked['equal']) == ('ETM_0', '0x10', True)
    assert checked['instructions'] == made['instructions']


def test_several_sources_with_everything_on(run):
    run('synth', '-o', 'many', '--protocol', 'etmv4,ete', '--cores', 2, '--size', '100K', '--return-stack',
        '--cycle-counts', '--timestamps', 50, '--events', 100, '--context-ids', 3, '--vmids', 2,
        '--speculation', 16, '--overflows', 3000, '--discards', 3000, '--filter', 1000, '--q', 500,
        '--exceptions', 200, '--framing', 'fsync').has('4 sources')
    run('synth', '--check', 'many')


def test_the_same_seed_gives_the_same_bytes(run, synth, tmp_path):
    first = (synth('--protocol', 'etmv4', *SMALL) / 'trace.bin').read_bytes()
    run('synth', '-o', 'again', '--protocol', 'etmv4', *SMALL)
    assert (tmp_path / 'again/trace.bin').read_bytes() == first
    run('synth', '-o', 'another', '--protocol', 'etmv4', *SMALL, '--seed', 2)
    assert (tmp_path / 'another/trace.bin').read_bytes() != first


def test_damage_is_a_difference(run):
    run('synth', '-o', 'harmed', '--size', 100000, '--damage', 1000, '--drop', 10000, '--cut')
    run('synth', '--check', 'harmed', expect=1)


@pytest.mark.parametrize('protocols, isa', [
    ('etmv4', 'A64'), ('ete', 'A64'), ('ptm', 'A32'), ('etmv3', 'A32'), ('mtb', 'T32'), ('etmv4,ptm', 'A32')])
def test_a_protocol_has_a_usual_instruction_set(run, tmp_path, protocols, isa):
    run('synth', '-o', 'usual', '--protocol', protocols, '--size', 20000)
    run('synth', '-o', 'stated', '--protocol', protocols, '--size', 20000, '--isa', isa.lower())
    assert (tmp_path / 'usual/trace.bin').read_bytes() == (tmp_path / 'stated/trace.bin').read_bytes()
    run('synth', '--check', 'usual').has('equal to the ground truth')


@pytest.mark.parametrize('options, status, said', [
    ([], 2, '--output'),
    (['-o', 'x', '--protocol', 'ptm', '--isa', 'A64'], 2, 'A64'),
    (['-o', 'x', '--isa', 'a16'], 2, "'a16' is not A64, A32 or T32"),
    (['-o', 'x', '--protocol', 'nonsense'], 2, 'nonsense'),
    (['-o', 'x', '--framing', 'none', '--cores', '2'], 2, ''),
    (['-o', 'x', '--elf', 'missing.elf'], 3, 'missing.elf'),
    (['-o', 'x', '--graph', 'wrong.graph'], 3, 'wrong.graph: line 2'),
    (['--check', 'none'], 3, 'none'),
    (['-o', 'taken/loop'], 4, 'taken'),
])
def test_bad_options(run, tmp_path, options, status, said):
    (tmp_path / 'wrong.graph').write_text('function f\n jump\nend\n')
    (tmp_path / 'taken').write_text('a file')
    run('synth', *options, expect=status).one_sentence(said)
    assert not (tmp_path / 'x').exists()


@pytest.fixture
def program(repository, tmp_path):
    """program(NAME): a copy of the sample's ELF file."""
    def make(name='program.elf'):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(repository / 'samples/quicksort/quicksort.elf', path)
        return path
    return make


def dumps_of(folder, device='cpu_0.ini'):
    """(file, address, offset, length) of each memory dump."""
    ini = configparser.ConfigParser()
    ini.read(folder / device)
    return [(part['file'], int(part['address'], 16), int(part.get('offset', '0'), 16), int(part.get('length', '0'), 16))
            for name, part in ini.items() if name.startswith('dump')]


def functions_of(run, *arguments):
    """The names that `count --functions` knows, without further options."""
    return {row['name'] for row in run('count', *arguments, '--functions', '--all', '--format', 'json').json_lines()
            if row['type'] == 'count_function' and 'name' in row}


@pytest.mark.parametrize('options', [
    [], ['--cores', 2], ['--framing', 'none'], ['--framing', 'fsync'], ['--protocol', 'ete', '--context-ids', 2]], ids=str)
def test_an_elf_file_is_the_image_of_its_capture(run, program, tmp_path, options):
    elf = program()
    run('synth', '-o', 'x', '--elf', elf, '--size', 5000, *options).quiet()
    run('synth', '--check', 'x').has('equal to the ground truth')
    assert (tmp_path / 'x/program.elf').read_bytes() == elf.read_bytes()
    assert ('program.elf', 0x400000, 0, 0x940) in dumps_of(tmp_path / 'x')
    elf.unlink()
    assert functions_of(run, 'x') >= {'run', 'put_number', 'fibonacci'}
    run('decode', 'x', '--functions').has('put_number')
    run('diff', 'x', 'x', '--format', 'json').has('"match":"same"')


@pytest.mark.parametrize('options', [[], ['--perf-raw', '--cores', 2], ['--perf-per-thread'], ['--perf-form', 'pipe']], ids=str)
def test_an_elf_file_is_in_the_memory_of_recorded_processes(run, program, tmp_path, options):
    elf = program()
    context = [] if '--perf-per-thread' in options else ['--context-ids', 2]
    run('synth', '-o', 'x', '--elf', elf, '--size', 5000, '--perf-data', *context, *options)
    elf.unlink()
    run('synth', '--check', 'x/perf.data').has('equal to the ground truth')
    assert functions_of(run, 'x/perf.data', '--symfs', 'x') >= {'run', 'put_number', 'fibonacci'}


def move(elf, bias):
    """The ELF file as one that is linked elsewhere and may be loaded anywhere."""
    data = bytearray(elf)
    struct.pack_into('<H', data, 16, 3)
    struct.pack_into('<Q', data, 24, struct.unpack_from('<Q', data, 24)[0] + bias)
    for at in 64 + 16, 64 + 24:
        struct.pack_into('<Q', data, at, struct.unpack_from('<Q', data, at)[0] + bias)
    sections, = struct.unpack_from('<Q', data, 40)
    for number in range(struct.unpack_from('<H', data, 60)[0]):
        header = sections + 64 * number
        if struct.unpack_from('<Q', data, header + 8)[0] & 2:
            struct.pack_into('<Q', data, header + 16, struct.unpack_from('<Q', data, header + 16)[0] + bias)
        if struct.unpack_from('<I', data, header + 4)[0] == 2:
            offset, size = struct.unpack_from('<QQ', data, header + 24)
            for symbol in range(offset + 24, offset + size, 24):
                struct.pack_into('<Q', data, symbol + 8, struct.unpack_from('<Q', data, symbol + 8)[0] + bias)
    return bytes(data)


def in_two_parts(code, symbols, address):
    """The same with its code in two segments, the second of them with an odd size and far away."""
    data = bytearray(make_elf(code, symbols, address))
    headers = len(data)
    half = len(code) // 2
    offset, = struct.unpack_from('<Q', data, 64 + 8)
    for at, size in (0, half), (half, len(code) - half - 1):
        data += struct.pack('<IIQQQQQQ', 1, 5, offset + at, address + at, address + at, size, size, 0x10)
    struct.pack_into('<Q', data, 32, headers)
    struct.pack_into('<H', data, 56, 2)
    return bytes(data)


CODE = struct.pack('<8I', 0x94000004, 0xd503201f, 0x17fffffe, 0xd503201f, 0xd503201f, 0xd65f03c0, 0xd503201f, 0xd503201f)


@pytest.mark.parametrize('form', ['pie', 'parts', 'odd offset'])
def test_where_an_elf_file_has_its_code(run, tmp_path, form):
    symbols = [(b'main', 0x80000, 12), (b'work', 0x80010, 8)]
    elf = make_elf(CODE, symbols)
    if form == 'pie':
        elf = move(elf, -0x80000 + 0x40)
    elif form == 'parts':
        elf = in_two_parts(CODE, symbols, 0x80000)
    else:  # The pages of the file are not those of the memory.
        elf = move(elf, 0x10)
    (tmp_path / 'a.elf').write_bytes(elf)
    run('synth', '-o', 'x', '--elf', 'a.elf', '--size', 1000, '--perf-data')
    run('synth', '--check', 'x').has('equal to the ground truth')
    run('synth', '--check', 'x/perf.data').has('equal to the ground truth')
    dumps = [dump for dump in dumps_of(tmp_path / 'x') if dump[0] == 'a.elf']
    assert [dump[1:] for dump in dumps] == {
        'pie': [(0x40, 0x1000, 32)], 'parts': [(0x80000, 0x1000, 16), (0x80010, 0x1010, 16)],
        'odd offset': [(0x80010, 0x1000, 32)]}[form]
    assert functions_of(run, 'x') >= {'main', 'work'}
    assert functions_of(run, 'x/perf.data', '--symfs', 'x') >= {'main', 'work'}


@pytest.mark.parametrize('name', ['trace.bin', 'cpu_0.ini', 'memory_0.bin', 'perf.data', 'truth', 'a;b', "it's", ' a', 'a\nb'])
def test_names_that_a_capture_cannot_give_to_a_copy(run, program, tmp_path, name):
    elf = program('in/' + name)
    run('synth', '-o', 'x', '--elf', elf, '--size', 2000, '--perf-data')
    assert (tmp_path / 'x/program.elf').read_bytes() == elf.read_bytes()
    run('synth', '--check', 'x').has('equal to the ground truth')
    assert 'run' in functions_of(run, 'x') & functions_of(run, 'x/perf.data', '--symfs', 'x')


def test_a_program_in_the_folder_of_its_capture(run, program, tmp_path):
    elf = program('x/program.elf')
    content = elf.read_bytes()
    for _ in range(2):
        run('synth', '-o', 'x', '--elf', elf, '--size', 2000, '--perf-data')
        assert elf.read_bytes() == content and 'run' in functions_of(run, 'x')
    # A capture that fails leaves the program.
    run('synth', '-o', 'x', '--elf', elf, '--size', '2M', expect=4, limits={resource.RLIMIT_FSIZE: 1 << 20})
    assert elf.read_bytes() == content


@pytest.mark.parametrize('name', ['trace.bin', 'snapshot.ini', 'cpu_0.ini', 'truth/totals.ini', 'truth/ETM_0.truth'])
def test_a_program_that_its_capture_would_replace(run, program, tmp_path, name):
    (tmp_path / 'x').mkdir()
    elf = program('x/' + name)
    content = elf.read_bytes()
    run('synth', '-o', 'x', '--elf', elf, '--size', 2000, expect=2).one_sentence(name)
    assert elf.read_bytes() == content
    assert [path for path in (tmp_path / 'x').rglob('*') if path.is_file()] == [elf]


@pytest.mark.parametrize('core, device', [
    ('Cortex-M3', 'ETM3.5'), ('cortex-m4', 'ETM3.5'), ('Cortex-M7', 'ETM4.0'), ('Cortex-M33', 'ETM4.2'),
    ('Cortex-M55', 'ETM4.5'), ('CORTEX-M85', 'ETM4.5')])
def test_cores_of_the_m_profile(run, tmp_path, core, device):
    run('synth', '-o', 'm', '--core', core, '--size', 30000, '--exceptions', 30, '--timestamps', 60)
    run('synth', '--check', 'm').has('equal to the ground truth')
    text = run('decode', 'm', '--strict').out
    for name in ('NMI', 'HardFault', 'SVCall', 'PendSV', 'SysTick', 'IRQ0', 'IRQ239'):
        assert f'({name})' in text, name
    assert ('(SecureFault)' in text) == (device not in ('ETM3.5', 'ETM4.0'))
    snapshot = [path.read_text() for path in (tmp_path / 'm').glob('*.ini')]
    assert any(f'type={device}' in text for text in snapshot)
    assert any(f'type={core.capitalize().replace("-m", "-M")}' in text for text in snapshot)


def test_a_graph_for_the_m_profile(run, tmp_path):
    (tmp_path / 'm.graph').write_text('isa T32\nfunction main\n work 3\n supervisor_call\nend\n'
                                      'handler SVCall\n work 1\nend\nhandler IRQ9\n work 2\nend\n')
    run('synth', '-o', 'm', '--core', 'Cortex-M33', '--graph', 'm.graph', '--size', 5000, '--exceptions', 20)
    run('synth', '--check', 'm').has('equal to the ground truth')
    run('decode', 'm').has('(SVCall)').has('(IRQ9)')


@pytest.mark.parametrize('options, said', [
    (['--core', 'Cortex-M4', '--protocol', 'etmv4'], '--protocol etmv3'),
    (['--core', 'Cortex-M33', '--isa', 'A32'], 'T32'),
    (['--core', 'Cortex-M33', '--context-ids', '2'], 'no context IDs'),
    (['--core', 'Cortex-M33', '--q', '100'], 'no Q elements'),
    (['--core', 'Cortex-M33', '--perf-data'], 'perf does not run'),
    (['--core', 'Cortex-M0'], 'has no ETM'),
])
def test_a_core_of_the_m_profile_is_refused_what_it_does_not_have(run, tmp_path, options, said):
    run('synth', '-o', 'x', *options, expect=2).one_sentence(said)
    assert not (tmp_path / 'x').exists()


def test_an_itm_beside_the_etm_of_a_core(run):
    run('synth', '-o', 'm', '--core', 'Cortex-M33', '--protocol', 'etmv4,itm', '--size', 20000).has('2 sources')
    run('synth', '--check', 'm').has('equal to the ground truth')
