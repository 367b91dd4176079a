"""Tests that continuous integration runs only scripts of this repository, with arguments that they know."""
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOW = (ROOT / '.github/workflows/ci.yml').read_text()
# The packages that a bare container needs before it has the repository.
PREPARATION = {
    'apt-get update && apt-get install -y --no-install-recommends ca-certificates git',
    'git config --global --add safe.directory "$PWD"',
}
ROW = r'\./scripts/\$\{\{ matrix\.script \}\}'


def commands():
    """Each command, with the rows of the matrix in it."""
    rows = re.findall(r'^ +script: (.*)$', WORKFLOW, re.M)
    for command in re.findall(r'^ +- run: (.*)$', WORKFLOW, re.M):
        if re.fullmatch(ROW, command):
            yield from (f'./scripts/{row}' for row in rows)
        elif command not in PREPARATION:
            yield command


def words_of_help(script):
    """The words that the help of a script names."""
    said = subprocess.run([ROOT / 'scripts' / script, '--help'], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r'[\w-]+', said))


class Workflow(unittest.TestCase):
    def test_every_command_is_a_script_with_arguments_that_it_knows(self):
        listed = list(commands())
        self.assertGreater(len(listed), 8)
        for command in listed:
            with self.subTest(command):
                self.assertRegex(command, r'\A\./scripts/[\w-]+( [\w-]+)*\Z')
                script, *arguments = command.removeprefix('./scripts/').split()
                self.assertTrue((ROOT / 'scripts' / script).is_file())
                if arguments:
                    self.assertLessEqual(set(arguments), words_of_help(script))

    def test_no_step_has_several_lines(self):
        self.assertNotRegex(WORKFLOW, r'run: *[|>]')
        self.assertEqual(len(re.findall(r'\brun:', WORKFLOW)), len(re.findall(r'^ +- run: \S', WORKFLOW, re.M)) + 1)

    def test_the_matrix(self):
        self.assertIn('debian: [bookworm, trixie]', WORKFLOW)
        self.assertIn('compiler: [g++, clang++-19]', WORKFLOW)
        self.assertIn('./scripts/check-cross aarch64', list(commands()))
        self.assertIn('./scripts/site --check', list(commands()))


if __name__ == '__main__':
    unittest.main()
