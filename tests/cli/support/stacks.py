"""Call stacks of a program that QEMU executed, from the addresses in its log and the program's disassembly."""
import collections
import re
import shutil
import subprocess

OBJDUMP = shutil.which('llvm-objdump-19')


def instructions(program):
    """{address: mnemonic}"""
    text = subprocess.run([OBJDUMP, '-d', '--no-show-raw-insn', program], check=True, capture_output=True,
                          text=True).stdout
    return {int(a, 16): word for a, word in re.findall(r'^ *([0-9a-f]+):\s+(\S+)', text, re.M)}


class Stacks:
    """What each stack executed itself, and how often each function was called, by one rule for each instruction.
    `keep`: a function that ends with a branch to another one stays on the stack."""

    def __init__(self, execution, keep=True):
        words = instructions(execution.program)
        functions = execution.functions()
        self.own = collections.Counter()
        self.calls = collections.Counter()
        owners = {a: name for name, (start, end) in functions.items() for a in range(start, end, 4)}
        frames = []  # [function, where it returns to, whether it was entered by a tail call]
        last = None
        for address in execution.addresses:
            name = owners[address]
            word = words.get(last)
            if not frames:
                frames.append([name, None, False])
            elif word in ('bl', 'blr'):
                frames.append([name, last + 4, False])
                self.calls[name] += 1
            elif word == 'ret':
                self.leave(frames, address, name)
            elif name != frames[-1][0]:
                if keep:
                    frames.append([name, frames[-1][1], True])
                else:
                    frames[-1][0] = name
                self.calls[name] += 1
            self.own[';'.join(frame[0] for frame in frames)] += 1
            last = address

    @staticmethod
    def leave(frames, address, name):
        for i in range(len(frames) - 1, -1, -1):
            if frames[i][1] == address:
                while frames[i][2]:
                    i -= 1
                del frames[i:]
                return
        # longjmp(): to the nearest function that is open.
        while frames[-1][0] != name:
            frames.pop()

    def folded(self):
        return sorted(f'{stack} {count}' for stack, count in self.own.items())

    def inclusive(self):
        """{function: instructions of it and of all that it called}"""
        sums = collections.Counter()
        for stack, count in self.own.items():
            for name in set(stack.split(';')):
                sums[name] += count
        return sums
