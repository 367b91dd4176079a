"""Bad SyS-T input: a bad message is shown as bad, with its bytes, and the next one is not lost;
collateral that would take long or read other files is refused.

All input of `waymark syst` here is also input of systprint.
"""
import resource

import pytest
from support.stp import console

TAG = b'SYS-T RAW DATA: '
BEFORE, AFTER = '425241010300616100', '425241010300626200'  # "aa", "bb"
NEIGHBOURS = ('module 65:5  aa', 'module 65:5  bb')
BAD = '42564101020061000BADC0DE'


@pytest.fixture
def file(tmp_path):
    """file(NAME, CONTENT): writes bytes or text, and returns the name."""
    def write(name, content):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return name
    return write


def expect_lines(result, count):
    assert len(result.lines) == count, result.fail(f'{len(result.lines)} lines, expected {count}')
    return result


@pytest.mark.parametrize('message, sentence', [
    (BAD, 'its checksum does not match'),
    ('425241010F00636300', 'shorter than its length field says'),
    *((f'4{kind}5241010300616100', 'its type is reserved') for kind in '45ABCDEF'),
])
def test_a_bad_message_between_two_good_ones(run, systprint, file, message, sentence):
    file('x.txt', console(BEFORE, message, AFTER))
    expect_lines(run('syst', 'x.txt').has(*NEIGHBOURS, f'{sentence}: {message}'), 3)
    run('syst', 'x.txt', '--strict', expect=1).says('--strict', f'byte {len(TAG) + len(BEFORE) + 1} ')
    file('x.bin', bytes.fromhex(BEFORE + message + AFTER + BEFORE))
    expect_lines(run('syst', 'x.bin', '--as', 'plain').has(*NEIGHBOURS, sentence, message), 4)
    expect_lines(systprint('-p', 'x.txt'), 3)


def test_a_length_beyond_the_end_of_the_file(run, file):
    file('x.bin', bytes.fromhex(BEFORE * 2 + AFTER + '42524101FFFF6363'))
    expect_lines(run('syst', 'x.bin').has('the capture ends within this message', '42524101FFFF6363'), 4)


def test_a_text_without_end(run, file):
    file('x.txt', console('425041016162', AFTER))
    run('syst', 'x.txt').has('module 65:5  ab', 'module 65:5  bb')
    run('syst', 'x.txt', '--strict', expect=1).has('its text has no end: 425041016162')


def test_printf_arguments_that_do_not_match(run, systprint, file):
    formats = [(b'v=%d, %s', b''), (b'v=%d, %s', bytes([7, 0, 0, 0]) + b'ab'), (b'v=%k', b''),
               (b'%2000000000d', bytes([1, 0, 0])), (b'%s%s%n', b'')]
    file('x.txt', console(*('4250410B' + (text + b'\0' + rest).hex().upper() for text, rest in formats), AFTER))
    expect_lines(run('syst', 'x.txt').has(
        "v=[no argument is left for '%d']", 'v=7, ab[the text of the argument has no end]',
        "invalid format string 'v=%k'", "[no argument is left for '%s']", 'module 65:5  bb'), 6)
    expect_lines(systprint('x.txt'), 7)


HEAD = ('<s:Collateral><s:Client Name="demo"><s:Guids><s:Guid ID="{00000000-0000-0000-0000-000000000000}" '
        'Mask="{00000000-0000-0000-0000-000000000000}">g</s:Guid></s:Guids><s:Catalog32>')
TAIL = '</s:Catalog32></s:Client></s:Collateral>'


@pytest.fixture
def missing(file):
    """A catalog message, and collateral for a different one."""
    file('other.xml', f'{HEAD}<s:Format ID="0x10">x</s:Format>{TAIL}')
    return file('missing.txt', console('43504101EFBEADDE01000000'))


def test_a_catalog_message_without_text(run, missing):
    run('syst', missing).has('catalog id 0xDEADBEEF arguments 01000000').one_sentence('1 catalog message')
    run('syst', missing, '--collateral', 'other.xml').has(
        'demo:5  catalog id 0xDEADBEEF arguments 01000000').one_sentence('1 catalog message', 'collateral')


def test_names_of_collateral_are_shown_in_one_line(run, file, missing):
    file('name.xml', (HEAD + TAIL).replace('"demo"', '"de&#10;mo&#27;[31m"'))
    result = expect_lines(run('syst', missing, '--collateral', 'name.xml'), 1)
    assert b'\x1b' not in result.out_bytes
    assert 'de\nmo' not in result.out and '[31m:5' in result.out


def test_an_entity_is_text_without_dtd(run, file, missing):
    file('entity.xml', f'{HEAD}<s:Format ID="0xDEADBEEF">&a;|%d</s:Format>{TAIL}')
    run('syst', missing, '--collateral', 'entity.xml').has('demo:5  &a;|1')


ENTITIES = ('<!DOCTYPE x [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;&a;">]>\n',
            '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n')


@pytest.mark.parametrize('content, said', [
    (f'{ENTITIES[0]}{HEAD}&b;{TAIL}', ['x.xml:1: ', 'document type']),
    (f'{ENTITIES[1]}{HEAD}&a;{TAIL}', ['x.xml:2: ', 'document type']),
    (TAG * 1000, ['x.xml', 'XML']),
    (None, ['x.xml']),
    (f'{HEAD}<s:Format ID="12x">y</s:Format>{TAIL}', ['ID="12x"']),
    ('<a>' * 20000 + HEAD + TAIL, ['x.xml', 'XML']),
], ids=['bomb', 'external', 'text', 'absent', 'value', 'deep'])
def test_collateral_that_is_refused(run, file, missing, content, said):
    if content is not None:
        file('x.xml', content)
    run('syst', missing, '--collateral', 'x.xml', expect=3).one_sentence(*said).empty()


