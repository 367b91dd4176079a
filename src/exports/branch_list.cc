#include "waymark/exports/branch_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#ifdef WAYMARK_HAVE_ZSTD
#include <zstd.h>
#endif

#include "waymark/base/cursor.h"
#include "waymark/etmv4/packet.h"
#include "waymark/exports/protobuf.h"

namespace waymark::exports {
namespace {

constexpr std::string_view kFormMagic = "simpleperf:EtmBranchList";
constexpr std::size_t kFormMagicSize = 24;
static_assert(kFormMagic.size() == kFormMagicSize);
constexpr std::uint32_t kFormVersion = 1;
/// A message that is greater than this when it is not compressed is refused.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;
/// More instructions than this without a waypoint are not code.
constexpr unsigned kMostInstructions = 1U << 16;

enum Field : unsigned {
  kListMagic = 1,
  kListBinary = 2,
  kListOldKernelStart = 3,  // In 2021 only; later it is the data of branch records.
  kBinaryPath = 1,
  kBinaryBuildId = 2,
  kBinaryAddress = 3,
  kBinaryKind = 4,
  kBinaryKernel = 5,
  kKernelStart = 1,
  kAddressValue = 1,
  kAddressBranch = 2,
  kBranchBytes = 1,
  kBranchSize = 2,
  kBranchCount = 3,
};

std::uint64_t saturated_sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

std::string_view text_in(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorCode::kBadData, fmt::format("The branch list is damaged: {}.", what));
}

/// The fields of a message, one after the other.
class Fields {
 public:
  explicit Fields(Bytes bytes) : cursor_(bytes) {}

  /// False: there are no more, or the next one is damaged.
  bool next() {
    if (cursor_.at_end() || bad_) return false;
    const std::uint64_t tag = varint();
    number_ = tag >> 3;
    is_bytes_ = false;
    value_ = 0;
    bytes_ = {};
    switch (tag & 7) {
      case 0:
        value_ = varint();
        break;
      case 1:
        value_ = cursor_.little(8);
        break;
      case 2: {
        const std::uint64_t size = varint();
        if (size > cursor_.remaining()) bad_ = true;
        if (!bad_) bytes_ = cursor_.take(static_cast<std::size_t>(size));
        is_bytes_ = true;
        break;
      }
      case 5:
        value_ = cursor_.little(4);
        break;
      default:
        bad_ = true;
        break;
    }
    bad_ = bad_ || cursor_.overrun() || number_ == 0;
    return !bad_;
  }
  [[nodiscard]] bool bad() const { return bad_; }
  [[nodiscard]] bool is_number(std::uint64_t field) const { return number_ == field && !is_bytes_; }
  [[nodiscard]] bool is_bytes(std::uint64_t field) const { return number_ == field && is_bytes_; }
  [[nodiscard]] std::uint64_t value() const { return value_; }
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  std::uint64_t varint() { return cursor_.continued(10); }

