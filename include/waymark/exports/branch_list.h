// Branch lists of simpleperf: which atoms followed which addresses, found in packets alone, without
// the programs.  See simpleperf.md 5.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "waymark/base/result.h"
#include "waymark/base/text_buffer.h"
#include "waymark/count/counts.h"
#include "waymark/isa/instruction.h"
#include "waymark/protocol/source.h"

namespace waymark::exports {

/// The outcomes of consecutive waypoints.
struct BranchBits {
  std::string bytes{};    ///< Bit i of byte i / 8 is the i-th; 1 is taken.  Further bits are 0.
  std::size_t count = 0;  ///< The number of bits.

  void add(bool taken);
  [[nodiscard]] bool taken(std::size_t i) const {
    return (static_cast<unsigned char>(bytes[i / 8]) >> i % 8 & 1) != 0;
  }
  friend auto operator<=>(const BranchBits&, const BranchBits&) = default;
};

enum class BinaryKind : std::uint8_t { kElf = 0, kKernel = 1, kModule = 2 };

struct BinaryName {
  std::string path{};
  std::string build_id{};  ///< In hexadecimal digits; empty: not known.
  BinaryKind kind = BinaryKind::kElf;
  /// Where a kernel was in memory, if the addresses are those of memory; 0: they are those
  /// for which it was linked.
  std::uint64_t kernel_start = 0;
  friend auto operator<=>(const BinaryName&, const BinaryName&) = default;
};

/// How often each sequence of outcomes followed an address, whose lowest bit is 1 in T32 code.
using BranchesOfBinary = std::map<std::uint64_t, std::map<BranchBits, std::uint64_t>>;
using BranchList = std::map<BinaryName, BranchesOfBinary>;

/// Adds up.  Counts that would be too large are the greatest one.
void add(BranchList& sum, const BranchList& more);

/// As the newer form of a file.  kUnsupported: compression was asked for, and there is no zstd.
Result<std::string> written_branch_list(const BranchList& list, bool compressed);

/// Whether these are the first bytes of a file in any of its forms.
bool is_branch_list(Bytes content);

/// kBadData: the file is damaged; kUnsupported: it is compressed and there is no zstd, or it has
/// another version.
Result<BranchList> read_branch_list(Bytes content);

/// Where code is: a program, and an address in it.
struct BinaryPlace {
  BinaryName name{};
  std::uint64_t address = 0;
  friend bool operator==(const BinaryPlace&, const BinaryPlace&) = default;
};

/// The following elements of a source depend on this alone.
struct BranchState {
  std::uint64_t address = 0;
  ExecutionContext context{};
  bool waits = false;  ///< For the first atom after the address.
  bool drops = true;   ///< Atoms up to the next address.
  BinaryPlace place{};
  BranchBits bits{};
  friend bool operator==(const BranchState&, const BranchState&) = default;
};
/// By trace ID; one that is not there is a new one.
using BranchStates = std::map<TraceId, BranchState>;

/// The result for a trace, or for a part of it.
struct FoundBranches {
  BranchList list{};
  std::uint64_t lost = 0;       ///< Atoms in no list: their program is unknown.
  std::uint64_t cancelled = 0;  ///< Atoms in no list: the processor took back what it had traced.
  bool saw_packets = false;

  void add(const FoundBranches& more);
};

/// Makes a list of the packets of ETMv4 and ETE.  Nothing is decoded.  One owner; not thread safe.
class BranchListBuilder final : public Observer {
 public:
  /// Where an address of a source is, for a context: the context ID and above it the VMID.  False:
  /// unknown.
  using Locate = std::function<bool(TraceIndex index, TraceId id, ExecutionContext context,
                                    std::uint64_t address, BinaryPlace& place)>;

  explicit BranchListBuilder(Locate locate, BranchStates states = {})
      : locate_(std::move(locate)), states_(std::move(states)) {}

  void on_packet(const PacketRef& packet) override;
  void on_operation(Operation operation, TraceId id) override;
  /// The end of the trace.
  void finish();

  /// The sequences found since the last call.  Sequences that have not ended stay in the states.
  FoundBranches take() { return std::exchange(found_, {}); }
  [[nodiscard]] const BranchStates& states() const { return states_; }

 private:
  void end(BranchState& state);

  Locate locate_;
  BranchStates states_;
  FoundBranches found_;
};

/// The code of a program, as it ran.
struct BinaryCode {
  /// Four bytes, little endian; false: there is no code.  In T32 code, two may be enough.
  std::function<bool(std::uint64_t address, std::uint32_t& opcode)> read;
  bool is_64_bit = true;
};

struct ExpandedBranches {
  count::Counts counts{};
  std::uint64_t lost = 0;  ///< Outcomes for which there was no waypoint.
};

/// Finds the instructions between the outcomes.
ExpandedBranches expand(const BranchesOfBinary& branches, const BinaryCode& code);

}  // namespace waymark::exports
