// The C API in random order with random arguments: trees, decoders of every protocol, memory of
// every kind, packets, printers, operations.  Nothing may crash, hang or read out of bounds, and
// the count of used bytes never exceeds the count of given bytes.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/quirk_choice.h"
#include "legal_stream.h"
#include "waymark/frames/mux.h"

namespace {

/// Takes values from the front of the input; zeros once it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}

  [[nodiscard]] bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : *at_++; }
  template <class T>
  T value() {
    T out{};
    const auto size = std::min(sizeof out, static_cast<std::size_t>(end_ - at_));
    if (size != 0) std::memcpy(&out, at_, size);
    at_ += size;
    return out;
  }
  /// Most arguments are only meaningful if they are small.
  std::uint32_t number() { return (byte() & 7) != 0 ? byte() : value<std::uint32_t>(); }
  std::uint64_t address() {
    switch (byte() & 3) {
      case 0:
        return value<std::uint64_t>();
      case 1:
        return ~std::uint64_t{0} - byte();
      default:
        return std::uint64_t{byte()} << 4;
    }
  }
  std::vector<std::uint8_t> bytes(std::size_t most) {
    const auto size = std::min<std::size_t>(
        {value<std::uint16_t>() % (most + 1), most, static_cast<std::size_t>(end_ - at_)});
    std::vector<std::uint8_t> out(at_, at_ + size);
    at_ += size;
    return out;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

struct Client {
  std::optional<waymark::fuzz::LegalStream> legal;  ///< The last one.
  std::uint32_t random = 1;
  std::array<std::uint8_t, 64> code{};
  std::array<char, 512> text{};
  std::uint32_t next() {
    random = random * 1664525 + 1013904223;
    return random >> 16;
  }
};

Client& of(const void* context) { return *static_cast<Client*>(const_cast<void*>(context)); }

/// Mostly CONT, sometimes WAIT, rarely anything else.
ocsd_datapath_resp_t answer(Client& client) {
  const std::uint32_t number = client.next() % 64;
  if (number < 50) return OCSD_RESP_CONT;
  if (number < 62) return OCSD_RESP_WAIT;
  return static_cast<ocsd_datapath_resp_t>(client.next() % 11);
}

ocsd_datapath_resp_t on_element(const void* context, const ocsd_trc_index_t, const uint8_t,
                                const ocsd_generic_trace_elem* element) {
  Client& client = of(context);
  if (ocsd_gen_elem_str(element, client.text.data(), static_cast<int>(client.text.size())) !=
      OCSD_OK)
    std::abort();
  return answer(client);
}

ocsd_datapath_resp_t on_packet(const void* context, const ocsd_datapath_op_t op,
                               const ocsd_trc_index_t, const void* packet) {
  if ((packet == nullptr) != (op != OCSD_OP_DATA)) std::abort();
  return answer(of(context));
}

void on_monitor(const void* context, const ocsd_datapath_op_t, const ocsd_trc_index_t,
                const void* /*packet*/, const uint32_t size, const uint8_t* bytes) {
  for (uint32_t i = 0; i < size; ++i) of(context).random ^= bytes[i];
}

uint32_t read_code(const void* context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t,
                   const uint32_t wanted, uint8_t* bytes) {
  Client& client = of(context);
  const std::uint32_t number = client.next() % 32;
  if (number == 0) return 0;
  if (number == 1) return wanted + 1;
  const std::uint32_t size = number == 2 ? wanted / 2 : wanted;
  for (std::uint32_t i = 0; i < size; ++i)
    bytes[i] = client.code[(address + i) % client.code.size()];
  return size;
}

uint32_t read_code_of(const void* context, const ocsd_vaddr_t address,
                      const ocsd_mem_space_acc_t space, const uint8_t, const uint32_t wanted,
                      uint8_t* bytes) {
  return read_code(context, address, space, wanted, bytes);
}

/// The program of the last legal stream.
uint32_t read_program(const void* context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t,
                      const uint8_t, const uint32_t wanted, uint8_t* bytes) {
  const Client& client = of(context);
  if (!client.legal) return 0;
  return static_cast<uint32_t>(client.legal->read(address, {bytes, wanted}));
}

// -- A custom decoder: gives an element for each block and uses the library's services. -----------

/// The services of the library; each decoder has its own, which is its handle.
using Services = ocsd_extern_dcd_cb_fns;
char custom_name[] = "CUSTOM";

ocsd_datapath_resp_t on_custom_data(const void* handle, const ocsd_datapath_op_t op,
                                    const ocsd_trc_index_t index, const uint32_t size,
                                    const uint8_t* data, uint32_t* used) {
  if (op != OCSD_OP_DATA) return OCSD_RESP_CONT;
  const Services& services = *static_cast<const Services*>(handle);
  // Some blocks are taken in parts.
  *used = size > 3 && (data[0] & 1) != 0 ? size - 1 : size;
  if (services.fn_packet_mon != nullptr)
    services.fn_packet_mon(services.lib_context, op, index, data, *used, data);
  if (services.fn_packet_data_sink != nullptr)
    services.fn_packet_data_sink(services.lib_context, op, index, data);
  ocsd_instr_info info{};
  info.pe_type = {ARCH_V8, profile_CortexA};
  info.isa = static_cast<ocsd_isa>(data[0] % 7);
  info.opcode = size > 4 ? std::uint32_t{data[1]} << 24 | data[2] : 0;
  static_cast<void>(services.fn_arm_instruction_decode(services.lib_context, &info));
  std::array<std::uint8_t, 8> memory{};
  std::uint32_t count = memory.size();
  static_cast<void>(services.fn_memory_access(services.lib_context, std::uint64_t{data[0]} << 8,
                                              0x10, OCSD_MEM_SPACE_ANY, &count, memory.data()));
  services.fn_log_error(services.lib_context, OCSD_ERR_SEV_ERROR, OCSD_ERR_FAIL, index, 0x10,
                        "text");
  services.fn_log_msg(services.lib_context, OCSD_ERR_SEV_INFO, "text\n");
  ocsd_generic_trace_elem element;
  std::memset(&element, 0, sizeof element);
  ocsd_gen_elem_init(&element, OCSD_GEN_TRC_ELEM_CUSTOM);
  return services.fn_gen_elem_out(services.lib_context, index, 0x10, &element);
}

ocsd_err_t make_custom(const int, const void*, const ocsd_extern_dcd_cb_fns* callbacks,
                       ocsd_extern_dcd_inst_t* instance) {
  instance->fn_data_in = &on_custom_data;
  instance->fn_update_pkt_mon = [](const void*, const int) {};
  instance->decoder_handle = new Services(*callbacks);
  instance->p_decoder_name = custom_name;
  instance->cs_id = 0x10;
  return OCSD_OK;
}

void register_custom() {
  ocsd_extern_dcd_fact_t factory{};
  factory.createDecoder = &make_custom;
  factory.destroyDecoder = [](const void* handle) {
    delete static_cast<const Services*>(handle);
    return OCSD_OK;
  };
  factory.csidFromConfig = [](const void*, unsigned char* id) {
    *id = 0x10;
    return OCSD_OK;
  };
  factory.pktToString = [](const void*, char* text, const int size) {
    if (size > 0) *text = 0;
    return OCSD_OK;
  };
  static_cast<void>(ocsd_register_custom_decoder("custom", &factory));
}

void on_text(const void* context, const char* text, const int size) {
  if (std::strlen(text) > static_cast<std::size_t>(size)) std::abort();
  of(context).random += static_cast<std::uint32_t>(size);
}

using Config = waymark::fuzz::OpencsdConfig;

constexpr std::array kNames = {"ETMV4I", "ETE",    "PTM",    "ETMV3", "STM",
                               "ITM",    "ETMV4D", "custom", "none"};

class Calls {
 public:
  Calls(Input& input, Client& client) : input_(input), client_(client) {}
  ~Calls() {
    for (void* tree : trees_) ocsd_destroy_dcd_tree(tree);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  void one() {
    void* const tree = trees_[input_.byte() % trees_.size()];
    const auto space = static_cast<ocsd_mem_space_acc_t>(input_.byte());
    const std::uint8_t id = input_.byte() & 0x13;
    switch (input_.byte() % 24) {
      case 0:
        replace_tree();
        break;
      case 1:
      case 2:
      case 3:
        create_decoder(tree);
        break;
      case 4:
        static_cast<void>(ocsd_dt_remove_decoder(tree, id));
        break;
      case 5:
        static_cast<void>(ocsd_dt_set_gen_elem_outfn(tree, &on_element, &client_));
        break;
      case 6:
        attach(tree, id);
        break;
      case 7:
        static_cast<void>(ocsd_dt_set_pkt_protocol_printer(tree, id, input_.byte() & 1));
        break;
      case 8:
        static_cast<void>(ocsd_dt_set_raw_frame_printer(tree, input_.byte()));
        break;
      case 9:
        static_cast<void>(ocsd_dt_set_gen_elem_printer(tree));
        break;
      case 10:
        static_cast<void>(ocsd_dt_add_buffer_mem_acc(
            tree, input_.address(), space, client_.code.data(),
            input_.number() % (static_cast<std::uint32_t>(client_.code.size()) + 1)));
        break;
      case 11: {
        const std::uint64_t first = input_.address();
        static_cast<void>(ocsd_dt_add_callback_mem_acc(tree, first, first + input_.number(), space,
                                                       &read_code, &client_));
        break;
      }
      case 12:
        static_cast<void>(ocsd_dt_add_callback_trcid_mem_acc(
            tree, input_.address(), input_.address(), space, &read_code_of, &client_));
        break;
      case 13:
        static_cast<void>(ocsd_dt_remove_mem_acc(tree, input_.address(), space));
        break;
      case 14:
        static_cast<void>(ocsd_dt_set_mem_acc_cacheing(tree, input_.byte() & 1,
                                                       input_.value<std::uint16_t>(),
                                                       static_cast<int>(input_.number())));
        break;
      case 15:
        statistics(tree, id);
        break;
      case 16:
        texts();
        break;
      case 17:
        static_cast<void>(ocsd_def_errlog_set_strprint_cb(tree, &client_, &on_text));
        ocsd_tl_log_mapped_mem_ranges(tree);
        break;
      case 18:
        legal();
        break;
      case 19:
        custom();
        break;
      default:
        process(tree);
        break;
    }
  }

 private:
  /// A new tree that decodes a legal stream, in blocks.  It is kept for calls in any order.
  void legal() {
    waymark::support::Random random(input_.value<std::uint32_t>());
    const std::uint8_t how = input_.byte();
    const std::size_t place = input_.byte() % trees_.size();
    client_.legal.emplace(random);
    const waymark::fuzz::LegalStream& stream = *client_.legal;
    const bool framed = (how & 1) != 0;
    void*& tree = trees_[place];
    ocsd_destroy_dcd_tree(tree);
    indexes_[place] = 0;
    tree = ocsd_create_dcd_tree(framed ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                                OCSD_DFRMTR_FRAME_MEM_ALIGN);
    if (tree == nullptr) return;
    choose_quirks();
    unsigned char id = 0;
    const int kind = (how & 2) != 0 ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER;
    Config config = stream.config();
    static_cast<void>(ocsd_dt_create_decoder(tree, stream.decoder(), kind, &config, &id));
    static_cast<void>(ocsd_dt_add_callback_trcid_mem_acc(
        tree, 0, ~std::uint64_t{0}, OCSD_MEM_SPACE_ANY, &read_program, &client_));
    static_cast<void>(ocsd_dt_set_gen_elem_outfn(tree, &on_element, &client_));
    if ((how & 4) != 0) static_cast<void>(ocsd_dt_set_pkt_protocol_printer(tree, id, how >> 3 & 1));
    if ((how & 16) != 0) attach(tree, id);
    std::vector<std::uint8_t> bytes(stream.bytes().begin(), stream.bytes().end());
    if (framed) {
      waymark::frames::Mux mux;
      static_cast<void>(mux.write(stream.id(), bytes));
      mux.finish();
      bytes = mux.take();
    }
    feed_all(tree, place, bytes, framed ? std::size_t{16} << (how >> 6) : 1 + (how >> 5) * 37U);
  }

  /// A new tree whose decoder is the custom one.  It is kept for calls in any order.
  void custom() {
    const std::uint8_t how = input_.byte();
    const std::size_t place = input_.byte() % trees_.size();
    void*& tree = trees_[place];
    ocsd_destroy_dcd_tree(tree);
    indexes_[place] = 0;
    tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
    if (tree == nullptr) return;
    choose_quirks();
    unsigned char id = 0;
    const int kind = (how & 1) != 0 ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER;
    static_cast<void>(ocsd_dt_create_decoder(tree, "custom", kind, &kind, &id));
    if ((how & 2) != 0) attach(tree, id);
    if ((how & 4) != 0) static_cast<void>(ocsd_dt_set_pkt_protocol_printer(tree, id, how >> 3 & 1));
    if ((how & 16) != 0) static_cast<void>(ocsd_dt_set_gen_elem_outfn(tree, &on_element, &client_));
    feed_all(tree, place, input_.bytes(64), 1 + (how >> 5) * 3U);
  }

  /// As clients do: the rest of a block again after WAIT was flushed.
  void feed_all(void* tree, std::size_t place, std::span<const std::uint8_t> bytes,
                std::size_t block) {
    std::size_t done = 0;
    for (unsigned i = 0; i < 100'000 && done < bytes.size(); ++i) {
      // A separate copy, so that reads past its end, or later, are detected.
      const std::vector<std::uint8_t> part(
          bytes.begin() + static_cast<std::ptrdiff_t>(done),
          bytes.begin() + static_cast<std::ptrdiff_t>(std::min(done + block, bytes.size())));
      std::uint32_t used = 0;
      ocsd_datapath_resp_t response =
          ocsd_dt_process_data(tree, OCSD_OP_DATA, indexes_[place],
                               static_cast<std::uint32_t>(part.size()), part.data(), &used);
      if (used > std::max<std::size_t>(part.size(), last_used_[place])) std::abort();
      last_used_[place] = used;
      indexes_[place] += used;
      done += used;
      for (unsigned j = 0; j < 1000 && OCSD_DATA_RESP_IS_WAIT(response); ++j)
        response = ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, nullptr, nullptr);
      if (!OCSD_DATA_RESP_IS_CONT(response)) return;
    }
    static_cast<void>(ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, nullptr, nullptr));
  }

  void replace_tree() {
    void*& tree = trees_[input_.byte() % trees_.size()];
    ocsd_destroy_dcd_tree(tree);
    tree = ocsd_create_dcd_tree(static_cast<ocsd_dcd_tree_src_t>(input_.byte() % 3),
                                input_.byte() & 0x7F);
    const auto place = static_cast<std::size_t>(&tree - trees_.data());
    indexes_[place] = 0;
  }

  /// Mostly all of them; otherwise a few less, or only a few.
  void choose_quirks() {
    static const std::vector<std::string> kQuirkNames = waymark::compat::quirk_names();
    const std::uint8_t how = input_.byte();
    std::string list = (how & 8) != 0 ? "none" : "all";
    if ((how & 3) == 0) {
      for (unsigned i = 0; i < 4; ++i) {
        list += (how & 8) != 0 ? "," : ",-";
        list += kQuirkNames[input_.byte() % kQuirkNames.size()];
      }
    } else if ((how & 0xF0) != 0) {
      list = "all";
    }
    // There is one thread.
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    setenv(waymark::compat::kQuirksVariable, list.c_str(), 1);
  }

  void create_decoder(void* tree) {
    choose_quirks();
    auto config = input_.value<Config>();
    // In all protocols a few bits hold the trace ID; the other bits are random.
    const char* const name = kNames[input_.byte() % kNames.size()];
    unsigned char id = 0;
    const int flags = static_cast<int>(input_.value<std::uint32_t>() & 0x33FF7);
    static_cast<void>(ocsd_dt_create_decoder(tree, name, flags, &config, &id));
  }

  void attach(void* tree, std::uint8_t id) {
    const auto type = static_cast<ocsd_c_api_cb_types>(input_.byte() % 3);
    void* const function = type == OCSD_C_API_CB_PKT_MON ? reinterpret_cast<void*>(&on_monitor)
                                                         : reinterpret_cast<void*>(&on_packet);
    static_cast<void>(ocsd_dt_attach_packet_callback(tree, id, type, function, &client_));
  }

  void statistics(void* tree, std::uint8_t id) {
    ocsd_decode_stats_t* stats = nullptr;
    if (ocsd_dt_get_decode_stats(tree, id, &stats) == OCSD_OK &&
        stats->channel_unsynced > stats->channel_total)
      std::abort();
    if ((input_.byte() & 1) != 0) static_cast<void>(ocsd_dt_reset_decode_stats(tree, id));
  }

  void texts() {
    union {
      ocsd_etmv4_i_pkt etmv4;
      ocsd_etmv3_pkt etmv3;
      ocsd_ptm_pkt ptm;
      ocsd_stm_pkt stm;
      ocsd_itm_pkt itm;
      ocsd_generic_trace_elem element;
    } any = input_.value<decltype(any)>();
    const int size = input_.byte() * 2;
    const auto protocol = static_cast<ocsd_trace_protocol_t>(input_.byte() % 12);
    static_cast<void>(ocsd_pkt_str(protocol, &any, client_.text.data(), size));
    any.element.ptr_extended_data = nullptr;
    static_cast<void>(ocsd_gen_elem_str(&any.element, client_.text.data(), size));
    ocsd_err_str(static_cast<ocsd_err_t>(input_.byte()), client_.text.data(), size);
    static_cast<void>(ocsd_get_last_err(nullptr, nullptr, client_.text.data(), size));
  }

  void process(void* tree) {
    const auto place = static_cast<std::size_t>(std::ranges::find(trees_, tree) - trees_.begin());
    const std::uint8_t op = input_.byte() % 8;
    if (op < 4) {
      static_cast<void>(
          ocsd_dt_process_data(tree, static_cast<ocsd_datapath_op_t>(op), 0, 0, nullptr, nullptr));
      if (op == OCSD_OP_RESET) indexes_[place] = 0;
      return;
    }
    // A separate copy, so that reads past its end, or later, are detected.
    std::vector<std::uint8_t> block = input_.bytes(512);
    if ((input_.byte() & 3) != 0) block.resize(block.size() & ~std::size_t{15});
    std::uint32_t used = 0;
    static_cast<void>(ocsd_dt_process_data(tree, OCSD_OP_DATA, indexes_[place],
                                           static_cast<std::uint32_t>(block.size()), block.data(),
                                           &used));
    if (used > std::max<std::size_t>(block.size(), last_used_[place])) std::abort();
    last_used_[place] = used;
    indexes_[place] += used;
  }

  Input& input_;
  Client& client_;
  std::array<void*, 3> trees_{};
  std::array<ocsd_trc_index_t, 3> indexes_{};
  std::array<std::uint32_t, 3> last_used_{};  ///< A refused index gives the previous count again.
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  Client client;
  client.random = input.value<std::uint32_t>();
  client.code = input.value<decltype(client.code)>();
  ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr);
  // Once: each registration uses up one of the numbers of protocols.
  static const bool kRegistered = (register_custom(), true);
  static_cast<void>(kRegistered);
  Calls calls(input, client);
  while (!input.empty()) calls.one();
  return 0;
}