  Cursor cursor_;
  std::uint64_t number_ = 0;
  std::uint64_t value_ = 0;
  Bytes bytes_;
  bool is_bytes_ = false;
  bool bad_ = false;
};

Result<void> read_branch(Bytes message, std::map<BranchBits, std::uint64_t>& branches) {
  BranchBits bits;
  std::uint64_t size = 0;
  std::uint64_t times = 0;
  Fields fields(message);
  while (fields.next()) {
    if (fields.is_bytes(kBranchBytes)) bits.bytes = text_in(fields.bytes());
    if (fields.is_number(kBranchSize)) size = fields.value();
    if (fields.is_number(kBranchCount)) times = fields.value();
  }
  if (fields.bad()) return damaged("a branch is not complete");
  if (size > 8 * std::uint64_t{bits.bytes.size()}) return damaged("a branch has too few bytes");
  bits.count = static_cast<std::size_t>(size);
  bits.bytes.resize((bits.count + 7) / 8);
  if (bits.count % 8 != 0) {
    bits.bytes.back() = static_cast<char>(static_cast<unsigned char>(bits.bytes.back()) &
                                          ((1U << bits.count % 8) - 1));
  }
  if (bits.count == 0 || times == 0) return {};
  std::uint64_t& sum = branches[std::move(bits)];
  sum = saturated_sum(sum, times);
  return {};
}

Result<void> read_address(Bytes message, BranchesOfBinary& binary) {
  std::optional<std::uint64_t> address;
  std::map<BranchBits, std::uint64_t> branches;
  Fields fields(message);
  while (fields.next()) {
    if (fields.is_number(kAddressValue)) address = fields.value();
    if (fields.is_bytes(kAddressBranch)) WAYMARK_TRY(read_branch(fields.bytes(), branches));
  }
  if (fields.bad()) return damaged("an address is not complete");
  for (auto& [bits, times] : branches) {
    std::uint64_t& sum = binary[address.value_or(0)][bits];
    sum = saturated_sum(sum, times);
  }
  return {};
}

Result<void> read_binary(Bytes message, std::uint64_t old_kernel_start, BranchList& list) {
  BinaryName name;
  BranchesOfBinary branches;
  Fields fields(message);
  while (fields.next()) {
    if (fields.is_bytes(kBinaryPath)) name.path = text_in(fields.bytes());
    if (fields.is_bytes(kBinaryBuildId)) name.build_id = text_in(fields.bytes());
    if (fields.is_bytes(kBinaryAddress)) WAYMARK_TRY(read_address(fields.bytes(), branches));
    if (fields.is_number(kBinaryKind)) {
      if (fields.value() > static_cast<std::uint64_t>(BinaryKind::kModule))
        return fail(ErrorCode::kUnsupported,
                    fmt::format("The branch list has a program of the kind {}, which is not known.",
                                fields.value()));
      name.kind = static_cast<BinaryKind>(fields.value());
    }
    if (fields.is_bytes(kBinaryKernel)) {
      Fields kernel(fields.bytes());
      while (kernel.next())
        if (kernel.is_number(kKernelStart)) name.kernel_start = kernel.value();
      if (kernel.bad()) return damaged("the kernel is not complete");
    }
  }
  if (fields.bad()) return damaged("a program is not complete");
  if (!std::ranges::all_of(name.build_id, [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
      }))
    return damaged("a build ID is not hexadecimal");
  if (name.kind == BinaryKind::kKernel && name.kernel_start == 0)
    name.kernel_start = old_kernel_start;
  add(list, {{std::move(name), std::move(branches)}});
  return {};
}

Result<void> read_message(Bytes message, BranchList& list) {
  std::uint64_t old_kernel_start = 0;
  std::vector<Bytes> binaries;
  Fields fields(message);
  while (fields.next()) {
    if (fields.is_number(kListOldKernelStart)) old_kernel_start = fields.value();
    if (fields.is_bytes(kListBinary)) binaries.push_back(fields.bytes());
  }
  if (fields.bad()) return damaged("a message is not complete");
  for (const Bytes binary : binaries) WAYMARK_TRY(read_binary(binary, old_kernel_start, list));
  return {};
}

bool begins_with_magic(Bytes content) { return text_in(content).starts_with(kFormMagic); }

/// The older form is one message, whose first field is the magic.
bool begins_with_message(Bytes content) {
  return content.size() > 2 && content[0] == (kListMagic << 3 | 2) &&
         content[1] == kFormMagicSize && begins_with_magic(content.subspan(2));
}

bool is_zstd(Bytes content) {
  constexpr std::uint8_t kZstd[] = {0x28, 0xB5, 0x2F, 0xFD};
  return content.size() >= std::size(kZstd) && std::ranges::equal(content.first(4), kZstd);
}

#ifdef WAYMARK_HAVE_ZSTD

/// All frames of `in`, at most `most` bytes.
Result<std::vector<std::uint8_t>> decompressed(Bytes in, std::size_t most, bool whole) {
  const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                             &ZSTD_freeDStream);
  std::vector<std::uint8_t> out;
  ZSTD_inBuffer from{in.data(), in.size(), 0};
  std::size_t left = 1;
  while (from.pos < from.size || left != 0) {
    constexpr std::size_t kStep = std::size_t{64} << 10;
    const std::size_t size = out.size();
    if (size == most) {
      if (!whole) return out;
      return fail(ErrorCode::kLimit,
                  fmt::format("A part of the branch list has more than {} bytes.", most));
    }
    out.resize(std::min(size + kStep, most));
    ZSTD_outBuffer to{out.data() + size, out.size() - size, 0};
    left = ZSTD_decompressStream(stream.get(), &to, &from);
    out.resize(size + to.pos);
    if (ZSTD_isError(left) != 0 || (left != 0 && to.pos == 0 && from.pos == from.size)) {
      if (!whole) return out;
      return damaged("it cannot be decompressed");
    }
  }
  return out;
}

