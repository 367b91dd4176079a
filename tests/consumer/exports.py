#!/usr/bin/env python3
"""exports.py LIBRARY HEADERS: the shared library exports only what the installed headers declare.

The functions of a class that a header declares without its content, as a friend or as the state of another class, are
exported too: the first declaration of a class decides whether it is visible.
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('check_abi', str(ROOT / 'scripts/check-abi'))
abi = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_abi', loader))
loader.exec_module(abi)


def main():
    library, headers = sys.argv[1:]
    folder = pathlib.Path(headers) / 'waymark'
    words = abi.words_of(folder)
    declared = set()
    for header in folder.rglob('*.h'):
        declared.update(re.findall(r'(?:class|struct) (\w+);', header.read_text()))
    names = subprocess.run(['nm', '--dynamic', '--defined-only', '--format=just-symbols', '--demangle', library],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    # A library that exports nothing would pass otherwise.
    if not any(name.startswith('waymark::inputs::Capture::next_block(') for name in names):
        sys.exit(f'{library} does not export waymark::inputs::Capture::next_block().')
    others = [name for name in names
              if not abi.is_public(name, words) and declared.isdisjoint(abi.name_parts(name))]
    if others:
        sys.exit(f'{library} exports {len(others)} names that no installed header has:\n' + '\n'.join(name[:200] for name in others[:20]))
    print(f'{len(names)} names, all of installed headers')


main()
