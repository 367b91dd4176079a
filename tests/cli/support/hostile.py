"""A capture whose names try to break out of the output: escape sequences, quotes, NUL, line ends,
separators, bidirectional controls and invalid UTF-8, in every place that gives a name or a message."""
import sys
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from .elf import make_elf
from .snapshots import make_snapshot
from .trace_bytes import ATOM_E, ETMV4_START, ITM_SYNC, LOOP_PROGRAM

# An ESC sequence that changes the title, one that clears the screen, and the one-byte CSI of C1.
ESCAPES = b'\x1b]0;owned\x07\x1b[2J\xc2\x9b31m'
QUOTES = b'"quoted", \'single\' \\ `tick` ;|'
INVALID_UTF8 = b'\xff\xfe\xc3\x28\xed\xa0\x80\xf0\x9f'
BIDIRECTIONAL = '\u202egnp.exe\u2066\u200f\u2028\ufeff'.encode()
LINE_ENDS = b'one\rtwo\nthree\t'
# For names without line ends and NUL: symbols, devices, files.
NAME = ESCAPES + QUOTES + INVALID_UTF8 + BIDIRECTIONAL
# For messages.
TEXT = NAME + LINE_ENDS + b'\0after the NUL'

# Bytes of these names that must not reach a terminal or human text unescaped.
FORBIDDEN = (b'\x1b', b'\x07', b'\x00', b'\r', b'\x7f', b'\xc2\x9b', b'\xff', b'\xe2\x80\xae', b'\xe2\x81\xa6',
             b'\xe2\x80\x8f', b'\xe2\x80\xa8', b'\xef\xbb\xbf')


@dataclass
class HostileCapture:
    """The paths of the parts."""
    folder: Path       # its own name is hostile too
    snapshot: Path     # ETMv4, ID 0x10, no frames: description, devices and file names
    elf: Path          # its program, with hostile function names at 0x80000 and 0x80004
    itm: Path          # raw ITM: TEXT on port 0
    syst: Path         # console text with SyS-T messages: a string, and one of the catalog
    collateral: Path   # names of client, module, file, and a format with %s
    script: Path       # a trace script with an error on a line of hostile text


def syst_line(data):
    return b'SYS-T RAW DATA: ' + data.hex().encode() + b'\n'


def collateral(text):
    """Everything hostile that XML can hold, which excludes NUL, ESC and invalid UTF-8."""
    attribute = quoteattr(text)
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<syst:Collateral xmlns:syst="http://www.mipi.org/1.0/sys-t">
<syst:Client Name={attribute}><syst:Guids>
<syst:Guid ID="{{00000000-0000-0000-4100-000000000000}}" Mask="{{00000000-0000-0000-FF00-000000000000}}">g</syst:Guid>
</syst:Guids>
<syst:Modules><syst:Module ID="65">{escape(text)}</syst:Module></syst:Modules>
<syst:Files><syst:File ID="1">{escape(text)}</syst:File></syst:Files>
<syst:Catalog32><syst:Format ID="16" File="1" Line="10">{escape(text)} %s</syst:Format></syst:Catalog32>
</syst:Client></syst:Collateral>
"""


def make_capture(path):
    """Writes a HostileCapture to the folder `path`, and returns it."""
    path.mkdir()
    # File systems of Linux accept every byte except NUL and '/'.
    folder = path / (ESCAPES + b'"dir", \xff').decode(errors='surrogateescape')
    folder.mkdir()
    capture = HostileCapture(folder, *(folder / name for name in (
        'board', 'program.elf', 'itm.bin', 'console.txt', 'collateral.xml', 'wrong.trace')))

    make_snapshot(capture.snapshot, ETMV4_START + ATOM_E * 5)
    # ';' would begin a comment, ',' another name, and '[' a section.
    device = NAME.translate(None, b';,[]')
    for file, names in (('snapshot.ini', {b'version=1.0': b'version=1.0\ndescription=' + NAME}),
                        ('cpu.ini', {b'cpu_0': b'cpu' + device}),
                        ('etm.ini', {b'ETM_0': b'etm' + device}),
                        ('trace.ini', {b'cpu_0': b'cpu' + device, b'ETM_0': b'etm' + device,
                                       b'ETB_0': b'etb' + device})):
        content = (capture.snapshot / file).read_bytes()
        for old, new in names.items():
            assert old in content
            content = content.replace(old, new)
        (capture.snapshot / file).write_bytes(content)
    capture.elf.write_bytes(make_elf(LOOP_PROGRAM, [(NAME, 0x80000, 4), (b'second' + NAME, 0x80004, 4)]))
    capture.itm.write_bytes(ITM_SYNC + b''.join(bytes([0x01, byte]) for byte in TEXT * 3))
    capture.syst.write_bytes(syst_line(bytes.fromhex('42504101') + TEXT.replace(b'\0', b'') + b'\0') +
                             syst_line(bytes.fromhex('43504102' '10000000') + NAME + b'\0'))
    valid = (QUOTES + BIDIRECTIONAL).decode() + '\u009b31m\u0085 one\ttwo'
    capture.collateral.write_text(collateral(valid))
    capture.script.write_bytes(b'waymark-trace 1\n' + NAME + b' x\n')
    return capture


# For the page of the viewer: what a browser would take for HTML, and what is too long to show.
MARKUP = b'<script>alert(1)</script>"><img src=x onerror=alert(2)>&lt;b>'
LONG = b'x' * (1 << 20)


def make_for_browsers(path):
    """Writes to the folder `path`: captures/ with a snapshot board, its program page.elf, whose functions have hostile
    names, and raw ITM page.itm with such messages."""
    capture = make_capture(path)
    (path / 'captures').symlink_to(capture.folder.name)
    names = [(MARKUP + NAME, 0x80000, 4), (MARKUP + LONG, 0x80004, 4)]
    (capture.folder / 'page.elf').write_bytes(make_elf(LOOP_PROGRAM, names))
    lines = b''.join(text + b'\n' for text in (MARKUP, MARKUP + NAME, LONG, TEXT))
    (capture.folder / 'page.itm').write_bytes(ITM_SYNC + b''.join(bytes([0x01, byte]) for byte in lines))


if __name__ == '__main__':
    make_for_browsers(Path(sys.argv[1]))
