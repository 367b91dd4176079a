#!/usr/bin/env python3
"""Prints the share of lines that each fuzz target reaches in the modules that it is meant for.

    fuzz/coverage.py FOLDER [TARGET...]

FOLDER has the targets of the preset fuzz-coverage.  Each one runs once on its inputs in
build/fuzz-seeds and build/fuzz-corpus.  The modules are listed in modules.txt next to this script.
Files of which a target reaches less than LOW per cent are listed by name.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
LLVM = pathlib.Path("/usr/lib/llvm-19/bin")
LOW = 80


def modules():
    rows = {}
    for line in (HERE / "modules.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            target, paths = line.split(":", 1)
            rows[target] = paths.split()
    return rows


def lines_of(target, folder, scratch):
    """(file below the root, lines, lines reached) for each source file of the target."""
    raw, profile = scratch / "raw", scratch / "profile"
    inputs = [ROOT / "build" / kind / target for kind in ("fuzz-seeds", "fuzz-corpus")]
    program = folder / target
    subprocess.run([program, "-runs=0", "-timeout=60", *[i for i in inputs if i.is_dir()]],
                   env={"LLVM_PROFILE_FILE": str(raw), "PATH": "/usr/bin:/bin"}, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([LLVM / "llvm-profdata", "merge", "-sparse", raw, "-o", profile], check=True)
    report = subprocess.run([LLVM / "llvm-cov", "export", "-summary-only", program,
                             f"-instr-profile={profile}"], check=True, stdout=subprocess.PIPE)
    for file in json.loads(report.stdout)["data"][0]["files"]:
        path = pathlib.Path(file["filename"]).resolve()
        if path.is_relative_to(ROOT):
            counts = file["summary"]["lines"]
            yield str(path.relative_to(ROOT)), counts["count"], counts["covered"]


def main():
    folder = pathlib.Path(sys.argv[1])
    rows = modules()
    low = 0
    for target in sys.argv[2:] or sorted(rows):
        with tempfile.TemporaryDirectory() as scratch:
            found = [row for row in lines_of(target, folder, pathlib.Path(scratch))
                     if row[1] and any(row[0].startswith(path) for path in rows[target])]
        total, reached = sum(row[1] for row in found), sum(row[2] for row in found)
        share = 100 * reached / total if total else 0
        low += share < LOW
        print(f"{target:24} {share:5.1f} % of {total} lines")
        for path, lines, covered in sorted(found):
            if 100 * covered / lines < LOW:
                print(f"    {path:44} {100 * covered / lines:5.1f} % of {lines}")
    print(f"{low} of {len(sys.argv[2:]) or len(rows)} targets are below {LOW} %")
    return 0 if low == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
