"""The captures that are compared, and the programs that are run on them."""
import collections
import json
import os
import shutil
import sqlite3
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import elf_writer
from places import Places, Program, parts_in_memory
from support import duckdb
from support.programs import Result, Runner, check
from support.viewer import viewing

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / 'shared/data'


@dataclass
class Capture:
    """A capture, and everything that the sources ask of it.

    `damage`: {label: function}: what a mutation changes of the output with this label.  Outputs are kept, so that a
    mutation costs only the comparison.
    """
    name: str
    inputs: list
    options: list
    folder: Path
    run: Runner
    recording: bool = False
    truth: Path = None
    true_to_code: bool = False  # neither damaged nor of other code than that in memory
    small: bool = False
    damage: dict = field(default_factory=dict)

    def __post_init__(self):
        self.one_protocol = None
        self.speculates = False
        self.kept = {}
        self.files = {}
        self.labels = []
        self.stack = ExitStack()
        self.viewer = None
        self.folder.mkdir(parents=True, exist_ok=True)
        self.find_facts()

    # -- Running. --

    @staticmethod
    def names_functions(words):
        """Whether a command takes --symbols."""
        if words[0] in ('count', 'decode'):
            return any(word in ('--functions', '--tree', '--callers', '--callees') for word in words)
        return words[0] not in ('info', 'find', 'packets')

    def command(self, words, inputs=None, twice=False):
        words = list(words)
        symbols = self.names_functions(words)
        first = [words.pop(0)]
        if first[0] == 'export':
            first.append(words.pop(0))
        options = self.options if symbols else [
            word for pair in zip(self.options[::2], self.options[1::2]) if pair[0] != '--symbols' for word in pair]
        given = list(inputs if inputs is not None else self.inputs)
        return [*first, *given, *(given if twice else []), *options, *words]

    def damaged(self, label, data):
        self.labels.append(label)
        change = self.damage.get(label)
        return change(data) if change else data

    def result(self, *words, inputs=None, twice=False, expect=0):
        label = ' '.join(map(str, words))
        key = (label, tuple(map(str, inputs or ())))
        if key not in self.kept:
            self.kept[key] = self.run(*self.command(words, inputs, twice), expect=None)
        kept = self.kept[key]
        if expect == 0 and kept.code != 0:
            kept.fail('the command failed')
        return Result(kept.command, kept.code, self.damaged(label, kept.out_bytes), kept.err_bytes)

    def text(self, *words, **options):
        return self.result(*words, **options).out

    def json_lines(self, *words, **options):
        return self.result(*words, **options).json_lines()

    def file(self, *words, program=None):
        """The path of what a command writes with -o."""
        label = ' '.join(map(str, words))
        if label not in self.files:
            path = self.folder / f'out{len(self.files)}{".html" if program else ""}'
            self.run(*self.command(words), '-o', path, expect=0)
            self.files[label] = path
        path = self.files[label]
        if label in self.damage:
            changed = path.with_name(f'{path.name}.changed')
            shutil.copyfile(path, changed)
            self.damage[label](changed)
            path = changed
        self.labels.append(label)
        return path

    def decoded(self, form, decode, *words):
        """The text of a binary format."""
        label = ' '.join(['export', form, *words])
        if (label, 'text') not in self.kept:
            self.kept[(label, 'text')] = decode(self.file('export', form, *words).read_bytes())
        return self.damaged(f'{label} (text)', self.kept[(label, 'text')])

    def table(self, name, query=None):
        """The rows of a table of Parquet."""
        label = f'parquet {name}'
        if label not in self.kept:
            if 'parquet' not in self.files:
                self.files['parquet'] = self.folder / 'tables'
                self.run(*self.command(['export', 'parquet']), '-o', f'{self.folder}/tables/')
            done = duckdb.run([query or f"FROM '{name}/*.parquet' ORDER BY part, seq"], self.files['parquet'])
            assert done.returncode == 0, done.stderr
            self.kept[label] = done.stdout
        result, = json.loads(self.damaged(label, self.kept[label]))
        return [{name: duckdb.value(cell, kind) for name, kind, cell in zip(result['names'], result['types'], row)}
                for row in result['rows']]

    def answer(self, name, **parameters):
        """An answer of the viewer."""
        label = ' '.join(['view', name, *(f'{key}={value}' for key, value in parameters.items())])
        if label not in self.kept:
            if self.viewer is None:
                self.viewer = self.stack.enter_context(viewing(self.run, *self.inputs, *self.options))
                self.viewer.wait()
            self.kept[label] = json.dumps(self.viewer.ask(name, **parameters))
        return json.loads(self.damaged(label, self.kept[label]))

    def merge(self, what, form, slices, *options):
        """The merged result of a job."""
        label = ' '.join(['merge', form, str(slices), *options])
        if label not in self.kept:
            job = self.folder / f'job{len(self.kept)}'
            job.mkdir()
            words = collections.defaultdict(list)
            given = [*self.options, *options]
            for name, value in zip(given[::2], given[1::2]):
                words[name.lstrip('-')].append(str(value))
            lines = [f'what = "{what}"', f'format = "{form}"', f'inputs = {json.dumps([str(i) for i in self.inputs])}',
                     *([f'slices = {slices}'] if slices > 1 else ['shards = 1']), '[options]',
                     *(f'{name} = {json.dumps(values)}' for name, values in words.items())]
            (job / 'job.toml').write_text('\n'.join(lines) + '\n')
            self.run('plan', job / 'job.toml', '-o', job / 'plan')
            self.run('shard', job / 'plan', 'missing', expect=None)
            self.kept[label] = self.run('merge', job / 'plan', expect=None)
        kept = self.kept[label]
        return Result(kept.command, kept.code, self.damaged(label, kept.out_bytes), kept.err_bytes)

    def other(self, label, command, environment):
        if label not in self.kept:
            done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True)
            self.kept[label] = check(Result(command, done.returncode, done.stdout, done.stderr), 0).out_bytes
        return self.damaged(label, self.kept[label])

    def elements(self):
        """The elements, which are not kept."""
        words = ['decode', '--format', 'json', *(['--functions'] if self.recording else [])]
        label = ' '.join(words)
        if label not in self.kept:
            result = self.run(*self.command(words))
            self.kept[label] = result.out_bytes
        data = self.damaged(label, self.kept[label])
        for line in data.splitlines():
            row = json.loads(line)
            if row['type'] == 'element':
                yield row

    def close(self):
        self.stack.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- Facts. --

    def find_facts(self):
        base = self.run(*self.command(['export', 'sqlite']), '-o', self.folder / 'facts.sqlite', expect=None)
        self.fixed_size = True
        programs, files = [], {}
        if base.code == 0:
            database = sqlite3.connect(self.folder / 'facts.sqlite')
            rows = database.execute('SELECT path, file FROM programs').fetchall()
            self.lines = database.execute('SELECT count(*) FROM instructions WHERE line > 0').fetchone()[0] > 0
            self.database_paths = [path for path, _ in rows]
            database.close()
            if self.recording:
                files = {file: path for path, file in rows if file}
                folders = [Path(folder) for folder in self.values_of('--symfs')]
                for path, file in rows:
                    candidates = [file, path, *(folder / name for folder in folders for name in (
                        path.lstrip('/'), Path(path).name))]
                    programs += [(path, Program(one)) for one in candidates if one and is_elf(Path(one))][:1]
        else:
            self.lines, self.database_paths = False, []
        memory = []
        if not self.recording:
            programs = [('', Program(path)) for path in self.values_of('--symbols')]
            self.elf_files = dict(zip(self.values_of('--symbols'), (program for _, program in programs)))
            for address, path, offset, size in elf_writer.programs_of(self.inputs[0]):
                path = str(path)
                if path not in self.database_paths:
                    continue  # It was not executed, or another one has its functions.
                if path not in self.elf_files:
                    self.elf_files[path] = Program(path)
                parts = parts_in_memory(path, self.elf_files[path], address, offset, size)
                moved = [part for part in parts if part[2]]
                memory += moved
                name = path if moved else ''
                if (name, self.elf_files[path]) not in programs:
                    programs.append((name, self.elf_files[path]))
        self.places = Places(programs, self.recording, files, memory)
        self.counts = self.run(*self.command(['count', '--all', '--format', 'json']), expect=None)
        rows = self.counts.json_lines() if self.counts.code == 0 else []
        self.has = {'duckdb', 'protoc'} - set(absent())
        blocks = [row for row in rows if row['type'] == 'count_block']
        sets = {row['isa'] for row in blocks}
        self.fixed_size = 'T32' not in sets
        if sets == {'A64'}:
            self.has.add('a64')
        heads = [row for row in rows if row['type'] == 'count']
        if any(row['elements'].get('timestamp') for row in heads):
            self.has.add('timestamps')
        if self.places.known():
            self.has.add('functions')
            if self.lines:
                self.has.add('lines')
        if self.truth:
            self.has.add('truth')
        if self.recording:
            self.has.add('recording')
            self.find_processes()
        kinds = {row['protocol'] for row in json.loads(self.run(*self.command(['info', '--format', 'json'])).lines[0])['sources']}
        self.messages = any(kind.startswith(('STM', 'ITM')) for kind in kinds)
        if len(kinds) == 1:
            self.one_protocol = next(iter(kinds))
        if kinds and kinds <= {'ETMv4', 'ETE', 'ETMV4I'}:
            self.has.add('lists')
        if os.environ.get('WAYMARK_PYTHON'):
            self.has.add('python')
        self.executes = bool(blocks)

    def values_of(self, option):
        return [value for name, value in zip(self.options[::2], self.options[1::2]) if name == option]

    def find_processes(self):
        """Which programs each process executed."""
        info = json.loads(self.run(*self.command(['info', '--format', 'json'])).lines[0])
        for process in info.get('processes', ()):
            if process['pid'] < 0:
                continue
            result = self.run(*self.command(['count', '--functions', '--all', '--format', 'json', '--pid', process['pid']]),
                              expect=None)
            self.places.of_process[process['pid']] = {
                row['program'] for row in result.json_lines() if row.get('program')} if result.code == 0 else set()

    def moved(self, program):
        """Whether the addresses of a program in memory are others than in its file."""
        return self.recording and not any(name == program and one.fixed for name, one in self.places.programs)

    def readable(self, name):
        """The name in the source of a name that Waymark shows."""
        return self.places.readable.get(name, name)

    def in_function(self, key):
        return self.places.owner(key[0], key[1])[1] != '(no function)'

    def in_program(self, key):
        """Whether a program file has these addresses: (program, address, ...)."""
        for name, one in self.places.programs:
            if name == key[0] and all(one.code(address, 2) is not None for address in key[1:]):
                return True
        return False

    def is_damaged(self):
        if ('damaged',) not in self.kept:
            self.kept[('damaged',)] = b'"type":"damage"' in self.run(*self.command(['decode', '--format', 'json'])).out_bytes
        return self.kept[('damaged',)]

    def exception_packets(self):
        """{trace ID: how many packets state an exception} of the sources that execute something."""
        words = ['packets', '--format', 'json']
        label = ' '.join(words)
        if label not in self.kept:
            self.kept[label] = self.run(*self.command(words), expect=None).out_bytes
        found = dict.fromkeys((row['id'] for row in self.counts.json_lines() if row['type'] == 'count' and 'id' in row), 0)
        for line in self.damaged(label, self.kept[label]).splitlines():
            row = json.loads(line)
            if row['type'] != 'packet':
                continue
            if row['name'].startswith(('I_COMMIT', 'I_CANCEL', 'I_MISPREDICT')):
                self.speculates = True
            if row['id'] in found and (row['name'] in ('I_EXCEPT', 'MTB_EXCEPT') or row['fields'].get('exception')):
                found[row['id']] += 1
        return found

    def depth(self):
        """Of the call tree."""
        return 1 + max((row['depth'] for row in self.json_lines('count', '--tree', '--all', '--format', 'json')), default=0)

    def profiled(self):
        """[(value of --program or None, name in keys, Program)] of the programs that a profile can be of."""
        if self.recording:
            return [(name, name, program) for name, program in self.places.programs]
        found = [(path, self.places.label(path), self.elf_files[path]) for path in self.database_paths
                 if path in self.elf_files]
        return found if len(found) > 1 else [(None, label, program) for _, label, program in found]

    @staticmethod
    def file_name(path):
        return path.replace('\\', '/').rsplit('/', 1)[-1]

    def top_functions(self, most):
        """[(name as `count --functions` shows it, its keys)] of the functions with the most instructions."""
        found = {}
        for row in self.json_lines('count', '--functions', '--all', '--format', 'json'):
            if row['type'] == 'count_function' and row.get('name') and len(found) < most:
                if key := self.places.key(row['name'], row.get('program')):
                    found.setdefault(row['name'], []).append(key)
        return list(found.items())


