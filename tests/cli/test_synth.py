"""Synthetic captures: makes them, reads them with every reader, compares them with their ground truth."""
import re
import resource
import signal
import subprocess

import pytest
from conftest import PROTOCOLS

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
