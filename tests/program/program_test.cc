// The content at the addresses of a program.
#include "waymark/program/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "support/small_elf.h"
#include "waymark/base/mapped_file.h"
#include "waymark/program/code_line.h"

namespace waymark::program {
namespace {

const std::string kSample = std::string(WAYMARK_SOURCE_DIR) + "/samples/quicksort/quicksort.elf";

const std::string kPrograms = std::string(WAYMARK_SOURCE_DIR) + "/tests/program/programs/";

std::shared_ptr<const Program> open(const std::string& name) {
  auto program = Program::open(kPrograms + name, {.this_machine = false});
  EXPECT_TRUE(program) << name;
  return program ? *program : Program::of({});
}

/// The functions at an address as "NAME FILE:LINE", with arrows to what they are inlined into.
std::string frames_at(const Program& program, std::uint64_t address) {
  std::vector<Frame> frames;
  program.frames(address, frames);
  std::string text;
  for (const Frame& frame : frames) {
    if (!text.empty()) text += " > ";
    text += std::string(frame.function) + " " + std::string(frame.file) + ":" +
            std::to_string(frame.line);
  }
  return text;
}

std::uint64_t start_of(const Program& program, std::string_view name) {
  for (const Function& function : program.functions())
    if (function.name == name) return function.start;
  ADD_FAILURE() << name;
  return 0;
}

std::string name_at(const Program& program, std::uint64_t address) {
  const Function* const function = program.function(address);
  return function == nullptr ? "-" : function->name;
}

TEST(Program, functions_have_the_addresses_of_the_linker) {
  const auto program = Program::open(kSample);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->path(), kSample);
  EXPECT_EQ((*program)->machine(), 183U);
  EXPECT_EQ(name_at(**program, 0x400104), "put");
  EXPECT_EQ(name_at(**program, 0x400104 + 67), "put");
  EXPECT_EQ(name_at(**program, 0x400104 + 68), "-") << "between two functions";
  EXPECT_EQ(name_at(**program, 0), "-");
  EXPECT_EQ(name_at(**program, ~std::uint64_t{0}), "-");
  EXPECT_TRUE(std::ranges::is_sorted((*program)->functions(), {}, &Function::start));
}

TEST(Program, an_offset_in_the_file_has_an_address_if_it_is_loaded) {
  const auto program = Program::open(kSample);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->address_of(0xf0), 0x4000f0U);
  EXPECT_EQ((*program)->address_of(0x2e98), std::nullopt);
  ASSERT_EQ((*program)->code().size(), 1U);
  EXPECT_LE((*program)->code().front().first, 0x4000f0U);
}

TEST(Program, mapping_symbols_separate_code_from_data) {
  const auto program = Program::open(kSample);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->content(0x4000f0), Content::kA64);
  EXPECT_EQ((*program)->content(0x400740), Content::kData);
  EXPECT_EQ((*program)->content(0x1000), std::nullopt);
}

// programs/symbols.s says what is where.
TEST(Program, of_several_names_the_best_counts) {
  const auto program = open("symbols.elf");
  EXPECT_EQ(name_at(*program, 0x210120), "longest") << "global, the longest, no underscores";
  EXPECT_EQ(name_at(*program, 0x21012f), "longest");
  EXPECT_EQ(name_at(*program, 0x210130), "-");
}

TEST(Program, what_has_no_size_ends_at_the_next_symbol) {
  const auto program = open("symbols.elf");
  EXPECT_EQ(name_at(*program, 0x210137), "no_size");
  EXPECT_EQ(name_at(*program, 0x210138), "label_after_it");
  EXPECT_EQ(name_at(*program, 0x21013c), "chosen") << "a function that is chosen at run time";
  EXPECT_EQ(name_at(*program, 0x210144), "outside") << "a label within a function is not one";
  EXPECT_EQ(name_at(*program, 0x210148), "-") << "data";
  EXPECT_EQ(program->content(0x210147), Content::kA64);
  EXPECT_EQ(program->content(0x210148), Content::kData);
  EXPECT_EQ(program->content(0x210150), Content::kA64);
}

TEST(Program, plt_entries_have_the_name_of_what_they_call) {
  const auto arm = open("arm_shared.so");
  EXPECT_EQ(name_at(*arm, 0x1027c), "-") << "the header";
  EXPECT_EQ(name_at(*arm, start_of(*arm, "other@plt") + 15), "other@plt");
  EXPECT_EQ(start_of(*arm, "other@plt") % 16, 0U);
  EXPECT_EQ(arm->content(start_of(*arm, "narrow")), Content::kT32);
  EXPECT_EQ(arm->content(start_of(*arm, "wide")), Content::kA32);
  // These begin with bti, and have 24 bytes.
  const auto aarch64 = open("clang_shared.so");
  const std::uint64_t first = start_of(*aarch64, "_ZN5outer5inner5Shape6methodEi@plt");
  EXPECT_EQ(start_of(*aarch64, "_Z8far_awayi@plt"), first + 24);
}

