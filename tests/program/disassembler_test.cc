#include "waymark/program/disassembler.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "waymark/base/number.h"

namespace waymark::program {
namespace {

using isa::Isa;
using isa::Profile;

/// The fields of an objdump line.
struct Line {
  std::uint64_t address = 0;
  std::uint32_t opcode = 0;
  bool thumb = false;
  std::string text{};
};

std::string output_of(const std::string& command) {
  std::string text;
  // NOLINTNEXTLINE(cert-env33-c): the commands are those of this file.
  FILE* const pipe = popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 65536> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), pipe))
    text.append(part.data(), size);
  return pclose(pipe) == 0 ? text : std::string();
}

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// The instruction in "  27240: a9bf7bf0  \tstp\tx16, x30", without comments; nothing: another
/// line.
std::optional<Line> parse(std::string_view text) {
  const std::size_t colon = text.find(": ");
  const std::size_t tab = text.find('\t');
  if (colon == std::string_view::npos || tab == std::string_view::npos) return std::nullopt;
  std::string_view address = text.substr(0, colon);
  address.remove_prefix(std::min(address.find_first_not_of(' '), address.size()));
  std::string_view bytes = text.substr(colon + 2, tab - colon - 2);
  bytes = bytes.substr(0, bytes.find_last_not_of(' ') + 1);
  if (address.empty() || !is_hex(address)) return std::nullopt;
  Line line;
  line.address = *parse_number(address, 16);
  if (bytes.size() == 8 && is_hex(bytes)) {
    line.opcode = static_cast<std::uint32_t>(*parse_number(bytes, 16));
  } else if ((bytes.size() == 4 || bytes.size() == 9) && is_hex(bytes.substr(0, 4))) {
    line.thumb = true;
    line.opcode = static_cast<std::uint32_t>(*parse_number(bytes.substr(0, 4), 16));
    if (bytes.size() == 9)
      line.opcode |= static_cast<std::uint32_t>(*parse_number(bytes.substr(5), 16)) << 16;
  } else {
    return std::nullopt;
  }
  std::string_view rest = text.substr(tab + 1);
  for (const std::string_view comment : {"<", "@", "//"}) {
    if (rest.starts_with("<unknown>")) break;
    rest = rest.substr(0, rest.find(comment));
  }
  for (const char c : rest) line.text += c == '\t' ? ' ' : c;
  line.text.resize(line.text.find_last_not_of(' ') + 1);
  return line;
}

std::vector<Line> dump(const std::string& file) {
  const std::string text = output_of("llvm-objdump-19 -d '" + file + "'");
  std::vector<Line> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (auto line = parse(std::string_view(text).substr(at, end - at)))
      lines.push_back(*std::move(line));
    at = end + 1;
  }
  return lines;
}

std::shared_ptr<const Llvm> llvm_19() {
  for (const char* const name : {"libLLVM.so.19.1", "libLLVM-19.so.1"})
    if (auto llvm = Llvm::load(name)) return *llvm;
  return nullptr;
}

