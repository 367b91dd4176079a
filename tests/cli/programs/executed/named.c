/* Functions with names as compilers give them: of C++, and of parts and copies of functions. */
#define NAMED(name) __attribute__((noinline)) __asm__(name)

volatile long seed = 3;

/* outer::(anonymous namespace)::hidden(int) */
long hidden(long x) NAMED("_ZN5outer12_GLOBAL__N_16hiddenEi");
/* outer::Callable::operator()(int) const */
long callable(long x) NAMED("_ZNK5outer8CallableclEi");
/* outer::twice(int), outer::twice(long) */
long twice_int(long x) NAMED("_ZN5outer5twiceEi");
long twice_long(long x) NAMED("_ZN5outer5twiceEl");
/* int outer::pick<int>(int) */
long pick(long x) NAMED("_ZN5outer4pickIiEET_S1_");
/* The only copy of a function that is not in the program. */
long interpret(long x) NAMED("interpret.constprop.0");
/* A function and a part of it. */
long shared(long x) NAMED("shared");
long shared_part(long x) NAMED("shared.part.0");
/* Two parts of a function that is not in the program. */
long gone_isra(long x) NAMED("gone.isra.0");
long gone_part(long x) NAMED("gone.part.1");
long fib(long x) NAMED("fib");
long even(long x) NAMED("even");
long odd(long x) NAMED("odd");

long hidden(long x) { return x * seed; }
long callable(long x) { return hidden(x + seed) + 1; }
long twice_int(long x) { return 2 * x + seed; }
long twice_long(long x) { return 3 * x + seed; }
long pick(long x) { return x - seed; }
long interpret(long x) { return x ^ seed; }
long shared(long x) { return shared_part(x + seed) + 1; }
long shared_part(long x) { return x / (seed + 1); }
long gone_isra(long x) { return gone_part(x * seed) + 2; }
long gone_part(long x) { return x + seed; }
long fib(long x) { return x < seed - 1 ? x : fib(x - 1) + fib(x - 2); }
/* Each calls the other one. */
long even(long x) { return x == 0 ? seed : odd(x - 1) + 1; }
long odd(long x) { return x == 0 ? -seed : even(x - 1) + hidden(x); }

__attribute__((noinline)) long work(void) {
  long sum = 0;
  for (int i = 0; i < 3; ++i) {
    sum += hidden(sum) + callable(i) + twice_int(i) + twice_long(i) + pick(sum) + interpret(i);
    sum += shared(sum) + gone_isra(i) + fib(i + 4) + even(i + 3);
  }
  return sum;
}

void _start(void) {
  register long result __asm__("x0") = work() & 63;
  register long exit_call __asm__("x8") = 93;
  __asm__ volatile("svc 0" ::"r"(result), "r"(exit_call));
  __builtin_unreachable();
}
