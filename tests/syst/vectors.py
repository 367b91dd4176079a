#!/usr/bin/env python3
"""Runs systprint on every recorded vector of ../shared/data/syst, and compares character for character.

    vectors.py --systprint PROGRAM [--emulator WORD;WORD...] [--data FOLDER] [--verbose]

Ends with the count.  Without the folder it says so and exits with 77.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

SHORT_GUID = "{494E5443-8A9C-4014-A65A-2F36A36D96E4}"
SKIPPED = 77


class Runner:
    def __init__(self, command, data, verbose):
        self.command, self.data, self.verbose = command, data, verbose
        self.counts = {}
        self.messages = 0

    def run(self, args, stdin=None):
        env = {key: value for key, value in os.environ.items() if key != "SYST_UNITTESTING"}
        done = subprocess.run([*self.command, *args], cwd=self.data, input=stdin or b"", env=env,
                              capture_output=True, timeout=600, check=False)
        return done.returncode, done.stdout, done.stderr

    def check(self, group, name, expected, got):
        passed, failed = self.counts.get(group, (0, 0))
        good = expected == got
        self.counts[group] = (passed + good, failed + (not good))
        if good:
            return
        print(f"FAILED {group} {name}")
        if self.verbose:
            for what, left, right in zip(("exit code", "stdout", "stderr"), expected, got):
                if left != right:
                    show_difference(what, left, right)

    def recorded(self, group, name, args, output):
        """A text file as input, and a file with what must be printed."""
        self.check(group, name, (0, (self.data / output).read_bytes(), b""), self.run(args))

    def encoder_sets(self):
        vectors = json.loads((self.data / "vectors.json").read_text())
        with_all = ["-c", vectors["collateral"], "-g", vectors["short_guid"]]
        for entry in vectors["files"]:
            group = f"encoder sets, {entry['packing']}-bit"
            name, text = entry["name"], entry["txt"]
            self.recorded(group, f"{name} csv", [*with_all, text], entry["csv"])
            self.recorded(group, f"{name} payload", ["-p", *with_all, text], entry["payload"])
            # The file itself is the input; its name does not occur in the output.
            self.recorded(group, f"{name} without collateral", [text],
                          entry["csv_without_collateral"])
            self.messages += len(entry["messages"])

    def cases(self, group, file):
        for case in json.loads((self.data / file).read_text()):
            expected = (case["exit_code"], case["stdout"].encode("latin-1"),
                        case["stderr"].encode("latin-1"))
            stdin = case["stdin"].encode("latin-1") if "stdin" in case else None
            self.check(group, case["name"], expected, self.run(case["args"], stdin))

    def captures(self):
        with_all = ["-c", "collateral.xml", "-g", SHORT_GUID]
        self.recorded("fuzz", "fuzz.txt", [*with_all, "fuzz.txt"], "fuzz.csv")
        for name in ("flag", "mark", "interleaved"):
            self.recorded("STM snapshots, as text", name, [*with_all, f"stm/{name}.txt"],
                          f"stm/{name}.csv")

    def zephyr(self):
        """Recorded in the folder of the captures."""
        here, self.data = self.data, self.data / "zephyr"
        for name in ("text", "catalog"):
            args = ["-c", "collateral.xml", f"{name}.log"]
            self.recorded("Zephyr captures", name, args, f"{name}.csv")
            self.recorded("Zephyr captures", name, ["-p", *args], f"{name}.payload")
        self.data = here

    def undefined(self):
        """The reference crashes on these: what is printed is free, but it must be one row."""
        for case in json.loads((self.data / "undefined.json").read_text()):
            if case["hex"] is None:
                continue
            code, out, err = self.run(["-"], f"SYS-T RAW DATA: {case['hex']}\n".encode())
            self.check("undefined", case["name"], (0, 2, b""), (code, out.count(b"\n"), err))

    def report(self):
        width = max(len(group) for group in self.counts)
        for group, (passed, failed) in self.counts.items():
            print(f"{group:{width}}  {passed:4} passed, {failed:3} failed")
        print(f"{self.messages} encoder messages compared in CSV, as payload and without collateral")
        passed = sum(count[0] for count in self.counts.values())
        failed = sum(count[1] for count in self.counts.values())
        print(f"{passed} passed, {failed} failed")
        return failed == 0


def show_difference(what, left, right):
    if not isinstance(left, bytes) or not isinstance(right, bytes):
        print(f"  {what}: expected {left!r}, got {right!r}")
        return
    expected, got = left.split(b"\n"), right.split(b"\n")
    shown = 0
    for number in range(max(len(expected), len(got))):
        one = expected[number] if number < len(expected) else None
        other = got[number] if number < len(got) else None
        if one != other and shown < 5:
            shown += 1
            print(f"  {what} line {number + 1}\n    expected {one!r}\n    got      {other!r}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--systprint", required=True, type=pathlib.Path)
    parser.add_argument("--emulator", default="", help="the command that runs it, as a list of CMake")
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--data", type=pathlib.Path, default=root.parent / "shared/data/syst")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not (options.data / "vectors.json").exists():
        print(f"skipped: {options.data} is absent, which has the recorded vectors")
        return SKIPPED
    command = [*filter(None, options.emulator.split(";")), options.systprint.resolve()]
    runner = Runner(command, options.data.resolve(), options.verbose)
    runner.encoder_sets()
    runner.cases("malformed messages and lines", "malformed.json")
    runner.cases("command line and XML", "cli.json")
    runner.captures()
    runner.zephyr()
    runner.undefined()
    return 0 if runner.report() else 1


if __name__ == "__main__":
    sys.exit(main())