class DisassemblerOracle : public testing::Test {
 protected:
  void SetUp() override {
    if (llvm_ == nullptr) GTEST_SKIP() << "LLVM 19 is not installed (package llvm-19)";
    if (output_of("llvm-objdump-19 --version").empty())
      GTEST_SKIP() << "llvm-objdump-19 is not installed (package llvm-19)";
    folder_ = std::filesystem::temp_directory_path() /
              ("waymark-disassembler-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  /// Compiles with clang-19; an empty path: it is not installed.
  std::string compile(const std::string& options, std::string_view source) {
    const std::string file = folder_ / "program.c";
    std::ofstream(file) << source;
    const std::string object = folder_ / "program.o";
    std::filesystem::remove(object);
    output_of("clang-19 " + options + " -c '" + file + "' -o '" + object + "'");
    return std::filesystem::exists(object) ? object : std::string();
  }

  std::string assemble(const std::string& options, std::string_view source) {
    const std::string file = folder_ / "program.s";
    std::ofstream(file) << source;
    const std::string object = folder_ / "program.o";
    EXPECT_EQ(
        // NOLINTNEXTLINE(cert-env33-c): the commands are those of this file.
        std::system(("llvm-mc-19 -filetype=obj " + options + " '" + file + "' -o '" + object + "'")
                        .c_str()),
        0);
    return object;
  }

  /// Compares all instructions of a file; returns their number.
  std::size_t compare(const std::string& file, Isa isa, Profile profile = Profile::kA) {
    Disassembler disassembler(llvm_);
    ThumbBlock block;
    std::size_t differences = 0;
    std::uint64_t next = 0;
    const std::vector<Line> lines = dump(file);
    for (const Line& line : lines) {
      const Isa used = line.thumb ? Isa::kT32 : isa;
      if (line.address != next) block = {};
      const InstructionText ours =
          disassembler.disassemble(used, line.address, line.opcode, block, profile);
      block.pass(line.opcode, profile);
      next = line.address + ours.size;
      // Objdump may know less, because it takes the extensions of AArch32 from the file.
      const bool unknown = line.text == "<unknown>";
      if (unknown ? isa != Isa::kA64 || ours.text.starts_with(".inst") : ours.text == line.text)
        continue;
      if (++differences <= 20)
        ADD_FAILURE() << std::hex << line.address << ": " << line.opcode << "\n  objdump "
                      << line.text << "\n  ours    " << ours.text;
    }
    EXPECT_EQ(differences, 0U);
    return lines.size();
  }

  std::shared_ptr<const Llvm> llvm_ = llvm_19();
  std::filesystem::path folder_;
};

constexpr std::string_view kProgram = R"(
int g; double d;
extern int ext(int);
int f(int a, int b) { if (a > b) return ext(a) * 3; for (int i = 0; i < a; i++) g += b * i; return d * a + g; }
int sw(int x) { switch (x) { case 0: return 3; case 1: return ext(2); case 2: return 7; case 3: return ext(9);
                             case 4: return 1; case 5: return 12; } return 0; }
long long m(long long a, long long b) { return a / b + a * b; }
void v(float* a, float* b, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * 2 + b[i]; }
int c(int a, int b, int x) { if (a == b) { g = x; d = 1; } return a > b ? (x & 1 ? a : b) : x; }
void p(void (*q)(void)) { q(); }
void cond(int* a, int n) { for (int i = 0; i < n; i++) if (a[i] > 3) a[i] += 5; else a[i] -= i; }
)";

TEST_F(DisassemblerOracle, equals_objdump_on_compiled_programs) {
  struct Case {
    const char* options;
    Isa isa;
    Profile profile;
  };
  for (const Case& test : {
           Case{"--target=aarch64-linux-gnu -O0", Isa::kA64, Profile::kA},
           Case{"--target=aarch64-linux-gnu -O2 -march=armv9-a+sve2", Isa::kA64, Profile::kA},
           Case{"--target=armv7a-linux-gnueabihf -marm -O0", Isa::kA32, Profile::kA},
           Case{"--target=armv8a-linux-gnueabihf -marm -O2", Isa::kA32, Profile::kA},
           Case{"--target=armv7a-linux-gnueabihf -mthumb -O0", Isa::kT32, Profile::kA},
           Case{"--target=armv7a-linux-gnueabihf -mthumb -O2", Isa::kT32, Profile::kA},
           Case{"--target=armv8a-linux-gnueabihf -mthumb -Os", Isa::kT32, Profile::kA},
           Case{"--target=thumbv6m-none-eabi -O1", Isa::kT32, Profile::kM},
           Case{"--target=thumbv7em-none-eabi -O2", Isa::kT32, Profile::kM},
           Case{"--target=thumbv8.1m.main-none-eabi -mcpu=cortex-m55 -mfloat-abi=hard -O2",
                Isa::kT32, Profile::kM},
       }) {
    SCOPED_TRACE(test.options);
    const std::string object = compile(test.options, kProgram);
    if (object.empty()) GTEST_SKIP() << "clang-19 is not installed";
    EXPECT_GT(compare(object, test.isa, test.profile), 50U);
  }
}

TEST_F(DisassemblerOracle, equals_objdump_on_addresses_and_extensions_of_a64) {
  const std::string object = assemble("--triple=aarch64 --mattr=+all", R"(
    nop
    1: adr x0, 1b
    adrp x1, 1b
    ldr x2, 1b
    ldr q3, 1b
    ldrsw x2, 1b
    prfm pldl1keep, 1b
    tbz x3, #40, 1b
    cbnz w3, 1b
    bc.eq 1b
    retaasppc 1b
    autiasppc 1b
    retaa
    ldadd x1, x2, [x3]
    irg x0, x1
    ld64b x0, [x1]
    tstart x1
    smstart
    addpt x0, x1, x2
    cpyfp [x0]!, [x1]!, x2!
    whilelt p0.s, w0, w1
    fmopa za0.s, p0/m, p0/m, z0.s, z1.s
    .inst 0x74000041
    .inst 0xffffffff
  )");
  EXPECT_EQ(compare(object, Isa::kA64), 24U);
}

TEST_F(DisassemblerOracle, equals_objdump_on_blocks_of_t32) {
  const std::string a = assemble("--triple=armv8a-none-eabi --mattr=+crypto", R"(
    .arch armv8-a
    .fpu crypto-neon-fp-armv8
    .syntax unified
    .thumb
    ittet eq
    addeq r0, r1, r2
    addeq.w r0, r1, r2
    movne r0, #1
    beq.w .
    adds r0, r1, r2
    it ne
    bxne lr
    cbz r0, 1f
    blx 2f
    1: bl 1b
    tbb [pc, r0]
    udf #1
    .arm
    2: blx 1b
    vadd.f32 q0, q1, q2
    bl 2b
    aese.8 q0, q1
  )");
  EXPECT_GT(compare(a, Isa::kA32), 15U);
  const std::string m = assemble("--triple=thumbv8.1m.main-none-eabi --mcpu=cortex-m85", R"(
    .cpu cortex-m85
    .syntax unified
    .thumb
    vptete.f32 eq, q0, q1
    vaddt.f32 q0, q1, q2
    vadde.f32 q0, q1, q2
    vaddt.i32 q0, q1, q2
    vadde.f32 q0, q1, q2
    vadd.f32 q0, q1, q2
    vpstt
    vldrwt.u32 q0, [r0]
    vldrwt.u32 q1, [r0]
    vcmp.i32 eq, q0, q1
    vadd.f32 q0, q1, q2
    1: le lr, 1b
    wls lr, r0, 2f
    2: sg
    pac r12, lr, sp
    mrs r0, basepri
  )");
  EXPECT_EQ(compare(m, Isa::kT32, Profile::kM), 16U);
}

TEST_F(DisassemblerOracle, equals_objdump_on_the_c_library_of_debian) {
  const std::string library = "/usr/aarch64-linux-gnu/lib/libc.so.6";
  if (!std::filesystem::exists(library))
    GTEST_SKIP() << library << " is missing (package libc6-arm64-cross)";
  EXPECT_GT(compare(library, Isa::kA64), 100'000U);
}

TEST(Disassembler, library_that_is_not_there) {
  const auto llvm = Llvm::load("libnone.so.7");
  ASSERT_FALSE(llvm);
  EXPECT_EQ(llvm.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(llvm.error().detail.starts_with("libnone.so.7 cannot be used to disassemble: "));
}

TEST(Disassembler, library_of_something_else) {
  const auto llvm = Llvm::load("libc.so.6");
  ASSERT_FALSE(llvm);
  EXPECT_EQ(llvm.error().detail,
            "libc.so.6 cannot be used to disassemble: libc.so.6 has no disassembler for Arm.");
}

TEST(Disassembler, without_llvm_the_opcode_and_what_decoding_knows) {
  Disassembler disassembler(nullptr);
  struct Case {
    Isa isa;
    std::uint32_t opcode;
    const char* text;
    const char* note;
  };
  for (const Case& test : {
           Case{Isa::kA64, 0xA9BF7BF0, ".inst 0xa9bf7bf0", ""},
           Case{Isa::kA64, 0x14000004, ".inst 0x14000004", "branch to 0x8010"},
           Case{Isa::kA64, 0x54000041, ".inst 0x54000041", "conditional branch to 0x8008"},
           Case{Isa::kA64, 0x94000004, ".inst 0x94000004", "call to 0x8010"},
           Case{Isa::kA64, 0xD65F03C0, ".inst 0xd65f03c0", "return"},
           Case{Isa::kA64, 0xD61F0220, ".inst 0xd61f0220", "indirect branch"},
           Case{Isa::kA64, 0xD63F0220, ".inst 0xd63f0220", "indirect call"},
           Case{Isa::kA64, 0xD69F03E0, ".inst 0xd69f03e0", "exception return"},
           Case{Isa::kA64, 0xD5033FDF, ".inst 0xd5033fdf", "isb"},
           Case{Isa::kA32, 0x1A000000, ".inst 0x1a000000", "conditional branch to 0x8008"},
           Case{Isa::kT32, 0xFFFF4770, ".inst.n 0x4770", "return"},
           Case{Isa::kT32, 0xF802F000, ".inst.w 0xf000f802", "call to 0x8008"},
           Case{Isa::kJazelle, 0x12345678, ".inst 0x12345678", ""},
       }) {
    const InstructionText text = disassembler.disassemble(test.isa, 0x8000, test.opcode);
    EXPECT_EQ(text.text, test.text);
    EXPECT_EQ(text.note, test.note) << test.text;
  }
}

TEST(Disassembler, compare_and_branch_that_llvm_does_not_know) {
  const auto llvm = llvm_19();
  if (llvm == nullptr) GTEST_SKIP() << "LLVM 19 is not installed (package llvm-19)";
  Disassembler disassembler(llvm);
  const InstructionText text = disassembler.disassemble(Isa::kA64, 0x8000, 0x74000041);
  EXPECT_EQ(text.text, ".inst 0x74000041");
  EXPECT_EQ(text.note, "conditional branch to 0x8008");
  EXPECT_EQ(text.target, 0x8008U);
}

TEST(Disassembler, texts_are_kept_and_replaced) {
  Disassembler disassembler(nullptr);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::uint32_t i = 0; i < 2 * Disassembler::kKept; ++i) {
      const InstructionText text = disassembler.disassemble(Isa::kA64, 4 * i, 0x14000000 + i);
      ASSERT_EQ(text.target, 8 * i);
    }
  }
}

TEST(ThumbBlock, it_block) {
  ThumbBlock block;
  EXPECT_EQ(block.state(), 0);
  block.pass(0xBF0A);  // itet eq
  const std::vector<int> expected = {1, 2, 1, 0};
  for (const int state : expected) {
    EXPECT_EQ(block.state(), state);
    block.pass(0x4408);
  }
}

TEST(ThumbBlock, found_before_an_address) {
  const std::vector<std::uint8_t> code = {0x00, 0xBF, 0x0A, 0xBF, 0x08,
                                          0x44, 0x00, 0xF0, 0x01, 0x00};
  const Bytes bytes(code);
  EXPECT_EQ(ThumbBlock::before(bytes.first(0)).state(), 0);
  EXPECT_EQ(ThumbBlock::before(bytes.first(2)).state(), 0);
  EXPECT_EQ(ThumbBlock::before(bytes.first(4)).state(), 1);
  EXPECT_EQ(ThumbBlock::before(bytes.first(6)).state(), 2);
  EXPECT_EQ(ThumbBlock::before(bytes).state(), 1);
  // Nothing is known before the IT instruction.
  EXPECT_EQ(ThumbBlock::before(bytes.subspan(2, 2)).state(), 1);
  // The second half of an instruction looks like an IT instruction.
  const std::vector<std::uint8_t> wide = {0x00, 0xF0, 0x08, 0xBF};
  EXPECT_EQ(ThumbBlock::before(wide).state(), 0);
}

/// No opcode makes it fail, whatever came before; texts are one line.
TEST(Disassembler, any_opcode) {
  const auto loaded = Llvm::load();
  std::mt19937 random(17);  // NOLINT: the same values every time.
  for (const auto& llvm : {std::shared_ptr<const Llvm>(), loaded ? *loaded : nullptr}) {
    Disassembler disassembler(llvm);
    Disassembler again(llvm);
    ThumbBlock block;
    for (int i = 0; i < 60'000; ++i) {
      const auto opcode = static_cast<std::uint32_t>(random());
      const auto isa = static_cast<Isa>(random() % 7);
      const Profile profile = random() % 2 == 0 ? Profile::kA : Profile::kM;
      const std::uint64_t address = (std::uint64_t{random()} << 32 | random()) & ~std::uint64_t{3};
      const InstructionText text = disassembler.disassemble(isa, address, opcode, block, profile);
      ASSERT_EQ(text.size, instruction_size(isa, opcode));
      ASSERT_FALSE(text.text.empty());
      for (const char c : text.text) ASSERT_GE(c, ' ') << text.text;
      // The text does not depend on what came before.
      const std::string first(text.text);
      Disassembler* const other = i % 3 == 0 ? &again : &disassembler;
      ASSERT_EQ(other->disassemble(isa, address, opcode, block, profile).text, first);
      block.pass(opcode, profile);
    }
  }
}

}  // namespace
}  // namespace waymark::program
