#include "waymark/exports/llvm_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "samples.h"
#include "waymark/base/escape.h"

namespace waymark::exports {
namespace {

using Entry = std::pair<std::string_view, const FunctionSamples*>;
using Target = std::pair<std::string_view, std::uint64_t>;

Result<Samples> samples_or_error(const profile::Profile& profile,
                                 const profile::ProgramProfile& program) {
  const std::string name = program.path.empty() ? "(unnamed memory)" : escaped(program.path);
  if (program.program == nullptr) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("{}: a profile by source line needs an ELF file, and none was found for "
                    "this program; name it with --elf, --symfs or --symbols.",
                    name));
  }
  Samples samples = samples_of(profile, program);
  if (samples.empty()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: a profile by source line needs debug information, and no function "
                            "that was executed has it; compile it with -g1 and "
                            "-fdebug-info-for-profiling.",
                            name));
  }
  return samples;
}

/// The heaviest first.
std::vector<Entry> sorted(const Samples& samples) {
  std::vector<Entry> all;
  for (const auto& [name, function] : samples) all.emplace_back(name, &function);
  std::ranges::stable_sort(all, std::greater(), [](const Entry& it) { return it.second->total; });
  return all;
}

/// The most frequent first.
std::vector<Target> sorted(const std::map<std::string_view, std::uint64_t>& targets) {
  std::vector<Target> all(targets.begin(), targets.end());
  std::ranges::stable_sort(all, std::greater(), &Target::second);
  return all;
}

/// The text has no form for what separates its fields, nor for what begins other rows.
void put_name(TextBuffer& out, std::string_view name) {
  bool first = true;
  for (const char c : name) {
    const bool bad = static_cast<unsigned char>(c) <= ' ' || c == ':' || c == '\x7f' ||
                     (first && (c == '#' || c == '[' || c == '!'));
    out.put(bad ? '_' : c);
    first = false;
  }
}

void put_location(TextBuffer& out, std::size_t depth, const SampleLocation& at) {
  for (std::size_t i = 0; i < depth; ++i) out.put(' ');
  out.dec(at.offset);
  if (at.discriminator != 0) {
    out.put('.');
    out.dec(at.discriminator);
  }
  out.put(": ");
}

void write_body(TextBuffer& out, const FunctionSamples& function, std::size_t depth) {
  for (const auto& [at, record] : function.records) {
    put_location(out, depth, at);
    out.dec(record.times);
    for (const auto& [name, times] : sorted(record.targets)) {
      out.put(' ');
      put_name(out, name);
      out.put(':');
      out.dec(times);
    }
    out.put('\n');
  }
  for (const auto& [at, callees] : function.inlined) {
    for (const auto& [name, callee] : callees) {
      put_location(out, depth, at);
      put_name(out, name);
      out.put(':');
      out.dec(callee.total);
      out.put('\n');
      write_body(out, callee, depth + 1);
    }
  }
}

/// Calls take(function) for a function and all that was inlined into it.
template <class Take>
void each_function(const FunctionSamples& function, const Take& take) {
  take(function);
  for (const auto& [at, callees] : function.inlined)
    for (const auto& [name, callee] : callees) each_function(callee, take);
}

/// Numbers of variable length, and the sections of the file.
class BinaryWriter {
 public:
  explicit BinaryWriter(const Samples& samples) : functions_(sorted(samples)) {
    for (const auto& [name, function] : functions_) add_names(name, *function);
    std::size_t number = 0;
    for (auto& [name, index] : names_) index = number++;
  }

  std::string run() {
    std::string bodies;
    std::string offsets;
    put(offsets, functions_.size());
    for (const auto& [name, function] : functions_) {
      put(offsets, names_.at(name));
      put(offsets, bodies.size());
      put(bodies, function->head);
      put_function(bodies, name, *function);
    }
    const std::pair<unsigned, std::string> sections[] = {
        {1, summary()}, {2, names()}, {4, std::move(offsets)}, {0x20, std::move(bodies)}};
    std::string file;
    constexpr std::uint64_t kExtBinaryMagic =
        0x5350524F46343204;  // "SPROF42", and 4 for this form.
    constexpr std::uint64_t kExtBinaryVersion = 103;
    put(file, kExtBinaryMagic);
    put(file, kExtBinaryVersion);
    put_fixed(file, std::size(sections));
    constexpr std::size_t kEntry = 32;
    std::size_t offset = file.size() + kEntry * std::size(sections);
    for (const auto& [type, content] : sections) {
      put_fixed(file, type);
      put_fixed(file, 0);  // No flags.
      put_fixed(file, offset);
      put_fixed(file, content.size());
      offset += content.size();
    }
    for (const auto& [type, content] : sections) file += content;
    return file;
  }

