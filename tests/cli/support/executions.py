"""Programs that QEMU executed, with trace of just that execution.

QEMU logs the address of every instruction.  `waymark synth --execution` makes trace of the log, and the
log itself is the truth that all outputs are compared with.
"""
import collections
import itertools
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / 'programs' / 'executed'
CLANG = shutil.which('clang-19')
QEMU = shutil.which('qemu-aarch64')
QEMU_ARM = shutil.which('qemu-arm')
NM = shutil.which('llvm-nm-19')
OBJDUMP = shutil.which('llvm-objdump-19')
READELF = shutil.which('readelf')
RECURSIVE = {'recursive', 'deep'}  # They call themselves.
USUAL = ['-O2', '-g', '-gdwarf-4', '-fdebug-info-for-profiling']


@dataclass
class Segment:
    offset: int
    address: int


@dataclass
class Execution:
    program: Path
    capture: Path
    addresses: list  # Of all instructions, in order.
    source: str = 'walks.c'
    step: int = 4  # The smallest size of an instruction.

    def functions(self):
        """The functions of the program: {name: (start, end)}."""
        rows = subprocess.run([NM, '-S', '--defined-only', self.program], check=True, capture_output=True,
                              text=True).stdout.splitlines()
        found = [row.split() for row in rows]
        return {row[3]: (int(row[0], 16), int(row[0], 16) + int(row[1], 16)) for row in found
                if len(row) == 4 and row[2] in 'tT'}

    def instructions(self):
        """The instructions that each function executed itself: {name: count}."""
        owners = {a: name for name, (start, end) in self.functions().items() for a in range(start, end, 4)}
        return dict(collections.Counter(owners[a] for a in self.addresses))

    def jumps_within(self, function, target):
        """How often code of the function itself led to the target."""
        start, end = self.functions()[function]
        return sum(1 for a, b in itertools.pairwise(self.addresses)
                   if b == target and start <= a < end and function not in RECURSIVE)

    def code_segment(self):
        """The segment of the program with code."""
        rows = subprocess.run([READELF, '-lW', self.program], check=True, capture_output=True, text=True).stdout
        found = re.search(r'LOAD +0x([0-9a-f]+) 0x([0-9a-f]+) .* R E ', rows)
        return Segment(*(int(word, 16) for word in found.groups()))

    def branches(self, *names):
        """The addresses of all branches in the code, or of those with these mnemonics."""
        rows = subprocess.run([OBJDUMP, '-d', '--no-show-raw-insn', self.program], check=True, capture_output=True,
                              text=True).stdout
        return {int(at, 16) for at, word in re.findall(r'^ *([0-9a-f]+): +\t?([a-z0-9.]+)', rows, re.M)
                if re.fullmatch('|'.join(names) if names else r'b|b\.[a-z]+|bl|br|blr|ret|cbn?z|tbn?z', word)}

    def build_id(self):
        """The bytes of the build ID."""
        rows = subprocess.run([READELF, '-nW', self.program], check=True, capture_output=True, text=True).stdout
        return bytes.fromhex(re.search(r'Build ID: ([0-9a-f]+)', rows)[1])

    def counts(self):
        """How often each address was executed."""
        return collections.Counter(self.addresses)


def compile_program(folder, source='walks.c', options=USUAL, name='program'):
    """A static program for AArch64, linked with relocations, as BOLT needs them."""
    if not all((CLANG, QEMU, NM)):
        pytest.skip('clang-19, qemu-user or llvm-19 of scripts/packages.txt is missing')
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCES / source, folder)
    subprocess.run([CLANG, '--target=aarch64-linux-gnu', '-nostdlib', '-static', '-fuse-ld=lld-19', '-Wl,-q',
                    '-Wl,--build-id=sha1', *options, source, '-o', name], cwd=folder, check=True,
                   capture_output=True)
    return folder / name


def compile_thumb(folder, source, options=USUAL, name='program'):
    """The same in T32, without branches in IT blocks, which `waymark synth` takes for unconditional ones."""
    if not all((CLANG, QEMU_ARM, NM)):
        pytest.skip('clang-19, qemu-user or llvm-19 of scripts/packages.txt is missing')
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(SOURCES / source, folder)
    subprocess.run([CLANG, '--target=armv7a-linux-gnueabihf', '-mthumb', '-nostdlib', '-static', '-fuse-ld=lld-19',
                    '-Wl,--build-id=sha1', '-mllvm', '-ifcvt-limit=0', *options, source, '-o', name], cwd=folder,
                   check=True, capture_output=True)
    return folder / name


def log_of(program, *arguments, qemu=QEMU):
    """What QEMU logs when it executes the program; the path of the log."""
    log = program.with_suffix('.log')
    subprocess.run([qemu, '-singlestep', '-d', 'exec,nochain', '-D', log, program, *arguments],
                   cwd=program.parent, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return log


def addresses_in(log):
    return [int(match, 16) for match in re.findall(r'^Trace .*\[[0-9a-f]+/([0-9a-f]+)/', log.read_text(), re.M)]


def execute(synth_program, program, *options):
    """Executes the program and makes a capture of it, with `options` of `waymark synth`."""
    log = log_of(program)
    capture = program.with_name(program.name + '.capture')
    synth_program('synth', '--elf', program, '--execution', log, *options, '-o', capture)
    return Execution(program, capture, addresses_in(log), program_source(program))


def execute_thumb(synth_program, program, *options):
    """The same of a program in T32, whose addresses are odd in the log that trace is made of."""
    addresses = addresses_in(log_of(program, qemu=QEMU_ARM))
    log = program.with_suffix('.odd')
    log.write_text(''.join(f'{address | 1:x}\n' for address in addresses))
    capture = program.with_name(program.name + '.capture')
    synth_program('synth', '--elf', program, '--execution', log, *options, '-o', capture)
    return Execution(program, capture, addresses, program_source(program), 2)


def program_source(program):
    return next(program.parent.glob('*.c')).name
