/* A program without a library for T32: loops, calls, and instructions that only execute under a condition. */
#define NOINLINE __attribute__((noinline))

typedef unsigned int word;

volatile int seed = 7;
int numbers[16];

NOINLINE static int middle_of(int a, int b, int c) {
  if (a < b) return b < c ? b : (a < c ? c : a);
  return a < c ? a : (b < c ? c : b);
}

static inline __attribute__((always_inline)) int step(int x) { return (x & 1) != 0 ? 3 * x + 1 : x >> 1; }

NOINLINE static int steps_to_one(int x) {
  int steps = 0;
  while (x != 1 && steps < 40) {
    x = step(x);
    ++steps;
  }
  return steps;
}

NOINLINE static void sort(void) {
  for (int i = 1; i < 16; ++i) {
    int value = numbers[i];
    int at = i;
    while (at > 0 && numbers[at - 1] > value) {
      numbers[at] = numbers[at - 1];
      --at;
    }
    numbers[at] = value;
  }
}

int never(int x) { return x + 1; }

NOINLINE static int work(void) {
  int sum = 0;
  for (int i = 0; i < 16; ++i) numbers[i] = (seed * (i + 3)) % 23;
  for (int i = 2; i < 16; ++i) sum += middle_of(numbers[i - 2], numbers[i - 1], numbers[i]);
  sort();
  for (int i = 0; i < 16; ++i) sum += steps_to_one(numbers[i] + 1);
  return sum;
}

void _start(void) {
  register int result __asm__("r0") = work() & 63;
  register int exit_call __asm__("r7") = 1;
  __asm__ volatile("svc 0" ::"r"(result), "r"(exit_call));
  __builtin_unreachable();
}
