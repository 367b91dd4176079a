#include "waymark/inputs/trace_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "packet_assembler.h"
#include "trace_script_lexer.h"
#include "waymark/base/bits.h"
#include "waymark/base/number.h"
#include "waymark/frames/dstream.h"
#include "waymark/frames/mux.h"
#include "waymark/inputs/protocols.h"

namespace waymark::inputs {
namespace {

/// The bytes of the buffer that is being written.
class Output {
 public:
  Output(ScriptFormat format, const frames::MuxOptions& options) : format_(format), mux_(options) {}

  Result<void> write(TraceId id, Bytes bytes) {
    if (format_ != ScriptFormat::kRaw) return mux_.write(id, bytes);
    raw_.insert(raw_.end(), bytes.begin(), bytes.end());
    return {};
  }

  [[nodiscard]] frames::Mux& mux() { return mux_; }
  [[nodiscard]] std::size_t size() const {
    return format_ == ScriptFormat::kRaw ? raw_.size() : mux_.bytes().size();
  }

  std::vector<std::uint8_t> take() {
    if (format_ == ScriptFormat::kRaw) return std::move(raw_);
    mux_.finish();
    std::vector<std::uint8_t> stream = mux_.take();
    return format_ == ScriptFormat::kDstream ? in_records(stream) : stream;
  }

 private:
  static std::vector<std::uint8_t> in_records(const std::vector<std::uint8_t>& stream) {
    std::vector<std::uint8_t> out;
    for (std::size_t at = 0; at < stream.size(); at += frames::kDstreamPayloadSize) {
      const std::size_t size = std::min(frames::kDstreamPayloadSize, stream.size() - at);
      const auto from = stream.begin() + static_cast<std::ptrdiff_t>(at);
      out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(size));
      if (size == frames::kDstreamPayloadSize)
        out.insert(out.end(), frames::kDstreamRecordSize - frames::kDstreamPayloadSize, 0);
    }
    return out;
  }

  ScriptFormat format_;
  frames::Mux mux_;
  std::vector<std::uint8_t> raw_;
};

constexpr std::pair<std::string_view, ScriptFormat> kFormats[] = {
    {"raw", ScriptFormat::kRaw},
    {"frames", ScriptFormat::kFrames},
    {"fsync", ScriptFormat::kFsync},
    {"hsync", ScriptFormat::kHsync},
    {"dstream", ScriptFormat::kDstream}};
constexpr std::pair<std::string_view, ListingMode> kModes[] = {
    {"packets", ListingMode::kPackets},
    {"monitor", ListingMode::kMonitor},
    {"decode", ListingMode::kDecode},
    {"decode_only", ListingMode::kDecodeOnly}};

template <class T, std::size_t Size>
std::optional<T> look_up(const std::pair<std::string_view, T> (&table)[Size],
                         std::string_view name) {
  for (const auto& [key, value] : table)
    if (key == name) return value;
  return std::nullopt;
}

class Assembler {
 public:
  Assembler(std::vector<Statement> statements, const ScriptLimits& limits, std::string_view core)
      : statements_(std::move(statements)), limits_(limits), core_(core) {}

  Result<TraceScript> run() {
    if (statements_.empty() || statements_[0].words.size() != 2 ||
        statements_[0].words[0] != "waymark-trace")
      return fail_at(1, "A script begins with the line 'waymark-trace 1'.");
    if (statements_[0].words[1] != "1")
      return fail_at(statements_[0].line, "Only version 1 of trace scripts is supported.");
    WAYMARK_TRY(check_blocks());
    WAYMARK_TRY(run_range(1, statements_.size(), 0));
    WAYMARK_TRY(close_buffer());
    return std::move(script_);
  }

