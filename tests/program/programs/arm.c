int other(int); int more(int);
static inline int square(int x) { return x * x; }
__attribute__((noinline)) int narrow(int a) { return square(a) + other(a); }
__attribute__((noinline, target("arm"))) int wide(int a) { return square(a + 1) * more(a); }
