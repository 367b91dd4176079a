#!/usr/bin/env python3
"""What `waymark doctor` finds in captures whose descriptions it is not given.

Takes the trace buffers of snapshot folders as bare bytes: as they are, and the stream of each trace
ID alone. Compares the protocols and registers that it states with those of the snapshots.

  bench/doctor.py WAYMARK SNAPSHOTS [--misaligned]

Prints a table, and exits with 1 unless at least 95 % of the IDs with 2 KiB or more have the right
protocol, none is wrong with "sure", and no stated register is wrong. An ETMv4 stream and that of an
ETE count as one protocol where the answer says that nothing tells them apart. Where two snapshots give
the same bytes two protocols, either is right. Registers of a device that its snapshot says is off are
not compared.
"""
import argparse
import configparser
import json
import os
import re
import subprocess
import sys
import tempfile

FAMILY = {"ETM4": "etmv4", "ETE": "ete", "ETM3": "etmv3", "PTM1": "ptm", "PFT1": "ptm", "STM": "stm",
          "ITM": "itm"}


def ini(path):
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str
    with open(path, errors="replace") as file:
        text = file.read()
    # Several sections may have one name, and lines without a value occur.
    lines = [line for line in text.splitlines() if not line.strip() or "=" in line or
             line.strip()[0] in "[;#"]
    parser.read_string("\n".join(lines))
    return parser


def section(parser, name):
    return dict(parser[name]) if parser.has_section(name) else {}


def number(text):
    found = re.match(r"\s*(0[xX][0-9a-fA-F]+|\d+)", text)
    return int(found.group(1), 0) if found else 0


class Source:
    def __init__(self, device):
        values = section(device, "device")
        kind = values.get("type", "").split(".")[0]
        self.protocol = FAMILY.get(kind)
        self.name = values.get("name", "")
        self.registers = {name.split("(")[0]: number(value)
                          for name, value in section(device, "regs").items()}
        read = self.registers.get
        if self.protocol == "itm":
            self.id = read("ITMTCR", 0) >> 16 & 0x7F
        elif self.protocol == "stm":
            self.id = read("STMTCSR", 0) >> 16 & 0x7F
        else:
            self.id = read("TRCTRACEIDR", read("ETMTRACEIDR", 0)) & 0x7F


def snapshot(folder):
    """(name of the buffer, format, bytes, sources) for each buffer."""
    main = ini(os.path.join(folder, "snapshot.ini"))
    trace = ini(os.path.join(folder, section(main, "trace")["metadata"]))
    devices = [Source(ini(os.path.join(folder, file)))
               for file in section(main, "device_list").values()
               if os.path.exists(os.path.join(folder, file))]
    for part in section(trace, "trace_buffers").get("buffers", "").split(","):
        buffer = section(trace, part.strip())
        if not buffer:
            continue
        names = [name for name, at in section(trace, "source_buffers").items()
                 if buffer["name"] in [one.strip() for one in at.split(",")]]
        path = os.path.join(folder, buffer["file"])
        if os.path.exists(path):
            with open(path, "rb") as file:
                yield buffer["name"], buffer.get("format"), file.read(), [
                    one for one in devices if one.protocol and one.name in names]