Result<std::string> compressed_with_zstd(std::string_view message) {
  std::string out(ZSTD_compressBound(message.size()), '\0');
  const std::size_t size =
      ZSTD_compress(out.data(), out.size(), message.data(), message.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) return fail(ErrorCode::kLimit, "zstd could not compress the list.");
  out.resize(size);
  return out;
}

#else

std::unexpected<Error> no_zstd() {
  return fail(ErrorCode::kUnsupported, "Waymark was built without zstd.");
}
Result<std::vector<std::uint8_t>> decompressed(Bytes /*in*/, std::size_t /*most*/, bool /*whole*/) {
  return no_zstd();
}
Result<std::string> compressed_with_zstd(std::string_view /*message*/) { return no_zstd(); }

#endif

void put_little(std::string& out, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

ProtobufMessage message_of(const BinaryName& name, const BranchesOfBinary& branches) {
  ProtobufMessage binary;
  binary.text(kBinaryPath, name.path);
  if (!name.build_id.empty()) binary.text(kBinaryBuildId, name.build_id);
  for (const auto& [value, lists] : branches) {
    ProtobufMessage address;
    address.number(kAddressValue, value);
    for (const auto& [bits, times] : lists) {
      ProtobufMessage branch;
      branch.text(kBranchBytes, bits.bytes);
      branch.number(kBranchSize, bits.count);
      branch.number(kBranchCount, times);
      address.message(kAddressBranch, branch);
    }
    binary.message(kBinaryAddress, address);
  }
  if (name.kind != BinaryKind::kElf)
    binary.number(kBinaryKind, static_cast<std::uint64_t>(name.kind));
  if (name.kernel_start != 0) {
    ProtobufMessage kernel;
    kernel.number(kKernelStart, name.kernel_start);
    binary.message(kBinaryKernel, kernel);
  }
  return binary;
}

}  // namespace

void BranchBits::add(bool taken) {
  if (count % 8 == 0) bytes += '\0';
  if (taken)
    bytes.back() = static_cast<char>(static_cast<unsigned char>(bytes.back()) | 1U << count % 8);
  ++count;
}

void add(BranchList& sum, const BranchList& more) {
  for (const auto& [name, branches] : more) {
    BranchesOfBinary& binary = sum[name];
    for (const auto& [address, lists] : branches) {
      for (const auto& [bits, times] : lists) {
        std::uint64_t& total = binary[address][bits];
        total = saturated_sum(total, times);
      }
    }
  }
}

Result<std::string> written_branch_list(const BranchList& list, bool compressed) {
  std::string out(kFormMagic);
  put_little(out, kFormVersion);
  out += static_cast<char>(compressed ? 1 : 0);
  // A message for each program, so that none of them becomes too large.
  for (const auto& [name, branches] : list) {
    ProtobufMessage message;
    message.message(kListBinary, message_of(name, branches));
    std::string bytes(message.bytes());
    if (compressed) {
      auto smaller = compressed_with_zstd(bytes);
      if (!smaller) return std::unexpected(smaller.error());
      bytes = *std::move(smaller);
    }
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max())
      return fail(ErrorCode::kLimit, "The branch list of a program has more than 4 GiB.");
    put_little(out, static_cast<std::uint32_t>(bytes.size()));
    out += bytes;
  }
  return out;
}

bool is_branch_list(Bytes content) {
  if (begins_with_magic(content) || begins_with_message(content)) return true;
  if (!is_zstd(content)) return false;
  const auto begin = decompressed(content, kFormMagicSize + 2, false);
  return begin && begins_with_message(*begin);
}

