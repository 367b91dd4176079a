#include "quirk_traces.h"

#include <algorithm>
#include <string>

#include "capi_fixture.h"
#include "opencsd/itm/trc_pkt_types_itm.h"

namespace waymark::compat {
namespace {

using enum QuirkTrace;

// 1000 NOP; B.EQ 100c; BL 1018; RET; 1010 BR x1; B 1010; NOP; RET; 1020 ISB; ERET; BLR x1; NOP
constexpr std::string_view kA64 =
    "D503201F 54000040 94000004 D65F03C0 D61F0020 17FFFFFF D503201F D65F03C0 "
    "D5033FDF D69F03E0 D63F0020 D503201F";
// 1000 NOP; BEQ 100c; BL 1014; BL 1014; 1010 B 1000; BX lr
constexpr std::string_view kCalls = "E1A00000 0A000000 EB000001 EB000000 EAFFFFFA E12FFF1E";
constexpr std::string_view kNops = "E1A00000 E1A00000 E1A00000 E1A00000 E1A00000 E1A00000";
constexpr std::string_view kEret = "E160006E E160006E";

// 1000 LDM r0, {r1-r7}; 1004 NOP; NOP; NOP; 100a BX lr
constexpr std::string_view kT32 = "00FEE890 BF00BF00 4770BF00";

// 1000 NOP; LE LR, 1000; NOP
constexpr std::string_view kLoop = "F00FBF00 BF00C003";
// 1000 NOP; CLRM {APSR}; NOP; BX lr
constexpr std::string_view kClrm = "E89FBF00 BF008000 00004770";
// 1000 NOP; NOP; BX LR
constexpr std::string_view kLastHalfword = "BF00BF00 00004770";
constexpr std::size_t kLongMemory = 12U << 20;

constexpr std::uint32_t kCycles = 0x1000;
constexpr std::uint32_t kDataValues = 4;
constexpr std::uint32_t kDataAll = 0xC;
constexpr std::uint32_t kDataOnly = 1U << 20;
constexpr std::uint32_t kReturnStack = 1U << 29;
constexpr std::uint32_t kBinaryTime = 1U << 28;
constexpr std::uint32_t kQ = 3U << 15;

// clang-format off
constexpr QuirkRow kRows[] = {
#include "quirk_traces.inc"
};
// clang-format on

class Listing {
 public:
  explicit Listing(const QuirkRow& row) : row_(row) {
    ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr);
    const bool frames = row.trace == kFrames || row.framed;
    tree_ = ocsd_create_dcd_tree(frames ? OCSD_TRC_SRC_FRAME_FORMATTED : OCSD_TRC_SRC_SINGLE,
                                 row.trace == kFrames && row.registers[0] != 0
                                     ? row.registers[0]
                                     : std::uint32_t{OCSD_DFRMTR_FRAME_MEM_ALIGN});
    ocsd_def_errlog_set_strprint_cb(tree_, this, &on_text);
  }
  ~Listing() { ocsd_destroy_dcd_tree(tree_); }
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  std::string run() {
    add_decoder();
    ocsd_dt_set_gen_elem_outfn(tree_, &on_element, this);
    if (row_.trace == kFrames) {
      ocsd_dt_set_raw_frame_printer(tree_, OCSD_DFRMTR_UNPACKED_RAW_OUT);
    } else {
      ocsd_dt_attach_packet_callback(tree_, trace_id(), OCSD_C_API_CB_PKT_MON,
                                     reinterpret_cast<void*>(&on_packet), this);
    }
    const bool a32 = row_.trace == kEtmV3 || row_.trace == kPtm;
    ByteVector code = words(row_.code.empty() && a32 ? kNops : row_.code);
    if (row_.memory != 0) code.resize(row_.memory);
    if (!code.empty())
      ocsd_dt_add_buffer_mem_acc(tree_, 0x1000, OCSD_MEM_SPACE_ANY, code.data(),
                                 static_cast<std::uint32_t>(code.size()));
    feed();
    if (row_.trace == kFrames) add_frame_bytes();
    return text_;
  }

 private:
  static constexpr bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
  static constexpr unsigned digit(char c) {
    return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }

  static ByteVector words(std::string_view text) {
    ByteVector bytes;
    for (std::size_t at = 0; at + 8 <= text.size(); at += 9) {
      for (std::size_t i = 4; i-- != 0;)
        bytes.push_back(
            static_cast<std::uint8_t>(digit(text[at + 2 * i]) << 4 | digit(text[at + 2 * i + 1])));
    }
    return bytes;
  }

