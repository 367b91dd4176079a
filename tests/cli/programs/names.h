// The functions that both files of the program inline.  It needs no headers and no libraries.
#pragma once

template <class T>
struct Box {
  T value;
  explicit Box(T from) : value(from) { twice_made = twice_made + 1; }
  ~Box() { twice_made = twice_made - 1; }
  T twice() const { return value + value; }
  static volatile int twice_made;
};
template <class T>
volatile int Box<T>::twice_made = 0;

inline __attribute__((always_inline)) int clamp(int x, int low, int high) {
  if (x < low) return low;
  if (x > high) return high;
  return x;
}

int far_away(int x);
extern volatile int sink;

namespace outer::inner {
struct Shape {
  int method(int x);
  static int fixed(int x) { return clamp(x, -3, 1000); }
};
}  // namespace outer::inner
