"""Tests of scripts/check-phrases: what it finds, what it lets pass, and what its lists may hold."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

FOUND = {
    "'{}' is no number, as it must be": "X is not a Y",
    "a type that is no packet": "X is not a Y",
    "what is no": "X is not a Y",
    "the bytes behind the header": "after",
    "the cache begins anew": "again",
    "the registers stand in /sys": "is in",
    "detected by its looks": "detected automatically",
    "what it is, is found out": "detected automatically",
    "equal letter by letter": "character for character",
    "options overrule the snapshot": "override",
    "two streams, of which each has an ID": "each of which",
    "one object a line": "one X per Y",
    "the names of the rooms": "modules",
    "94 different addresses": "distinct",
    "// Of a block: its exit.": "begin with the subject",
    "Who interrupts wants the end.": "a subject",
    "all but for the first": "except",
    "damage is told of once": "reported",
}
IDENTIFIERS = {
    "TEST(Judge, noise_is_no_protocol) {": ("noise_is_no_protocol", "X is not a Y"),
    "class NoiseIsNoProtocol;": ("NoiseIsNoProtocol", "X is not a Y"),
    "bool bad_packet_untold = false;": ("bad_packet_untold", "unreported"),
    "found_ = told_frames[0];": ("told_frames", "reported"),
    "report(names_behind_ranges);": ("names_behind_ranges", "after"),
    "void gives_cycles_to_nobody()": ("gives_cycles_to_nobody", "a subject"),
}
PASSED = [
    "There is no number.",
    "it is no longer valid,",
    "there is room for one more",
    "a placeholder that stands in for the value",
    "an address after the header",
    "Who calls this?",
    "sources are told apart by their IDs",
    "most of the time",
    "the module begins again",
    "noise_matches_no_protocol(); there_is_no_end(); is_no_larger_than(4);",
    "functions_are_told_apart(); told = said;",
]


class Phrases(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(f"{self.folder}/scripts")
        for name in ("check-phrases", "phrases.txt"):
            shutil.copy(f"{ROOT}/scripts/{name}", f"{self.folder}/scripts")
        self.write("scripts/phrases.allow", "")
        subprocess.run(["git", "init", "-q", self.folder], check=True)

    def write(self, name, text):
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)

    def check(self, *arguments):
        return subprocess.run([sys.executable, f"{self.folder}/scripts/check-phrases", *arguments],
                              capture_output=True, text=True, check=False)

    def test_each_phrase_is_found_with_its_place_and_the_better_wording(self):
        self.write("text.md", "".join(f"{line}\n" for line in FOUND))
        answer = self.check()
        self.assertEqual(answer.returncode, 1)
        for number, (line, better) in enumerate(FOUND.items(), 1):
            found = [text for text in answer.stdout.splitlines()
                     if text.startswith(f"text.md:{number}: '")]
            self.assertTrue(found, line)
            self.assertIn(better, found[0])

    def test_phrases_are_found_inside_identifiers(self):
        self.write("code.cc", "".join(f"{line}\n" for line in IDENTIFIERS))
        answer = self.check()
        self.assertEqual(answer.returncode, 1)
        found = answer.stdout.splitlines()
        self.assertEqual(len(found), len(IDENTIFIERS))
        for number, (name, better) in enumerate(IDENTIFIERS.values(), 1):
            self.assertTrue(found[number - 1].startswith(f"code.cc:{number}: '{name}'"), found[number - 1])
            self.assertIn(better, found[number - 1])

    def test_a_pattern_for_identifiers_does_not_apply_to_sentences(self):
        self.write("text.md", "Callers are told apart; nobody stands still, as was said.\n")
        self.assertEqual(self.check().stdout, "")

    def test_plain_sentences_pass(self):
        self.write("text.md", "\n".join(PASSED))
        answer = self.check("--list")
        self.assertEqual((answer.returncode, answer.stdout), (0, "passed 2, failed 0\n"))

    def test_a_line_passes_if_it_is_on_the_list_with_a_reason(self):
        self.write("text.md", "a type that is no packet\n")
        self.write("scripts/phrases.allow", "text.md | is no packet | It is quoted.\n")
        self.assertEqual(self.check().returncode, 0)

    def test_an_entry_that_no_line_needs_is_reported(self):
        self.write("text.md", "plain\n")
        self.write("scripts/phrases.allow", "text.md | is no packet | It is quoted.\n")
        answer = self.check()
        self.assertEqual(answer.returncode, 1)
        self.assertIn("delete the entry", answer.stdout)

    def test_an_entry_without_a_reason_is_malformed(self):
        self.write("scripts/phrases.allow", "text.md | is no packet\n")
        answer = self.check()
        self.assertEqual(answer.returncode, 2)
        self.assertIn("scripts/phrases.allow:1:", answer.stderr)

    def test_files_that_are_not_text_are_left_alone(self):
        with open(f"{self.folder}/binary", "wb") as file:
            file.write(b"behind\xff\x00")
        self.assertEqual(self.check().returncode, 0)


if __name__ == "__main__":
    unittest.main()
