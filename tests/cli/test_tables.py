"""Tables of Parquet: what DuckDB reads is what the other commands say."""
import csv
import io
import re
import subprocess

import pytest
from support import duckdb, stp, trace_bytes
from support.programs import CONTROL

TABLES = ('elements', 'calls', 'counts', 'messages')
PAGE = 'howto/tables.md'


@pytest.fixture(scope='module')
def walks(executed):
    return executed('walks')


@pytest.fixture
def tables(run, tmp_path):
    """tables(INPUT, OPTION...): the folder of the dataset."""
    def write(*words, expect=0, output='tables'):
        run('export', 'parquet', *words, '-o', output, expect=expect)
        return tmp_path / output
    return write


def csv_rows(result):
    return list(csv.DictReader(io.StringIO(result.out)))


def number(text):
    """A cell of CSV as DuckDB has it."""
    if text == '':
        return None
    return int(text, 16) if text.startswith('0x') else int(text)


def like_csv(row, columns):
    """A row of DuckDB as texts, for comparison with one of CSV."""
    return {name: '' if row[name] is None else str(int(row[name])) if isinstance(row[name], bool) else str(row[name])
            for name in columns}


def as_decimal(row):
    return {name: str(int(cell, 16)) if re.fullmatch('0x[0-9a-f]+', cell) else cell for name, cell in row.items()}


# --- Equal to the other commands -----------------------------------------------------------------

@pytest.mark.parametrize('name', ['walks', 'packer'])
def test_elements_are_those_of_decode(run, executed, tables, tmp_path, name):
    capture = executed(name).capture
    expected = [as_decimal(row) for row in csv_rows(run('decode', capture, '--format', 'csv'))]
    tables(capture, '--table', 'elements')
    rows = duckdb.ask(tmp_path, "FROM 'tables/elements/*.parquet' ORDER BY part, seq")
    assert [like_csv(row, expected[0]) for row in rows] == expected
    assert [row['seq'] for row in rows] == list(range(len(rows)))
    assert {row['input'] for row in rows} == {str(capture)}


def test_counts_are_those_that_qemu_executed(walks, tables, tmp_path):
    tables(walks.capture, '--symbols', walks.program, '--table', 'counts')
    rows = duckdb.ask(tmp_path, "SELECT function, sum(instructions) AS n FROM 'tables/counts/*.parquet' GROUP BY ALL")
    assert {row['function']: row['n'] for row in rows} == walks.instructions()


def test_counts_are_those_of_the_csv(run, walks, tables, tmp_path):
    expected = [as_decimal(row) for row in csv_rows(run('export', 'counts', walks.capture))]
    tables(walks.capture, '--table', 'counts')
    rows = duckdb.ask(tmp_path, "FROM 'tables/counts/*.parquet' ORDER BY seq")
    assert [like_csv(row, expected[0]) for row in rows] == expected


def test_calls_are_those_that_qemu_executed(walks, tables, tmp_path):
    functions = walks.functions()
    owner = {at: name for name, (start, end) in functions.items() for at in range(start, end, 4)}
    branches = walks.branches('bl', 'blr')
    expected = {}
    for a, b in zip(walks.addresses, walks.addresses[1:]):
        if a in branches:
            expected[owner[b]] = expected.get(owner[b], 0) + 1
    tables(walks.capture, '--symbols', walks.program, '--table', 'calls')
    entered, own, whole, order = duckdb.ask(
        tmp_path,
        "SELECT linker_name AS name, count(*) AS n FROM 'tables/calls/*.parquet' WHERE entered = 'call' AND "
        "kind = 'function' GROUP BY ALL",
        "SELECT linker_name AS name, sum(own_instructions) AS n FROM 'tables/calls/*.parquet' WHERE "
        "kind = 'function' GROUP BY ALL",
        "SELECT sum(instructions) AS n FROM 'tables/calls/*.parquet' WHERE caller IS NULL",
        "SELECT count(*) AS n FROM 'tables/calls/*.parquet' c JOIN 'tables/calls/*.parquet' p ON c.caller = p.call "
        'WHERE c.start < p.start OR c."end" > p."end" OR c.depth <> p.depth + 1')
    assert {row['name']: row['n'] for row in entered} == expected
    assert {row['name']: row['n'] for row in own} == walks.instructions()
    assert whole == [{'n': len(walks.addresses)}]
    assert order == [{'n': 0}]


