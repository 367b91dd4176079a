#include "custom.h"

#include <algorithm>

#include "builtin.h"
#include "level_text.h"
#include "logger.h"
#include "waymark/element/text.h"
#include "waymark/isa/instruction.h"

namespace waymark::compat {

// -- The register. --------------------------------------------------------------------------------

CustomRegister& CustomRegister::instance() {
  // Never destroyed, like the log.
  static auto* const kAll = new CustomRegister;
  return *kAll;
}

ErrorNumber CustomRegister::add(std::string_view name, ocsd_extern_dcd_fact_t& factory) {
  if (factory.createDecoder == nullptr || factory.destroyDecoder == nullptr ||
      factory.csidFromConfig == nullptr)
    return ErrorNumber::kInvalidParamVal;
  const std::lock_guard lock(mutex_);
  if (builtin_by_name(name) || std::ranges::find(entries_, name, &Entry::name) != entries_.end())
    return ErrorNumber::kDcdregNameRepeat;
  if (next_ == OCSD_PROTOCOL_END) return ErrorNumber::kDcdregToomany;
  factory.protocol_id = static_cast<ocsd_trace_protocol_t>(next_++);
  entries_.push_back({std::string(name), factory});
  return ErrorNumber::kOk;
}

std::optional<ocsd_extern_dcd_fact_t> CustomRegister::find(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(entries_, name, &Entry::name);
  if (at == entries_.end()) return std::nullopt;
  return at->factory;
}

std::optional<ocsd_extern_dcd_fact_t> CustomRegister::find(ocsd_trace_protocol_t protocol) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.factory.protocol_id == protocol) return entry.factory;
  return std::nullopt;
}

void CustomRegister::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

// -- What the decoder gets. -----------------------------------------------------------------------

struct CustomCallbacks {
  static CustomChannel& of(const void* context) {
    return *static_cast<CustomChannel*>(const_cast<void*>(context));
  }

  static Response element(const void* context, const ocsd_trc_index_t index, const std::uint8_t id,
                          const ocsd_generic_trace_elem* elem) {
    const ElementOutput& output = of(context).around_.output;
    if (output.function != nullptr) return output.function(output.context, index, id, elem);
    if (!output.printer) return OCSD_RESP_FATAL_NOT_INIT;
    Element element;
    element.index = index;
    element.trace_id = id;
    read_element(*elem, element);
    TextBuffer text;
    write_at_level(text, [&](TextBuffer& to) { write_element_line(to, element); });
    output.printer.print(text.view());
    return OCSD_RESP_CONT;
  }

  static void error(const void* context, const ocsd_err_severity_t severity, const ocsd_err_t code,
                    const ocsd_trc_index_t index, const std::uint8_t id, const char* message) {
    if (!of(context).logs()) return;
    Logger::instance().error(of(context).component_, severity, static_cast<ErrorNumber>(code),
                             index == OCSD_BAD_TRC_INDEX ? kNoIndex : index, id,
                             message != nullptr ? message : "");
  }

  static void message(const void* context, const ocsd_err_severity_t severity, const char* text) {
    if (text != nullptr && of(context).logs())
      Logger::instance().message(of(context).component_, severity, text);
  }

  static ocsd_err_t instruction(const void* /*context*/, ocsd_instr_info* info) {
    if (info == nullptr) return OCSD_ERR_INVALID_PARAM_VAL;
    const isa::Options options{.arch = static_cast<isa::Arch>(info->pe_type.arch),
                               .dsb_dmb_waypoints = info->dsb_dmb_waypoints != 0,
                               .wfi_wfe_waypoints = info->wfi_wfe_branch != 0,
                               .track_it_block = info->track_it_block != 0,
                               .quirks = isa::Quirks::reference()};
    isa::Instruction found;
    std::uint8_t it = std::min<std::uint8_t>(info->thumb_it_conditions, 4);
    switch (isa::classify(options, static_cast<isa::Isa>(info->isa), info->instr_addr, info->opcode,
                          it, found)) {
      case isa::Outcome::kUnsupportedIsa:
        return OCSD_ERR_UNSUPPORTED_ISA;
      case isa::Outcome::kInvalidOpcode:
        return OCSD_ERR_INVALID_OPCODE;
      case isa::Outcome::kOk:
        break;
    }
    info->type = static_cast<ocsd_instr_type>(found.type);
    info->sub_type = static_cast<ocsd_instr_subtype>(found.subtype);
    info->branch_addr = found.target;
    info->next_isa = static_cast<ocsd_isa>(found.next_isa);
    info->instr_size = found.size;
    info->is_conditional = found.conditional;
    info->is_link = found.link;
    if (options.track_it_block) info->thumb_it_conditions = it;
    return OCSD_OK;
  }

  static ocsd_err_t memory(const void* context, const ocsd_vaddr_t address, const std::uint8_t id,
                           const ocsd_mem_space_acc_t space, std::uint32_t* size,
                           std::uint8_t* out) {
    Memory& memory = of(context).around_.memory;
    if (size == nullptr || out == nullptr || !memory.exists()) return OCSD_ERR_INVALID_PARAM_VAL;
    const std::optional<std::uint32_t> read = memory.read(address, id, space, {out, *size});
    *size = read.value_or(0);
    return read ? OCSD_OK : OCSD_ERR_MEM_ACC_BAD_LEN;
  }