Result<BranchList> read_branch_list(Bytes content) {
  BranchList list;
  std::vector<std::uint8_t> whole;
  if (is_zstd(content)) {
    auto bytes = decompressed(content, kMostBytes, true);
    if (!bytes) return std::unexpected(bytes.error());
    whole = *std::move(bytes);
    content = whole;
  }
  if (begins_with_message(content)) {
    WAYMARK_TRY(read_message(content, list));
    return list;
  }
  if (!begins_with_magic(content)) return damaged("its beginning is wrong");
  Cursor cursor(content.subspan(kFormMagicSize));
  const std::uint64_t version = cursor.little(4);
  const std::uint8_t compressed = cursor.u8();
  if (cursor.overrun()) return damaged("its header is not complete");
  if (version != kFormVersion || compressed > 1) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("The branch list has version {}, and only version {} is known.",
                            version, kFormVersion));
  }
  while (!cursor.at_end()) {
    const std::uint64_t size = cursor.little(4);
    const Bytes message = cursor.take(static_cast<std::size_t>(size));
    if (cursor.overrun()) return damaged("a message is not complete");
    if (compressed == 0) {
      WAYMARK_TRY(read_message(message, list));
      continue;
    }
    const auto bytes = decompressed(message, kMostBytes, true);
    if (!bytes) return std::unexpected(bytes.error());
    WAYMARK_TRY(read_message(*bytes, list));
  }
  return list;
}

void FoundBranches::add(const FoundBranches& more) {
  exports::add(list, more.list);
  lost = saturated_sum(lost, more.lost);
  cancelled = saturated_sum(cancelled, more.cancelled);
  saw_packets = saw_packets || more.saw_packets;
}

void BranchListBuilder::end(BranchState& state) {
  if (state.bits.count != 0) {
    const bool thumb = (state.address & 1) != 0;
    std::uint64_t& times =
        found_.list[state.place.name][state.place.address | (thumb ? 1 : 0)][state.bits];
    times = saturated_sum(times, 1);
  }
  state = {.context = state.context};
}

void BranchListBuilder::on_packet(const PacketRef& packet) {
  if (packet.protocol != Protocol::kEtmV4 && packet.protocol != Protocol::kEte) return;
  using etmv4::PacketType;
  const auto& seen = packet.as<etmv4::Packet>();
  BranchState& state = states_[packet.trace_id];
  found_.saw_packets = true;
  const auto set_context = [&] {
    state.context = {seen.context.context_id | std::uint64_t{seen.context.vmid} << 32,
                     seen.context.el};
  };
  switch (seen.type) {
    case PacketType::kContext:
      set_context();
      return;
    case PacketType::kAddressContext32Is0:
    case PacketType::kAddressContext32Is1:
    case PacketType::kAddressContext64Is0:
    case PacketType::kAddressContext64Is1:
      set_context();
      [[fallthrough]];
    case PacketType::kAddressMatch:
    case PacketType::kAddressShortIs0:
    case PacketType::kAddressShortIs1:
    case PacketType::kAddress32Is0:
    case PacketType::kAddress32Is1:
    case PacketType::kAddress64Is0:
    case PacketType::kAddress64Is1:
      end(state);
      if (seen.address.valid_bits < seen.address.size_bits) return;
      state.address = (seen.address.value & ~std::uint64_t{1}) | seen.address.is;
      state.waits = true;
      state.drops = false;
      return;
    case PacketType::kAtomF1:
    case PacketType::kAtomF2:
    case PacketType::kAtomF3:
    case PacketType::kAtomF4:
    case PacketType::kAtomF5:
    case PacketType::kAtomF6:
      if (state.waits) {
        state.waits = false;
        state.place = {};
        state.drops = !locate_(packet.index, packet.trace_id, state.context,
                               state.address & ~std::uint64_t{1}, state.place);
      }
      if (state.drops) {
        state = {.context = state.context};
        found_.lost += seen.atom_count;
        return;
      }
      for (unsigned i = 0; i < seen.atom_count; ++i) state.bits.add((seen.atoms >> i & 1) != 0);
      return;
    case PacketType::kCancelF1:
    case PacketType::kCancelF1Mispredict:
    case PacketType::kCancelF2:
    case PacketType::kCancelF3:
    case PacketType::kMispredict:
      // Which atoms are meant, only a decoder knows.
      found_.cancelled += state.bits.count;
      state.bits = {};
      end(state);
      return;
    case PacketType::kOverflow:
    case PacketType::kDiscard:
    case PacketType::kQ:
    case PacketType::kNotSync:
    case PacketType::kSourceMatch:
    case PacketType::kSourceShortIs0:
    case PacketType::kSourceShortIs1:
    case PacketType::kSource32Is0:
    case PacketType::kSource32Is1:
    case PacketType::kSource64Is0:
    case PacketType::kSource64Is1:
    case PacketType::kPeReset:
    case PacketType::kTransactionFail:
      end(state);
      return;
    default:
      if (etmv4::is_bad(seen.type)) end(state);
      return;
  }
}

