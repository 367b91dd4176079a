#include "mangled_size.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace waymark::outputs {
namespace {

using Size = std::uint64_t;

constexpr Size kMost = Size{1} << 40;  // Sizes do not grow further.
constexpr unsigned kDeepest = 256;
/// No punctuation, keyword or builtin type is longer.
constexpr Size kWord = 32;
/// The longest is "std::basic_string<char, std::char_traits<char>, std::allocator<char> >".
constexpr Size kStandard = 80;

struct Operator {
  std::string_view code;
  unsigned operands;
};
constexpr Operator kOperators[] = {
    {"aN", 2}, {"aS", 2}, {"aa", 2}, {"ad", 1}, {"an", 2}, {"cm", 2}, {"co", 1}, {"dV", 2},
    {"da", 1}, {"de", 1}, {"dl", 1}, {"ds", 2}, {"dv", 2}, {"eO", 2}, {"eo", 2}, {"eq", 2},
    {"ge", 2}, {"gt", 2}, {"ix", 2}, {"lS", 2}, {"le", 2}, {"ls", 2}, {"lt", 2}, {"mI", 2},
    {"mL", 2}, {"mi", 2}, {"ml", 2}, {"ne", 2}, {"ng", 1}, {"nt", 1}, {"nx", 1}, {"oR", 2},
    {"oo", 2}, {"or", 2}, {"pL", 2}, {"pl", 2}, {"pm", 2}, {"ps", 1}, {"qu", 3}, {"rM", 2},
    {"rS", 2}, {"rm", 2}, {"rs", 2}, {"ss", 2}, {"sz", 1}, {"te", 1}, {"tw", 1}, {"az", 1},
};

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// Reads a name once.  Every template parameter counts as the largest argument that it can stand
/// for, and every pack as the longest one; the caller gives both sizes.
class Reader {
 public:
  Reader(std::string_view text, Size parameter, Size pack)
      : text_(text), parameter_(parameter), longest_pack_(pack) {}

  /// Reads the whole name and returns the bound of its size.
  std::optional<Size> read() {
    if (!take("_Z")) return std::nullopt;
    Size size = encoding();
    // A clone: ".constprop.0".
    if (peek() == '.') {
      size += kWord * (text_.size() - at_);
      at_ = text_.size();
    }
    if (failed_ || at_ != text_.size()) return std::nullopt;
    return std::min(size, kMost);
  }

  /// The largest template argument that a parameter can stand for.
  [[nodiscard]] Size largest_argument() const { return largest_argument_; }
  [[nodiscard]] Size longest_pack() const { return longest_pack_; }
  /// The greatest number of templates around a parameter.
  [[nodiscard]] unsigned templates_deep() const { return encodings_deep_ + 1; }

 private:
  /// A part that can be substituted, and its last name, which its constructors have too.
  struct Part {
    Size size = 0;
    Size last = 0;
  };