  static void monitor(const void* context, const ocsd_datapath_op_t op,
                      const ocsd_trc_index_t index, const void* packet, const std::uint32_t size,
                      const std::uint8_t* bytes) {
    const PacketClient& client = of(context).client_;
    if (client.monitor != nullptr)
      client.monitor(client.monitor_context, op, index, packet, size, bytes);
  }

  static Response sink(const void* context, const ocsd_datapath_op_t op,
                       const ocsd_trc_index_t index, const void* packet) {
    const PacketClient& client = of(context).client_;
    return client.sink != nullptr ? client.sink(client.sink_context, op, index, packet)
                                  : OCSD_RESP_CONT;
  }
};

// -- The channel. ---------------------------------------------------------------------------------

CustomChannel::CustomChannel(Surroundings& around, const ocsd_extern_dcd_fact_t& factory)
    : around_(around), factory_(factory) {}

ErrorNumber CustomChannel::create(Surroundings& around, const ocsd_extern_dcd_fact_t& factory,
                                  int flags, const void* config,
                                  std::unique_ptr<CustomChannel>& out) {
  std::unique_ptr<CustomChannel> channel(new CustomChannel(around, factory));
  ocsd_extern_dcd_cb_fns functions{};
  functions.fn_gen_elem_out = &CustomCallbacks::element;
  functions.fn_log_error = &CustomCallbacks::error;
  functions.fn_log_msg = &CustomCallbacks::message;
  functions.fn_arm_instruction_decode = &CustomCallbacks::instruction;
  functions.fn_memory_access = &CustomCallbacks::memory;
  functions.fn_packet_mon = &CustomCallbacks::monitor;
  functions.fn_packet_data_sink = &CustomCallbacks::sink;
  functions.lib_context = channel.get();
  ocsd_extern_dcd_inst_t& instance = channel->instance_;
  const ocsd_err_t created = factory.createDecoder(flags, config, &functions, &instance);
  if (created != OCSD_OK) {
    instance.decoder_handle = nullptr;
    return static_cast<ErrorNumber>(created);
  }
  if (instance.fn_data_in == nullptr || instance.fn_update_pkt_mon == nullptr ||
      instance.decoder_handle == nullptr || instance.p_decoder_name == nullptr ||
      instance.cs_id == 0)
    return ErrorNumber::kInvalidParamVal;
  channel->component_ = component_name(instance.p_decoder_name, instance.cs_id);
  out = std::move(channel);
  return ErrorNumber::kOk;
}

CustomChannel::~CustomChannel() {
  if (instance_.decoder_handle != nullptr)
    static_cast<void>(factory_.destroyDecoder(instance_.decoder_handle));
}

Response CustomChannel::data(TraceIndex index, Bytes block) {
  if (block.empty()) return give_nothing(index);
  index_ = index;
  block_ = block;
  used_ = 0;
  return give();
}

Response CustomChannel::give() {
  holds_ = false;
  if (block_.empty()) return OCSD_RESP_CONT;
  std::uint32_t used = 0;
  const Response response = instance_.fn_data_in(
      instance_.decoder_handle, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(index_),
      static_cast<std::uint32_t>(block_.size()), block_.data(), &used);
  const std::size_t taken = std::min<std::size_t>(used, block_.size());
  used_ += taken;
  index_ += taken;
  // Bytes that the decoder leaves unused with an answer to continue are lost, as in the reference.
  block_ = OCSD_DATA_RESP_IS_WAIT(response) ? block_.subspan(taken) : Bytes{};
  holds_ = OCSD_DATA_RESP_IS_WAIT(response);
  return response;
}

/// The decoder itself answers a block without bytes.
Response CustomChannel::give_nothing(TraceIndex index) const {
  constexpr std::uint8_t kNone = 0;
  std::uint32_t used = 0;
  return instance_.fn_data_in(instance_.decoder_handle, OCSD_OP_DATA,
                              static_cast<ocsd_trc_index_t>(index), 0, &kNone, &used);
}

Response CustomChannel::operate(ocsd_datapath_op_t op) const {
  return instance_.fn_data_in(instance_.decoder_handle, op, 0, 0, nullptr, nullptr);
}

Response CustomChannel::flush() {
  const Response response = operate(OCSD_OP_FLUSH);
  holds_ = OCSD_DATA_RESP_IS_WAIT(response);
  if (response >= OCSD_RESP_WAIT) return response;
  return worse(response, give());
}

Response CustomChannel::reset() {
  block_ = {};
  holds_ = false;
  return operate(OCSD_OP_RESET);
}

std::size_t CustomChannel::withdraw() {
  block_ = {};
  return used_;
}

void CustomChannel::update_flags() const {
  int flags = 0;
  if (client_.monitor != nullptr) flags |= OCSD_CUST_DCD_PKT_CB_USE_MON;
  if (client_.sink != nullptr) flags |= OCSD_CUST_DCD_PKT_CB_USE_SINK;
  instance_.fn_update_pkt_mon(instance_.decoder_handle, flags);
}

ErrorNumber CustomChannel::attach_sink(FnDefPktDataIn function, const void* context) {
  client_.sink = function;
  client_.sink_context = context;
  update_flags();
  return ErrorNumber::kOk;
}

ErrorNumber CustomChannel::attach_monitor(FnDefPktDataMon function, const void* context) {
  client_.monitor = function;
  client_.monitor_context = context;
  update_flags();
  return ErrorNumber::kOk;
}

}  // namespace waymark::compat
