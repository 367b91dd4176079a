"""Tests of scripts/check-references: what it finds and what it lets pass."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

DOCUMENT = """# Frames

## 1. The frame
See §1.1.
### 1.1 Reserved IDs
```
# 9 not a heading
```
### 4.6b Exception
## 12 `Last` one
"""

# A file's name and line, and what must be said of it; nothing: it passes.
CASES = [
    ("code.h", "// See frames.md 1.1.", ""),
    ("code.h", "// See docs/spec/frames.md 1.1 and the rest.", ""),
    ("code.h", "// See frames.md 1, 1.1 and 4.6b; frames.md 1 to 12.", ""),
    ("code.h", "// Counts; frames.md\n//   1.1.", ""),
    ("code.h", "// See frames.md.  16 bytes each.", ""),
    ("code.h", "// See README.md and other.md.", ""),
    ("code.h", "// See frames.md 1.2.", "frames.md has no section 1.2"),
    ("code.h", "// See frames.md 1 and\n// 7.", "frames.md has no section 7"),
    ("code.h", "// Heading in a block: frames.md 9.", "frames.md has no section 9"),
    ("code.h", "// See frames.md section 1.", "write frames.md 1"),
    ("code.h", "// See absent.md 1.", "there is no document absent.md"),
    ("code.h", "// See docs/guide/first_steps.md.", "there is no docs/guide/first_steps.md"),
    ("code.h", "// See docs/spec/other.md, and https://host/docs/page.md.", ""),
    ("page.md", "`docs/guide.md` says more.", "there is no docs/guide.md"),
    ("code.h", "// See sheet section 1.", "does not name the document"),
    ("page.md", "[frames.md 1.1](docs/spec/frames.md#11-reserved-ids)", ""),
    ("page.md", "[`x`](docs/spec/frames.md#12-last-one), [web](https://example.org/a#b)", ""),
    ("page.md", "`[not](a-link.md)` `frames.md 77`", ""),
    ("page.md", "[frames.md 1.1](docs/spec/frames.md#12-reserved-ids)", "has no heading #12-reserved-ids"),
    ("page.md", "[there](docs/nothing.md)", "the link to docs/nothing.md leads nowhere"),
    ("page.md", "[out](../outside.md)", "the link to ../outside.md leads nowhere"),
    ("page.md", "See frames.md 1.1.", "make frames.md 1.1 a link"),
    ("docs/spec/other.md", "# Other\n## 2 Two\n§2", ""),
    ("docs/spec/other.md", "# Other\n## 2 Two\n§3", "there is no section 3 here"),
]


class References(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        os.makedirs(f"{self.folder}/scripts")
        os.makedirs(f"{self.folder}/docs/spec")
        shutil.copy(f"{ROOT}/scripts/check-references", f"{self.folder}/scripts")
        subprocess.run(["git", "init", "-q", self.folder], check=True)

    def check(self, name, text):
        files = {"docs/spec/frames.md": DOCUMENT, "docs/spec/other.md": "# Other\n",
                 "README.md": "# Top\n", "code.h": "", "page.md": ""}
        files[name] = text + "\n"
        for path, content in files.items():
            with open(f"{self.folder}/{path}", "w", encoding="utf-8") as file:
                file.write(content)
        return subprocess.run([sys.executable, f"{self.folder}/scripts/check-references"],
                              capture_output=True, text=True, check=False)

    def test_cases(self):
        for name, text, expected in CASES:
            with self.subTest(text):
                answer = self.check(name, text)
                if expected:
                    self.assertEqual(answer.returncode, 1)
                    self.assertIn(expected, answer.stdout)
                    self.assertTrue(answer.stdout.startswith(f"{name}:"), answer.stdout)
                    self.assertEqual(answer.stdout.count("\n"), 1, answer.stdout)
                else:
                    self.assertEqual((answer.returncode, answer.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
