"""Tests of scripts/check-commits: which messages it finds fault with, and which commits it looks at."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BODY = "\n\nIt was missing.\n"

FOUND = {
    "A comment as clang-format wants it" + BODY: "begin with a verb in the imperative, such as 'Add', not 'A'",
    "Tests of the viewer" + BODY: "such as 'Add', not 'Tests'",
    "Adds a check" + BODY: "use the imperative, such as 'Add', not 'Adds'",
    "Added a check" + BODY: "not 'Added'",
    "Adding a check" + BODY: "not 'Adding'",
    "add a check" + BODY: "begin with a verb in the imperative and a capital, not 'add'",
    "fixup! Add a check" + BODY: "not 'fixup!'",
    "Docs: add a page" + BODY: "leave out the prefix before the colon",
    "scripts/lint: check commits" + BODY: "leave out the prefix before the colon",
    "Add a check." + BODY: "leave out the full stop",
    "Add " + "x" * 69 + BODY: "the subject has 73 characters; at most 72",
    "Add a check\nIt was missing.\n": "leave the second line empty",
    "Add a check": "add a body that says why",
    "Add a check\n\nSigned-off-by: A <a@example.org>\n": "add a body that says why",
}
PASSED = [
    "Add a check of commit messages" + BODY,
    "Add " + "x" * 68 + BODY,
    "Pass the index to the reader: it knows the end" + BODY,
    "Process shards in order" + BODY,
    "Embed the page" + BODY,
    "Speed up the reader" + BODY,
    "Bring back the old order" + BODY,
    "Re-enable the check" + BODY,
    'Revert "Docs: a page"' + BODY,
]


class Commits(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.git("init", "-q", "-b", "main")
        self.commit("an old message")
        os.mkdir(f"{self.folder}/scripts")
        shutil.copy(f"{ROOT}/scripts/check-commits", f"{self.folder}/scripts")
        self.git("add", "scripts")
        self.commit("Add the rule" + BODY)

    def git(self, *arguments):
        identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", "-C", self.folder, *identity, *arguments], check=True, capture_output=True,
                              text=True)
        return done.stdout.strip()

    def commit(self, message):
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)

    def check(self, *arguments):
        return subprocess.run([sys.executable, f"{self.folder}/scripts/check-commits", *arguments],
                              capture_output=True, text=True, check=False)

    def test_each_bad_message_is_found_with_the_reason(self):
        for message in FOUND:
            self.commit(message)
        answer = self.check()
        self.assertEqual(answer.returncode, 1)
        found = answer.stdout.splitlines()
        self.assertEqual(len(found), len(FOUND), answer.stdout)
        for line, (message, reason) in zip(found, FOUND.items()):
            self.assertIn(f"'{message.splitlines()[0]}': ", line)
            self.assertIn(reason, line)

    def test_good_messages_pass(self):
        for message in PASSED:
            self.commit(message)
        answer = self.check()
        self.assertEqual((answer.returncode, answer.stdout), (0, ""))

    def test_commits_older_than_the_rule_are_not_checked(self):
        self.assertEqual(self.check().stdout, "")
        self.git("checkout", "-q", "-b", "side", "main~1")
        self.commit("another old message")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-ff", "-m", "merge side", "side")
        self.assertEqual(self.check().stdout, "")

    def test_published_commits_are_not_checked(self):
        self.commit("a published message")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.commit("Add more" + BODY)
        self.assertEqual(self.check().stdout, "")
        self.commit("a new message" + BODY)
        self.assertIn("'a new message'", self.check().stdout)

    def test_a_fresh_clone_checks_from_the_last_tag_on(self):
        self.commit("a released message")
        self.git("tag", "v1")
        self.commit("a new message" + BODY)
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        found = self.check().stdout.splitlines()
        self.assertEqual(len(found), 1)
        self.assertIn("'a new message'", found[0])

    def test_since_states_the_base(self):
        self.commit("a message")
        self.commit("Add more" + BODY)
        self.assertEqual(self.check("--since", "HEAD~1").returncode, 0)
        self.assertEqual(self.check("--since", "HEAD~2").returncode, 1)
        answer = self.check("--since", "nothing")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("there is no commit 'nothing'", answer.stderr)

    def test_a_tree_without_git_passes(self):
        shutil.rmtree(f"{self.folder}/.git")
        self.assertEqual(self.check().returncode, 0)


if __name__ == "__main__":
    unittest.main()
