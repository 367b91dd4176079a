"""STP written nibble by nibble, and SyS-T messages in it."""

FLAG = 'FE'


def stp(*parts):
    """The bytes of these nibbles.  The first nibble is the low half of a byte; a missing last half is 0."""
    nibbles = ''.join(parts).replace(' ', '')
    nibbles += '0' * (len(nibbles) % 2)
    return bytes(int(nibbles[at + 1] + nibbles[at], 16) for at in range(0, len(nibbles), 2))


def sync(frequency):
    """ASYNC, VERSION and FREQ; a frequency of 0 means unknown."""
    return f'FFFFFFFFFFFFFFFFFFFFF0F003F08{frequency:08X}'


def at(master, channel):
    return f'1{master:02X}3{channel:02X}'


def begin(time, value):
    """D32TS with a 64-bit timestamp."""
    return f'F6{value}E{time:016X}'


def data(*values):
    """D32 for each value."""
    return ''.join(f'6{value}' for value in values)


def message(time, header, text):
    """A message of a header and a text of four bytes, each as the value of a D32."""
    return begin(time, header) + data(text) + FLAG


def console(*messages):
    """Console lines with messages in hexadecimal."""
    return b''.join(b'SYS-T RAW DATA: ' + text.encode() + b'\n' for text in messages)
