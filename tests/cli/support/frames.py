"""CoreSight frames: what each trace ID sent, and the same bytes in other framings."""
from .trace_bytes import framed

FSYNC = b'\xff\xff\xff\x7f'


def streams_of(data):
    """{trace ID: its bytes} of memory-aligned frames."""
    streams, current = {}, None

    def put(byte):
        streams.setdefault(current, bytearray()).append(byte)
    for frame in (data[at:at + 16] for at in range(0, len(data) - 15, 16)):
        for at in range(0, 16, 2):
            flag = frame[15] >> (at // 2) & 1
            delayed = None
            if not frame[at] & 1:
                put(frame[at] | flag)
            elif flag:
                delayed = frame[at] >> 1
            else:
                current = frame[at] >> 1
            if at < 14:
                put(frame[at + 1])
            current = current if delayed is None else delayed
    return streams


def last_frame(trace_id, data):
    """A frame with at most 14 bytes of this ID and then padding with the ID 0."""
    if len(data) == 14:
        return framed(trace_id, data)
    frame = bytearray([trace_id << 1 | 1, *data, *bytes(15 - len(data))])
    end = len(data) + 1
    if end % 2:
        # The last byte moves after the ID byte of the padding, which takes effect after it.
        end -= 1
        frame[end + 1] = frame[end]
    for place in range(2, end, 2):
        frame[15] |= (frame[place] & 1) << (place // 2)
        frame[place] &= 0xFE
    frame[15] |= (len(data) % 2 == 0) << (end // 2)
    frame[end] = 1
    return bytes(frame)


def framed_streams(streams):
    """Memory-aligned frames of several IDs, which take turns."""
    turns = {one: [data[at:at + 280] for at in range(0, len(data), 280)] for one, data in streams.items()}
    count = max(map(len, turns.values()))
    frames = bytearray()
    for turn in range(count):
        for one, parts in turns.items():
            part = bytes(parts[turn]) if turn < len(parts) else b''
            whole = len(part) // 14 * 14
            frames += framed(one, part[:whole])
            frames += last_frame(one, part[whole:]) if part[whole:] else b''
    return bytes(frames)


def with_syncs(frames, period=8):
    """A frame sync before the first frame and before every eighth after it."""
    return b''.join((FSYNC if at % (16 * period) == 0 else b'') + frames[at:at + 16]
                    for at in range(0, len(frames), 16))