def test_a_folder_is_not_collateral(run, missing, tmp_path):
    (tmp_path / 'x.xml').mkdir()
    run('syst', missing, '--collateral', 'x.xml', expect=3).one_sentence('x.xml', 'folder')


LONG = 65534


@pytest.mark.parametrize('name, content', [
    ('plain', bytes.fromhex(BEFORE + '42520101FFFF') + b'D' * LONG + bytes.fromhex('00' + AFTER)),
    ('lines', console(BEFORE, '42520101FFFF' + '44' * LONG + '00', AFTER)),
])
def test_a_payload_of_64_KiB(run, file, name, content):
    result = run('syst', file(name, content)).has(*NEIGHBOURS)
    assert [line.count('D' * LONG) for line in result.lines] == [0, 1, 0]


def test_a_line_that_is_too_long(run, systprint, file, tmp_path):
    file('x.txt', TAG + b'A' * 4000000 + b'\n' + console(AFTER) + b'S' * 4000000 + TAG + BEFORE.encode())
    expect_lines(run('syst', 'x.txt').has(*NEIGHBOURS, 'longer than a message can be'), 3)
    with open(tmp_path / 'x.txt', 'rb') as text:
        expect_lines(run('syst', '-', stdin=text), 3)
    expect_lines(systprint('x.txt'), 3)


def test_systprint_reads_messages_across_its_buffers(systprint, file):
    # The program reads 256 KiB at a time: one message is in two blocks, and another one follows.
    file('x.txt', b'x' * 262120 + b'\n' + TAG + BEFORE.encode() + b'\r\n' + TAG + AFTER.encode())
    assert systprint('-p', 'x.txt').lines == ['aa', 'bb']


@pytest.mark.parametrize('begin, size, byte', [
    (b'', 120000000, b'\0'), (TAG + b'A', 120000000, b'x'), (TAG, 20000000, b'A')],
    ids=['zeros', 'a_message_that_is_none_from_its_second_digit_on', 'digits_without_end'])
def test_systprint_takes_little_memory_for_long_lines(systprint, sanitized, tmp_path, begin, size, byte):
    # Sanitizers need more memory than the lines; with them, the test only checks that it reads them.
    limits = None if sanitized else {resource.RLIMIT_AS: 100000 << 10}
    path = tmp_path / 'x.txt'
    with open(path, 'wb') as text:
        text.write(begin)
        for _ in range(size // 1000000):
            text.write(byte * 1000000)
        text.write(b'\n' + console(AFTER))
    with open(path, 'rb') as text:
        result = systprint('-p', '-', stdin=text, limits=limits)
    path.unlink()
    assert result.lines == ['bb']
    if byte == b'A':
        result.says('a line is too long')


def test_bytes_that_are_not_text(run, systprint, file):
    file('x.txt', b'boot\n' + TAG + BEFORE.encode() + b'\x01\xff\x80\0\x1b[31\n' + b'\xff' * 5000 + b'\0\0\0' +
         TAG + AFTER.encode() + b'\r\n\0' + TAG + b'\xff\n')
    expect_lines(run('syst', 'x.txt').has(*NEIGHBOURS, 'it ends within its header'), 3)
    systprint('x.txt')


def test_a_digit_is_missing(run, file):
    file('x.txt', console(BEFORE + '0', AFTER))
    expect_lines(run('syst', 'x.txt').has('a digit of its text is missing', 'module 65:5  bb'), 2)


@pytest.mark.parametrize('args', [['x.bin', '--as', 'plain'], ['x.txt'], ['-']])
def test_strict_stops_at_once(run, file, args):
    file('x.bin', bytes.fromhex(BEFORE + BAD + AFTER * 2))
    lines = console(BEFORE, BAD, AFTER, AFTER)
    file('x.txt', lines)
    expect_lines(run('syst', *args, '--strict', stdin=lines, expect=1).has(BAD).says('--strict'), 2)


@pytest.mark.parametrize('content, options, status, said', [
    ('hello\n', ['--as', 'lines'], 1, ['no SyS-T message']),
    ('', [], 3, ['x', 'empty']),
    (None, [], 3, ['x']),
])
def test_an_input_without_messages(run, file, content, options, status, said):
    if content is not None:
        file('x', content)
    run('syst', 'x', *options, expect=status).one_sentence(*said).empty()


def test_text_without_messages(run, file):
    run('syst', file('x', 'hello\n'), expect=3).says('x: ', 'SYS-T RAW DATA:', '--as').empty()


def test_zeros_as_plain_bytes(run, file):
    file('x', bytes(100000))
    run('syst', 'x', '--as', 'plain').whole_lines()


def test_console_text_without_messages_on_standard_input(run):
    run('syst', '-', stdin='hello\n', expect=1).one_sentence('--as')


@pytest.mark.parametrize('options, target', [
    ([], 'missing.txt'), (['--collateral', 'other.xml'], 'other.xml')])
def test_an_input_is_not_overwritten(run, missing, tmp_path, options, target):
    before = (tmp_path / target).read_bytes()
    run('syst', missing, *options, '-o', target, expect=2).one_sentence(target)
    assert (tmp_path / target).read_bytes() == before