def is_elf(path):
    return path.is_file() and path.read_bytes()[:4] == b'\x7fELF'


def absent():
    """The readers that are not installed."""
    missing = []
    if duckdb.NODE is None or not (duckdb.PACKAGES / '@duckdb/node-api').is_dir():
        missing.append('duckdb')
    if shutil.which('protoc') is None:
        missing.append('protoc')
    return missing


SYNTH = {
    # Every protocol has a random program with calls through registers, recursion, switches and handlers.
    'etmv4': ['--protocol', 'etmv4', '--exceptions', 60, '--timestamps', 40],
    'etmv4-return-stack': ['--protocol', 'etmv4', '--return-stack', '--cycle-counts', '--exceptions', 40],
    'etmv4-sync': ['--protocol', 'etmv4', '--sync-period', 256, '--exceptions', 200],
    'etmv4-speculation': ['--protocol', 'etmv4', '--speculation', 8, '--mispredicts', 10, '--exceptions', 50],
    'etmv4-contexts': ['--protocol', 'etmv4', '--context-ids', 3, '--exceptions', 30, '--timestamps', 60],
    'etmv4-t32': ['--protocol', 'etmv4', '--isa', 'T32', '--exceptions', 60],
    'etmv4-mixed': ['--protocol', 'etmv4', '--mixed', '--exceptions', 60],
    'etmv4-kernel': ['--protocol', 'etmv4', '--a64-kernel', '--exceptions', 40, '--timestamps', 50],
    'etmv4-filter': ['--protocol', 'etmv4', '--filter', 100, '--exceptions', 60, '--timestamps', 40],
    'etmv4-overflows': ['--protocol', 'etmv4', '--overflows', 200, '--discards', 300, '--exceptions', 60],
    'etmv4-q': ['--protocol', 'etmv4', '--q', 200, '--exceptions', 60],
    'ete': ['--protocol', 'ete', '--exceptions', 60, '--timestamps', 40, '--vmids', 2],
    'ptm': ['--protocol', 'ptm', '--exceptions', 60, '--timestamps', 60],
    'ptm-return-stack': ['--protocol', 'ptm', '--return-stack', '--isa', 'T32', '--exceptions', 60],
    'ptm-contexts': ['--protocol', 'ptm', '--context-ids', 2, '--sync-period', 512, '--exceptions', 60],
    'etmv3': ['--protocol', 'etmv3', '--exceptions', 60, '--timestamps', 60],
    'etmv3-t32': ['--protocol', 'etmv3', '--isa', 'T32', '--exceptions', 60, '--sync-period', 512],
    'etmv3-contexts': ['--protocol', 'etmv3', '--context-ids', 2, '--exceptions', 60],
    'mtb': ['--protocol', 'mtb', '--exceptions', 60],
    'cortex-m4': ['--core', 'Cortex-M4', '--exceptions', 60, '--timestamps', 60],
    'cortex-m7': ['--core', 'Cortex-M7', '--exceptions', 60, '--return-stack'],
    'cortex-m33': ['--core', 'Cortex-M33', '--exceptions', 60, '--timestamps', 60],
    'cortex-m55': ['--core', 'Cortex-M55', '--exceptions', 60, '--cycle-counts'],
    'two-cores': ['--protocol', 'etmv4,ete', '--cores', 2, '--exceptions', 100, '--timestamps', 60],
    # An STM and an ITM execute nothing: their numbers are those of elements.
    'with-stm-itm': ['--protocol', 'etmv4,stm,itm', '--exceptions', 100, '--timestamps', 60],
    # With damage there is no truth to compare with, but the outputs must still agree.
    'damage-etmv4': ['--protocol', 'etmv4', '--damage', 2000, '--exceptions', 60, '--timestamps', 60],
    'damage-ptm': ['--protocol', 'ptm', '--damage', 2000, '--exceptions', 60, '--timestamps', 60],
    'damage-etmv3': ['--protocol', 'etmv3', '--drop', 3000, '--exceptions', 60],
    'damage-ete': ['--protocol', 'ete', '--drop', 3000, '--cut', '--exceptions', 60],
    'nameless': ['--protocol', 'etmv4', '--exceptions', 60],
    'parts': ['--protocol', 'etmv4', '--exceptions', 60, '--functions', 60],
}
ELF = ROOT / 'samples/quicksort/quicksort.elf'
PROCESSES = {
    'processes': ['--protocol', 'etmv4', '--context-ids', 3, '--exceptions', 60, '--timestamps', 60],
    'processes-times': ['--protocol', 'etmv4', '--context-ids', 2, '--timestamps', 60, '--perf-times', '--exceptions', 60],
    'processes-switches': ['--protocol', 'ete', '--context-ids', 2, '--timestamps', 60, '--perf-switches',
                           '--exceptions', 60, '--cores', 2],
    'processes-raw': ['--protocol', 'etmv4', '--context-ids', 2, '--perf-raw', '--perf-pieces', 3, '--exceptions', 60],
}
SMALL = ('quicksort', 'synth etmv4', 'synth ptm-return-stack')