void BranchListBuilder::on_operation(Operation /*operation*/, TraceId id) {
  const auto state = states_.find(id);
  if (state == states_.end()) return;
  end(state->second);
  state->second = {};
}

void BranchListBuilder::finish() {
  for (auto& [id, state] : states_) end(state);
}

namespace {

/// The blocks of a program, found once each.
class Expander {
 public:
  explicit Expander(const BinaryCode& code) : code_(code) {}

  void add(std::uint64_t start, const BranchBits& bits, std::uint64_t times) {
    isa::Isa isa = isa::Isa::kA64;
    if (!code_.is_64_bit) isa = (start & 1) != 0 ? isa::Isa::kT32 : isa::Isa::kA32;
    std::uint64_t address = start & ~std::uint64_t{1};
    for (std::size_t i = 0; i < bits.count; ++i) {
      const Block& block = block_at(address, isa);
      if (block.row == kNone) {
        lost_ = saturated_sum(lost_, times * (bits.count - i));
        return;
      }
      const bool taken = bits.taken(i);
      count::Row& row = rows_[block.row];
      std::uint64_t& sum = taken ? row.executed : row.not_executed;
      sum = saturated_sum(sum, times);
      address = row.range.end;
      if (!taken || !row.range.is_branch()) continue;
      if (row.range.last_type == isa::InstrType::kIndirectBranch) {
        // Its target comes with an address packet, which begins another list.
        lost_ = saturated_sum(lost_, times * (bits.count - i - 1));
        return;
      }
      address = block.target;
      isa = block.next_isa;
    }
  }

  ExpandedBranches take() {
    ExpandedBranches result;
    for (const count::Row& row : rows_)
      if (row.times() != 0) result.counts.rows.push_back(row);
    result.counts.combine();
    result.lost = lost_;
    return result;
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Block {
    std::size_t row = kNone;
    std::uint64_t target = 0;
    isa::Isa next_isa = isa::Isa::kUnknown;
  };

  const Block& block_at(std::uint64_t start, isa::Isa isa) {
    const auto [at, inserted] = blocks_.try_emplace(start << 2 | static_cast<unsigned>(isa) % 4);
    if (inserted) at->second = walked(start, isa);
    return at->second;
  }

  Block walked(std::uint64_t start, isa::Isa isa) {
    isa::Options options;
    options.arch = code_.is_64_bit ? isa::Arch::kV8 : isa::Arch::kV7;
    count::Row row;
    row.range.start = start;
    row.range.isa = isa;
    std::uint64_t address = start;
    std::uint8_t it_remaining = 0;
    for (unsigned i = 0; i < kMostInstructions; ++i) {
      std::uint32_t opcode = 0;
      isa::Instruction instruction;
      if (!code_.read(address, opcode)) return {};
      if (isa::classify(options, isa, address, opcode, it_remaining, instruction) !=
          isa::Outcome::kOk)
        return {};
      address += instruction.size;
      ++row.range.count;
      if (instruction.type == isa::InstrType::kOther) continue;
      row.range.end = address;
      row.range.last_type = instruction.type;
      row.range.last_subtype = instruction.subtype;
      row.range.last_size = instruction.size;
      row.range.conditional = instruction.conditional;
      if (instruction.type == isa::InstrType::kBranch) row.target = instruction.target;
      rows_.push_back(row);
      return {rows_.size() - 1, instruction.target, instruction.next_isa};
    }
    return {};
  }

  const BinaryCode& code_;
  std::unordered_map<std::uint64_t, Block> blocks_;
  std::vector<count::Row> rows_;
  std::uint64_t lost_ = 0;
};

}  // namespace

ExpandedBranches expand(const BranchesOfBinary& branches, const BinaryCode& code) {
  Expander expander(code);
  for (const auto& [address, lists] : branches)
    for (const auto& [bits, times] : lists) expander.add(address, bits, times);
  return expander.take();
}

}  // namespace waymark::exports