 private:
  /// Finds the closing brace of every block, so that blocks can be run any number of times.
  Result<void> check_blocks() {
    ends_.resize(statements_.size(), 0);
    std::vector<std::size_t> open;
    for (std::size_t i = 1; i < statements_.size(); ++i) {
      const Statement& statement = statements_[i];
      if (statement.opens) {
        if (open.size() == kMaxScriptDepth)
          return fail_at(statement.line, "Blocks are nested too deeply.", ErrorCode::kLimit);
        open.push_back(i);
      } else if (statement.words.empty()) {
        if (open.empty()) return fail_at(statement.line, "'}' has no block to close.");
        ends_[open.back()] = i;
        open.pop_back();
      }
    }
    if (!open.empty())
      return fail_at(statements_[open.back()].line, "The block has no closing '}'.");
    return {};
  }

  Result<void> run_range(std::size_t from, std::size_t to, unsigned depth) {
    for (std::size_t i = from; i < to; ++i) {
      const Statement& statement = statements_[i];
      if (++steps_ > limits_.statements)
        return fail_at(statement.line, "The script executes too many statements.",
                       ErrorCode::kLimit);
      if (!statement.opens) {
        WAYMARK_TRY(run_statement(statement, depth));
        continue;
      }
      WAYMARK_TRY(run_block(i, depth + 1));
      i = ends_[i];
    }
    return {};
  }

  Result<void> run_block(std::size_t at, unsigned depth) {
    const Statement& statement = statements_[at];
    const std::string_view keyword = statement.words.empty() ? "" : statement.words[0];
    if (keyword == "repeat" && statement.words.size() == 2) {
      const auto count = parse_number(statement.words[1]);
      if (!count) return fail_at(statement.line, "'repeat' needs a number.");
      for (std::uint64_t i = 0; i < *count; ++i) {
        if (++steps_ > limits_.statements)
          return fail_at(statement.line, "The script executes too many statements.",
                         ErrorCode::kLimit);
        WAYMARK_TRY(run_range(at + 1, ends_[at], depth));
      }
      return {};
    }
    if (keyword == "source" && statement.words.size() == 2) {
      const auto device = find_device(statement.words[1]);
      if (!device)
        return fail_at(statement.line, fmt::format("There is no device '{}'.", statement.words[1]));
      const std::optional<std::size_t> outer = current_;
      current_ = device;
      WAYMARK_TRY(run_range(at + 1, ends_[at], depth));
      current_ = outer;
      return {};
    }
    return fail_at(statement.line, "A block begins with 'repeat COUNT {' or 'source NAME {'.");
  }

  Result<void> run_statement(const Statement& statement, unsigned depth) {
    const std::string_view keyword = statement.words[0];
    using Handler = Result<void> (Assembler::*)(const Statement&);
    static constexpr std::pair<std::string_view, Handler> kTop[] = {
        {"description", &Assembler::describe}, {"device", &Assembler::add_device},
        {"reg", &Assembler::add_registers},    {"image", &Assembler::add_image},
        {"buffer", &Assembler::open_buffer},   {"expect", &Assembler::add_expectation}};
    if (const auto handler = look_up(kTop, keyword)) {
      if (depth != 0)
        return fail_at(statement.line, fmt::format("'{}' is not allowed in a block.", keyword));
      return (this->**handler)(statement);
    }
    if (!output_) start_buffer("trace", ScriptFormat::kRaw, statement.line, {});
    if (keyword == "fill" || keyword == "frame_reset") return control_frames(statement);
    return add_packet(statement);
  }

  Result<void> describe(const Statement& statement) {
    if (statement.words.size() == 2) script_.description = statement.words[1];
    return {};
  }

  Result<void> add_device(const Statement& statement) {
    const std::size_t words = statement.words.size();
    const ProtocolRow* row = words > 2 ? protocol_by_type(statement.words[2]) : nullptr;
    const bool coreless = row != nullptr && !row->needs_core;
    if (words != 4 && !(words == 3 && (coreless || !core_.empty())))
      return fail_at(statement.line,
                     "A device needs a name, a protocol and, if it traces a core, the core.");
    if (output_) return fail_at(statement.line, "Devices must come before the first buffer.");
    if (find_device(statement.words[1]))
      return fail_at(statement.line,
                     fmt::format("There is already a device '{}'.", statement.words[1]));
    std::string_view core = words == 4 ? statement.words[3] : "";
    if (!core_.empty() && !coreless) core = core_;
    script_.devices.push_back({.name = std::string(statement.words[1]),
                               .protocol = std::string(statement.words[2]),
                               .core = std::string(core),
                               .registers = {},
                               .line = statement.line});
    return {};
  }

  Result<void> add_registers(const Statement& statement) {
    if (script_.devices.empty() || output_)
      return fail_at(statement.line, "Registers must come after their device.");
    const std::span words = std::span(statement.words).subspan(1);
    if (words.empty()) return fail_at(statement.line, "A register needs a name and a value.");
    if (words.size() == 2 && words[0].find('=') == std::string_view::npos)
      return add_register(statement.line, words[0], words[1]);
    for (const std::string_view word : words) {
      const std::size_t equals = word.find('=');
      if (equals == std::string_view::npos)
        return fail_at(statement.line, fmt::format("'{}' is not of the form NAME=VALUE.", word));
      WAYMARK_TRY(add_register(statement.line, word.substr(0, equals), word.substr(equals + 1)));
    }
    return {};
  }

  Result<void> add_register(std::uint32_t line, std::string_view name, std::string_view text) {
    const auto value = parse_number(text);
    if (name.empty() || !value || *value > low_mask(32))
      return fail_at(line, fmt::format("'{}' is not a 32-bit register value.", text));
    auto& registers = script_.devices.back().registers;
    if (std::ranges::any_of(registers, [&](const auto& r) { return r.first == name; }))
      return fail_at(line, fmt::format("The register {} already has a value.", name));
    registers.emplace_back(name, static_cast<std::uint32_t>(*value));
    return {};
  }

  /// image ADDRESS [space=NAME] hex UNITS… | image ADDRESS [space=NAME] file NAME
  Result<void> add_image(const Statement& statement) {
    std::span words = std::span(statement.words).subspan(1);
    const auto address = words.empty() ? std::nullopt : parse_number(words[0]);
    if (!address) return fail_at(statement.line, "'image' needs an address.");
    ScriptImage image;
    image.address = *address;
    image.line = statement.line;
    words = words.subspan(1);
    if (!words.empty() && words[0].starts_with("space=")) {
      image.space_name = words[0].substr(6);
      const auto space = image::space_by_name(image.space_name);
      if (!space) return fail_at(statement.line, space.error().detail);
      image.space = *space;
      words = words.subspan(1);
    }
    if (words.size() == 2 && words[0] == "file") {
      image.file = words[1];
    } else if (words.size() >= 2 && words[0] == "hex") {
      for (const std::string_view unit : words.subspan(1)) {
        const auto value = parse_number(unit, 16);
        const bool width = unit.size() == 2 || unit.size() == 4 || unit.size() == 8;
        if (!width || unit.starts_with("0x") || !value)
          return fail_at(
              statement.line,
              fmt::format("'{}' is not a unit of 2, 4 or 8 hexadecimal digits without 0x.", unit));
        for (std::size_t i = 0; i < unit.size() / 2; ++i)
          image.bytes.push_back(static_cast<std::uint8_t>(*value >> (8 * i) & 0xFF));
      }
      WAYMARK_TRY(count_bytes(statement.line, image.bytes.size()));
    } else {
      return fail_at(statement.line, "An image needs an address, and 'hex UNITS' or 'file NAME'.");
    }
    script_.images.push_back(std::move(image));
    return {};
  }

  /// buffer NAME FORMAT [fsync_period=N] [hsync_period=N] [id_repeat=N] [delayed_ids=0|1]
  Result<void> open_buffer(const Statement& statement) {
    const std::span words(statement.words);
    const auto format = words.size() < 3 ? std::nullopt : look_up(kFormats, words[2]);
    if (!format)
      return fail_at(statement.line,
                     "A buffer needs a name and a format: raw, frames, fsync, hsync or dstream.");
    for (const ScriptBuffer& buffer : script_.buffers)
      if (buffer.name == words[1])
        return fail_at(statement.line, fmt::format("There is already a buffer '{}'.", words[1]));
    frames::MuxOptions options;
    const bool syncs = *format != ScriptFormat::kRaw && *format != ScriptFormat::kFrames;
    options.fsync_period = syncs ? 1 : 0;
    options.hsync_period = *format == ScriptFormat::kHsync ? 3 : 0;
    for (const std::string_view word : words.subspan(3)) {
      const std::size_t equals = std::min(word.find('='), word.size());
      const std::string_view name = word.substr(0, equals);
      const auto value = parse_number(word.substr(std::min(equals + 1, word.size())));
      if (!value || *value > 0xFFFF)
        return fail_at(statement.line, fmt::format("'{}' is not of the form NAME=NUMBER.", word));
      const auto number = static_cast<unsigned>(*value);
      if (name == "fsync_period" && syncs && number != 0) {
        options.fsync_period = number;
      } else if (name == "hsync_period" && *format == ScriptFormat::kHsync && number != 0) {
        options.hsync_period = number;
      } else if (name == "id_repeat") {
        options.id_repeat = number;
      } else if (name == "delayed_ids" && number <= 1) {
        options.delayed_id_changes = number == 1;
      } else {
        return fail_at(statement.line,
                       fmt::format("'{}' is not an option of this buffer format.", word));
      }
    }
    WAYMARK_TRY(close_buffer());
    start_buffer(words[1], *format, statement.line, options);
    return {};
  }

  void start_buffer(std::string_view name, ScriptFormat format, std::uint32_t line,
                    const frames::MuxOptions& options) {
    output_ = std::make_unique<Output>(format, options);
    ScriptBuffer& buffer = script_.buffers.emplace_back();
    buffer.name = name;
    buffer.format = format;
    buffer.line = line;
    buffer_open_ = true;
  }

  Result<void> close_buffer() {
    if (!buffer_open_) return {};
    buffer_open_ = false;
    ScriptBuffer& buffer = script_.buffers.back();
    for (const auto& assembler : assemblers_) {
      packet_.clear();
      if (assembler != nullptr) assembler->finish(packet_);
      if (!packet_.empty()) WAYMARK_TRY(write(buffer.line, assembler->trace_id()));
      if (assembler != nullptr) assembler->restart();
    }
    buffer.bytes = output_->take();
    return count_bytes(buffer.line, buffer.bytes.size());
  }

  Result<void> add_expectation(const Statement& statement) {
    if (script_.buffers.empty())
      return fail_at(statement.line, "'expect' must come after the packets of a buffer.");
    const std::span words(statement.words);
    const auto mode = words.size() < 2 ? std::nullopt : look_up(kModes, words[1]);
    if (!mode)
      return fail_at(statement.line,
                     "'expect' needs a mode: packets, monitor, decode or decode_only.");
    Expectation expectation{
        .mode = *mode, .options = {}, .text = statement.body, .line = statement.line + 1};
    for (const std::string_view word : words.subspan(2)) expectation.options.emplace_back(word);
    script_.buffers.back().expectations.push_back(std::move(expectation));
    return {};
  }

  Result<void> control_frames(const Statement& statement) {
    const ScriptFormat format = script_.buffers.back().format;
    const bool reset = statement.words[0] == "frame_reset";
    if (statement.words.size() != 1 || format == ScriptFormat::kRaw ||
        (reset && format != ScriptFormat::kFrames))
      return fail_at(
          statement.line,
          fmt::format("'{}' takes no operands, and is not allowed in this buffer format.",
                      statement.words[0]));
    if (reset) {
      output_->mux().append_reset();
    } else {
      output_->mux().finish();
    }
    return check_size(statement.line);
  }

  Result<void> add_packet(const Statement& statement) {
    const std::string_view keyword = statement.words[0];
    const std::span operands = std::span(statement.words).subspan(1);
    packet_.clear();
    if (keyword == "unattributed") {
      if (script_.buffers.back().format == ScriptFormat::kRaw)
        return fail_at(statement.line,
                       "Only buffers with frames can have bytes without a trace ID.");
      WAYMARK_TRY(read_bytes(statement.line, operands));
      return write(statement.line, kNoTraceId);
    }
    const std::optional<std::size_t> device = device_of_packet();
    if (!device)
      return fail_at(statement.line,
                     script_.devices.empty()
                         ? "A packet needs a device before it."
                         : "There are several devices; choose one with 'source NAME {'.");
    WAYMARK_TRY(make_assembler(*device));
    const PacketAssembler& assembler = *assemblers_[*device];
    if (keyword == "bytes") {
      assembler.finish(packet_);
      WAYMARK_TRY(read_bytes(statement.line, operands));
    } else {
      fields_.clear();
      for (const std::string_view word : operands) {
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) {
          fields_.push_back({{}, word});
        } else {
          fields_.push_back({word.substr(0, equals), word.substr(equals + 1)});
        }
      }
      if (auto done = assembler.assemble(keyword, fields_, packet_); !done)
        return fail_at(statement.line, done.error().detail);
    }
    return write(statement.line, assembler.trace_id());
  }

  Result<void> write(std::uint32_t line, TraceId id) {
    if (auto done = output_->write(id, packet_); !done) return fail_at(line, done.error().detail);
    return check_size(line);
  }

  Result<void> read_bytes(std::uint32_t line, std::span<const std::string_view> words) {
    if (words.empty()) return fail_at(line, "Bytes are missing.");
    for (const std::string_view word : words) {
      const auto value = parse_number(word, 16);
      if (!value || *value > 0xFF)
        return fail_at(line, fmt::format("'{}' is not a byte in hexadecimal.", word));
      packet_.push_back(static_cast<std::uint8_t>(*value));
    }
    return {};
  }

  [[nodiscard]] std::optional<std::size_t> find_device(std::string_view name) const {
    for (std::size_t i = 0; i < script_.devices.size(); ++i)
      if (script_.devices[i].name == name) return i;
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> device_of_packet() const {
    if (current_) return current_;
    return script_.devices.size() == 1 ? std::optional<std::size_t>(0) : std::nullopt;
  }

  Result<void> make_assembler(std::size_t device) {
    assemblers_.resize(script_.devices.size());
    if (assemblers_[device] != nullptr) return {};
    auto made = make_packet_assembler(script_.devices[device]);
    if (!made) return fail_at(script_.devices[device].line, made.error().detail);
    script_.devices[device].trace_id = (*made)->trace_id();
    assemblers_[device] = std::move(*made);
    return {};
  }

  Result<void> check_size(std::uint32_t line) const {
    if (output_->size() + total_ <= limits_.bytes) return {};
    return fail_at(line, "The script makes too many bytes.", ErrorCode::kLimit);
  }

  Result<void> count_bytes(std::uint32_t line, std::size_t count) {
    total_ += count;
    if (total_ <= limits_.bytes) return {};
    return fail_at(line, "The script makes too many bytes.", ErrorCode::kLimit);
  }

  std::vector<Statement> statements_;
  ScriptLimits limits_;
  std::string_view core_;
  std::vector<std::size_t> ends_;  ///< Where the block of an opening statement ends.
  TraceScript script_;
  std::vector<std::unique_ptr<PacketAssembler>> assemblers_;  ///< By device; made when needed.
  std::optional<std::size_t> current_;                        ///< The device of the source block.
  std::unique_ptr<Output> output_;                            ///< Empty before the first buffer.
  bool buffer_open_ = false;
  std::size_t total_ = 0;
  std::size_t steps_ = 0;
  std::vector<std::uint8_t> packet_;
  std::vector<ScriptField> fields_;
};

}  // namespace

frames::Options ScriptBuffer::frame_options() const {
  const bool syncs = format == ScriptFormat::kFsync || format == ScriptFormat::kHsync ||
                     format == ScriptFormat::kDstream;
  return {.has_fsyncs = syncs,
          .has_hsyncs = format == ScriptFormat::kHsync,
          .memory_aligned = !syncs,
          .reset_on_4x_fsync = !syncs};
}

Result<TraceScript> assemble_trace_script(std::string_view text, const ScriptLimits& limits,
                                          std::string_view core) {
  auto statements = read_statements(text);
  if (!statements) return std::unexpected(std::move(statements).error());
  return Assembler(std::move(*statements), limits, core).run();
}

}  // namespace waymark::inputs
