// Common parts of the tests of the C API: a tree, a client that records its calls, and an ETMv4
// stream.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "opencsd/c_api/opencsd_c_api.h"
#include "waymark/frames/mux.h"

namespace waymark::compat {

using ByteVector = std::vector<std::uint8_t>;

inline ByteVector operator+(ByteVector a, const ByteVector& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// -- ETMv4 packets. -------------------------------------------------------------------------------

inline ByteVector async() { return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}; }
inline ByteVector trace_info() { return {0x01, 0x00}; }
inline ByteVector trace_on() { return {0x04}; }
/// EL1, non-secure, AArch64, with a context ID.
inline ByteVector address_context(std::uint32_t address, std::uint8_t context_id) {
  return {0x85,
          static_cast<std::uint8_t>(address >> 2 & 0x7F),
          static_cast<std::uint8_t>(address >> 9 & 0x7F),
          static_cast<std::uint8_t>(address >> 16),
          static_cast<std::uint8_t>(address >> 24),
          0,
          0,
          0,
          0,
          0xB1,
          context_id,
          0,
          0,
          0};
}
inline ByteVector context(std::uint8_t context_id) { return {0x81, 0xB1, context_id, 0, 0, 0}; }
/// One atom E.
inline ByteVector taken() { return {0xF7}; }
/// Three atoms E.
inline ByteVector taken_three_times() { return {0xFF}; }

/// The packets up to execution at `address`.
inline ByteVector start(std::uint32_t address, std::uint8_t context_id) {
  return async() + trace_info() + trace_on() + address_context(address, context_id);
}

/// 1000 NOP, 1004 B.NE 1000: an atom E runs two instructions and comes back.
inline constexpr std::uint32_t kLoopAddress = 0x1000;
inline constexpr std::array<std::uint32_t, 2> kLoop = {0xD503201F, 0x54FFFFE1};

inline ByteVector code(std::initializer_list<std::uint32_t> words) {
  ByteVector bytes;
  bytes.reserve(words.size() * 4);
  for (const std::uint32_t word : words)
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  return bytes;
}
inline ByteVector loop_code() { return code({kLoop[0], kLoop[1]}); }

inline ocsd_etmv4_cfg etmv4_config(std::uint8_t id) {
  ocsd_etmv4_cfg config{};
  config.reg_idr0 = 0x28000EA1;
  config.reg_idr1 = 0x4100F403;
  config.reg_idr2 = 0x00000488;
  config.reg_configr = 0x000000C1;
  config.reg_traceidr = id;
  config.arch_ver = ARCH_V8;
  config.core_prof = profile_CortexA;
  return config;
}

/// The bytes of each ID, in turns, as CoreSight frames.
inline ByteVector frames_of(std::initializer_list<std::pair<std::uint8_t, ByteVector>> parts) {
  frames::Mux mux;
  for (const auto& [id, bytes] : parts) EXPECT_TRUE(mux.write(id, bytes).has_value());
  mux.finish();
  return mux.take();
}

// -- The client. ----------------------------------------------------------------------------------

/// Records elements, packets and log lines.
struct Notes {
  std::vector<std::string> elements;
  std::vector<ocsd_generic_trace_elem> structures;
  std::vector<std::uint8_t> ids;
  std::string log;
  /// The answer to the next element, depending on it.
  std::function<ocsd_datapath_resp_t(const ocsd_generic_trace_elem&, std::uint8_t)> answer;
};

inline ocsd_datapath_resp_t note_element(const void* context, const ocsd_trc_index_t index,
                                         const uint8_t id, const ocsd_generic_trace_elem* element) {
  auto& notes = *static_cast<Notes*>(const_cast<void*>(context));
  std::array<char, 256> text{};
  EXPECT_EQ(ocsd_gen_elem_str(element, text.data(), text.size()), OCSD_OK);
  constexpr std::string_view kPrefix = "OCSD_GEN_TRC_ELEM_";
  notes.elements.push_back(std::to_string(index) + " " +
                           std::string(std::string_view(text.data()).substr(kPrefix.size())));
  notes.structures.push_back(*element);
  notes.ids.push_back(id);
  return notes.answer ? notes.answer(*element, id) : OCSD_RESP_CONT;
}

inline void note_text(const void* context, const char* text, const int size) {
  static_cast<Notes*>(const_cast<void*>(context))->log.append(text, static_cast<std::size_t>(size));
}

/// A tree with its client; the log goes to `notes.log`.
class CApi : public testing::Test {
 protected:
  CApi() {
    ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
    ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr);
  }
  ~CApi() override { ocsd_destroy_dcd_tree(tree); }

  void make_tree(ocsd_dcd_tree_src_t type, std::uint32_t flags = OCSD_DFRMTR_FRAME_MEM_ALIGN) {
    ocsd_destroy_dcd_tree(tree);
    tree = ocsd_create_dcd_tree(type, flags);
    ASSERT_NE(tree, C_API_INVALID_TREE_HANDLE);
    ASSERT_EQ(ocsd_def_errlog_set_strprint_cb(tree, &notes, &note_text), OCSD_OK);
  }
  void single() { make_tree(OCSD_TRC_SRC_SINGLE); }
  void formatted(std::uint32_t flags = OCSD_DFRMTR_FRAME_MEM_ALIGN) {
    make_tree(OCSD_TRC_SRC_FRAME_FORMATTED, flags);
  }

  ocsd_err_t add_etmv4(std::uint8_t id, int flags = OCSD_CREATE_FLG_FULL_DECODER) {
    const ocsd_etmv4_cfg config = etmv4_config(id);
    return ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, flags, &config, &id_of_decoder);
  }
  void note_elements() {
    ASSERT_EQ(ocsd_dt_set_gen_elem_outfn(tree, &note_element, &notes), OCSD_OK);
  }
  void add_code(std::uint32_t address, const ByteVector& bytes) {
    ASSERT_EQ(ocsd_dt_add_buffer_mem_acc(tree, address, OCSD_MEM_SPACE_ANY, bytes.data(),
                                         static_cast<std::uint32_t>(bytes.size())),
              OCSD_OK);
  }
  /// A full decoder with the loop at 1000.
  void decode_loop(std::uint8_t id = 0x10) {
    ASSERT_EQ(add_etmv4(id), OCSD_OK);
    note_elements();
    add_code(kLoopAddress, loop);
  }

  ocsd_datapath_resp_t feed(const ByteVector& bytes) {
    const ocsd_datapath_resp_t answer = ocsd_dt_process_data(
        tree, OCSD_OP_DATA, index, static_cast<std::uint32_t>(bytes.size()), bytes.data(), &used);
    index += used;
    return answer;
  }
  ocsd_datapath_resp_t operate(ocsd_datapath_op_t op) {
    return ocsd_dt_process_data(tree, op, 0, 0, nullptr, nullptr);
  }

  [[nodiscard]] std::string elements() const {
    std::string all;
    for (const std::string& element : notes.elements) all += element + "\n";
    return all;
  }
  [[nodiscard]] std::size_t ranges() const {
    std::size_t count = 0;
    for (const auto& element : notes.structures)
      count += element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    return count;
  }

  dcd_tree_handle_t tree = C_API_INVALID_TREE_HANDLE;
  Notes notes;
  ByteVector loop = loop_code();
  ocsd_trc_index_t index = 0;
  std::uint32_t used = 0;
  unsigned char id_of_decoder = 0;
};

}  // namespace waymark::compat