  /// One level of recursion.
  class Level {
   public:
    explicit Level(Reader& reader) : reader_(reader) {
      if (++reader.depth_ > kDeepest) reader.failed_ = true;
    }
    ~Level() { --reader_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Reader& reader_;
  };

  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return !failed_ && at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool take(std::string_view what) {
    if (failed_ || !text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  Size fail() {
    failed_ = true;
    return 0;
  }
  void expect(char c) {
    if (!take({&c, 1})) failed_ = true;
  }
  void add(const Part& part) { parts_.push_back({std::min(part.size, kMost), part.last}); }

  Size number() {
    Size value = 0;
    if (!is_digit(peek())) return fail();
    for (; is_digit(peek()); ++at_)
      value = std::min(10 * value + static_cast<Size>(peek() - '0'), kMost);
    return value;
  }
  /// "_", "0_", "12_": a number among entities of one kind.  Its text is short.
  Size ordinal() {
    while (is_digit(peek()) || is_upper(peek())) ++at_;
    expect('_');
    return kWord;
  }

  Size encoding() {
    const Level level(*this);
    const unsigned types = std::exchange(types_, 0);
    encodings_deep_ = std::max(encodings_deep_, ++encodings_);
    Size size = 0;
    if (peek() == 'T' || peek() == 'G') {
      size = special();
    } else {
      size = name().size;
      // The signature.
      while (!failed_ && peek() != '\0' && peek() != 'E' && peek() != '.')
        size = std::min(size + kWord + type(), kMost);
    }
    types_ = types;
    --encodings_;
    return size;
  }

  Size special() {
    if (take("GV") || take("TH") || take("TW")) return kWord + name().size;
    if (take("GR")) {
      const Size size = kWord + name().size;
      if (peek() != '\0') ordinal();
      return size + kWord;
    }
    if (take("TV") || take("TT") || take("TI") || take("TS") || take("TF")) return kWord + type();
    if (take("TC")) {
      const Size first = type();
      number();
      expect('_');
      return 2 * kWord + first + type();
    }
    const auto offset = [this] {
      take("n");
      number();
      expect('_');
    };
    const auto call_offset = [&] {
      if (take("h")) return offset();
      expect('v');
      offset();
      offset();
    };
    if (take("Tc")) {
      call_offset();
      call_offset();
      return kWord + encoding();
    }
    if (take("T")) {
      call_offset();
      return kWord + encoding();
    }
    return fail();
  }

  Part name() {
    const Level level(*this);
    if (take("N")) return nested();
    if (take("Z")) return local();
    Part part;
    if (peek() == 'S' && peek(1) != 't') {
      part = substitution();
      if (peek() != 'I') return part;
    } else {
      Size before = 0;
      if (take("St")) before = kWord;
      part = unqualified({});
      part.size += before;
      if (peek() != 'I') return part;
      add(part);
    }
    part.size += arguments();
    return part;
  }

  Part nested() {
    while (take("r") || take("V") || take("K")) continue;
    if (!take("R")) take("O");
    Part part{4 * kWord, 0};
    bool is_first = true;
    while (!failed_ && !take("E")) {
      const char next = peek();
      if (next == 'S') {
        Part found;
        if (take("St")) {
          found = {kWord, kWord};
        } else {
          found = substitution();
        }
        part.size += found.size;
        part.last = found.last;
      } else if (next == 'I') {
        if (is_first) failed_ = true;
        part.size += arguments();
      } else if (next == 'T') {
        part.size += template_parameter();
        part.last = parameter_;
      } else if (next == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
        // Compilers number it differently.
        failed_ = true;
      } else if (is_digit(next) || is_lower(next) || next == 'C' || next == 'D' || next == 'U' ||
                 next == 'L') {
        const Part found = unqualified(part);
        part.size += found.size + 2;
        part.last = found.last;
      } else {
        failed_ = true;
      }
      part.size = std::min(part.size, kMost);
      if (next != 'S' && peek() != 'E') add(part);
      is_first = false;
    }
    return part;
  }

  Part local() {
    Part part;
    part.size = encoding() + 2;
    expect('E');
    if (take("s")) {
      part.size += kWord;
    } else {
      if (take("d")) {
        ordinal();
        part.size += kWord;
      }
      const Part inner = name();
      part.size += inner.size;
      part.last = inner.last;
    }
    // A number among entities of the same name.
    if (take("__")) {
      number();
      expect('_');
    } else if (take("_")) {
      if (!is_digit(peek())) return {fail(), 0};
      ++at_;
    }
    return part;
  }

  Part source_name() {
    const Size length = number();
    if (failed_ || length == 0 || length > text_.size() - at_) return {fail(), 0};
    at_ += length;
    // "_GLOBAL__N_1" is "(anonymous namespace)".
    return {length + kWord, length + kWord};
  }

  /// `scope`: the part of which it is a member.
  Part unqualified(const Part& scope) {
    const Level level(*this);
    Part part;
    if (take("L")) {
      part = source_name();
      if (take("_")) {
        if (take("_")) {
          number();
          expect('_');
        } else {
          number();
        }
      }
    } else if (is_digit(peek())) {
      part = source_name();
    } else if (take("C")) {
      if (take("I")) return {fail(), 0};
      if (!is_digit(peek())) return {fail(), 0};
      ++at_;
      part = {scope.last, scope.last};
    } else if (take("D")) {
      if (!is_digit(peek())) return {fail(), 0};
      ++at_;
      part = {scope.last + 1, scope.last};
    } else if (take("Ut")) {
      part = {ordinal() + kWord, kWord};
      if (types_ != 0) add(part);
    } else if (take("Ul")) {
      Size size = kWord;
      while (!failed_ && !take("E")) size = std::min(size + type() + 2, kMost);
      size += ordinal();
      part = {size, size};
    } else if (take("cv")) {
      // Its parameters are arguments of the template around it.
      if (types_ != 0) return {fail(), 0};
      part.size = type() + kWord;
      part.last = part.size;
    } else if (take("li")) {
      part = source_name();
    } else if (is_lower(peek()) && peek(1) != '\0') {
      at_ += 2;
      part = {kWord, kWord};
    } else {
      return {fail(), 0};
    }
    while (take("B")) part.size += source_name().size + kWord;
    return part;
  }

  Part substitution() {
    expect('S');
    if (is_lower(peek())) {
      ++at_;
      return {kStandard, kStandard};
    }
    Size number = 0;
    if (!take("_")) {
      for (; is_digit(peek()) || is_upper(peek()); ++at_) {
        const char c = peek();
        number =
            std::min(36 * number + static_cast<Size>(is_digit(c) ? c - '0' : c - 'A' + 10), kMost);
      }
      expect('_');
      ++number;
    }
    if (failed_ || number >= parts_.size()) return {fail(), 0};
    return parts_[number];
  }

  Size template_parameter() {
    expect('T');
    ordinal();
    return std::max(parameter_, kWord);
  }

  Size arguments() {
    const Level level(*this);
    const bool is_of_name = types_ == 0;
    if (!take("I")) expect('J');
    Size size = 4;
    Size count = 0;
    while (!failed_ && !take("E")) {
      const Size one = argument();
      if (is_of_name) largest_argument_ = std::max(largest_argument_, one);
      size = std::min(size + one + 2, kMost);
      ++count;
    }
    longest_pack_ = std::max(longest_pack_, count);
    return size;
  }

  Size argument() {
    const Level level(*this);
    ++types_;
    Size size = 0;
    if (take("X")) {
      size = expression();
      expect('E');
    } else if (peek() == 'L') {
      size = literal();
    } else if (peek() == 'I' || peek() == 'J') {
      size = arguments();
    } else {
      size = type();
    }
    --types_;
    return size;
  }

  Size literal() {
    const Level level(*this);
    expect('L');
    if (take("_Z")) {
      const Size size = encoding();
      expect('E');
      return size + kWord;
    }
    Size size = type() + kWord;
    while (!failed_ && peek() != 'E' && peek() != '\0') {
      ++at_;
      ++size;
    }
    expect('E');
    return size;
  }

  Size type() {
    const Level level(*this);
    ++types_;
    const Size size = std::min(type_within(), kMost);
    --types_;
    return size;
  }

  Size type_within() {
    const char next = peek();
    Size size = kWord;
    const auto added = [&](Size more) {
      add({size + more, size + more});
      return size + more;
    };
    switch (next) {
      case 'r':
      case 'V':
      case 'K':
        while (take("r") || take("V") || take("K")) size += kWord;
        return added(type());
      case 'P':
      case 'R':
      case 'O':
      case 'C':
      case 'G':
        ++at_;
        return added(type());
      case 'F':
        ++at_;
        take("Y");
        while (!failed_ && !take("E")) {
          if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') {
            ++at_;
            continue;
          }
          size = std::min(size + type() + 2, kMost);
        }
        return added(0);
      case 'A':
        ++at_;
        if (is_digit(peek())) {
          number();
        } else if (peek() != '_') {
          size += expression();
        }
        expect('_');
        return added(type());
      case 'M': {
        ++at_;
        const Size of = type();
        return added(of + type());
      }
      case 'T':
        size += template_parameter();
        add({size, size});
        if (peek() != 'I') return size;
        size += arguments();
        return added(0);
      case 'S':
        if (is_digit(peek(1)) || peek(1) == '_' || is_upper(peek(1))) {
          size += substitution().size;
          if (peek() != 'I') return size;
          size += arguments();
          return added(0);
        }
        if (peek(1) != 't') {
          size += substitution().size;
          if (peek() != 'I') return size;
          size += arguments();
          return added(0);
        }
        return added_name();
      case 'D':
        return special_type();
      case 'u':
      case 'U':
        return fail();
      default:
        break;
    }
    if (is_digit(next) || next == 'N' || next == 'Z') return added_name();
    if (is_lower(next)) {
      ++at_;
      return size;
    }
    return fail();
  }

  Size added_name() {
    const Part part = name();
    add(part);
    return part.size;
  }

  Size special_type() {
    if (take("Dp")) {
      // The pattern is written once for each argument of the pack.
      const Size size = std::min(longest_pack_ * (type() + 4), kMost);
      add({size, size});
      return size;
    }
    if (take("Dt") || take("DT")) {
      const Size size = expression() + kWord;
      expect('E');
      add({size, size});
      return size;
    }
    for (const std::string_view builtin :
         {"Da", "Dc", "Dd", "De", "Df", "Dh", "Di", "Dn", "Ds", "Du"})
      if (take(builtin)) return kWord;
    return fail();
  }

  Size list(std::string_view end) {
    Size size = kWord;
    while (!failed_ && !take(end)) {
      if (peek() == '\0') return fail();
      size = std::min(size + expression() + 2, kMost);
    }
    return size;
  }

  /// A name within an expression, with or without arguments.
  Size simple_name() {
    if (take("on")) {
      if (!is_lower(peek()) || peek(1) == '\0') return fail();
      at_ += 2;
      return 2 * kWord + (peek() == 'I' ? arguments() : 0);
    }
    const Size size = source_name().size;
    return size + (peek() == 'I' ? arguments() : 0);
  }

  Size expression() {
    const Level level(*this);
    ++types_;
    const Size size = std::min(expression_within(), kMost);
    --types_;
    return size;
  }

  Size expression_within() {
    const char next = peek();
    if (next == 'L') return literal();
    if (next == 'T') return template_parameter();
    if (is_digit(next) || (next == 'o' && peek(1) == 'n')) return simple_name();
    if (take("sr")) {
      const Size of = type();
      return of + kWord + simple_name();
    }
    if (take("fpT")) return kWord;
    if (take("fp")) {
      while (take("r") || take("V") || take("K")) continue;
      return ordinal();
    }
    if (take("sp")) return longest_pack_ * (expression() + 4);
    if (take("sZ")) return kWord + (peek() == 'T' ? template_parameter() : expression());
    if (take("cl")) return list("E");
    if (take("cv")) {
      const Size to = type();
      return to + kWord + (take("_") ? list("E") : expression());
    }
    if (take("tl")) {
      const Size of = type();
      return of + list("E");
    }
    if (take("il")) return list("E");
    if (take("dt") || take("pt")) {
      const Size of = expression();
      return of + kWord + (is_digit(peek()) || peek() == 'o' ? simple_name() : expression());
    }
    if (take("st") || take("at") || take("ti")) return type() + kWord;
    if (take("sc") || take("cc") || take("dc") || take("rc")) {
      const Size to = type();
      return to + kWord + expression();
    }
    if (take("gs")) return fail();
    for (const Operator& one : kOperators) {
      if (!take(one.code)) continue;
      Size size = kWord;
      for (unsigned i = 0; i < one.operands; ++i) size = std::min(size + expression() + 4, kMost);
      return size;
    }
    if (take("pp") || take("mm")) {
      take("_");
      return kWord + expression();
    }
    return fail();
  }

  std::string_view text_;
  Size parameter_;
  std::size_t at_ = 0;
  bool failed_ = false;
  unsigned depth_ = 0;
  unsigned types_ = 0;           ///< Types and arguments around the present place.
  unsigned encodings_ = 0;       ///< Functions around the present place.
  unsigned encodings_deep_ = 0;  ///< The greatest number of functions around any place.
  std::vector<Part> parts_;
  Size largest_argument_ = 0;
  Size longest_pack_;
};

}  // namespace

std::optional<std::uint64_t> demangled_size_bound(std::string_view mangled) {
  // The argument that a parameter stands for may contain parameters of the template around it, and
  // so on to the outermost one.
  constexpr unsigned kPasses = 8;
  Size parameter = 0;
  Size pack = 1;
  for (unsigned i = 0; i < kPasses; ++i) {
    Reader reader(mangled, parameter, pack);
    const std::optional<Size> size = reader.read();
    if (!size) return std::nullopt;
    const bool is_done = reader.largest_argument() <= parameter || i > reader.templates_deep();
    if ((is_done && reader.longest_pack() == pack) || *size == kMost) return size;
    parameter = std::max(parameter, reader.largest_argument());
    pack = reader.longest_pack();
  }
  return std::nullopt;
}

}  // namespace waymark::outputs
