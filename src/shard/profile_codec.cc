#include "waymark/shard/profile_codec.h"

#include <fmt/format.h>

#include <optional>

#include "pack_counts.h"
#include "waymark/base/escape.h"
#include "waymark/shard/plan.h"

namespace waymark::shard {
namespace {

/// The identity of a program in a part.
enum class ProgramForm : std::uint8_t { kMissing = 0, kFile = 1, kWithoutFile = 2 };

/// Its size and digest; an error: it is not a regular file that can be read.
Result<Input> look_at_program(const std::string& path) {
  if (const auto file = MappedFile::open(path); !file) return std::unexpected(file.error());
  return look_at(path, ".", Check::kContent);
}

void put_program(std::string& out, const profile::ProgramProfile& program) {
  put_text(out, program.path);
  put_text(out, std::string(program.build_id.begin(), program.build_id.end()));
  if (program.program == nullptr) {
    put_number(out, static_cast<std::uint64_t>(ProgramForm::kMissing));
    return;
  }
  const std::string& path = program.program->path();
  const auto file = look_at_program(path);
  if (path.empty() || !file) {
    put_number(out, static_cast<std::uint64_t>(ProgramForm::kWithoutFile));
    return;
  }
  put_number(out, static_cast<std::uint64_t>(ProgramForm::kFile));
  put_text(out, path);
  put_number(out, file->bytes);
  put_number(out, file->digest);
}

void put_rows(std::string& out, const profile::ProgramProfile& program) {
  put_number(out, program.counts.rows.size());
  std::uint64_t previous = 0;
  for (const count::Row& row : program.counts.rows) {
    put_range(out, row.range, previous);
    put_number(out, row.executed);
    put_number(out, row.not_executed);
    put_number(out, row.cycles);
  }
  put_number(out, program.branches.size());
  previous = 0;
  for (const profile::Branch& branch : program.branches) {
    put_number(out, branch.from - previous);
    previous = branch.from;
    put_number(out, branch.to_program);
    put_address(out, branch.to);
    put_number(out, static_cast<std::uint64_t>(branch.subtype));
    put_number(out, branch.indirect ? 1 : 0);
    put_number(out, branch.times);
  }
}

void take_rows(Cursor& cursor, profile::ProgramProfile& program, std::size_t programs) {
  const std::size_t rows = take_count(cursor);
  std::uint64_t previous = 0;
  for (std::size_t i = 0; i < rows && !cursor.overrun(); ++i) {
    count::Row row;
    row.range = take_range(cursor, previous);
    row.executed = take_number(cursor);
    row.not_executed = take_number(cursor);
    row.cycles = take_number(cursor);
    program.counts.rows.push_back(row);
  }
  const std::size_t branches = take_count(cursor);
  previous = 0;
  for (std::size_t i = 0; i < branches && !cursor.overrun(); ++i) {
    profile::Branch branch;
    branch.from = previous += take_number(cursor);
    branch.to_program = in_memory(take_most(cursor, programs - 1));
    branch.to = take_address(cursor);
    branch.subtype = take_subtype(cursor);
    branch.indirect = take_flag(cursor);
    branch.times = take_number(cursor);
    program.branches.push_back(branch);
  }
}

}  // namespace

std::string encode(const profile::Profile& profile) {
  std::string out;
  put_number(out, profile.other_instructions());
  put_number(out, profile.programs().size());
  for (const profile::ProgramProfile& program : profile.programs()) put_program(out, program);
  for (const profile::ProgramProfile& program : profile.programs()) put_rows(out, program);
  return out;
}

Result<const program::Program*> ProgramOpener::open(const std::string& path, std::uint64_t bytes,
                                                    std::uint64_t digest, const std::string& name,
                                                    const std::vector<std::uint8_t>& build_id) {
  if (path.empty()) {
    if (!names_suffice_) {
      return fail(
          ErrorCode::kUnsupported,
          fmt::format("{}: this code is not in any file, but the format needs it; compute counts "
                      "or branches of these captures instead, or exclude the program with "
                      "dso = [\"OTHER\"] below [options].",
                      escaped(name)));
    }
    without_file_.push_back(program::Program::of({}, name));
    return without_file_.back().get();
  }
  const std::string key = fmt::format("{}:{}:{}", bytes, digest, path);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const auto now = look_at_program(path);
  if (!now) {
    return fail(
        now.error().code,
        fmt::format("{} The merge reads the programs that the shards read.", now.error().detail));
  }
  if (now->bytes != bytes || now->digest != digest) {
    return fail(
        ErrorCode::kConflict,
        fmt::format("{} is not the program that a shard read; restore that one.", escaped(path)));
  }
  const std::string same =
      fmt::format("{}:{}:{}:{}", bytes, digest, build_id.empty() ? "name" : "build ID",
                  build_id.empty() ? name : std::string(build_id.begin(), build_id.end()));
  if (const auto equal = equal_.find(same); equal != equal_.end())
    return known_[key] = equal->second;
  auto file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  const perf::ProgramFile& opened = files_.emplace_back(*std::move(file));
  if (opened.program() == nullptr)
    return fail(ErrorCode::kBadData, fmt::format("{} is not an ELF file.", escaped(path)));
  return known_[key] = equal_[same] = opened.program();
}

Result<void> add_profile(Bytes content, ProgramOpener& opener, profile::Profile& sum) {
  Cursor cursor(content);
  const std::uint64_t others = take_number(cursor);
  const std::size_t count = take_count(cursor);
  std::vector<profile::ProgramProfile> programs;
  for (std::size_t i = 0; i < count && !cursor.overrun(); ++i) {
    profile::ProgramProfile& program = programs.emplace_back();
    program.number = i;
    program.path = take_text(cursor);
    const std::string id = take_text(cursor);
    program.build_id.assign(id.begin(), id.end());
    const auto form = static_cast<ProgramForm>(take_most(cursor, 2));
    if (form == ProgramForm::kMissing || cursor.overrun()) continue;
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t digest = 0;
    if (form == ProgramForm::kFile) {
      path = take_text(cursor);
      bytes = take_number(cursor);
      digest = take_number(cursor);
    }
    if (cursor.overrun()) break;
    const auto opened = opener.open(path, bytes, digest, program.path, program.build_id);
    if (!opened) return std::unexpected(opened.error());
    program.program = *opened;
  }
  for (profile::ProgramProfile& program : programs) take_rows(cursor, program, count);
  if (cursor.overrun() || !cursor.at_end() || programs.size() != count)
    return fail(ErrorCode::kBadData, "the content of the part is inconsistent");
  sum.add(std::move(programs), others);
  return {};
}

}  // namespace waymark::shard