 private:
  static void put(std::string& to, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
    to += static_cast<char>(value);
  }
  static void put_fixed(std::string& to, std::uint64_t value) {
    for (unsigned i = 0; i < 8; ++i) to += static_cast<char>(value >> (8 * i));
  }

  void add_names(std::string_view name, const FunctionSamples& function) {
    names_.try_emplace(name);
    for (const auto& [at, record] : function.records)
      for (const auto& [target, times] : record.targets) names_.try_emplace(target);
    for (const auto& [at, callees] : function.inlined)
      for (const auto& [callee, samples] : callees) add_names(callee, samples);
  }

  void put_function(std::string& to, std::string_view name, const FunctionSamples& function) {
    put(to, names_.at(name));
    put(to, function.total);
    put(to, function.records.size());
    for (const auto& [at, record] : function.records) {
      put(to, at.offset);
      put(to, at.discriminator);
      put(to, record.times);
      put(to, record.targets.size());
      for (const auto& [target, times] : sorted(record.targets)) {
        put(to, names_.at(target));
        put(to, times);
      }
    }
    std::size_t calls = 0;
    for (const auto& [at, callees] : function.inlined) calls += callees.size();
    put(to, calls);
    for (const auto& [at, callees] : function.inlined) {
      for (const auto& [callee, samples] : callees) {
        put(to, at.offset);
        put(to, at.discriminator);
        put_function(to, callee, samples);
      }
    }
  }

  [[nodiscard]] std::string names() const {
    std::string all;
    put(all, names_.size());
    for (const auto& [name, index] : names_) {
      all += name;
      all += '\0';
    }
    return all;
  }

  /// Which counts make up most of the sum.  Clang needs it, and cannot do without the cutoffs.
  [[nodiscard]] std::string summary() const {
    std::vector<std::uint64_t> counts;
    std::uint64_t highest_head = 0;
    for (const auto& [name, function] : functions_) {
      highest_head = std::max(highest_head, function->head);
      each_function(*function, [&](const FunctionSamples& each) {
        for (const auto& [at, record] : each.records) counts.push_back(record.times);
      });
    }
    std::ranges::sort(counts, std::greater());
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts) total += count;
    std::string all;
    put(all, total);
    put(all, counts.empty() ? 0 : counts.front());
    put(all, highest_head);
    put(all, counts.size());
    put(all, functions_.size());
    // In millionths.
    constexpr std::uint32_t kCutoffs[] = {10000,  100000, 200000, 300000, 400000, 500000,
                                          600000, 700000, 800000, 900000, 950000, 990000,
                                          999000, 999900, 999990, 999999};
    put(all, std::size(kCutoffs));
    std::uint64_t sum = 0;
    std::size_t used = 0;
    for (const std::uint32_t cutoff : kCutoffs) {
      const std::uint64_t wanted = part_of(total, cutoff);
      // Equal counts are only used together.
      while (used < counts.size() &&
             (sum < wanted || (used != 0 && counts[used] == counts[used - 1])))
        sum += counts[used++];
      put(all, cutoff);
      put(all, used == 0 ? 0 : counts[used - 1]);
      put(all, used);
    }
    return all;
  }

  /// total * millionths / 10^6, without an overflow.
  static std::uint64_t part_of(std::uint64_t total, std::uint32_t millionths) {
    constexpr std::uint64_t kMillion = 1'000'000;
    return total / kMillion * millionths + total % kMillion * millionths / kMillion;
  }

  std::vector<Entry> functions_;
  std::map<std::string_view, std::size_t> names_;
};

}  // namespace

Result<void> write_llvm_sample(const profile::Profile& profile,
                               const profile::ProgramProfile& program, const Options& /*options*/,
                               TextBuffer& out) {
  const auto samples = samples_or_error(profile, program);
  if (!samples) return std::unexpected(samples.error());
  for (const auto& [name, function] : sorted(*samples)) {
    put_name(out, name);
    out.put(':');
    out.dec(function->total);
    out.put(':');
    out.dec(function->head);
    out.put('\n');
    write_body(out, *function, 1);
  }
  return {};
}

Result<void> write_llvm_sample_binary(const profile::Profile& profile,
                                      const profile::ProgramProfile& program,
                                      const Options& /*options*/, TextBuffer& out) {
  const auto samples = samples_or_error(profile, program);
  if (!samples) return std::unexpected(samples.error());
  out.put(BinaryWriter(*samples).run());
  return {};
}

}  // namespace waymark::exports
