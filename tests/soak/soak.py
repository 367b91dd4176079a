#!/usr/bin/env python3
"""Runs every program on damaged inputs and checks that each run ends well.

    tests/soak/soak.py --bin FOLDER [--seconds N] [--jobs N] [--seed N] [--keep FOLDER]

The seeds are the sample, captures that `waymark synth` and `waymark assemble` make, and the captures
of ../shared/data where that folder is present.  Each run takes a seed, damages one or more of its
files, and gives the result to a random command with random options.  A run is a finding when it

  * ends by a signal, or with a status that docs/output-formats.md does not name;
  * prints a sanitizer report;
  * takes more time or memory than the limits below;
  * prints control characters, or JSON or CSV that another parser does not accept;
  * leaves an output file that ends within a line.

A finding is kept as a folder with its inputs and a script `run` that repeats it.  The last line is
"N passed, M failed"; the exit status is 0 only if M is 0.
"""

import argparse
import csv
import io
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

TIME_LIMIT = 120  # Seconds of processor time; sanitized programs run ten times slower.
HANG_LIMIT = 600  # Seconds by the wall.
MEMORY_LIMIT = 3 << 30  # Bytes of address sanitizer's shadow included.
OUTPUT_LIMIT = 1 << 30  # Bytes.
STATUSES = {0, 1, 2, 3, 4, 130, 141}
# C0 but tab and newline, DEL, and C1 as UTF-8.
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
REPORTS = (b"Sanitizer", b"runtime error:", b"terminate called")


class Seed:
    """A sound input: a folder or file, what to damage in it, and the commands that take it."""

    def __init__(self, name, path, kind, files=()):
        self.name = name
        self.path = pathlib.Path(path)
        self.kind = kind
        self.files = tuple(files)  # Below `path`; empty: the file itself.