  void create(const char* name, const void* config, ocsd_trace_protocol_t protocol) {
    protocol_ = protocol;
    const int flags =
        row_.packets_only ? OCSD_CREATE_FLG_PACKET_PROC : OCSD_CREATE_FLG_FULL_DECODER;
    unsigned char id = 0;
    const ocsd_err_t made = ocsd_dt_create_decoder(tree_, name, flags, config, &id);
    if (made != OCSD_OK) text_ += "R create " + std::to_string(made) + "\n";
  }

  void add_frame_bytes() {
    ocsd_decode_stats_t* counts = nullptr;
    if (ocsd_dt_get_decode_stats(tree_, 0x11, &counts) == OCSD_OK)
      text_ += "S " + std::to_string(counts->demux.frame_bytes) + "\n";
  }

  [[nodiscard]] std::uint8_t trace_id() const { return row_.framed ? 0x11 : 1; }

  void add_decoder() {
    const std::array<std::uint32_t, 4>& turned = row_.registers;
    switch (row_.trace) {
      case kFrames: {
        const ocsd_etmv4_cfg config = etmv4_config(0x11);
        return create("ETMV4I", &config, OCSD_PROTOCOL_ETMV4I);
      }
      case kEtmV3: {
        const ocsd_etmv3_cfg config{
            0x410CF250, 0x10000000 ^ turned[0], 0x344008F2 ^ turned[1], trace_id(),
            ARCH_V7,    profile_CortexA};
        return create("ETMV3", &config, OCSD_PROTOCOL_ETMV3);
      }
      case kPtm: {
        const ocsd_ptm_cfg config{0x4100F310, turned[0], 0x30800000 ^ turned[1],
                                  trace_id(), ARCH_V7,   profile_CortexA};
        return create("PTM", &config, OCSD_PROTOCOL_PTM);
      }
      case kEtmV4: {
        ocsd_etmv4_cfg config{};
        config.reg_idr0 = 0x28000EA1 ^ turned[0];
        config.reg_idr1 = 0x4100F423;
        config.reg_idr2 = 0x1088;
        config.reg_idr8 = turned[2];
        config.reg_configr = turned[1];
        config.reg_traceidr = 1;
        config.arch_ver = ARCH_AA64;
        config.core_prof = profile_CortexA;
        return create("ETMV4I", &config, OCSD_PROTOCOL_ETMV4I);
      }
      case kEtmV4M: {
        ocsd_etmv4_cfg config{};
        config.reg_idr0 = 0x20000CA1;
        config.reg_idr1 = 0x4100F443;
        config.reg_idr2 = 0x1088;
        config.reg_idr8 = 0x10;
        config.reg_traceidr = 1;
        config.arch_ver = ARCH_V8;
        config.core_prof = profile_CortexM;
        return create("ETMV4I", &config, OCSD_PROTOCOL_ETMV4I);
      }
      case kEte: {
        const ocsd_ete_cfg config{0x28000EA1 ^ turned[0], 0x4100FFF3, 0x1088, turned[2],
                                  0x47705A13 ^ turned[3], turned[1],  1,      ARCH_AA64,
                                  profile_CortexA};
        return create("ETE", &config, OCSD_PROTOCOL_ETE);
      }
      case kStm: {
        const ocsd_stm_cfg config{
            row_.framed ? 0x00110001U : 0x00100001U, 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
        return create("STM", &config, OCSD_PROTOCOL_STM);
      }
      case kItm: {
        const ocsd_itm_cfg config{0x00010000};
        return create("ITM", &config, OCSD_PROTOCOL_ITM);
      }
    }
  }

  [[nodiscard]] std::string_view synchronisation() const {
    switch (row_.trace) {
      case kEtmV4:
      case kEtmV4M:
      case kEte:
        return "000000000000000000000080 0100";
      case kStm:
        return "fffffffffffffffffffff0 f003";
      default:
        return "000000000080";
    }
  }
  [[nodiscard]] std::string_view start() const {
    switch (row_.trace) {
      case kEtmV3:
        return "082100100000";
      case kPtm:
        return "080010000021";
      case kEtmV4M:
        return "830010000000";
      default:
        return "85000800000000000031";
    }
  }

  /// For STM, a 0, which is a NULL packet, completes a last half byte.
  void add_digits(std::string_view text) {
    for (const char c : text) {
      if (!is_hex(c)) continue;
      if (half_ && row_.trace == kStm) {
        block_.back() = static_cast<std::uint8_t>(block_.back() | digit(c) << 4);
      } else if (half_) {
        block_.back() = static_cast<std::uint8_t>(unsigned{block_.back()} << 4 | digit(c));
      } else {
        block_.push_back(static_cast<std::uint8_t>(digit(c)));
      }
      half_ = !half_;
    }
  }

  void feed() {
    for (const char& c : row_.bytes) {
      switch (c) {
        case 'A':
          add_digits(synchronisation());
          break;
        case 'S':
          add_digits(start());
          break;
        case 'R':
          give();
          index_ = 0;
          operate(OCSD_OP_RESET);
          break;
        case 'E':
          give();
          operate(OCSD_OP_EOT);
          break;
        default:
          add_digits({&c, 1});
      }
    }
    give();
  }

  void answered(ocsd_datapath_resp_t answer) {
    if (answer == OCSD_RESP_CONT) return;
    text_ += "R " + std::to_string(answer) + "\n";
    ended_ = OCSD_DATA_RESP_IS_FATAL(answer);
  }
  void operate(ocsd_datapath_op_t operation) {
    if (!ended_) answered(ocsd_dt_process_data(tree_, operation, 0, 0, nullptr, nullptr));
  }
  void give() {
    const std::size_t most = row_.block != 0 ? row_.block : block_.size();
    for (std::size_t at = 0; at < block_.size() && !ended_; at += most) {
      // Each in a separate block, so that a read beyond it is detected.
      const ByteVector part(
          block_.begin() + static_cast<std::ptrdiff_t>(at),
          block_.begin() + static_cast<std::ptrdiff_t>(std::min(at + most, block_.size())));
      std::uint32_t used = 0;
      answered(ocsd_dt_process_data(tree_, OCSD_OP_DATA, index_,
                                    static_cast<std::uint32_t>(part.size()), part.data(), &used));
      index_ += used;
    }
    block_.clear();
    half_ = false;
  }

  static Listing& self(const void* context) {
    return *static_cast<Listing*>(const_cast<void*>(context));
  }
  static void on_text(const void* context, const char* text, int size) {
    std::string& all = self(context).text_;
    all += "L " + std::string(text, static_cast<std::size_t>(size));
    if (!all.ends_with('\n')) all += '\n';
  }
  static ocsd_datapath_resp_t on_element(const void* context, ocsd_trc_index_t index,
                                         uint8_t /*id*/, const ocsd_generic_trace_elem* element) {
    std::array<char, 256> text{};
    ocsd_gen_elem_str(element, text.data(), text.size());
    std::string& all = self(context).text_;
    constexpr std::size_t kPrefix = std::string_view("OCSD_GEN_TRC_ELEM_").size();
    all += "E " + std::to_string(index) + " " +
           std::string(std::string_view(text.data()).substr(kPrefix));
    if (element->has_ts != 0) all += " has_ts";
    if (element->cpu_freq_change != 0) all += " cpu_freq_change";
    all += '\n';
    return OCSD_RESP_CONT;
  }
  static void on_packet(const void* context, ocsd_datapath_op_t operation, ocsd_trc_index_t index,
                        const void* packet, uint32_t size, const uint8_t* data) {
    if (operation != OCSD_OP_DATA) return;
    constexpr std::string_view kDigits = "0123456789abcdef";
    Listing& listing = self(context);
    std::string& all = listing.text_;
    std::array<char, 512> text{};
    ocsd_pkt_str(listing.protocol_, packet, text.data(), text.size());
    all += "P " + std::to_string(index) + " [";
    for (const std::uint8_t byte : std::span(data, size)) {
      all += kDigits[byte >> 4];
      all += kDigits[byte & 0xF];
    }
    all += "] " + std::string(text.data()) + '\n';
  }

  const QuirkRow& row_;
  dcd_tree_handle_t tree_ = nullptr;
  ocsd_trace_protocol_t protocol_ = OCSD_PROTOCOL_UNKNOWN;
  ByteVector block_;
  bool half_ = false;
  bool ended_ = false;
  ocsd_trc_index_t index_ = 0;
  std::string text_;
};

}  // namespace

std::span<const QuirkRow> quirk_rows() { return kRows; }

std::string quirk_listing(const QuirkRow& row) { return Listing(row).run(); }

}  // namespace waymark::compat
