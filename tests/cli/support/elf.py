"""A small AArch64 ELF program: one segment of code, and symbols of any name."""
import struct


def make_elf(code, symbols, address=0x80000, build_id=b''):
    """The bytes of an ELF64 file.  `symbols`: (name as bytes, address, size), all functions."""
    names = bytearray(b'\0')
    table = bytearray(24)  # the null symbol
    for name, value, size in symbols:
        table += struct.pack('<IBBHQQ', len(names), 1 << 4 | 2, 0, 1, value, size)
        names += name + b'\0'
    section_names = b'\0.text\0.symtab\0.strtab\0.shstrtab\0.note.gnu.build-id\0'
    note = struct.pack('<III', 4, len(build_id), 3) + b'GNU\0' + build_id
    contents = [code, bytes(table), bytes(names), section_names, note]
    offsets, at = [], 0x1000
    for content in contents:
        offsets.append(at)
        at += -(-len(content) // 16) * 16

    def section(name, kind, flags, where, index, link=0, info=0, entry=0):
        return struct.pack('<IIQQQQIIQQ', section_names.find(b'\0' + name) + 1, kind, flags, where,
                           offsets[index], len(contents[index]), link, info, 16, entry)

    sections = bytes(64)
    sections += section(b'.text\0', 1, 6, address, 0)
    sections += section(b'.symtab\0', 2, 0, 0, 1, link=3, info=1, entry=24)
    sections += section(b'.strtab\0', 3, 0, 0, 2)
    sections += section(b'.shstrtab\0', 3, 0, 0, 3)
    if build_id:
        sections += section(b'.note.gnu.build-id\0', 7, 2, 0, 4)
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack(
        '<HHIQQQIHHHHHH', 2, 183, 1, address, 64, at, 0, 64, 56, 1, 64, 6 if build_id else 5, 4)
    segment = struct.pack('<IIQQQQQQ', 1, 5, offsets[0], address, address, len(code), len(code), 0x1000)
    image = bytearray(at)
    image[:len(header + segment)] = header + segment
    for offset, content in zip(offsets, contents):
        image[offset:offset + len(content)] = content
    return bytes(image) + sections


def make_parts(count, code, address=0x80000):
    """The bytes of an ELF64 file for A64 with the same code in `count` executable segments, and no sections."""
    header = b'\x7fELF\2\1\1' + bytes(9) + struct.pack(
        '<HHIQQQIHHHHHH', 2, 183, 1, address, 64, 0, 0, 64, 56, count, 64, 0, 0)
    at = 64 + 56 * count
    segments = b''.join(struct.pack('<IIQQQQQQ', 1, 5, at, address + 0x1000 * part, address + 0x1000 * part, len(code),
                                    len(code), 1) for part in range(count))
    return header + segments + code


def make_arm_elf(code, address):
    """The bytes of an ELF32 file for Arm with one executable segment and no symbols."""
    header = b'\x7fELF\1\1\1' + bytes(9) + struct.pack(
        '<HHIIIIIHHHHHH', 2, 40, 1, address, 52, 0, 0x5000000, 52, 32, 1, 40, 0, 0)
    segment = struct.pack('<IIIIIIII', 1, 0x1000, address, address, len(code), len(code), 5, 0x1000)
    return (header + segment).ljust(0x1000, b'\0') + code
