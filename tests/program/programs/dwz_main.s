// Debug information as dwz leaves it: what it shares with others is in dwz_alternate.elf.
        .text
        .global outer
        .type outer, %function
outer:
        nop
inlined_begin:
        nop
inlined_end:
        ret
        .size outer, . - outer
text_end:

        .section .gnu_debugaltlink, "", %progbits
        .asciz "dwz_alternate.elf"
        .byte 0xaa, 0xbb, 0xcc, 0xdd, 1, 2, 3, 4

        .section .debug_abbrev, "", %progbits
        .uleb128 1, 0x11    // A unit: a name from the other file, and addresses.
        .byte 1
        .uleb128 0x03, 0x1f21, 0x11, 0x01, 0x12, 0x06, 0, 0
        .uleb128 2, 0x2e    // A function.
        .byte 1
        .uleb128 0x31, 0x1f20, 0x11, 0x01, 0x12, 0x06, 0, 0
        .uleb128 3, 0x1d    // An inlined call.
        .byte 0
        .uleb128 0x31, 0x1f20, 0x11, 0x01, 0x12, 0x06, 0x59, 0x0b, 0, 0
        .uleb128 0

        .section .debug_info, "", %progbits
        .long unit_end - unit_begin
unit_begin:
        .short 4
        .long 0
        .byte 8
        .uleb128 1
        .long 0             // In .debug_str of the other file.
        .quad outer
        .long text_end - outer
        .uleb128 2
        .long 0x12          // The first entry of the other file after its unit.
        .quad outer
        .long text_end - outer
        .uleb128 3
        .long 0x17
        .quad inlined_begin
        .long inlined_end - inlined_begin
        .byte 77            // The line of the call.
        .uleb128 0
        .uleb128 0
unit_end:
