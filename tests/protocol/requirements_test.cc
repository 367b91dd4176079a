#include "waymark/protocol/requirements.h"

#include <gtest/gtest.h>

namespace waymark::protocol {
namespace {

// A protocol that can do everything, in declarations.  Each broken one below differs in one name or
// one signature.

struct Config {
  [[nodiscard]] TraceId trace_id() const;
};
struct Packet {
  TraceIndex index = 0;
  std::uint16_t length = 0;
};
struct Atoms {};
[[maybe_unused]] inline void copy_atoms(const Atoms& /*from*/, Packet& /*to*/) {}

class Parser {
 public:
  void feed(const frames::StreamBlock& block);
  bool next(Packet& packet);
  template <class Visitor>
  bool parse(Visitor&& visitor);
  bool finish(Packet& packet);
  void reset();
  void jump();
  [[nodiscard]] bool same_state(const Parser& other) const;
  [[nodiscard]] Bytes packet_bytes() const;
  [[nodiscard]] std::size_t position() const;
  std::size_t withdraw();
  [[nodiscard]] const frames::ParserStatistics& statistics() const;
  void reset_statistics();
  void set_monitored(bool monitored);
};

class Decoder {
 public:
  void accept(const Packet& packet);
  Element* put(const Packet& packet, Element* out, Element* end);
  [[nodiscard]] bool straight() const;
  Element* run(TraceIndex index, const Atoms& atoms, Element* out, Element* end);
  [[nodiscard]] bool running() const;
  Element* resume(Element* out, Element* end);
  [[nodiscard]] bool can_settle_into(std::size_t space) const;
  Element* settle_and_run(TraceIndex index, const Atoms& atoms, Element* out, Element* end);
  std::size_t run_row(const frames::Run* run, const frames::Run* runs_end, const std::uint8_t* data,
                      std::size_t position, std::size_t size, Element*& out, Element* end);
  unsigned run_short_row(TraceIndex index, std::uint32_t headers, unsigned packets, Element*& out,
                         Element* end);
  bool hold_address(const Packet& packet);
  void leave_span();
  [[nodiscard]] bool counts_straight() const;
  void end_of_trace();
  std::size_t drain(std::span<Element> out);
  [[nodiscard]] bool busy() const;
  [[nodiscard]] bool has_diagnostics() const;
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const;
  void clear_diagnostics();
  void add_diagnostic(const Diagnostic& record);
  [[nodiscard]] bool failed() const;
  void reset();
  void jump();
  void restore(const Decoder& other);
  [[nodiscard]] bool same_state(const Decoder& other) const;
  void take_place(const Decoder& original);
  void refresh();
  void remember(std::span<const Element> given);
};

constexpr Capabilities kEverything{
    .counts = true,
    .runs_atoms = true,
    .settles_atoms = true,
    .runs_rows = true,
    .runs_short_rows = true,
    .puts = true,
    .leaves_spans = true,
    .marks_parts = true,
    .jumps = true,
    .takes_place = true,
    .refreshes = true,
    .remembers_elements = true,
    .is_monitored = true,
    .checks_registers = true,
    .passes_packets = true,
};

template <class ParserType = Parser, class DecoderType = Decoder, class PacketType = Packet>
struct Parts {
  using Config = protocol::Config;
  using Packet = PacketType;
  using Parser = ParserType;
  using Decoder = DecoderType;
  using Atoms = protocol::Atoms;
  static constexpr Capabilities kCapabilities = kEverything;

  static waymark::Protocol protocol(const Config& config);
  static Parser make_parser(const Config& config, const SourceOptions& options);
  static Decoder make_decoder(const Config& config, const image::Image* image,
                              const SourceOptions& options);
  template <class Host>
  static void count(Parser& parser, Decoder& decoder, count::Counter& counter, Host& host);
  static bool has_cycles(const Config& config);
  static bool can_jump(const Decoder& decoder);
  static bool is_bad(const Packet& packet, const SourceOptions& options);
  static PacketFault fault_of(const Packet& packet, const SourceOptions& options);
  struct Registers {
    explicit Registers(const Config& config);
    Finding check(const Packet& packet);
    Finding at_end(std::uint64_t packets);
  };
  static bool reports_contradictions(const SourceOptions& options);
  static bool is_sync_point(const Packet& packet);
  struct Landmarks {
    explicit Landmarks(const Config& config);
    static bool passes(const Packet& packet);
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit);
  };
  static std::size_t length_from_index(const Packet& packet, const Parser& parser);
  static bool is_monitor_only(const Packet& packet);
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& config,
                           const SourceOptions& options);
  static std::span<const BasicField<Packet>> fields_of(const Packet& packet);
};
static_assert(PacketProtocol<Parts<>>);
static_assert(meets_requirements<Parts<>>());

// -- A capability that is not stated, or not by its name. -----------------------------------------

// Stated has no default, so a capability cannot be left out.
static_assert(!std::default_initializable<Stated>);
static_assert(!std::default_initializable<Capabilities>);
template <class Made>
concept NamesPuts = requires(Made made) { made.puts; };
template <class Made>
concept NamesPut = requires(Made made) { made.put; };
static_assert(NamesPuts<Capabilities> && !NamesPut<Capabilities>);

struct MisspeltCapabilities : Parts<> {
 private:
  using Parts<>::kCapabilities;

 public:
  [[maybe_unused]] static constexpr Capabilities kCapabilites = kEverything;
};
static_assert(!PacketProtocol<MisspeltCapabilities>);

struct StatesNothing : Parts<> {
  static constexpr Capabilities kCapabilities{
      .counts = false,
      .runs_atoms = false,
      .settles_atoms = false,
      .runs_rows = false,
      .runs_short_rows = false,
      .puts = false,
      .leaves_spans = false,
      .marks_parts = false,
      .jumps = false,
      .takes_place = false,
      .refreshes = false,
      .remembers_elements = false,
      .is_monitored = false,
      .checks_registers = false,
      .passes_packets = false,
  };
};
static_assert(!PacketProtocol<StatesNothing>, "what is there must be stated");

// -- One wrong name per capability.  A deleted function is one that is not there.
// ------------------

struct NoLoop : Parser {
  template <class Visitor>
  bool parse(Visitor&& visitor) = delete;
};
static_assert(!HasLoop<Parts<NoLoop>> && !PacketProtocol<Parts<NoLoop>>);

struct NoCountsStraight : Decoder {
  [[nodiscard]] bool counts_straight() const = delete;
  [[nodiscard]] bool count_straight() const;
};
static_assert(!Counts<Parts<Parser, NoCountsStraight>>);

struct NoRun : Decoder {
  Element* run(TraceIndex index, const Atoms& atoms, Element* out, Element* end) = delete;
  Element* runs(TraceIndex index, const Atoms& atoms, Element* out, Element* end);
};
struct NoStraight : Decoder {
  [[nodiscard]] bool straight() const = delete;
  [[nodiscard]] bool is_straight() const;
};
struct NoRunning : Decoder {
  [[nodiscard]] bool running() const = delete;
  [[nodiscard]] bool runing() const;
};
static_assert(!RunsAtoms<Parts<Parser, NoRun>>);
static_assert(!RunsAtoms<Parts<Parser, NoStraight>>);
static_assert(!RunsAtoms<Parts<Parser, NoRunning>>);

struct NoSettle : Decoder {
  [[nodiscard]] bool can_settle_into(std::size_t space) const = delete;
  [[nodiscard]] bool may_settle() const;
};
static_assert(!SettlesAtoms<Parts<Parser, NoSettle>>);

struct ShortRow : Decoder {
  std::size_t run_row(const frames::Run* run, const std::uint8_t* data, std::size_t position,
                      std::size_t size, Element*& out, Element* end);
};
static_assert(!RunsRows<Parts<Parser, ShortRow>>);

struct PutsNumber : Decoder {
  std::size_t put(const Packet& packet, Element* out, Element* end);
};
static_assert(!Puts<Parts<Parser, PutsNumber>>, "the signature is wrong");

struct NoLeaveSpan : Decoder {
  void leave_span() = delete;
  void leaves_span();
};
static_assert(!LeavesSpans<Parts<Parser, NoLeaveSpan>>);

struct LengthOfPacketOnly : Parts<> {
  static std::size_t length_from_index(const Packet& packet);
};
static_assert(!MarksParts<LengthOfPacketOnly>, "the signature is wrong");

struct NoJump : Parser {
  void jump() = delete;
  void jumps();
};
struct NoRestore : Decoder {
  void restore(const Decoder& other) = delete;
  void restores(const Decoder& other);
};
struct NoSameState : Decoder {
  [[nodiscard]] bool same_state(const Decoder& other) const = delete;
};
static_assert(!Jumps<Parts<NoJump>>);
static_assert(!Jumps<Parts<Parser, NoRestore>>);
static_assert(!Jumps<Parts<Parser, NoSameState>>);

struct NoTakePlace : Decoder {
  void take_place(const Decoder& original) = delete;
  void takes_place(const Decoder& original);
};
static_assert(!TakesPlace<Parts<Parser, NoTakePlace>>);

struct NoRefresh : Decoder {
  void refresh() = delete;
  void refesh();
};
static_assert(!Refreshes<Parts<Parser, NoRefresh>>);

struct NoRemember : Decoder {
  void remember(std::span<const Element> given) = delete;
  void remembers(std::span<const Element> given);
};
static_assert(!RemembersElements<Parts<Parser, NoRemember>>);

struct NoMonitor : Parser {
  void set_monitored(bool monitored) = delete;
  void set_monitor(bool monitored);
};
static_assert(!IsMonitored<Parts<NoMonitor>>);

struct NoReports : Parts<> {
  static bool reports_contradictions(const SourceOptions& options) = delete;
  static bool report_contradictions(const SourceOptions& options);
};
static_assert(!ChecksRegisters<NoReports>);

struct NoPasses : Parts<> {
  struct Landmarks {
    explicit Landmarks(const Config& config);
    static bool pass(const Packet& packet);
    template <class Emit>
    void operator()(const Packet& packet, Emit&& emit);
  };
};
static_assert(!PassesPackets<NoPasses>);

// Each of them fails, because it states what it cannot do.
template <class... Broken>
constexpr bool kNoProtocols = (!PacketProtocol<Broken> && ...);
static_assert(
    kNoProtocols<Parts<Parser, NoCountsStraight>, Parts<Parser, NoRun>, Parts<Parser, NoStraight>,
                 Parts<Parser, NoRunning>, Parts<Parser, NoSettle>, Parts<Parser, ShortRow>,
                 Parts<Parser, PutsNumber>, Parts<Parser, NoLeaveSpan>, LengthOfPacketOnly,
                 Parts<NoJump>, Parts<Parser, NoRestore>, Parts<Parser, NoSameState>,
                 Parts<Parser, NoTakePlace>, Parts<Parser, NoRefresh>, Parts<Parser, NoRemember>,
                 Parts<NoMonitor>, NoReports, NoPasses>);

// -- What every protocol has. ---------------------------------------------------------------------

struct NoFinish : Parser {
  bool finish(Packet& packet) = delete;
};
static_assert(!ReadsPackets<Parts<NoFinish>> && !PacketProtocol<Parts<NoFinish>>);

struct NoBusy : Decoder {
  [[nodiscard]] bool busy() const = delete;
};
static_assert(!DecodesPackets<Parts<Parser, NoBusy>> && !PacketProtocol<Parts<Parser, NoBusy>>);

struct WritesWithoutOptions : Parts<> {
  static void write_packet(TextBuffer& out, const Packet& packet, const Config& config);
};
static_assert(!DescribesPackets<WritesWithoutOptions> && !PacketProtocol<WritesWithoutOptions>);

TEST(Requirements, are_checked_when_this_file_is_compiled) { SUCCEED(); }

}  // namespace
}  // namespace waymark::protocol