def test_messages_are_those_of_syst(run, tables, tmp_path):
    (tmp_path / 'all.stp').write_bytes(stp.stp(
        stp.sync(1000000), stp.at(0x81, 4), stp.message(1000, '01415042', '00656E6F'),
        stp.message(2000, '01416022', '006F7774'), stp.message(3000, '01416022', '0022222C')))
    expected = [as_decimal(row) for row in csv_rows(run('syst', 'all.stp', '--format', 'csv'))]
    tables('all.stp', '--table', 'messages')
    rows = duckdb.ask(tmp_path, "FROM 'tables/messages/*.parquet' ORDER BY seq")
    assert [like_csv(row, expected[0]) for row in rows] == expected


# --- Several inputs, selections ------------------------------------------------------------------

def test_each_input_has_a_part(walks, executed, tables, tmp_path):
    other = executed('packer')
    folder = tables(walks.capture, other.capture)
    for table in TABLES:
        assert sorted(path.name for path in (folder / table).iterdir()) == ['part-00000.parquet', 'part-00001.parquet']
    assert sorted(path.name for path in folder.iterdir()) == sorted(TABLES)
    rows = duckdb.ask(tmp_path, "SELECT part, input, sum(instructions) AS n FROM 'tables/counts/*.parquet' GROUP BY ALL "
                                'ORDER BY part')
    assert rows == [{'part': 0, 'input': str(walks.capture), 'n': len(walks.addresses)},
                    {'part': 1, 'input': str(other.capture), 'n': len(other.addresses)}]


def test_the_same_input_gives_the_same_files(walks, tables):
    first, second = tables(walks.capture, output='a'), tables(walks.capture, '-j', '1', output='b')
    for table in TABLES:
        name = f'{table}/part-00000.parquet'
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_a_window_is_that_of_decode(run, walks, tables, tmp_path):
    expected = csv_rows(run('decode', walks.capture, '--format', 'csv', '--from', '200', '--to', '400'))
    tables(walks.capture, '--from', '200', '--to', '400', '--table', 'elements')
    rows = duckdb.ask(tmp_path, "SELECT \"index\" FROM 'tables/elements/*.parquet' ORDER BY seq")
    assert [str(row['index']) for row in rows] == [row['index'] for row in expected]


# --- The documentation ---------------------------------------------------------------------------

def listed(run):
    """{table: [(column, type, meaning)]}"""
    found = {}
    for line in run('export', 'parquet', '--list').lines:
        if line.startswith('  '):
            found[name].append(tuple(line.split(maxsplit=2)))
        elif line:
            name = line.split()[0]
            found[name] = []
    return found


def test_all_columns_are_documented(run, repository):
    page = (repository / 'docs' / PAGE).read_text()
    documented = {}
    for title, section in re.findall(r'^### `(\w+)`\n(.*?)(?=^#|\Z)', page, re.M | re.S):
        documented[title] = re.findall(r'^\| `(\w+)` \| (\w+) \| (.*) \|$', section, re.M)
    assert documented == listed(run)


def test_columns_are_those_that_are_listed(run, walks, tables, tmp_path):
    tables(walks.capture)
    types = {'VARCHAR': 'text', 'BOOLEAN': 'flag', 'UTINYINT': 'uint8', 'USMALLINT': 'uint16', 'UINTEGER': 'uint32',
             'UBIGINT': 'uint64'}
    for table, columns in listed(run).items():
        rows = duckdb.ask(tmp_path, f"DESCRIBE FROM 'tables/{table}/*.parquet'")
        assert [(row['column_name'], types[row['column_type']]) for row in rows] == [
            (name, kind) for name, kind, _ in columns]