def mutate(data, rng):
    """Damages bytes in a few places."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        size = len(data)
        at = rng.randrange(size + 1)
        span = min(rng.choice((1, 1, 2, 4, 8, 64, 512, 4096)), size - at)
        what = rng.randrange(9)
        if what == 0:
            for i in range(at, at + span):
                data[i] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[at : at + span] = rng.randbytes(span)
        elif what == 2:
            data[at : at + span] = bytes([rng.choice((0, 0xFF, 0x80, 0x7F))]) * span
        elif what == 3:
            del data[at : at + span]
        elif what == 4:
            data[at:at] = rng.randbytes(span)
        elif what == 5:
            source = rng.randrange(size + 1)
            data[at:at] = data[source : source + span]
        elif what == 6:
            del data[at:]
        elif what == 7:
            value = rng.choice((0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 62, 2**64 - 1))
            width = rng.choice((1, 2, 4, 8))
            data[at : at + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        else:
            piece = bytes(data[at : at + span])
            data[at:at] = piece * rng.choice((2, 16, 256))
        if len(data) > 1 << 22:
            del data[1 << 22 :]
    return bytes(data)


HOSTILE = (
    b"\x1b]0;title\x07", b"\x1b[2J", b"\xc2\x9b31m", b"\xe2\x80\xae", b"\x00", b"\xff\xfe", b'"', b"'",
    b"=1+1", b",", b"\r", b"%n%s", b"../../../../etc/passwd", b"A" * 70000, b"-1",
    b"18446744073709551616", b"0x", b"1e999", b"<!ENTITY a \"b\">", b"&a;",
)


def mutate_text(data, rng):
    """Damages text by lines and words, so that most of it is still understood."""
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        what = rng.randrange(6)
        if what == 0:
            del lines[at]
        elif what == 1:
            lines.insert(at, lines[rng.randrange(len(lines))] if lines else b"")
        elif what == 2:
            lines[at] = mutate(lines[at], rng)
        elif what == 3:
            words = re.split(rb"([=,:\s]+)", lines[at])
            words[rng.randrange(len(words))] = rng.choice(HOSTILE)
            lines[at] = b"".join(words)
        elif what == 4:
            lines[at] += rng.choice(HOSTILE)
        else:
            lines[at] = re.sub(rb"(0x)?[0-9a-fA-F]+", lambda _: str(rng.getrandbits(66)).encode(),
                               lines[at], count=1)
        if not lines:
            lines = [b""]
    return b"\n".join(lines)


def is_text(path):
    return path.suffix in (".ini", ".xml", ".trace", ".plan", ".json", ".txt", ".log")


class Seeds:
    """Makes the sound inputs once, with an unsanitized or sanitized program."""

    def __init__(self, folder, binaries):
        self.folder = folder
        self.binaries = binaries
        self.seeds = []

    def waymark(self, *arguments):
        command = [self.binaries / "waymark", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"soak: {shlex.join(map(str, command))} failed:\n{done.stderr.decode()}")

    def snapshot(self, name, folder):
        files = [f.name for f in sorted(folder.iterdir()) if f.is_file() and f.stat().st_size < 1 << 24]
        wanted = [f for f in files if f.endswith((".ini", ".bin", ".elf", "-index"))] or files
        self.seeds.append(Seed(name, folder, "snapshot", wanted))
        for file in wanted:
            if file.endswith(".bin") and (folder / file).stat().st_size <= 1 << 20:
                self.seeds.append(Seed(f"{name}-{file}", folder / file, "bytes"))

    def recording(self, name, folder, programs):
        """A folder with perf.data, and programs below it."""
        files = ["perf.data"] * 3 + [str(path.relative_to(folder)) for path in programs]
        self.seeds.append(Seed(name, folder, "recording", files))

    def make(self):
        self.snapshot("sample", ROOT / "samples/quicksort")
        self.seeds.append(Seed("elf", ROOT / "samples/quicksort/quicksort.elf", "elf"))
        options = {
            "etmv4": ["--return-stack", "--timestamps", 50, "--exceptions", 100, "--context-ids", 3],
            "ete": ["--cycle-counts", "--speculation", 8, "--events", 30],
            "ptm": ["--isa", "A32", "--timestamps", 50, "--cycle-counts"],
            "etmv3": ["--isa", "T32", "--exceptions", 50],
            "stm": ["--timestamps", 20],
            "itm": ["--timestamps", 20, "--exceptions", 20],
        }
        for protocol, more in options.items():
            folder = self.folder / protocol
            self.waymark("synth", "-o", folder, "--protocol", protocol, "--size", "64K",
                         "--sync-period", 1024, *more)
            if protocol != "itm":
                self.waymark("index", folder, "--full")
            self.snapshot(protocol, folder)
        recordings = {
            "etmv4-cpus": ["--protocol", "etmv4", "--context-ids", 3, "--cores", 2, "--perf-compressed"],
            "ete-raw": ["--protocol", "ete", "--perf-raw", "--perf-metadata", 2, "--cores", 2],
            "ptm-pipe": ["--protocol", "ptm", "--isa", "A32", "--perf-form", "pipe", "--perf-order", "big"],
            "etmv3-thread": ["--protocol", "etmv3", "--isa", "T32", "--perf-per-thread", "--perf-pieces", 3],
        }
        for name, more in recordings.items():
            folder = self.folder / f"perf-{name}"
            self.waymark("synth", "-o", folder, "--size", "16K", "--sync-period", 1024, "--timestamps", 50,
                         "--perf-data", *more)
            self.recording(f"perf-{name}", folder, folder.glob("memory_*.bin"))
        for script in sorted((ROOT / "tests/scripts").glob("*.trace"))[::7]:
            self.seeds.append(Seed(script.stem, script, "script"))
        plan = self.folder / "a.plan"
        plan.write_text("etm4-plan 1\ninclude 0x400000..0x400400\nlevels el0\ncycles 64\ntimestamps\n")
        self.seeds.append(Seed("plan", plan, "plan"))
        collateral = self.folder / "collateral.xml"
        collateral.write_text(COLLATERAL)
        self.seeds.append(Seed("collateral", collateral, "collateral"))
        messages = self.folder / "messages.txt"
        messages.write_text("".join(f"SYS-T RAW DATA: {m}\n" for m in MESSAGES))
        self.seeds.append(Seed("messages", messages, "messages"))
        shared = ROOT.parent / "shared/data"
        if shared.is_dir():
            for folder in sorted((shared / "snapshots").iterdir()):
                if folder.is_dir() and sum(f.stat().st_size for f in folder.iterdir()) < 1 << 23:
                    self.snapshot(folder.name, folder)
            perf = shared / "perf"
            folder = perf / "two-process"
            self.recording("perf-two-process", folder, folder.glob("symfs/opt/app/*"))
            for sample in sorted((perf / "simpleperf/samples").iterdir()):
                folder = self.folder / f"perf-{sample.name}"
                shutil.copytree(perf / "simpleperf/symdir", folder)
                shutil.copyfile(sample / "perf.data", folder / "perf.data")
                self.recording(f"perf-{sample.name}", folder, sorted(perf.glob("none")))
            for folder in ("syst/cli", "syst/malformed"):
                for file in sorted((shared / folder).iterdir())[:40]:
                    if file.is_file():
                        self.seeds.append(Seed(f"{folder}-{file.name}", file, "messages"))
        return self.seeds


MESSAGES = ("12010001", "0b000040000b48656c6c6f20776f726c6421", "1100000a01020304", "ff", "")
COLLATERAL = """<?xml version="1.0" encoding="utf-8"?>
<syst:Collateral xmlns:syst="http://www.mipi.org/1.0/sys-t">
  <syst:Client Name="Soak"><syst:Guid ID="{494e5443-8a9c-4014-a65a-2f36a36d96e4}"/>
  <syst:Short32><syst:Format ID="0x1">value %d</syst:Format></syst:Short32>
  <syst:Catalog32><syst:Format ID="0x2"><![CDATA[%s and %x]]></syst:Format></syst:Catalog32>
  </syst:Client>
