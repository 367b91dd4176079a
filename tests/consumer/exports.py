#!/usr/bin/env python3
"""exports.py LIBRARY HEADERS: the shared library exports only what the installed headers declare."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('check_abi', str(ROOT / 'scripts/check-abi'))
abi = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_abi', loader))
loader.exec_module(abi)


def main():
    library, headers = sys.argv[1:]
    words = abi.words_of(pathlib.Path(headers) / 'waymark')
    names = subprocess.run(['nm', '--dynamic', '--defined-only', '--format=just-symbols', '--demangle', library],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    # A library that exports nothing would pass otherwise.
    if not any(name.startswith('waymark::inputs::Capture::next_block(') for name in names):
        sys.exit(f'{library} does not export waymark::inputs::Capture::next_block().')
    others = [name for name in names if not abi.is_public(name, words)]
    if others:
        sys.exit(f'{library} exports {len(others)} names that no installed header has:\n' + '\n'.join(others[:20]))
    print(f'{len(names)} names, all of installed headers')


main()