def test_queries_of_the_documentation_work(repository, walks, executed, tables, tmp_path):
    queries = re.findall(r'^```sql\n(.*?)^```', (repository / 'docs' / PAGE).read_text(), re.M | re.S)
    assert len(queries) >= 6
    tables(walks.capture, executed('packer').capture)
    duckdb.ask(tmp_path, *queries)


# --- What files say about themselves -------------------------------------------------------------

def test_statistics_are_those_of_the_values(walks, tables, tmp_path):
    """Readers skip groups of rows by them."""
    tables(walks.capture, '--table', 'elements')
    facts, bounds = duckdb.ask(
        tmp_path,
        'SELECT path_in_schema AS name, stats_min_value AS least, stats_max_value AS greatest, '
        "stats_null_count AS nulls, num_values AS n FROM parquet_metadata('tables/elements/*.parquet')",
        'SELECT min(start) AS least, max(start) AS greatest, count(*) - count(start) AS nulls, count(*) AS n '
        "FROM 'tables/elements/*.parquet'")
    fact = {row['name']: row for row in facts}['start']
    assert [int(fact['least']), int(fact['greatest'])] == [bounds[0]['least'], bounds[0]['greatest']]
    assert [fact['nulls'], fact['n']] == [bounds[0]['nulls'], bounds[0]['n']]


def test_a_file_names_its_producer(run, walks, tables, tmp_path):
    tables(walks.capture, '--table', 'counts')
    version = run('--version').out.split()[1]
    made, = duckdb.ask(tmp_path, "SELECT created_by AS by FROM parquet_file_metadata('tables/counts/*.parquet')")
    assert made['by'] == f'waymark version {version}'
    table, = duckdb.ask(tmp_path, "SELECT value::VARCHAR AS name FROM parquet_kv_metadata('tables/counts/*.parquet') "
                                  "WHERE key::VARCHAR = 'waymark.table'")
    assert table['name'] == 'counts'


@pytest.mark.parametrize('table', ['elements', 'calls', 'counts'])
def test_a_file_is_not_much_larger_than_what_duckdb_writes(executed, tables, tmp_path, table):
    program = executed('packer')
    folder = tables(program.capture, '--symbols', program.program, '--table', table)
    # A build without zstd does not compress.
    used, = duckdb.ask(tmp_path, f"SELECT DISTINCT compression FROM parquet_metadata('tables/{table}/*.parquet')")
    duckdb.ask(tmp_path, f"COPY (FROM 'tables/{table}/*.parquet' ORDER BY seq) TO 'theirs.parquet' "
                         f'(FORMAT parquet, COMPRESSION {used["compression"]})')
    ours = (folder / table / 'part-00000.parquet').stat().st_size
    assert ours <= 1.5 * (tmp_path / 'theirs.parquet').stat().st_size


# --- Bad input -----------------------------------------------------------------------------------

@pytest.mark.parametrize('damage', [b'', b'\0' * 100, b'\x77' * 3, bytes(range(256))])
def test_damage_is_in_the_table_of_elements(run, tables, tmp_path, damage):
    """As in CSV, at its place among the elements."""
    trace = tmp_path / 'bad.bin'
    trace.write_bytes(trace_bytes.ETMV4_START + trace_bytes.ATOM_E * 3 + damage + trace_bytes.ETMV4_START +
                      trace_bytes.ATOM_E * 9)
    (tmp_path / 'program.bin').write_bytes(trace_bytes.LOOP_PROGRAM)
    words = ['bad.bin', '--protocol', 'etmv4', *trace_bytes.ETMV4_REGISTERS, '--image', '0x80000=program.bin']
    decoded = run('decode', *words, '--format', 'csv', expect=None)
    expected = [as_decimal(row) for row in csv_rows(decoded)]
    tables(*words, expect=decoded.code)
    rows = duckdb.ask(tmp_path, "FROM 'tables/elements/*.parquet' ORDER BY seq")
    assert [like_csv(row, expected[0]) for row in rows] == expected


