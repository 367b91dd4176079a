#include "listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "component_name.h"
#include "core/level_text.h"
#include "waymark/element/text.h"
#include "waymark/frames/text.h"
#include "waymark/outputs/packet_text.h"
#include "wording/wording.h"

namespace waymark::compat {
Listing::Listing(const ListerOptions& options, Log& log)
    : options_(options),
      log_(log),
      waits_{.elements = options.decode && !options.profile ? options.test_waits : 0},
      lines_(!options.profile),
      packets_(options.packets && !options.profile),
      bytes_(options.monitored()) {
  waits_.packets.fill(options.decode ? 0 : options.test_waits);
}

void Listing::attach(DecodeTree& tree, const std::array<bool, kTraceIdCount>& refused) {
  tree_ = &tree;
  refused_ = refused;
  const bool raw = tree.formatted() && (options_.raw_packed || options_.raw_unpacked);
  prints_ = options_.decode || raw;
  for (Source* source : tree.sources()) {
    const TraceId id = tree.formatted() ? source->trace_id() : TraceId{0};
    if (!options_.ids.empty() && std::ranges::find(options_.ids, id) == options_.ids.end()) {
      continue;
    }
    listed_[id] = source;
    prints_ = true;
    if (!options_.packets) continue;
    log_.line(fmt::format("Trace Packet Lister : Protocol printer {} on Trace ID 0x{:x}",
                          protocol_name(source->protocol()), id));
  }
  if (!options_.ids.empty() && tree.formatted()) tree.set_filter(options_.ids);
  tree.set_observer(this);
  if (raw && lines_) {
    tree.set_raw_monitor(this, options_.raw_packed, options_.raw_unpacked);
  }
}

bool Listing::wants_packets() const {
  return packets_ || options_.range_limit != 0 ||
         std::ranges::find(refused_, true) != refused_.end();
}

void Listing::on_packet(const PacketRef& packet) {
  if (stopped_ || silent_) return;
  const TraceId id = packet.trace_id;
  current_ = id;
  const Source* source = listed_[id & 0x7F];
  // A packet without bytes reaches sinks, but not monitors.
  if (source != nullptr && packets_ && (bytes_ ? !packet.bytes.empty() : !packet.monitor_only)) {
    write_at_level(log_.text(), [&](TextBuffer& to) {
      if (bytes_) {
        outputs::write_packet_line(to, packet, *source);
      } else {
        outputs::write_packet_line_without_bytes(to, packet, *source);
      }
    });
    log_.settle();
    if (waits_.packets[id & 0x7F] != 0) [[unlikely]] {
      --waits_.packets[id & 0x7F];
      write_flushes();
    }
  }
  if (refused_[id & 0x7F]) [[unlikely]] {
    stopped_ = true;
    stopped_at_ = tree_->consumed();
    tree_->leave_block();
    refuse(packet.protocol, id);
  }
}

bool Listing::refuses_flush() {
  const auto refused = std::ranges::find(refused_, true);
  if (refused == refused_.end()) return false;
  const auto id = static_cast<TraceId>(refused - refused_.begin());
  refuse(tree_->source(id)->protocol(), id);
  return true;
}

void Listing::refuse(Protocol protocol, TraceId id) {
  write_component(component_names(protocol).elements, id);
  log_.error("", ErrorNumber::kNotInit, kNoIndex, kNoTraceId,
             "No decoder configuration information");
}

/// A sink that answered WAIT gets a FLUSH, as do all others.
void Listing::write_flushes() {
  for (TraceId id = 0; id < kTraceIdCount; ++id) {
    if (listed_[id] != nullptr) on_operation(Operation::kFlush, id);
  }
}

void Listing::on_diagnostic(const Diagnostic& record) {
  // The reference gives the deformatter's errors to a logger that the lister never sees, and the
  // packet processor under a full decoder has no logger (frames.md 8).
  if (stopped_ || silent_ || record.stage == Stage::kFrames) return;
  if (record.stage == Stage::kPackets && options_.decode) return;
  const TraceId id = record.stream_id == kNoTraceId ? current_ : record.stream_id;
  const Source* source = tree_->source(id);
  const Protocol protocol = source != nullptr ? source->protocol() : Protocol::kEtmV4;
  const ComponentNames names = component_names(protocol);
  write_component(record.stage == Stage::kPackets ? names.packets : names.elements, id);
  const Wording wording = wording_of(record, protocol);
  log_.error("", wording.number, wording.index, record.trace_id, wording.text);
}

/// "DCD_ETMV4_0016", or without the number if there are no frames.
void Listing::write_component(std::string_view name, TraceId id) {
  TextBuffer& out = log_.text();
  out.put(name);
  if (!tree_->formatted()) return;
  out.put('_');
  out.put('0');
  if (id < 100) out.put('0');
  if (id < 10) out.put('0');
  out.dec(id);
}

void Listing::on_operation(Operation operation, TraceId trace_id) {
  if (silent_ || (stopped_ && operation != Operation::kReset)) return;
  if (refused_[trace_id & 0x7F] && operation != Operation::kFlush)
    refuse(tree_->source(trace_id)->protocol(), trace_id);
  if (!packets_ || listed_[trace_id & 0x7F] == nullptr) return;
  // Monitors do not get flushes.
  if (operation == Operation::kFlush && options_.monitored()) return;
  constexpr std::string_view kTexts[] = {"\tEND OF TRACE DATA\n",
                                         "\tFLUSH operation on trace decode path\n",
                                         "\tRESET operation on trace decode path\n"};
  TextBuffer& out = log_.text();
  out.put("ID:");
  out.hex(trace_id);
  out.put(kTexts[static_cast<std::size_t>(operation)]);
}

void Listing::on_raw_frame(frames::RawKind kind, TraceIndex index, TraceId id, Bytes bytes) {
  if (stopped_ || silent_) return;
  frames::write_raw_frame(log_.text(), kind, index, id, bytes);
  log_.settle();
}

void Listing::elements(std::span<const Element> elements) {
  // The elements of the packets before were given before on_packet().
  if (stopped_ || silent_) return;
  if (!lines_) {
    for (const Element& element : elements) ++counts_[static_cast<std::size_t>(element.kind)];
    return;
  }
  for (const Element& element : elements) {
    write_at_level(log_.text(), [&](TextBuffer& to) { write_element_line(to, element); });
    if (waits_.unacknowledged) [[unlikely]] {
      log_.line(
          "WARNING: Generic Element Printer; New element without previous _WAIT acknowledged");
      waits_.unacknowledged = false;
    }
    if (waits_.elements != 0) [[unlikely]] {
      --waits_.elements;
      waits_.unacknowledged = true;
    }
    log_.settle();
  }
}

void Listing::log_profile() {
  TextBuffer& out = log_.text();
  out.put("Generic Packets processed:-\n");
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(ElementKind::kCustom); ++kind) {
    out.put(element_name(static_cast<ElementKind>(kind)));
    out.put(" : ");
    out.dec(counts_[kind]);
    out.put('\n');
  }
  out.put("\n\n");
}

}  // namespace waymark::compat
