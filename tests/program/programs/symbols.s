// Symbols that share addresses, have no size, or name data.
        .text
        .type __local, %function
__local:
        .weak weak
        .type weak, %function
weak:
        .global __global
        .type __global, %function
__global:
        .global global
        .type global, %function
global:
        .global longest
        .type longest, %function
longest:
        .global notype
notype:
        nop
        nop
        nop
        ret
        .size __local, 16
        .size weak, 16
        .size __global, 12
        .size global, 12
        .size longest, 16
        nop

        .type no_size, %function
no_size:
        nop
label_after_it:
        ret

        .type chosen, %gnu_indirect_function
        .global chosen
chosen:
        ret
        .size chosen, 4
        .type outside, %function
outside:
        nop
label_within:
        ret
        .size outside, 8
        .global thing
        .type thing, %object
thing:
        .word 42
        .size thing, 4

        .section .text.second, "ax"
        .word 7
        .type alone, %function
alone:
        ret
        .section .text.third, "ax"
third:
        ret
