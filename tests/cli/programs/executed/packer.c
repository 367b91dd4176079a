/* A program without a library that packs a text as LZ77 does, unpacks it again and compares: real work for
   profiles.  It exits with 0 if both texts are the same. */
typedef unsigned char byte;
typedef unsigned int word;

enum { TEXT = 6000, HASHES = 1024, SHORTEST = 3, LONGEST = 66, WINDOW = 4095 };

static byte text[TEXT], packed[2 * TEXT], unpacked[TEXT];
static int last_place[HASHES], earlier[TEXT];
static int errors;

void *memset(void *to, int value, unsigned long size) {
  for (volatile byte *at = to; size-- != 0; ++at) *at = (byte)value;
  return to;
}

/* Words of a small vocabulary, as in a log. */
static void make_text(void) {
  static const char *const words[] = {"range ", "packet ", "trace ", "atom ", "the ", "of ", "branch ", "0x4000\n"};
  word random = 12345;
  for (int at = 0; at < TEXT;) {
    random = random * 1664525u + 1013904223u;
    for (const char *from = words[random >> 29]; *from != 0 && at < TEXT; ++from) text[at++] = (byte)*from;
    if ((random >> 20 & 15) == 0 && at < TEXT) text[at++] = random >> 8 & 0xbf;
  }
}

static word hash(const byte *at) { return ((word)at[0] * 2654435761u ^ (word)at[1] * 40503u ^ at[2]) % HASHES; }

static void complain(int code) {
  errors = errors * 31 + code;
  if (errors > 1000) errors %= 997;
}

/* How many bytes are the same at two places. */
static int match_length(int a, int b) {
  int length = 0;
  while (length < LONGEST && b + length < TEXT) {
    if (text[a + length] != text[b + length]) break;
    ++length;
  }
  return length;
}

static int put(int to, int value) {
  if (to >= (int)sizeof packed) {
    complain(1);
    return to;
  }
  if (value < 0 || value > 255) {
    complain(2);
    value = 0;
  }
  packed[to] = (byte)value;
  return to + 1;
}

static void remember(int at) {
  if (at + SHORTEST > TEXT) return;
  word slot = hash(text + at);
  earlier[at] = last_place[slot];
  last_place[slot] = at + 1;
}

static int pack(void) {
  int size = 0;
  for (int at = 0; at < TEXT;) {
    int best = 0, from = 0;
    if (at + SHORTEST <= TEXT) {
      int tries = 8;
      for (int place = last_place[hash(text + at)]; place != 0 && tries != 0; place = earlier[place - 1], --tries) {
        if (at - (place - 1) > WINDOW) break;
        int length = match_length(place - 1, at);
        if (length > best) {
          best = length;
          from = at - (place - 1);
        }
      }
    }
    if (best >= SHORTEST) {
      size = put(size, 0x80 | (best - SHORTEST));
      size = put(size, from & 0xff);
      size = put(size, from >> 8);
      for (int i = 0; i < best; ++i) remember(at + i);
      at += best;
    } else {
      if (text[at] >= 0x80) size = put(size, 0x7f);
      size = put(size, text[at] & 0x7f);
      remember(at);
      ++at;
    }
  }
  return size;
}

static int unpack(int size) {
  int to = 0;
  for (int at = 0; at < size;) {
    int value = packed[at++];
    if (value >= 0x80) {
      int length = (value & 0x7f) + SHORTEST;
      if (at + 2 > size) {
        complain(3);
        return to;
      }
      int from = packed[at] | packed[at + 1] << 8;
      at += 2;
      if (from == 0 || from > to || to + length > TEXT) {
        complain(4);
        return to;
      }
      for (int i = 0; i < length; ++i, ++to) unpacked[to] = unpacked[to - from];
    } else {
      int high = 0;
      if (value == 0x7f && at < size) {
        high = 0x80;
        value = packed[at++];
      }
      if (to >= TEXT) {
        complain(5);
        return to;
      }
      unpacked[to++] = (byte)(value | high);
    }
  }
  return to;
}

static int run(void) {
  make_text();
  int size = unpack(pack());
  if (size != TEXT) return 1;
  for (int i = 0; i < TEXT; ++i)
    if (text[i] != unpacked[i]) return 2;
  return errors != 0 ? 3 : 0;
}

void _start(void) {
  register long result __asm__("x0") = run();
  register long exit_call __asm__("x8") = 93;
  __asm__ volatile("svc 0" ::"r"(result), "r"(exit_call));
  __builtin_unreachable();
}
