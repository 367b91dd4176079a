"""Source lines of a program, as LLVM's tools know them: independent of what Waymark reads."""
import collections
import re
import shutil
import subprocess
from dataclasses import dataclass

DWARFDUMP = shutil.which('llvm-dwarfdump-19')
OBJDUMP = shutil.which('llvm-objdump-19')


@dataclass
class Row:
    address: int
    end: int
    line: int
    file: str
    statement: bool


def rows_of(program):
    """All rows of the line tables."""
    text = subprocess.run([DWARFDUMP, '--debug-line', program], check=True, capture_output=True, text=True).stdout
    rows, files, open_rows = [], {}, []
    number = None
    for line in text.splitlines():
        if line.startswith('debug_line['):
            files = {}
        elif entry := re.match(r'file_names\[ *(\d+)\]', line):
            number = int(entry[1])
        elif name := re.match(r' +name: "(.*)"', line):
            files[number] = name[1]
        elif row := re.match(r'0x([0-9a-f]+) +(\d+) +\d+ +(\d+) +\d+ +\d+ +\d+ *(.*)', line):
            address = int(row[1], 16)
            if open_rows:
                open_rows[-1].end = address
            if 'end_sequence' in row[4]:
                rows += open_rows
                open_rows = []
            else:
                open_rows.append(Row(address, address, int(row[2]), files.get(int(row[3])), 'is_stmt' in row[4]))
    return rows


def line_counts(program, counts, step=4):
    """{file name: {line: count}}: how often the most frequent instruction of each line was executed."""
    found = collections.defaultdict(dict)
    for row in rows_of(program):
        if not row.statement or row.line == 0:
            continue
        most = max([counts[row.address], *(counts[a] for a in range(row.address, row.end, step // 2))])
        lines = found[row.file.rsplit('/', 1)[-1]]
        lines[row.line] = max(lines.get(row.line, 0), most)
    return dict(found)


def line_at(rows, address):
    """(file name, line) of the row that has an address."""
    for row in rows:
        if row.address <= address < row.end:
            return (row.file or '').rsplit('/', 1)[-1], row.line
    return None


CONDITIONS = 'eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le'


def conditional_branches(program):
    """{address: size} of the conditional branches in the code."""
    text = subprocess.run([OBJDUMP, '-d', '--no-show-raw-insn', program], check=True, capture_output=True,
                          text=True).stdout
    found = {}
    rows = re.findall(r'^ *([0-9a-f]+):[ \t]+([a-z0-9.]+)(.*)', text, re.M)
    for (at, word, operands), (after, *_) in zip(rows, rows[1:] + [('0', '')]):
        if re.fullmatch(rf'b\.[a-z]{{2}}|t?cbn?z|tbn?z|(b|bx|bl|blx)({CONDITIONS})(\.[nw])?', word) or (
                re.fullmatch(rf'(pop|ldr|mov|ldm)({CONDITIONS})(\.[nw])?', word) and 'pc' in operands.split('@')[0]):
            found[int(at, 16)] = int(after, 16) - int(at, 16)
    return found
