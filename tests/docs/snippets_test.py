"""Tests of scripts/check-snippets: what it finds, and how it updates a page."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from script_case import ROOT, ScriptCase

EXAMPLE = '''#include <cstdio>
// snippet add
int sum = 0;
// end snippet
int main() {
  // snippet add
  sum += 1;
  if (sum > 0)
    ++sum;
  // end snippet
  // snippet show
  std::printf("%d\\n", sum);
  // end snippet
}
'''
ADD = '''int sum = 0;

sum += 1;
if (sum > 0)
  ++sum;
'''


def page(mark, code, language='cpp'):
    return f'# Page\n\n{mark}\n```{language}\n{code}```\n'


GOOD = page('<!-- snippet examples/sum.cc add -->', ADD)


class Snippets(ScriptCase):
    script = 'check-snippets'
    files = {'README.md': '# Top\n\n```sh\nls\n```\n', 'docs/page.md': GOOD, 'examples/sum.cc': EXAMPLE}

    def test_the_pieces_of_a_part(self):
        self.check({})

    def test_a_changed_block(self):
        self.check({'docs/page.md': GOOD.replace('+= 1', '+= 2')},
                   'docs/page.md:4: this is not the code of examples/sum.cc; see check-snippets --update')

    def test_a_block_without_the_last_piece(self):
        self.check({'README.md': page('<!-- snippet examples/sum.cc add -->', 'int sum = 0;\n')},
                   'README.md:4: this is not the code of examples/sum.cc; see check-snippets --update')

    def test_a_block_without_a_mark(self):
        for language in ('c', 'cpp', 'python'):
            self.check({'docs/deep/page.md': page('Text.', 'x = 1\n', language)},
                       'docs/deep/page.md:4: write <!-- snippet EXAMPLE PART --> before this code')

    def test_a_mark_belongs_to_one_block(self):
        self.check({'docs/page.md': GOOD + '\n```cpp\nint other;\n```\n'},
                   'docs/page.md:12: write <!-- snippet EXAMPLE PART --> before this code')

    def test_an_unknown_example_and_an_unknown_part(self):
        self.check({'docs/page.md': page('<!-- snippet examples/none.cc add -->', ADD)},
                   'docs/page.md:4: there is no examples/none.cc')
        self.check({'docs/page.md': page('<!-- snippet examples/sum.cc sub -->', ADD)},
                   'docs/page.md:4: examples/sum.cc has no part sub')

    def test_a_part_without_its_end(self):
        self.check({'examples/sum.cc': EXAMPLE.replace('// end snippet', '//', 1)},
                   'docs/page.md:4: examples/sum.cc has no part add')

    def test_a_whole_file_has_no_marks(self):
        whole = '\n'.join(line for line in EXAMPLE.splitlines() if 'snippet' not in line) + '\n'
        self.check({'docs/page.md': page('<!-- snippet examples/sum.cc -->', whole)})

    def test_documents_of_formats_and_the_page_with_a_test_of_its_own(self):
        self.check({'docs/spec/format.md': page('Text.', 'int x;\n'),
                    'docs/add-a-protocol.md': page('`a.h`:', 'int x;\n')})

    def test_update(self):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            for part in ('scripts', 'docs', 'examples'):
                (folder / part).mkdir()
            shutil.copy(ROOT / 'scripts/check-snippets', folder / 'scripts')
            (folder / 'README.md').write_text('# Top\n')
            (folder / 'examples/sum.cc').write_text(EXAMPLE)
            stale = GOOD.replace('+= 1', '+= 2') + '\n' + page('<!-- snippet examples/sum.cc show -->', 'old\n')
            (folder / 'docs/page.md').write_text(stale)
            done = subprocess.run([sys.executable, folder / 'scripts/check-snippets', '--update'], check=False)
            self.assertEqual(done.returncode, 0)
            self.assertEqual((folder / 'docs/page.md').read_text(), GOOD + '\n' + page(
                '<!-- snippet examples/sum.cc show -->', 'std::printf("%d\\n", sum);\n'))


if __name__ == '__main__':
    unittest.main()
