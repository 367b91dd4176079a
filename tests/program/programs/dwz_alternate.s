        .section .note.id, "a", %note    // The linker would drop .note.gnu.build-id.
        .long 4, 8, 3
        .asciz "GNU"
        .byte 0xaa, 0xbb, 0xcc, 0xdd, 1, 2, 3, 4

        .section .debug_str, "MS", %progbits, 1
unit_name:
        .asciz "shared.c"
outer_name:
        .asciz "dwarf_outer"
inline_name:
        .asciz "shared_inline"

        .section .debug_abbrev, "", %progbits
        .uleb128 1, 0x3c    // A partial unit.
        .byte 1
        .uleb128 0x03, 0x0e, 0, 0
        .uleb128 2, 0x2e    // A function.
        .byte 0
        .uleb128 0x03, 0x0e, 0, 0
        .uleb128 0

        .section .debug_info, "", %progbits
        .long unit_end - unit_begin
unit_begin:
        .short 4
        .long 0
        .byte 8
        .uleb128 1
        .long unit_name
        .byte 0, 0          // References point past them.
        .uleb128 2
        .long outer_name
        .uleb128 2
        .long inline_name
        .uleb128 0
unit_end:
