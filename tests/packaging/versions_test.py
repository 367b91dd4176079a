"""Tests that the version is in CMakeLists.txt, and that what cannot read it there says the same."""
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# These cannot read CMakeLists.txt, or name releases.
NAMES = {'CHANGELOG.md', 'CITATION.cff', 'CMakeLists.txt', 'debian/changelog', 'debian/libopencsd1-waymark.symbols'}


def text(name):
    return (ROOT / name).read_text()


def found(pattern, name):
    match = re.search(pattern, text(name), re.M)
    assert match, f'{name} has no version.'
    return match.groups() if len(match.groups()) > 1 else match.group(1)


VERSION = found(r'^project\(waymark VERSION (\d+\.\d+\.\d+) ', 'CMakeLists.txt')


class Versions(unittest.TestCase):
    def test_debian(self):
        self.assertEqual(found(r'\Awaymark \((.*?)\)', 'debian/changelog'), VERSION)

    def test_the_changelog_and_the_citation(self):
        version, date = found(r'^## \[(\d.*?)\] - (\d{4}-\d\d-\d\d)$', 'CHANGELOG.md')
        self.assertEqual(version, VERSION)
        self.assertEqual(found(r'^version: (.*)$', 'CITATION.cff'), VERSION)
        self.assertEqual(found(r'^date-released: (.*)$', 'CITATION.cff'), date)

    def test_the_wheel(self):
        python = '/usr/bin/python3' if pathlib.Path('/usr/bin/python3').exists() else sys.executable
        if subprocess.run([python, '-c', 'import setuptools'], check=False, capture_output=True).returncode != 0:
            self.skipTest('setuptools is not installed')
        said = subprocess.run([python, '-B', ROOT / 'setup.py', '--version'], cwd=ROOT, capture_output=True, text=True,
                              check=True).stdout
        self.assertEqual(said.split()[-1], VERSION)

    def test_no_other_file_names_it(self):
        listed = subprocess.run(['git', '-C', ROOT, 'grep', '-lIwF', VERSION], capture_output=True, text=True, check=False)
        if listed.returncode > 1:
            self.skipTest('this is not a git repository')
        others = {name for name in listed.stdout.splitlines() if name not in NAMES and not name.startswith('docs/spec/')}
        self.assertEqual(others, set())


if __name__ == '__main__':
    unittest.main()
