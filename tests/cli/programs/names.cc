// Functions in every form that debug information has: inlined, in several parts, copied, nested.
#include "names.h"

volatile int sink;

static int helper(int x) {
  int sum = 0;
  for (int i = 0; i < x; ++i) sum += clamp(i * x, 3, 77) + outer::inner::Shape::fixed(i);
  return sum;
}

__attribute__((noinline)) int outer::inner::Shape::method(int x) {
  Box<int> box{x};
  Box<long> other{x};
  return box.twice() + static_cast<int>(other.twice()) + helper(x);
}

__attribute__((cold, noinline)) static void rare(const char* text) {
  for (; *text != 0; ++text) sink = *text;
}

int work(int n) {
  int sum = 0;
  const auto lambda = [&](int k) {
    struct Local {
      int go(int z) { return z * 3 + clamp(z, 0, 5); }
    } local;
    return local.go(k) + sum;
  };
  for (int i = 0; i < n; ++i) sum += lambda(helper(i));
  if (sum == -12345) rare("bad");
  switch (n) {
    case 1:
      return sum + far_away(1);
    case 2:
      return sum - far_away(5);
    case 3:
      return sum ^ 7;
#line 1000 "generated/by hand.inc"
    case 4:
      return clamp(sum, 4, 44) + far_away(44);
    default:
      return sum * 3;
  }
}

int unused_function(int x) { return clamp(x, 1, 2) * far_away(x); }

extern "C" void* memset(void* to, int value, unsigned long size) {
  for (unsigned long i = 0; i < size; ++i)
    static_cast<volatile char*>(to)[i] = static_cast<char>(value);
  return to;
}

extern "C" void _start() {
  outer::inner::Shape shape;
  sink = work(20) + shape.method(3);
  for (;;) sink = far_away(sink);
}