TEST(Program, a_section_past_the_end_of_memory_ends_no_function) {
  std::ifstream in(kPrograms + "symbols.elf", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  // The size of .text, 0x38, in the headers of sections, which are at the end of the file.
  const std::size_t size = bytes.rfind(std::string("\x38\0\0\0\0\0\0\0", 8));
  ASSERT_NE(size, std::string::npos);
  bytes.replace(size, 8, std::string(8, '\xff'));
  const Bytes view(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const auto program = Program::view(view, "");
  ASSERT_TRUE(program);
  EXPECT_GT((*program)->functions().size(), 3U);
  for (const Function& function : (*program)->functions())
    EXPECT_LE(function.start, function.last) << function.name;
}

TEST(Program, plt_sections_that_overlap_give_no_function_twice) {
  std::ifstream in(kPrograms + "clang_shared.so", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const auto number = [&](std::size_t at, unsigned size) {
    std::size_t value = 0;
    for (unsigned i = 0; i < size; ++i)
      value |= static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[at + i])) << (8 * i);
    return value;
  };
  // The headers of .text and .plt have executable contents.
  std::vector<std::size_t> code;
  for (std::size_t at = number(0x28, 8); at + 64 <= bytes.size(); at += 64)
    if (number(at + 8, 8) == 6) code.push_back(at);
  ASSERT_EQ(code.size(), 2U);
  bytes.replace(code[0], 64, bytes.substr(code[1], 64));
  bytes[code[0] + 16] = static_cast<char>(bytes[code[0] + 16] + 4);
  const Bytes changed(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const auto program = Program::view(changed, "");
  ASSERT_TRUE(program);
  const std::vector<Function>& functions = (*program)->functions();
  EXPECT_GT(functions.size(), 3U);
  for (std::size_t i = 1; i < functions.size(); ++i)
    EXPECT_LT(functions[i - 1].last, functions[i].start) << functions[i].name;
}

TEST(Program, frames_are_a_chain_of_inlined_calls) {
  for (const char* name : {"gcc_dwarf4.elf", "clang_zlib.elf", "clang_split.elf"}) {
    const auto program = open(name);
    const std::string chain = frames_at(*program, start_of(*program, "_Z8far_awayi") + 4);
    EXPECT_TRUE(chain.ends_with("_Z8far_awayi /src/names_far.cc:8") ||
                chain.ends_with("_Z8far_awayi /src/names_far.cc:7"))
        << name << ": " << chain;
    const Function& work = *program->function(start_of(*program, "_Z4worki"));
    std::size_t inlined = 0;
    for (std::uint64_t at = work.start; at < work.last; at += 4)
      inlined += frames_at(*program, at).find(" > ") != std::string::npos ? 1U : 0U;
    EXPECT_GT(inlined, 5U) << name;
  }
}

TEST(Program, frames_give_the_declaration_of_a_function) {
  for (const char* name :
       {"gcc_dwarf4.elf", "clang_zlib.elf", "clang_split.elf", "clang_module.o"}) {
    const auto program = open(name);
    const Function& far_away = *program->function(start_of(*program, "_Z8far_awayi"));
    std::vector<Frame> frames;
    bool inlined = false;
    for (std::uint64_t at = far_away.start; at < far_away.last; at += 4) {
      program->frames(at, frames);
      ASSERT_FALSE(frames.empty());
      EXPECT_EQ(frames.back().declared, 6U) << name;
      for (const Frame& frame : frames) {
        if (frame.function != "_ZL6middlei" && frame.function != "middle") continue;
        inlined = true;
        EXPECT_EQ(frame.declared, 4U) << name;
      }
    }
    EXPECT_TRUE(inlined) << name;
  }
}

TEST(Program, each_line_has_all_rows) {
  for (const char* name : {"gcc_dwarf4.elf", "gcc_dwarf2.elf", "clang_zlib.elf", "clang_split.elf",
                           "clang_module.o"}) {
    const auto program = open(name);
    std::size_t rows = 0;
    std::size_t bytes = 0;
    std::vector<Frame> frames;
    std::vector<std::uint32_t> statements;
    program->each_line([&](const CodeLine& row) {
      ++rows;
      ASSERT_LE(row.address, row.end);
      bytes += row.end - row.address;
      if (row.is_statement && row.file == "/src/names_far.cc") statements.push_back(row.line);
      if (row.address == row.end) return;
      program->frames(row.address, frames);
      ASSERT_FALSE(frames.empty()) << name;
      EXPECT_EQ(frames.front().line, row.line);
      EXPECT_EQ(frames.front().file, row.file);
      // GCC gives static functions no name for the linker.
      if (frames.back().function == "_Z8far_awayi") {
        EXPECT_EQ(row.function, "_Z8far_awayi") << name;
      }
    });
    EXPECT_GT(rows, 10U) << name;
    std::size_t code = 0;
    for (const Function& function : program->functions())
      code += function.last - function.start + 1;
    EXPECT_GE(bytes, code) << name;
    EXPECT_TRUE(std::ranges::find(statements, 4U) != statements.end()) << name;
  }
}

TEST(Program, each_line_leaves_out_what_the_linker_left_out) {
  const auto program = open("clang_zstd.elf");
  std::size_t rows = 0;
  program->each_line([&](const CodeLine& row) {
    ++rows;
    EXPECT_NE(program->function(row.address), nullptr) << row.address;
  });
  EXPECT_GT(rows, 10U);
}

TEST(Program, lines_of_code_in_no_file) {
  const auto program = Program::of({{.start = 0x10, .last = 0x1F, .name = "f"}}, "jit",
                                   {.files = {"a.js"},
                                    .lines = {{.address = 0x18, .line = 4},
                                              {.address = 0x10, .line = 3},
                                              {.address = 0x40, .line = 9}}});
  std::vector<CodeLine> rows;
  program->each_line([&](const CodeLine& row) { rows.push_back(row); });
  const std::vector<CodeLine> expected = {
      {.address = 0x10, .end = 0x18, .file = "a.js", .line = 3, .is_statement = true},
      {.address = 0x18, .end = 0x20, .file = "a.js", .line = 4, .is_statement = true}};
  EXPECT_EQ(rows, expected);
}

TEST(Program, bytes_are_those_of_a_section) {
  const auto program = open("symbols.elf");
  const CodeRange& code = program->code().front();
  EXPECT_EQ(program->bytes_from(code.first).size(), code.last - code.first + 1);
  EXPECT_EQ(program->bytes_from(code.last).size(), 1U);
  EXPECT_TRUE(program->bytes_from(code.last + 1).empty());
  EXPECT_TRUE(program->bytes_from(~std::uint64_t{0}).empty());
}

TEST(Program, many_threads_may_ask) {
  const auto alone = open("clang_split.elf");
  std::vector<std::uint64_t> addresses;
  std::vector<std::string> expected;
  for (const CodeRange& code : alone->code()) {
    for (std::uint64_t at = code.first; at <= code.last; at += 4) {
      addresses.push_back(at);
      expected.push_back(frames_at(*alone, at));
    }
  }
  const auto shared = open("clang_split.elf");
  std::vector<std::vector<std::string>> answers(4);
  std::vector<std::thread> threads;
  threads.reserve(answers.size());
  for (std::vector<std::string>& answer : answers) {
    threads.emplace_back([&] {
      for (const std::uint64_t at : addresses) answer.push_back(frames_at(*shared, at));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<std::string>& answer : answers) EXPECT_EQ(answer, expected);
}

TEST(Program, dwz_keeps_names_in_another_file) {
  const auto program = open("dwz_main.elf");
  const std::uint64_t start = program->code().front().first;
  EXPECT_EQ(frames_at(*program, start), "outer :0");
  EXPECT_EQ(frames_at(*program, start + 4), "shared_inline :0 > outer :77");
}

TEST(Program, code_that_the_linker_left_out_has_no_lines) {
  const auto program = open("clang_zstd.elf");
  EXPECT_EQ(frames_at(*program, 0), "");
  EXPECT_EQ(frames_at(*program, 8), "");
  EXPECT_EQ(frames_at(*program, start_of(*program, "_Z8far_awayi")),
            "_Z8far_awayi /src/names_far.cc:6");
}

TEST(Program, a_relocatable_file_has_addresses_from_zero) {
  const auto program = open("clang_module.o");
  EXPECT_EQ(name_at(*program, 0), "_Z8far_awayi");
  EXPECT_EQ(frames_at(*program, 0),
            "_ZL6middlei /src/names_far.cc:4 > _Z8far_awayi /src/names_far.cc:8");
  ASSERT_EQ(program->code().size(), 1U);
  EXPECT_EQ(program->code().front().first, 0U);
}

TEST(Program, a_file_in_memory_is_as_one_on_the_disk) {
  const auto file = MappedFile::open(kPrograms + "gcc_dwarf4.elf");
  ASSERT_TRUE(file);
  const auto program = Program::view(file->bytes(), "memory");
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->functions(), open("gcc_dwarf4.elf")->functions());
  EXPECT_FALSE(Program::view({}, "memory"));
}

TEST(Program, the_build_id_is_that_of_its_note) {
  const std::string path = testing::TempDir() + "waymark_program_id.elf";
  support::write_file(path, support::small_elf({1, 2, 3, 4}, {0xD65F03C0}));
  const auto program = Program::open(path);
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->build_id(), (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_TRUE((*program)->functions().empty());
  std::vector<Frame> frames(1);
  (*program)->frames(0x400100, frames);
  EXPECT_TRUE(frames.empty());
  std::filesystem::remove(path);
}

TEST(Program, code_without_a_file_has_only_its_functions) {
  const auto program = Program::of({{.start = 0x10, .last = 0x1f, .name = "a"},
                                    {.start = 0x18, .last = 0x2f, .name = "overlaps it"},
                                    {.start = 0x20, .last = 0x2f, .name = "b"}},
                                   "perf-1.map");
  EXPECT_EQ(program->path(), "perf-1.map");
  EXPECT_EQ(name_at(*program, 0x1f), "a");
  EXPECT_EQ(name_at(*program, 0x20), "b");
  EXPECT_EQ(program->address_of(0x10), std::nullopt);
}

TEST(Program, what_is_not_a_program_is_an_error) {
  const std::string path = testing::TempDir() + "waymark_program_not.elf";
  std::ofstream(path, std::ios::binary) << std::string(64, '\0');
  const auto program = Program::open(path);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().code, ErrorCode::kBadData);
  std::filesystem::remove(path);
  EXPECT_EQ(Program::open(path).error().code, ErrorCode::kNotFound);
}

// Damaged segments and symbols can be anywhere, also across the end of the address space.
TEST(Program, a_damaged_program_gives_functions_in_order_or_none) {
  std::ifstream in(kSample, std::ios::binary);
  const std::string good((std::istreambuf_iterator<char>(in)), {});
  const std::string path = testing::TempDir() + "waymark_program_damaged.elf";
  std::size_t opened = 0;
  for (std::size_t at = 4; at < good.size(); at += at < 240 ? 1 : 97) {
    std::string bytes = good;
    bytes[at] = '\xff';
    std::ofstream(path, std::ios::binary) << bytes;
    const auto program = Program::open(path);
    if (!program) continue;
    ++opened;
    const std::vector<Function>& functions = (*program)->functions();
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < functions.size(); ++i) {
      ASSERT_LE(functions[i].start, functions[i].last) << at;
      if (i != 0) {
        ASSERT_LT(functions[i - 1].last, functions[i].start) << at;
      }
      ASSERT_EQ((*program)->function(functions[i].last), &functions[i]) << at;
      (*program)->frames(functions[i].start, frames);
      ASSERT_FALSE(frames.empty()) << at;
    }
  }
  EXPECT_GT(opened, 50U);
  std::filesystem::remove(path);
}

TEST(Whole, is_the_function_of_parts_and_copies) {
  const auto program = Program::of({{0x00, 0x0F, "f"},
                                    {0x10, 0x1F, "f.cold"},
                                    {0x20, 0x2F, "g.constprop.0"},
                                    {0x30, 0x3F, "h.part.0"},
                                    {0x40, 0x4F, "h.isra.1"},
                                    {0x50, 0x5F, "twice.constprop.0"},
                                    {0x60, 0x6F, "twice.constprop.0"}});
  const auto whole = [&](std::uint64_t address) {
    const Whole found = program->whole(*program->function(address));
    return std::pair(found.function->start, std::string(found.name));
  };
  EXPECT_EQ(whole(0x00), std::pair(std::uint64_t{0x00}, std::string("f")));
  EXPECT_EQ(whole(0x10), std::pair(std::uint64_t{0x00}, std::string("f")));
  EXPECT_EQ(whole(0x20), std::pair(std::uint64_t{0x20}, std::string("g.constprop.0")));
  EXPECT_EQ(whole(0x30), std::pair(std::uint64_t{0x30}, std::string("h")));
  EXPECT_EQ(whole(0x40), std::pair(std::uint64_t{0x30}, std::string("h")));
  // Two functions of one name, not two parts of a function.
  EXPECT_EQ(whole(0x50), std::pair(std::uint64_t{0x50}, std::string("twice.constprop.0")));
  EXPECT_EQ(whole(0x60), std::pair(std::uint64_t{0x60}, std::string("twice.constprop.0")));
}

TEST(ParentName, drops_what_compilers_add) {
  EXPECT_EQ(parent_name("f"), "f");
  EXPECT_EQ(parent_name("f.cold"), "f");
  EXPECT_EQ(parent_name("f.cold.12"), "f");
  EXPECT_EQ(parent_name("f.constprop.0.isra.1.part.2"), "f");
  EXPECT_EQ(parent_name("f.__uniq.123.llvm.456"), "f");
  EXPECT_EQ(parent_name("f.1"), "f.1");
  EXPECT_EQ(parent_name(".cold"), ".cold");
  EXPECT_EQ(parent_name("a.colder"), "a.colder");
  EXPECT_EQ(parent_name(""), "");
}

}  // namespace
}  // namespace waymark::program
