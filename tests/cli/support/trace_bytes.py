"""Trace written byte by byte, for captures in which the place of everything is known."""

# ETMv4: A-sync, trace info, trace on, address 0x80000 with context EL1 non-secure AArch64.
ETMV4_START = bytes.fromhex('0000000000000000000000800101000485000008000000000031')
ATOM_E = b'\xf7'
ATOM_N = b'\xf6'
# nop; b to the nop.  With it, every atom E is two instructions.
LOOP_PROGRAM = bytes.fromhex('1f2003d5ffffff17')
ETMV4_REGISTERS = ('--reg', 'TRCCONFIGR=0x1', '--reg', 'TRCIDR0=0x28000EA1', '--reg', 'TRCIDR2=0x488')

ITM_SYNC = bytes.fromhex('000000000080')
# "Hi" and a newline on port 0, each with a local timestamp; entry of SysTick; eight times.
ITM_ROUND = bytes.fromhex('0148c010016920010a300e0f1040') * 8
ITM_TRACE = ITM_SYNC + ITM_ROUND

# STM: ASYNC and VERSION.
STM_START = bytes.fromhex('ffffffffffffffffffff0f0f30')
# FREQ 19200000 Hz, master 0x40, and data 0x2134 on channel 0.
STM_TRACE = STM_START + bytes.fromhex('0f0821f4081004253104')


def framed(trace_id, data, fill=ATOM_E):
    """Memory-aligned frames of this ID with 14 bytes each; padding completes the last one."""
    data = data + fill * (-len(data) % 14)
    frames = bytearray()
    for at in range(0, len(data), 14):
        frame = [trace_id << 1 | 1, *data[at:at + 14], 0]
        # The lowest bit of every byte at an even place is in the last byte.
        for place in range(2, 15, 2):
            frame[15] |= (frame[place] & 1) << (place // 2)
            frame[place] &= 0xFE
        frames += bytes(frame)
    return bytes(frames)
