"""Runs a script of the repository in a small tree of files."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.path.abspath(__file__)).parent.parent.parent


class ScriptCase(unittest.TestCase):
    script = ''  # Its name in scripts/.
    files = {}  # A tree without findings: the text of each file by its path.

    def check(self, changes, *expected):
        """With these files changed, the script prints the expected findings."""
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            for name, text in {**self.files, **changes}.items():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text)
            (folder / 'scripts').mkdir()
            shutil.copy(ROOT / 'scripts' / self.script, folder / 'scripts')
            done = subprocess.run([sys.executable, folder / 'scripts' / self.script], capture_output=True, text=True)
        self.assertEqual(done.stdout.splitlines(), list(expected), done.stderr)
        self.assertEqual(done.returncode, 1 if expected else 0)
