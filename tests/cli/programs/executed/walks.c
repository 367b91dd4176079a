/* A program without a library whose calls are of every kind: direct, through a pointer, inlined,
   recursive, a tail call, and one that leaves several functions at once (unless WITHOUT_JUMP is defined). */
typedef __UINT64_TYPE__ word;

#define NOINLINE __attribute__((noinline))

word saved[13];

/* The usual setjmp and longjmp, as far as this program needs them. */
__attribute__((naked, noinline, returns_twice)) int save_place(word *place) {
  __asm__(
      "stp x19, x20, [x0]\n\t"
      "stp x21, x22, [x0, #16]\n\t"
      "stp x23, x24, [x0, #32]\n\t"
      "stp x25, x26, [x0, #48]\n\t"
      "stp x27, x28, [x0, #64]\n\t"
      "stp x29, x30, [x0, #80]\n\t"
      "mov x2, sp\n\t"
      "str x2, [x0, #96]\n\t"
      "mov w0, #0\n\t"
      "ret");
}

__attribute__((naked, noinline, noreturn)) void go_back(word *place) {
  __asm__(
      "ldp x19, x20, [x0]\n\t"
      "ldp x21, x22, [x0, #16]\n\t"
      "ldp x23, x24, [x0, #32]\n\t"
      "ldp x25, x26, [x0, #48]\n\t"
      "ldp x27, x28, [x0, #64]\n\t"
      "ldp x29, x30, [x0, #80]\n\t"
      "ldr x2, [x0, #96]\n\t"
      "mov sp, x2\n\t"
      "mov w0, #1\n\t"
      "ret");
}

NOINLINE static int leaf(int x) { return x * 3 + 1; }

static inline __attribute__((always_inline)) int inlined(int x) {
  return (x & 1) != 0 ? x + leaf(x) : x - 2;
}

NOINLINE int middle(int x) {
  int sum = inlined(x);
  sum += leaf(sum);
  return sum;
}

NOINLINE int tail(int x) { return leaf(x + 5); }

NOINLINE int recursive(int depth) { return depth == 0 ? 1 : recursive(depth - 1) + leaf(depth); }

NOINLINE int deep(int depth) {
  if (depth == 0) go_back(saved);
  return deep(depth - 1) + 1;
}

int (*volatile pointer)(int) = middle;

NOINLINE int work(int rounds) {
  int sum = 0;
  for (int i = 0; i < rounds; ++i) {
    sum += middle(i);
    if (i % 3 == 0) sum += tail(i);
    sum += pointer(i);
    if (i % 4 == 0) sum += recursive(3);
  }
#ifndef WITHOUT_JUMP
  if (save_place(saved) == 0) sum += deep(4);
#endif
  return sum;
}

int never(int x) { return x + 1; }

void _start(void) {
  register long result __asm__("x0") = work(10) & 63;
  register long exit_call __asm__("x8") = 93;
  __asm__ volatile("svc 0" ::"r"(result), "r"(exit_call));
  __builtin_unreachable();
}