</syst:Collateral>
"""

FORMATS = (("--format", "text"), ("--format", "json"), ("--format", "csv"))


def command_for(seed, target, rng, out):
    """The program's arguments, and the format of what it prints."""
    recording = ["--symfs", str(target.parent)] if seed.kind == "recording" else []
    target = str(target)
    form = rng.choice(FORMATS)
    output = [] if rng.randrange(4) else ["-o", str(out)]
    sample = ROOT / "samples/quicksort"
    if seed.kind == "script":
        return "waymark", ["assemble", target, "-o", str(out) + ".d"], "text"
    if seed.kind == "elf":
        command = rng.choice((
            ["decode", str(sample), "--functions", "--elf", target],
            ["count", str(sample), "--functions", "--elf", target],
            ["collateral", target],
            ["synth", "--elf", target, "-o", str(out) + ".d", "--size", "4K"],
        ))
        return "waymark", command, "text"
    if seed.kind == "plan":
        return "waymark", ["etm4", "plan", target, "--reg", "TRCIDR4=0x11170004"], "text"
    if seed.kind == "collateral":
        return "waymark", ["syst", str(sample), "--collateral", target, *form], form[1]
    if seed.kind == "messages":
        kind = rng.choice(((), ("--as", "lines"), ("--as", "plain")))
        return "waymark", ["syst", target, *kind, *form, *output], form[1]
    raw = list(recording)
    if seed.kind == "bytes":
        if rng.randrange(2):
            raw += ["--protocol", rng.choice(("etmv4", "ete", "ptm", "etmv3", "stm", "itm", "etmv4d"))]
            raw += ["--framing", rng.choice(("mem", "fsync", "hsync", "dstream", "none"))]
        registers = ("TRCCONFIGR=0x8C1", "TRCIDR0=0x28000EA1", "TRCIDR1=0x4100F403", "TRCIDR2=0x488",
                     "ETMCR=0x1000D000", "ETMIDR=0x411CF300", "ETMCCER=0x34C01AC2")
        for register in rng.sample(registers, rng.choice((0, 4, len(registers)))):
            raw += ["--reg", register]
    window = []
    if not rng.randrange(3):
        window = rng.choice((
            ["--from", str(rng.randrange(70000))],
            ["--from", "s:2", "--to", str(rng.randrange(200000))],
            ["--from", f"t:{rng.getrandbits(rng.choice((8, 20, 60)))}"],
            ["--last", str(rng.randrange(1, 5000))],
            ["--around", str(rng.randrange(200000))],
        ))
    place = window if "--from" in window else []  # For a command without --last.
    selected = []
    if recording and not rng.randrange(3):
        selected = rng.choice((["--pid", "256"], ["--tid", "1001"], ["--comm", "alpha"], ["--cpu", "1"],
                               ["--dso", "memory_0.bin"], ["--dso", "[kernel.kallsyms]"]))
    which = rng.randrange(12)
    if which == 0:
        form = rng.choice(FORMATS[:2])
        return "waymark", ["info", target, *raw, *form, *output], form[1]
    if which == 1:
        return "waymark", ["packets", target, *raw, *form, *output], form[1]
    if which in (2, 3, 4):
        more = rng.choice(([], ["--merge", "time"], ["--functions"], ["--syst"], ["-j", "2"], ["--strict"],
                           ["--lines"], ["--inlines"], ["--disassemble"]))
        return "waymark", ["decode", target, *raw, *selected, *more, *window, *form, *output], form[1]
    if which in (5, 6):
        more = rng.choice(([], ["--all"], ["--edges"], ["--functions"], ["--by", "cycles"], ["-j", "2"]))
        return "waymark", ["count", target, *raw, *selected, *more, *form, *output], form[1]
    if which == 7:
        what = rng.choice((["--timestamp", "1000"], ["--exception", "any"], ["--gap"], ["--context", "any"],
                           ["--event", "any"], ["--address", "0x400000..0x500000"], ["--overflow"]))
        return "waymark", ["find", target, *raw, *what, *place, *form, *output], form[1]
    if which == 11:
        more = rng.choice(([], ["--top", "50"], ["main"], ["--by", "cycles"]))
        return "waymark", ["annotate", target, *raw, *selected, *more, *place, *form, *output], form[1]
    if which == 8:
        return "waymark", ["syst", target, *raw, *form, *output], form[1]
    if which == 9:
        return "waymark", ["index", target, *raw, "-o", str(out) + ".index", "--full"], "text"
    if seed.kind == "snapshot":
        flags = rng.choice((["-decode"], ["-decode_only"], [], ["-pkt_mon"], ["-o_raw_packed"], ["-stats"]))
        return "trc_pkt_lister", ["-ss_dir", target, *flags, "-logfilename", str(out)], "list"
    return "waymark", ["info", target], "text"