def demux(data, syncs):
    """The stream of each ID."""
    streams, current = {}, None
    if syncs:
        # DSTREAM records have a footer after 504 bytes; the syncs show whether there are any.
        payload = b"".join(data[at:at + 504] for at in range(0, len(data), 512))
        marker = b"\xff\xff\xff\x7f"
        even = lambda one: sum((b - a) % 16 == 4 for a, b in pairs(one, marker))
        data = payload if even(payload) > even(data) else data
        begin = data.find(marker)
        parts = re.split(rb"\xff\xff\xff\x7f", data[begin:]) if begin >= 0 else []
        frames = [part[at:at + 16] for part in parts for at in range(0, len(part) - 15, 16)]
    else:
        frames = [data[at:at + 16] for at in range(0, len(data) - 15, 16)]
    for frame in frames:
        if frame == b"\xff\xff\xff\x7f" * 4:
            continue
        for i in range(0, 16, 2):
            flag = frame[15] >> (i // 2) & 1
            if frame[i] & 1:
                new = frame[i] >> 1
                if i < 14 and flag and new != current:
                    streams.setdefault(current, bytearray()).append(frame[i + 1])
                    current = new
                    continue
                current = new
            else:
                streams.setdefault(current, bytearray()).append(frame[i] | flag)
            if i < 14:
                streams.setdefault(current, bytearray()).append(frame[i + 1])
    return streams


def pairs(data, marker):
    places = [found.start() for found in re.finditer(re.escape(marker), data)]
    return list(zip(places, places[1:]))


def examine(waymark, data):
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(data)
        file.flush()
        done = subprocess.run([*waymark, file.name], capture_output=True, check=False)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        found = {}
    return found if "streams" in found else {"streams": [], "framing": {"framing": "?"}}


class Count:
    def __init__(self):
        self.rows = []
        self.large = self.right = self.sure_wrong = self.fields = self.wrong_fields = 0

    def take(self, where, size, source, found, protocols):
        stated = found["protocol"] if found else ""
        same = stated in protocols or bool(found and found["ete_or_etmv4"] and
                                             {stated, source.protocol} == {"etmv4", "ete"})
        confidence = found["confidence"] if found else "unknown"
        if size >= 2048:
            self.large += 1
            self.right += same
        self.sure_wrong += confidence == "sure" and not same
        wrong = []
        off = source.protocol == "itm" and not source.registers.get("ITMTCR")
        for field in found["known"] if found and same and not off else []:
            mask, value = int(field["mask"], 16), int(field["value"], 16)
            if field["register"] not in source.registers:
                continue
            self.fields += 1
            if source.registers[field["register"]] & mask != value:
                wrong.append(f"{field['register']}.{field['field']}")
        if stated != source.protocol and same and not found["ete_or_etmv4"]:
            where += " (other snapshots: " + stated + ")"
        self.wrong_fields += len(wrong)
        self.rows.append((where, size, source.protocol, stated or "-", confidence,
                          "" if same else "WRONG", " ".join(wrong)))

    def show(self):
        print("| capture | bytes | protocol | found | confidence | | wrong registers |")
        print("|---|---|---|---|---|---|---|")
        for row in self.rows:
            print("| " + " | ".join(str(one) for one in row) + " |")
        print()
        print(f"{self.right} of {self.large} streams with 2 KiB or more have the right protocol; "
              f"{self.sure_wrong} are wrong with \"sure\"; "
              f"{self.fields - self.wrong_fields} of {self.fields} register fields are right.")
        return self.right >= 0.95 * self.large and not self.sure_wrong and not self.wrong_fields


def streams_of(root):
    """(place, source, bytes of its stream, bytes of the buffer if it is in frames)."""
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        if not os.path.exists(os.path.join(folder, "snapshot.ini")):
            continue
        for buffer, form, data, sources in snapshot(folder):
            if form == "source_data":
                if data:
                    yield f"{name} {buffer}", sources[0], data, None
                continue
            streams = demux(data, form == "dstream_coresight")
            for source in sources:
                stream = bytes(streams.get(source.id, b""))
                if len(stream) >= 32:
                    yield f"{name} {buffer} 0x{source.id:02x}", source, stream, data


def measure(waymark, root, misaligned):
    count = Count()
    everything = list(streams_of(root))
    protocols = {}
    for _, source, stream, _ in everything:
        protocols.setdefault(stream, set()).add(source.protocol)
    framed = {}
    for where, source, stream, data in everything:
        right = protocols[stream]
        alone = examine(waymark, stream)
        found = alone["streams"][0] if alone["streams"] and \
            alone["framing"]["framing"] == "none" else None
        count.take(where + (" alone" if data else ""), len(stream), source, found, right)
        if not data:
            continue
        if data not in framed:
            dump = data
            if misaligned:
                cut = len(data) // 3
                dump = b"header 1234" + data[:cut] + data[cut + 5:]
            framed[data] = {one["id"]: one for one in examine(waymark, dump)["streams"]}
        count.take(where + " in frames", len(stream), source, framed[data].get(source.id), right)
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("waymark", help="the program")
    parser.add_argument("snapshots", help="a folder with snapshot folders")
    parser.add_argument("--misaligned", action="store_true",
                        help="put a header before framed captures, and cut five bytes out of them")
    options = parser.parse_args()
    command = [options.waymark, "doctor", "--format", "json"]
    sys.exit(0 if measure(command, options.snapshots, options.misaligned).show() else 1)


if __name__ == "__main__":
    main()
