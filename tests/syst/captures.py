#!/usr/bin/env python3
"""Runs `waymark syst` on the captures of ../shared/data/syst: every message must come out of every
carrier (STM snapshots, STP of both nibble orders, plain bytes, console text), with what the vectors
say about it.

    captures.py --waymark PROGRAM [--data FOLDER]

Prints the count at the end.  Without the folder it says so and exits with 77.
"""
import argparse
import itertools
import json
import pathlib
import subprocess
import sys

SKIPPED = 77


class Runner:
    def __init__(self, program, data):
        self.program, self.data = program, data
        self.counts, self.messages = {}, 0

    def rows(self, *args):
        done = subprocess.run([self.program, "syst", *args, "--format", "json"], cwd=self.data,
                              capture_output=True, timeout=600, check=False)
        if done.returncode != 0:
            print(done.stderr.decode().strip())
        self.check("exit codes", " ".join(args), 0, done.returncode)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def check(self, group, name, expected, got):
        passed, failed = self.counts.get(group, (0, 0))
        self.counts[group] = (passed + (expected == got), failed + (expected != got))
        if isinstance(expected, list):
            self.messages += len(expected)
        if expected == got:
            return
        if not isinstance(expected, list):
            print(f"FAILED {group}: {name}: {expected} expected, {got} got")
            return
        print(f"FAILED {group}: {name}: {len(expected)} expected, {len(got)} got")
        for number, (one, other) in enumerate(zip(expected, got)):
            if one != other:
                print(f"  message {number}\n    expected {one}\n    got      {other}")
                break

    def snapshots(self):
        for name in ("flag", "mark", "interleaved"):
            wanted = json.loads((self.data / f"stm/{name}.messages.json").read_text())
            expected = [(m["hex"], m["master"], m["channel"]) for m in wanted]
            rows = self.rows(f"stm/{name}", "-c", "collateral.xml")
            self.check("STM snapshots", name, expected,
                       [(row["bytes"], row["master"], row["channel"]) for row in rows])

    def encoder_sets(self):
        for entry in json.loads((self.data / "vectors.json").read_text())["files"]:
            name = f"{entry['name']}, {entry['packing']}-bit"
            wanted = [m["hex"] for m in entry["messages"]]
            if entry["stp_matches_bin"]:
                # The simulator does not flush after a short message: half a byte may be missing.
                rows = self.rows(entry["stp"])
                expected = [(m["hex"], m["stp"]["master"], m["stp"]["channel"],
                             m["stp"]["timestamp"]) for m in entry["messages"]]
                got = [(row["bytes"], row["master"], row["channel"],
                        int(row["transport_time"]) if "transport_time" in row else None)
                       for row in rows]
                if len(got) + 1 == len(expected) and len(expected[-1][0]) <= 16:
                    expected.pop()
                self.check("simulator STP", name, expected, got)
            self.check("console text", name, wanted, [r["bytes"] for r in self.rows(entry["txt"])])
            if entry["self_delimiting"]:
                self.check("plain bytes", name, wanted,
                           [r["bytes"] for r in self.rows(entry["bin"])])
            self.fields(entry)

    def fields(self, entry):
        """The right values, also where the reference printer is wrong."""
        expected, got = [], []
        for message, row in itertools.zip_longest(entry["messages"], self.rows(entry["txt"]),
                                                  fillvalue=None):
            if message is None or row is None:
                expected.append("a message" if message else None)
                got.append("a message" if row else None)
                continue
            fields = message["fields"]
            kind = row.get("kind", "").split(":")
            expected.append((fields["type"], fields.get("unit"), fields.get("origin"),
                             fields.get("guid"), fields.get("severity")))
            got.append((kind[0], row.get("unit") if "unit" in fields else None,
                        row.get("origin"), row.get("guid"),
                        row.get("severity") if "severity" in fields else None))
        self.check("fields", f"{entry['name']}, {entry['packing']}-bit", expected, got)

    def zephyr(self):
        for name in ("text", "catalog"):
            rows = self.rows(f"zephyr/{name}.log", "-c", "zephyr/collateral.xml")
            payload = (self.data / f"zephyr/{name}.payload").read_bytes().decode("latin-1").split("\n")[:-1]
            texts = [line for row in rows for line in row["text"].split("\n")]
            # The reference skips one message, which comes after other text in its line: the banner,
            # which contains a newline.
            banner = texts[:2]
            self.check("Zephyr captures", name, payload, texts[2:])
            self.check("Zephyr captures", f"{name}: banner", True,
                       banner[0].startswith("*** Booting Zephyr OS build") and banner[1] == "")

    def report(self):
        width = max(len(group) for group in self.counts)
        for group, (passed, failed) in self.counts.items():
            print(f"{group:{width}}  {passed:4} passed, {failed:3} failed")
        print(f"{self.messages} messages compared")
        passed = sum(count[0] for count in self.counts.values())
        failed = sum(count[1] for count in self.counts.values())
        print(f"{passed} passed, {failed} failed")
        return failed == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--waymark", required=True, type=pathlib.Path)
    root = pathlib.Path(__file__).resolve().parents[2]
    parser.add_argument("--data", type=pathlib.Path, default=root.parent / "shared/data/syst")
    options = parser.parse_args()
    if not (options.data / "vectors.json").exists():
        print(f"skipped: {options.data} is absent, which has the recorded captures")
        return SKIPPED
    runner = Runner(options.waymark.resolve(), options.data.resolve())
    runner.snapshots()
    runner.encoder_sets()
    runner.zephyr()
    return 0 if runner.report() else 1


if __name__ == "__main__":
    sys.exit(main())
