"""Pins as a logic analyser samples them, in sessions of sigrok."""
import zipfile


class Signal:
    """Levels of one pin; `bit` samples per bit, which need not be a whole number."""

    def __init__(self, bit):
        self.bit = bit
        self.time = 0.0
        self.samples = []

    def level(self, high, bits):
        self.time += bits * self.bit
        self.samples += [int(high)] * (round(self.time) - len(self.samples))

    def uart(self, data):
        for byte in data:
            self.level(0, 1)
            for bit in range(8):
                self.level(byte >> bit & 1, 1)
            self.level(1, 1)

    def manchester(self, data):
        """Packets of up to eight bytes."""
        for at in range(0, len(data), 8):
            bits = [1] + [byte >> bit & 1 for byte in data[at:at + 8] for bit in range(8)]
            for bit in bits:
                self.level(bit, 0.5)
                self.level(not bit, 0.5)
            self.level(0, 2)


def uart(data, bit):
    signal = Signal(bit)
    signal.level(1, 30)
    signal.uart(data)
    signal.level(1, 30)
    return signal.samples


def manchester(data, bit):
    signal = Signal(bit)
    signal.level(0, 10)
    signal.manchester(data)
    signal.level(0, 10)
    return signal.samples


def port(data, width):
    """Samples of a trace port: the clock at bit 0, the data at bits 1 to `width`."""
    samples = [0, 0]
    clock = 0
    for byte in data:
        for at in range(0, 8, width):
            value = (byte >> at & ((1 << width) - 1)) << 1
            samples += [value | clock] * 2
            clock ^= 1
            samples += [value | clock] * 2
    return samples


def write_session(path, samples, channels, rate='24 MHz', parts=1):
    size = -(-len(samples) // parts)
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as session:
        session.writestr('version', '2')
        session.writestr('metadata', '\n'.join([
            '[global]', 'sigrok version=0.5.2', '', '[device 1]', 'capturefile=logic-1',
            f'total probes={len(channels)}', *([f'samplerate={rate}'] if rate else []), 'total analog=0',
            *(f'probe{number}={name}' for number, name in enumerate(channels, 1)), 'unitsize=1', '']))
        for part in range(parts):
            session.writestr(f'logic-1-{part + 1}', bytes(samples[part * size:(part + 1) * size]))