class Captures:
    def __init__(self, program, folder, nice=True):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        home = folder / 'home'
        home.mkdir(exist_ok=True)
        self.run = Runner(program, folder, home)

    def capture(self, name, inputs, options, **more):
        short = ''.join(c if c.isalnum() else '_' for c in name)
        return Capture(name, inputs, [str(o) for o in options], self.folder / f'work_{short}', self.run, **more)

    def named(self, name, path, inputs, **more):
        """A capture with an ELF file that names what was called, because its program is a copy of memory."""
        elements = (json.loads(line) for line in self.run('decode', path, '--format', 'json', expect=None).lines)
        starts, executed = elf_writer.called_functions(element for element in elements if element['type'] == 'element')
        folder = self.folder / f'symbols_{path.name}'
        folder.mkdir(exist_ok=True)
        files = elf_writer.write_symbols(folder, elf_writer.regions_of(path), starts, executed, 'parts' in name,
                                         'nameless' in name)
        return self.capture(name, inputs, [word for file in files for word in ('--symbols', file)], **more)

    def synth(self, name, words, *more, size=2500):
        path = self.folder / name.replace(' ', '_')
        self.run('synth', '-o', path, '--size', size, *words, *more)
        return path

    def names(self):
        """The names of all captures that exist here."""
        names = ['quicksort']
        names += [f'synth {name}' for name in SYNTH] + ['synth quicksort.elf'] + [f'synth {name}' for name in PROCESSES]
        if DATA.is_dir():
            names += [f'shared {path.name}' for path in sorted((DATA / 'snapshots').iterdir()) if path.is_dir()]
            names += [f'shared {path.parent.name}/{path.name}' for path in sorted((DATA / 'foreign').glob('**/snapshot.ini'))]
            names += [f'recording {path.relative_to(DATA)}' for path in sorted(DATA.glob('perf/**/perf.data'))]
            names += [f'recording {path.relative_to(DATA)}' for path in sorted(DATA.glob('field/recordings/*.perf.data'))]
        return names

    def make(self, name):
        """The capture with a name, or None if it executes nothing."""
        kind, _, rest = name.partition(' ')
        if kind == 'quicksort':
            return self.capture(name, [ROOT / 'samples/quicksort'], [], true_to_code=True)
        if rest == 'quicksort.elf':
            path = self.synth(name, ['--protocol', 'etmv4', '--elf', ELF, '--exceptions', 60, '--timestamps', 60],
                              size=2000)
            return self.capture(name, [path], ['--symbols', ELF], truth=path, true_to_code=True)
        if kind == 'synth' and rest in SYNTH:
            words = SYNTH[rest]
            path = self.synth(name, words)
            # The decoder follows a Q element whose path is known, so that the truth has other ranges.
            whole = not {'--damage', '--drop', '--q'} & set(words)
            return self.named(name, path, [path], truth=path if whole else None,
                              true_to_code=not {'--damage', '--drop'} & set(words))
        if kind == 'synth':
            path = self.synth(name, PROCESSES[rest], '--elf', ELF, '--perf-data')
            return self.capture(name, [path / 'perf.data'], ['--symfs', path], recording=True, true_to_code=True)
        if kind == 'shared':
            path = DATA / rest.replace('/snapshot.ini', '')
            path = next((p for p in (DATA / 'snapshots' / rest, *DATA.glob(f'foreign/**/{rest.split("/")[0]}')) if (p / 'snapshot.ini').is_file()), None)
            return self.named(name, path, [path]) if path else None
        path = DATA / rest
        folders = [DATA / 'perf/two-process/symfs', DATA / 'perf/simpleperf/symdir', DATA / 'field/recordings']
        return self.capture(name, [path], [word for folder in folders for word in ('--symfs', folder)], recording=True)