def check_output(form, text, complete):
    """What is wrong with printed text, or None."""
    if form == "list":
        return None
    if CONTROL.search(text):
        return f"a control character is printed at byte {CONTROL.search(text).start()}"
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8: {error}"
    if text and not text.endswith(b"\n"):
        return "the last line is not whole"
    if form == "json":
        for number, line in enumerate(decoded.split("\n")[:-1], 1):
            try:
                json.loads(line, parse_constant=lambda name: (_ for _ in ()).throw(ValueError(name)))
            except ValueError as error:
                return f"line {number} is not JSON: {error}"
    if form == "csv" and complete:
        csv.field_size_limit(1 << 27)
        widths = {len(row) for row in csv.reader(io.StringIO(decoded, newline="")) if row}
        if len(widths) > 1:
            return f"rows of CSV have {sorted(widths)} columns"
    return None


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (TIME_LIMIT, TIME_LIMIT + 5))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_LIMIT, OUTPUT_LIMIT))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Soak:
    def __init__(self, options, seeds):
        self.options = options
        self.seeds = seeds
        self.kept = pathlib.Path(options.keep)
        self.lock = threading.Lock()
        self.passed = 0
        self.failed = 0
        self.next = 0
        self.end = time.monotonic() + options.seconds
        self.slowest = (0.0, "")
        self.largest = (0, "")

    def worker(self):
        while time.monotonic() < self.end:
            with self.lock:
                number = self.next
                self.next += 1
            with tempfile.TemporaryDirectory(prefix="soak.") as folder:
                self.one(number, pathlib.Path(folder))

    def one(self, number, folder):
        rng = random.Random(self.options.seed * 1_000_003 + number)
        seed = rng.choice(self.seeds)
        target = folder / "input"
        if seed.kind in ("snapshot", "recording"):
            target = folder / seed.kind
            shutil.copytree(seed.path, target)
            for name in set(rng.sample(seed.files, min(len(seed.files), rng.choice((1, 1, 2))))):
                self.damage(target / name, rng)
            if seed.kind == "recording":
                target /= "perf.data"
        else:
            target = target.with_suffix(seed.path.suffix)
            shutil.copyfile(seed.path, target)
            self.damage(target, rng)
        program, arguments, form = command_for(seed, target, rng, folder / "out")
        problem = self.run([str(self.options.bin / program), *arguments], form, folder)
        with self.lock:
            if problem is None:
                self.passed += 1
                return
            self.failed += 1
        kept = self.kept / f"{self.options.seed}-{number}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        words = [word.replace(str(folder), ".") for word in arguments]
        (kept / "run").write_text(f'#!/bin/sh\n# {problem}\ncd "$(dirname "$0")" && exec '
                                  f'"${{BIN:?}}/{program}" {shlex.join(words)}\n')
        (kept / "run").chmod(0o755)
        print(f"FINDING {kept}: {seed.name}: {problem}\n  {program} {shlex.join(words)}", flush=True)

    @staticmethod
    def damage(path, rng):
        data = path.read_bytes()
        if rng.randrange(50) == 0:
            return
        path.chmod(0o644)
        path.write_bytes((mutate_text if is_text(path) else mutate)(data, rng))

    def run(self, command, form, folder):
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            environment = dict(os.environ, ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1",
                               UBSAN_OPTIONS="print_stacktrace=1", LC_ALL="C.UTF-8",
                               XDG_CACHE_HOME=str(folder / "cache"), TMPDIR=str(folder))
            start = time.monotonic()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       cwd=folder, env=environment, preexec_fn=limits)
            timer = threading.Timer(HANG_LIMIT, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        name = shlex.join(command[1:3])
        with self.lock:
            self.slowest = max(self.slowest, (usage.ru_utime, name))
            self.largest = max(self.largest, (usage.ru_maxrss << 10, name))
        return self.judge(process.returncode, usage, time.monotonic() - start, form, folder)

    @staticmethod
    def judge(status, usage, wall, form, folder):
        errors = (folder / "stderr").read_bytes()
        for report in REPORTS:
            if report in errors:
                return "a report: " + errors[errors.find(report) :][:200].decode(errors="replace")
        if wall >= HANG_LIMIT or usage.ru_utime + usage.ru_stime >= TIME_LIMIT:
            return f"it took {usage.ru_utime:.0f} s of processor time, {wall:.0f} s by the wall"
        if status not in STATUSES and form != "list":
            return f"exit status {status}"
        if status < 0:
            return f"signal {-status}"
        if usage.ru_maxrss << 10 > MEMORY_LIMIT:
            return f"it took {usage.ru_maxrss >> 10} MiB of memory"
        if CONTROL.search(errors):
            return "a control character on standard error"
        if status in (2, 3, 4) and not errors:
            return f"status {status} without a sentence"
        problem = check_output(form, (folder / "stdout").read_bytes(), status != 130)
        if problem is None and (folder / "out").is_file():
            problem = check_output(form, (folder / "out").read_bytes(), status != 130)
        return problem


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the programs")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="soak-findings", help="folder for findings")
    options = parser.parse_args()
    options.bin = options.bin.resolve()
    with tempfile.TemporaryDirectory(prefix="soak-seeds.") as folder:
        seeds = Seeds(pathlib.Path(folder), options.bin).make()
        soak = Soak(options, seeds)
        workers = [threading.Thread(target=soak.worker) for _ in range(options.jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    print(f"slowest: {soak.slowest[0]:.1f} s of processor time ({soak.slowest[1]})")
    print(f"largest: {soak.largest[0] >> 20} MiB ({soak.largest[1]})")
    print(f"{soak.passed} passed, {soak.failed} failed")
    return 0 if soak.failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
