#include "names.h"

static inline int innermost(int y) { return clamp(y, 1, 9) * 2; }
static inline int middle(int y) { return innermost(y) + innermost(y ^ 3); }

int far_away(int x) {
  Box<int> box{x};
  return middle(x) + middle(box.twice());
}