def test_an_empty_capture_has_tables_without_rows(run, tables, tmp_path):
    (tmp_path / 'empty.stp').write_bytes(trace_bytes.STM_START)
    tables('empty.stp', expect=run('decode', 'empty.stp', expect=None).code)
    rows = duckdb.ask(tmp_path, "FROM 'tables/elements/*.parquet'")
    assert all(row['kind'] in ('no_sync', 'end_of_trace') for row in rows)
    for table in ('calls', 'counts', 'messages'):
        assert duckdb.ask(tmp_path, f"FROM 'tables/{table}/*.parquet'") == []


def test_an_empty_file_is_refused(run, tmp_path):
    (tmp_path / 'empty.bin').write_bytes(b'')
    assert 'nothing was captured' in run('export', 'parquet', 'empty.bin', '-o', 'tables', expect=3).err
    assert not (tmp_path / 'tables').exists()


def test_hostile_names_are_escaped(run, hostile_capture, tables, tmp_path):
    words = [hostile_capture.snapshot, '--symbols', hostile_capture.elf]
    tables(*words)
    functions, inputs = duckdb.ask(
        tmp_path, "SELECT DISTINCT function FROM 'tables/counts/*.parquet' WHERE function IS NOT NULL",
        "SELECT DISTINCT input FROM 'tables/elements/*.parquet'")
    assert functions and len(inputs) == 1
    for table in TABLES:
        for row in duckdb.ask(tmp_path, f"FROM 'tables/{table}/*.parquet'"):
            for cell in row.values():
                if isinstance(cell, str):
                    assert not CONTROL.search(cell.encode()), cell


# --- What can go wrong ---------------------------------------------------------------------------

def test_it_needs_a_folder(run, walks):
    assert 'name it with -o' in run('export', 'parquet', walks.capture, expect=2).err


def test_tables_of_two_exports_are_not_mixed(run, walks, tables, tmp_path):
    folder = tables(walks.capture, '--table', 'counts')
    before = (folder / 'counts/part-00000.parquet').read_bytes()
    said = run('export', 'parquet', walks.capture, '-o', 'tables', expect=2).err
    assert 'counts exists' in said
    assert (folder / 'counts/part-00000.parquet').read_bytes() == before
    # Another table has a place beside it.
    tables(walks.capture, '--table', 'calls')
    assert sorted(path.name for path in folder.iterdir()) == ['calls', 'counts']


def test_an_input_that_cannot_be_read_is_left_out(run, walks, tables, tmp_path):
    folder = tables('missing', walks.capture, '--table', 'counts', expect=3)
    assert [path.name for path in (folder / 'counts').iterdir()] == ['part-00001.parquet']
    run('export', 'parquet', 'missing', '-o', 'none', expect=3)
    assert not (tmp_path / 'none').exists()


@pytest.mark.parametrize('size', [0, 4096])
def test_a_disk_that_is_full_leaves_nothing(run, walks, tmp_path, size):
    small = f'ulimit -f {size // 1024}; trap "" XFSZ; exec "$@"'
    done = subprocess.run(['bash', '-c', small, 'bash', str(run.program), 'export', 'parquet', walks.capture, '-o',
                           'tables'], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4 and 'Cannot write' in done.stderr, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_calls_are_not_those_of_one_program(run, walks, tmp_path):
    said = run('export', 'parquet', walks.capture, '--dso', 'walks', '-o', 'tables', expect=2).err
    assert 'leave out the table `calls`' in said or 'recording' in said
    assert not (tmp_path / 'tables').exists()


def test_options_of_tables_are_only_for_tables(run, walks):
    assert '--table' in run('export', 'afl', walks.capture, '--table', 'counts', expect=2).err
    run('export', 'parquet', walks.capture, '--table', 'nothing', '-o', 'x', expect=2)
