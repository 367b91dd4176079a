/*
 * A freestanding AArch64 program with the kinds of control flow that a trace has to follow:
 * recursion, loops, calls through a table of functions, a switch through a jump table, system
 * calls, and a trap whose handler returns to the next instruction.  It prints its results.
 */
#include <stddef.h>
#include <stdint.h>

enum { SYS_WRITE = 64, SYS_EXIT = 93, SYS_SIGACTION = 134 };
enum { SIGNAL_TRAP = 5, FLAG_SIGINFO = 0x4, FLAG_RESTORER = 0x04000000 };

static long system_call(long number, long a, long b, long c, long d) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}

/* Text. */

static char text[512];
static size_t text_size;

static void put(const char *s) {
  while (*s) text[text_size++] = *s++;
}

static void put_number(unsigned long value) {
  char digits[20];
  int count = 0;
  do {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  while (count) text[text_size++] = digits[--count];
}

static void flush(void) {
  system_call(SYS_WRITE, 1, (long)text, (long)text_size, 0);
  text_size = 0;
}

/* Sorting, by an order that is called through a pointer. */

typedef int (*order)(int, int);

static int ascending(int a, int b) { return a < b; }
static int descending(int a, int b) { return a > b; }
static int by_last_digit(int a, int b) { return a % 10 != b % 10 ? a % 10 < b % 10 : a < b; }

static const order orders[] = {ascending, descending, by_last_digit};

__attribute__((noinline)) static void quicksort(int *first, int *last, order before) {
  if (last - first < 2) return;
  const int pivot = first[(last - first) / 2];
  int *low = first;
  int *high = last - 1;
  while (low <= high) {
    while (before(*low, pivot)) ++low;
    while (before(pivot, *high)) --high;
    if (low <= high) {
      const int swap = *low;
      *low++ = *high;
      *high-- = swap;
    }
  }
  quicksort(first, high + 1, before);
  quicksort(low, last, before);
}

__attribute__((noinline)) static unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/* A small stack machine: one indirect branch per operation. */

enum { PUSH, ADD, SUBTRACT, MULTIPLY, DUPLICATE, JUMP_IF, STOP };

__attribute__((noinline)) static long interpret(const signed char *code) {
  long stack[16];
  int top = -1;
  for (const signed char *at = code;;) {
    switch (*at++) {
      case PUSH:
        stack[++top] = *at++;
        break;
      case ADD:
        --top;
        stack[top] += stack[top + 1];
        break;
      case SUBTRACT:
        --top;
        stack[top] -= stack[top + 1];
        break;
      case MULTIPLY:
        --top;
        stack[top] *= stack[top + 1];
        break;
      case DUPLICATE:
        stack[top + 1] = stack[top];
        ++top;
        break;
      case JUMP_IF:
        at = stack[top] ? code + *at : at + 1;
        break;
      default:
        return stack[top];
    }
  }
}

/* Counts down from 12 in a loop, then adds 6 * 7. */
static const signed char program[] = {PUSH, 12,   PUSH, 1,        SUBTRACT, JUMP_IF,   2,   PUSH,
                                      6,    PUSH, 7,    MULTIPLY, ADD,      DUPLICATE, STOP};

/* A trap: the handler steps over the BRK that raised it. */

struct machine_context {
  uint64_t fault_address;
  uint64_t registers[31];
  uint64_t stack_pointer;
  uint64_t program_counter;
};

enum { MACHINE_CONTEXT_OFFSET = 176 };

static unsigned traps;

static void on_trap(int number, void *info, void *context) {
  (void)number;
  (void)info;
  struct machine_context *machine = (void *)((char *)context + MACHINE_CONTEXT_OFFSET);
  machine->program_counter += 4;
  ++traps;
}

/* Where the handler returns to: the kernel then restores what the trap interrupted. */
void signal_return(void);
__asm__(
    ".globl signal_return\n.type signal_return, %function\nsignal_return:\n"
    "\tmov x8, #139\n\tsvc #0\n"
    ".size signal_return, . - signal_return\n");

struct kernel_sigaction {
  void (*handler)(int, void *, void *);
  unsigned long flags;
  void (*restorer)(void);
  unsigned long mask;
};

__attribute__((noinline)) static void trap(void) { __asm__ volatile("brk #1" ::: "memory"); }

__attribute__((noreturn, used)) void run(void) {
  const struct kernel_sigaction action = {on_trap, FLAG_SIGINFO | FLAG_RESTORER, signal_return, 0};
  system_call(SYS_SIGACTION, SIGNAL_TRAP, (long)&action, 0, 8);

  int values[48];
  enum { COUNT = sizeof values / sizeof values[0] };
  for (size_t o = 0; o < sizeof orders / sizeof orders[0]; ++o) {
    uint32_t seed = 2463534242U;
    for (int i = 0; i < COUNT; ++i) {
      seed ^= seed << 13;
      seed ^= seed >> 17;
      seed ^= seed << 5;
      values[i] = (int)(seed % 1000);
    }
    quicksort(values, values + COUNT, orders[o]);
    put("order ");
    put_number(o);
    put(": ");
    for (int i = 0; i < 8; ++i) {
      put_number((unsigned long)values[i]);
      put(i < 7 ? " " : "\n");
    }
    flush();
  }

  put("fibonacci(15) = ");
  put_number(fibonacci(15));
  put("\ninterpreted: ");
  put_number((unsigned long)interpret(program));
  for (int i = 0; i < 3; ++i) trap();
  put("\ntraps: ");
  put_number(traps);
  put("\n");
  flush();

  system_call(SYS_EXIT, 0, 0, 0, 0);
  __builtin_unreachable();
}

__asm__(
    ".globl _start\n.type _start, %function\n_start:\n"
    "\tmov x29, #0\n\tmov x30, #0\n\tb run\n"
    ".size _start, . - _start\n");
