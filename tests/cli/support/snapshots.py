"""Snapshots written by hand: small captures whose every file a test can change."""
import configparser
import shutil

from .frames import framed_streams, streams_of, with_syncs
from .trace_bytes import ATOM_E, ETMV4_START, LOOP_PROGRAM

SNAPSHOT_INI = """\
[snapshot]
version=1.0
[device_list]
a=cpu.ini
b=etm.ini
[trace]
metadata=trace.ini
"""
CPU_INI = """\
[device]
name=cpu_0
class=core
type=Cortex-A53
[dump]
file=program.bin
address=0x80000
length=8
"""
ETM_INI = """\
[device]
name=ETM_0
class=trace_source
type=ETM4
[regs]
TRCCONFIGR=0x1
TRCTRACEIDR=0x10
TRCIDR0=0x28000EA1
TRCIDR1=0x4100F403
TRCIDR2=0x488
"""
TRACE_INI = """\
[trace_buffers]
buffers=buffer0
[buffer0]
name=ETB_0
file=trace.bin
format={format}
[source_buffers]
ETM_0=ETB_0
[core_trace_sources]
cpu_0=ETM_0
"""


def make_snapshot(folder, trace, format='source_data'):
    """An ETMv4 with trace ID 0x10 and the program of LOOP_PROGRAM at 0x80000."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (('snapshot.ini', SNAPSHOT_INI), ('cpu.ini', CPU_INI), ('etm.ini', ETM_INI),
                       ('trace.ini', TRACE_INI.format(format=format))):
        (folder / name).write_text(text)
    (folder / 'program.bin').write_bytes(LOOP_PROGRAM)
    (folder / 'trace.bin').write_bytes(trace)
    return folder


def make_good(folder):
    """A good capture without frames: five ranges of two instructions."""
    return make_snapshot(folder, ETMV4_START + ATOM_E * 5)


def edit(path, *replacements):
    """Replaces each (old, new) in a file; a missing text is an error in the test."""
    text = path.read_text()
    for old, new in replacements:
        assert old in text, f'{path} does not contain {old!r}'
        text = text.replace(old, new)
    path.write_text(text)


def append(path, data):
    """Appends text or bytes to a file."""
    with open(path, 'ab') as file:
        file.write(data.encode() if isinstance(data, str) else data)


def divide(snapshot, folder, buffers):
    """A copy of a snapshot of `waymark synth` whose trace is in several buffers: (name, trace IDs, format) each."""
    shutil.copytree(snapshot, folder, ignore=shutil.ignore_patterns('truth'))
    ini = configparser.ConfigParser()
    ini.optionxform = str
    ini.read(folder / 'trace.ini')
    (old,) = (ini[name]['file'] for name in ini['trace_buffers']['buffers'].split(','))
    streams = streams_of((folder / old).read_bytes())
    (folder / old).unlink()
    ids = {}
    for path in folder.glob('*.ini'):
        device = configparser.ConfigParser()
        device.optionxform = str
        device.read(path)
        for register, shift in (('TRCTRACEIDR', 0), ('ETMTRACEIDR', 0), ('STMTCSR', 16), ('ITMTCR', 16)):
            if device.has_option('regs', register):
                ids[device['device']['name']] = int(device['regs'][register], 0) >> shift & 0x7F
    for name in ini['trace_buffers']['buffers'].split(','):
        ini.remove_section(name)
    ini['trace_buffers']['buffers'] = ','.join(f'part{at}' for at in range(len(buffers)))
    for at, (name, wanted, form) in enumerate(buffers):
        own = {one: streams[one] for one in wanted}
        data = bytes(own[wanted[0]]) if form == 'source_data' else framed_streams(own)
        (folder / f'{name}.bin').write_bytes(with_syncs(data) if form == 'dstream_coresight' else data)
        ini[f'part{at}'] = {'name': name, 'file': f'{name}.bin', 'format': form}
        for device, one in ids.items():
            if one in wanted:
                ini['source_buffers'][device] = name
    with open(folder / 'trace.ini', 'w', encoding='ascii') as file:
        ini.write(file, space_around_delimiters=False)
    return folder
