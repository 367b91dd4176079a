// The log, texts, packets and custom decoders; opencsd-c-api.md 3 to 5.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "capi_fixture.h"
#include "opencsd/c_api/ocsd_c_api_cust_impl.h"

namespace waymark::compat {
namespace {

class TextCApi : public CApi {};

std::string error_text(ocsd_err_t error, int size = 256) {
  std::array<char, 256> text{};
  text.fill('x');
  ocsd_err_str(error, text.data(), size);
  return text.data();
}

TEST_F(TextCApi, prints_its_version) {
  EXPECT_EQ(ocsd_get_version(), 0x010800U);
  EXPECT_STREQ(ocsd_get_version_str(), "1.8.0");
}

TEST_F(TextCApi, errors_have_texts_that_are_cut_to_fit) {
  EXPECT_EQ(error_text(OCSD_OK), "0x0000 (OCSD_OK) [No Error.]; ");
  EXPECT_EQ(error_text(OCSD_ERR_BAD_HANDLE, 10), "0x0005 (O");
  EXPECT_EQ(error_text(OCSD_ERR_HW_CFG_UNSUPP),
            "0x0017 (OCSD_ERR_HW_CFG_UNSUPP) [Programmed trace configuration not supported by "
            "decodUer.]; ");
  EXPECT_EQ(error_text(static_cast<ocsd_err_t>(48)), "0x0030 (unknown); ");
  ocsd_err_str(OCSD_OK, nullptr, 10);
}

TEST_F(TextCApi, the_last_error_is_kept_with_its_place) {
  single();
  ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  std::array<char, 256> text{};
  ocsd_trc_index_t at = 0;
  std::uint8_t channel = 0;
  feed(async() + ByteVector{0x04, 0x60, 0x71});
  EXPECT_EQ(ocsd_get_last_err(&at, &channel, text.data(), text.size()), OCSD_ERR_INVALID_PCKT_HDR);
  EXPECT_EQ(at, 13U);
  EXPECT_EQ(channel, 0x10);
  EXPECT_STREQ(text.data(),
               "0x0014 (OCSD_ERR_INVALID_PCKT_HDR) [Invalid packet header]; TrcIdx=13; CS ID=10; ");
  EXPECT_EQ(notes.log, std::string("PKTP_ETMV4I : ") + text.data());
  EXPECT_EQ(ocsd_get_last_err(nullptr, nullptr, nullptr, 0), OCSD_ERR_INVALID_PCKT_HDR);
}

TEST_F(TextCApi, components_of_a_formatted_tree_carry_their_id_in_decimal) {
  formatted();
  ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  feed(frames_of({{0x10, async() + ByteVector{0x04, 0x60, 0x71}}}));
  EXPECT_EQ(notes.log.substr(0, 19), "PKTP_ETMV4I_0016 : ");
}

TEST_F(TextCApi, a_log_needs_an_output_and_loudness) {
  single();
  ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  ASSERT_EQ(ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 1), OCSD_OK);
  ASSERT_EQ(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr), OCSD_OK);
  ASSERT_EQ(ocsd_def_errlog_set_strprint_cb(tree, &notes, &note_text), OCSD_OK);
  feed(async() + ByteVector{0x04, 0x60, 0x71});
  EXPECT_EQ(notes.log, "");
  ocsd_def_errlog_msgout("as it is");
  EXPECT_EQ(notes.log, "as it is");
  // New flags switch the function off.
  ASSERT_EQ(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr), OCSD_OK);
  ocsd_def_errlog_msgout("nowhere");
  EXPECT_EQ(notes.log, "as it is");
}

TEST_F(TextCApi, a_destroyed_tree_takes_its_function_with_it) {
  single();
  ocsd_destroy_dcd_tree(tree);
  tree = nullptr;
  ocsd_def_errlog_msgout("nobody hears it");
  EXPECT_EQ(notes.log, "");
}

TEST_F(TextCApi, a_printer_keeps_the_output_of_its_time) {
  // Before the first output of this tree's client.
  single();
  ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 0), OCSD_OK);

  Notes second;
  ASSERT_EQ(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1), OCSD_OK);
  ASSERT_EQ(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr), OCSD_OK);
  void* const other = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
  ASSERT_EQ(ocsd_def_errlog_set_strprint_cb(other, &second, &note_text), OCSD_OK);
  const ocsd_etmv4_cfg config = etmv4_config(0x11);
  ASSERT_EQ(ocsd_dt_create_decoder(other, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER,
                                   &config, nullptr),
            OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_gen_elem_printer(other), OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_pkt_protocol_printer(other, 0x11, 1), OCSD_OK);
  ASSERT_EQ(ocsd_dt_add_buffer_mem_acc(other, 0, OCSD_MEM_SPACE_ANY, loop.data(), 8), OCSD_OK);

  feed(async());
  EXPECT_EQ(notes.log, "Idx:0; ID:10;\tI_ASYNC : Alignment Synchronisation.\n");
  EXPECT_EQ(second.log, "");
  std::uint32_t count = 0;
  const ByteVector start = async();
  ocsd_dt_process_data(other, OCSD_OP_DATA, 0, 12, start.data(), &count);
  EXPECT_EQ(second.log.substr(0, 13), "Idx:0; ID:11;") << second.log;
  EXPECT_NE(second.log.find("OCSD_GEN_TRC_ELEM_NO_SYNC"), std::string::npos);

  // Errors and messages go to the newest output.
  second.log.clear();
  notes.log.clear();
  feed({0x04, 0x60, 0x71});
  EXPECT_EQ(notes.log.find("INVALID_PCKT_HDR"), std::string::npos) << notes.log;
  EXPECT_NE(second.log.find("INVALID_PCKT_HDR"), std::string::npos) << second.log;
  ocsd_def_errlog_msgout("to all");
  EXPECT_NE(second.log.find("to all"), std::string::npos);

  // A tree takes its function away from an old output as well.
  ocsd_destroy_dcd_tree(tree);
  tree = other;
  ASSERT_EQ(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1), OCSD_OK);
  ocsd_destroy_dcd_tree(tree);
  tree = nullptr;
}

TEST_F(TextCApi, a_printer_without_an_output_is_silent) {
  single();
  formatted();
  ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_raw_frame_printer(tree, OCSD_DFRMTR_UNPACKED_RAW_OUT), OCSD_OK);
  ASSERT_EQ(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1), OCSD_OK);
  ASSERT_EQ(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr), OCSD_OK);
  feed(frames_of({{0x10, async()}}));
  EXPECT_EQ(notes.log.substr(0, 11), "Frame Data;") << notes.log;
}

TEST_F(TextCApi, a_function_may_replace_the_output_that_calls_it) {
  single();
  struct Restart {
    int calls = 0;
  } restart;
  ASSERT_EQ(
      ocsd_def_errlog_set_strprint_cb(tree, &restart,
                                      [](const void* context, const char*, const int) {
                                        ++static_cast<Restart*>(const_cast<void*>(context))->calls;
                                        ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
                                        ocsd_def_errlog_config_output(0, nullptr);
                                      }),
      OCSD_OK);
  ocsd_def_errlog_msgout("one");
  ocsd_def_errlog_msgout("two");
  EXPECT_EQ(restart.calls, 1);
}

TEST_F(TextCApi, logs_into_a_file) {
  const std::string path = testing::TempDir() + "capi_log.txt";
  std::filesystem::remove(path);
  ASSERT_EQ(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, path.c_str()), OCSD_OK);
  ocsd_def_errlog_msgout("one\n");
  ocsd_def_errlog_msgout("two\n");
  ASSERT_EQ(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1), OCSD_OK);
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "one\ntwo\n");
  std::filesystem::remove(path);
}

TEST_F(TextCApi, texts_refuse_buffers_that_cannot_hold_any) {
  std::array<char, 8> text{};
  ocsd_generic_trace_elem element;
  ocsd_gen_elem_init(&element, OCSD_GEN_TRC_ELEM_UNKNOWN);
  EXPECT_EQ(ocsd_gen_elem_str(&element, nullptr, 8), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_gen_elem_str(&element, text.data(), 1), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_gen_elem_str(nullptr, text.data(), 8), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_gen_elem_str(&element, text.data(), 8), OCSD_OK);
  EXPECT_STREQ(text.data(), "OCSD_GE");
  const ocsd_etmv4_i_pkt packet{};
  EXPECT_EQ(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4I, &packet, text.data(), 1),
            OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_pkt_str(OCSD_PROTOCOL_ETMV4D, &packet, text.data(), 8), OCSD_ERR_NO_PROTOCOL);
  EXPECT_STREQ(text.data(), "");
  EXPECT_EQ(ocsd_pkt_str(OCSD_PROTOCOL_CUSTOM_5, &packet, text.data(), 8), OCSD_ERR_NO_PROTOCOL);
  EXPECT_EQ(ocsd_cust_protocol_to_str(OCSD_PROTOCOL_ETMV3, &packet, text.data(), 8),
            OCSD_ERR_NO_PROTOCOL);
}

TEST_F(TextCApi, an_element_of_an_unknown_number_says_so) {
  std::array<char, 64> text{};
  ocsd_generic_trace_elem element{};
  ocsd_gen_elem_init(&element, static_cast<ocsd_gen_trc_elem_t>(20));
  EXPECT_EQ(ocsd_gen_elem_str(&element, text.data(), text.size()), OCSD_OK);
  EXPECT_STREQ(text.data(), "OCSD_GEN_TRC_ELEM??: index out of range.");
}

// -- Packets. -------------------------------------------------------------------------------------

struct Packets {
  std::string text;
  unsigned waits = 0;
};

ocsd_datapath_resp_t note_packet(const void* context, const ocsd_datapath_op_t op,
                                 const ocsd_trc_index_t index, const void* packet) {
  auto& packets = *static_cast<Packets*>(const_cast<void*>(context));
  packets.text += std::to_string(op) + " " + std::to_string(index);
  if (packet != nullptr)
    packets.text += " " + std::to_string(static_cast<const ocsd_etmv4_i_pkt*>(packet)->type);
  packets.text += "; ";
  if (op != OCSD_OP_DATA || packets.waits == 0) return OCSD_RESP_CONT;
  --packets.waits;
  return OCSD_RESP_WAIT;
}

TEST_F(TextCApi, a_packet_sink_can_wait_and_receives_every_operation) {
  for (const bool frames : {false, true}) {
    frames ? formatted() : single();
    ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
    Packets packets{.text = {}, .waits = 2};
    ASSERT_EQ(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK,
                                             reinterpret_cast<void*>(&note_packet), &packets),
              OCSD_OK);
    const ByteVector stream = async() + trace_info() + trace_on();
    index = 0;
    EXPECT_EQ(feed(frames ? frames_of({{0x10, stream}}) : stream), OCSD_RESP_WAIT);
    EXPECT_EQ(packets.text, "0 0 256; ");
    EXPECT_EQ(used, frames ? 16U : 12U);
    EXPECT_EQ(operate(OCSD_OP_FLUSH), frames ? OCSD_RESP_WAIT : OCSD_RESP_CONT);
    if (frames) {
      EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_CONT);
    } else {
      EXPECT_EQ(feed(trace_info() + trace_on()), OCSD_RESP_WAIT);
    }
    packets.text.clear();
    operate(OCSD_OP_EOT);
    operate(OCSD_OP_RESET);
    EXPECT_NE(packets.text.find("1 0; 3 0; "), std::string::npos) << packets.text;
  }
}

TEST_F(TextCApi, structures_hold_the_fields_of_the_packet) {
  single();
  ASSERT_EQ(add_etmv4(0x10, OCSD_CREATE_FLG_PACKET_PROC), OCSD_OK);
  std::vector<ocsd_etmv4_i_pkt> packets;
  ASSERT_EQ(ocsd_dt_attach_packet_callback(
                tree, 0x10, OCSD_C_API_CB_PKT_SINK,
                reinterpret_cast<void*>(
                    static_cast<FnDefPktDataIn>([](const void* context, const ocsd_datapath_op_t,
                                                   const ocsd_trc_index_t, const void* packet) {
                      auto& all =
                          *static_cast<std::vector<ocsd_etmv4_i_pkt>*>(const_cast<void*>(context));
                      if (packet != nullptr)
                        all.push_back(*static_cast<const ocsd_etmv4_i_pkt*>(packet));
                      return OCSD_RESP_CONT;
                    })),
                &packets),
            OCSD_OK);
  feed(start(kLoopAddress, 7) + taken_three_times() + ByteVector{0x60, 0x71});
  ASSERT_EQ(packets.size(), 7U);
  EXPECT_EQ(packets[1].type, ETM4_PKT_I_TRACE_INFO);
  EXPECT_EQ(packets[1].trace_info.bits.initial_t_info, 1U);
  EXPECT_EQ(packets[1].pkt_valid.bits.trace_info_valid, 1U);
  EXPECT_EQ(packets[3].type, ETM4_PKT_I_ADDR_CTXT_L_64IS0);
  EXPECT_EQ(packets[3].v_addr.val, kLoopAddress);
  EXPECT_EQ(packets[3].v_addr.size, VA_64BIT);
  EXPECT_EQ(packets[3].context.EL, 1U);
  EXPECT_EQ(packets[3].context.SF, 1U);
  EXPECT_EQ(packets[3].context.NS, 1U);
  EXPECT_EQ(packets[3].context.ctxtID, 7U);
  EXPECT_EQ(packets[3].context.updated_c, 1U);
  EXPECT_EQ(packets[3].pkt_valid.bits.context_valid, 1U);
  EXPECT_EQ(packets[4].type, ETM4_PKT_I_ATOM_F3);
  EXPECT_EQ(packets[4].atom.num, 3U);
  EXPECT_EQ(packets[4].atom.En_bits, 7U);
  // The last address can be read from any packet.
  EXPECT_EQ(packets[4].v_addr.val, kLoopAddress);
  EXPECT_EQ(packets[5].type, ETM4_PKT_I_RESERVED);
  EXPECT_EQ(packets[6].type, ETM4_PKT_I_EVENT);
}

TEST_F(TextCApi, printers_write_into_the_log) {
  single();
  decode_loop(0x1);
  ASSERT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x1, 1), OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_gen_elem_printer(tree), OCSD_OK);
  feed(async() + trace_info());
  operate(OCSD_OP_EOT);
  EXPECT_EQ(notes.log,
            "Idx:0; ID:1; [0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x80 ];\tI_ASYNC "
            ": Alignment Synchronisation.\n"
            "Idx:0; ID:1; OCSD_GEN_TRC_ELEM_NO_SYNC( [init-decoder])\n"
            "Idx:12; ID:1; [0x01 0x00 ];\tI_TRACE_INFO : Trace Info.; INFO=0x0 { CC.0 }; Decoder "
            "Sync point TINFO\n"
            "Idx:12; ID:1; OCSD_GEN_TRC_ELEM_EO_TRACE( [end-of-trace])\n"
            "ID:1\tEND OF TRACE DATA\n");
}

// -- Software trace, where structures changed. ----------------------------------------------------

TEST_F(TextCApi, payloads_of_software_trace_are_where_1_3_3_had_them_too) {
  single();
  const ocsd_stm_cfg stm{0x00200000, 0x10000, 0xFF, 0, 0, HwEvent_Unknown_Disabled};
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "STM", 2, &stm, nullptr), OCSD_OK);
  struct Seen {
    std::uint32_t now = 0;
    std::uint32_t old = 0;
    std::uint32_t bits = 0;
  } seen;
  ASSERT_EQ(ocsd_dt_set_gen_elem_outfn(
                tree,
                [](const void* context, const ocsd_trc_index_t, const std::uint8_t,
                   const ocsd_generic_trace_elem* element) {
                  auto& to = *static_cast<Seen*>(const_cast<void*>(context));
                  if (element->elem_type != OCSD_GEN_TRC_ELEM_SWTRACE) return OCSD_RESP_CONT;
                  const void* old = nullptr;
                  std::memcpy(static_cast<void*>(&old), reinterpret_cast<const char*>(element) + 80,
                              sizeof old);
                  std::memcpy(&to.now, element->ptr_extended_data, sizeof to.now);
                  std::memcpy(&to.old, old, sizeof to.old);
                  to.bits = element->sw_trace_info.swt_payload_pkt_bitsize;
                  return OCSD_RESP_CONT;
                },
                &seen),
            OCSD_OK);
  // ASYNC, VERSION 3, then D32 with 12345678; the low nibble of a byte comes first.
  feed({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 0x0F, 0x30, 0x16, 0x32,
        0x54, 0x76, 0x08});
  EXPECT_EQ(seen.bits, 32U);
  EXPECT_EQ(seen.now, 0x12345678U);
  EXPECT_EQ(seen.old, 0x12345678U);
}

// -- Custom decoders. -----------------------------------------------------------------------------

struct Echo {
  ocsd_extern_dcd_cb_fns callbacks{};
  int flags = 0;
  unsigned destroyed = 0;
  std::uint64_t data = 0;
};
Echo echo;
char echo_name[] = "ECHO";

ocsd_datapath_resp_t echo_data(const void*, const ocsd_datapath_op_t op,
                               const ocsd_trc_index_t index, const uint32_t size,
                               const uint8_t* data, uint32_t* used) {
  if (op != OCSD_OP_DATA) return OCSD_RESP_CONT;
  echo.data += size;
  *used = size;
  ocsd_generic_trace_elem element;
  std::memset(&element, 0, sizeof element);
  ocsd_gen_elem_init(&element, OCSD_GEN_TRC_ELEM_CUSTOM);
  echo.callbacks.fn_packet_mon(echo.callbacks.lib_context, op, index, data, size, data);
  return echo.callbacks.fn_gen_elem_out(echo.callbacks.lib_context, index, 0x10, &element);
}

ocsd_err_t echo_create(const int, const void*, const ocsd_extern_dcd_cb_fns* callbacks,
                       ocsd_extern_dcd_inst_t* instance) {
  echo.callbacks = *callbacks;
  instance->fn_data_in = &echo_data;
  instance->fn_update_pkt_mon = [](const void*, const int flags) { echo.flags = flags; };
  instance->decoder_handle = &echo;
  instance->p_decoder_name = echo_name;
  instance->cs_id = 0x10;
  return OCSD_OK;
}

ocsd_extern_dcd_fact_t echo_factory() {
  ocsd_extern_dcd_fact_t factory{};
  factory.createDecoder = &echo_create;
  factory.destroyDecoder = [](const void*) {
    ++echo.destroyed;
    return OCSD_OK;
  };
  factory.csidFromConfig = [](const void* config, unsigned char* id) {
    *id = *static_cast<const unsigned char*>(config);
    return OCSD_OK;
  };
  return factory;
}

TEST_F(TextCApi, custom_decoders_get_the_bytes_of_their_id_and_give_elements) {
  echo = {};
  ocsd_extern_dcd_fact_t factory = echo_factory();
  ASSERT_EQ(ocsd_register_custom_decoder("echo", &factory), OCSD_OK);
  EXPECT_TRUE(OCSD_PROTOCOL_IS_CUSTOM(factory.protocol_id));
  EXPECT_EQ(ocsd_register_custom_decoder("echo", &factory), OCSD_ERR_DCDREG_NAME_REPEAT);
  EXPECT_EQ(ocsd_register_custom_decoder("ETMV4I", &factory), OCSD_ERR_DCDREG_NAME_REPEAT);
  ocsd_extern_dcd_fact_t incomplete = factory;
  incomplete.destroyDecoder = nullptr;
  EXPECT_EQ(ocsd_register_custom_decoder("other", &incomplete), OCSD_ERR_INVALID_PARAM_VAL);

  formatted();
  note_elements();
  const unsigned char id = 0x10;
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "echo", 2, &id, &id_of_decoder), OCSD_OK);
  EXPECT_EQ(id_of_decoder, 0x10);
  std::uint32_t monitored = 0;
  ASSERT_EQ(ocsd_dt_attach_packet_callback(
                tree, 0x10, OCSD_C_API_CB_PKT_MON,
                reinterpret_cast<void*>(static_cast<FnDefPktDataMon>(
                    [](const void* context, const ocsd_datapath_op_t, const ocsd_trc_index_t,
                       const void*, const uint32_t size, const uint8_t*) {
                      *static_cast<std::uint32_t*>(const_cast<void*>(context)) += size;
                    })),
                &monitored),
            OCSD_OK);
  EXPECT_EQ(echo.flags, OCSD_CUST_DCD_PKT_CB_USE_MON);
  EXPECT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 0), OCSD_ERR_INVALID_PARAM_VAL);
  ocsd_decode_stats_t* stats = nullptr;
  EXPECT_EQ(ocsd_dt_get_decode_stats(tree, 0x10, &stats), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(ocsd_dt_reset_decode_stats(tree, 0x10), OCSD_ERR_INVALID_PARAM_VAL);
  EXPECT_EQ(feed(frames_of({{0x10, ByteVector(40, 0x55)}})), OCSD_RESP_CONT);
  EXPECT_EQ(echo.data, 40U);
  EXPECT_EQ(monitored, 40U);
  EXPECT_EQ(notes.elements.front(), "0 CUSTOM()");

  // Services of the library.
  echo.callbacks.fn_log_msg(echo.callbacks.lib_context, OCSD_ERR_SEV_INFO, "hello\n");
  EXPECT_EQ(notes.log, "ECHO_0016 : hello\n");
  ocsd_instr_info info{};
  info.pe_type = {ARCH_V8, profile_CortexA};
  info.isa = ocsd_isa_aarch64;
  info.instr_addr = 0x1000;
  info.opcode = 0x94000004;
  EXPECT_EQ(echo.callbacks.fn_arm_instruction_decode(echo.callbacks.lib_context, &info), OCSD_OK);
  EXPECT_EQ(info.type, OCSD_INSTR_BR);
  EXPECT_EQ(info.sub_type, OCSD_S_INSTR_BR_LINK);
  EXPECT_EQ(info.branch_addr, 0x1010U);
  std::uint8_t bytes[4] = {};
  std::uint32_t size = 4;
  EXPECT_EQ(echo.callbacks.fn_memory_access(echo.callbacks.lib_context, 0x1000, 0x10,
                                            OCSD_MEM_SPACE_ANY, &size, bytes),
            OCSD_ERR_INVALID_PARAM_VAL);
  add_code(kLoopAddress, loop);
  EXPECT_EQ(echo.callbacks.fn_memory_access(echo.callbacks.lib_context, 0x1000, 0x10,
                                            OCSD_MEM_SPACE_ANY, &size, bytes),
            OCSD_OK);
  EXPECT_EQ(size, 4U);
  EXPECT_EQ(std::memcmp(bytes, loop.data(), 4), 0);

  std::array<char, 80> text{};
  EXPECT_EQ(ocsd_pkt_str(factory.protocol_id, bytes, text.data(), text.size()), OCSD_OK);
  EXPECT_EQ(std::string(text.data()), std::string("CUSTOM_PKT[]: print unsupported; protocol(") +
                                          std::to_string(factory.protocol_id) + ").");
  ocsd_destroy_dcd_tree(tree);
  tree = nullptr;
  EXPECT_EQ(echo.destroyed, 1U);
  EXPECT_EQ(ocsd_deregister_decoders(), OCSD_OK);
}

/// Reads memory through the decoder `echo`.
struct MemoryAnswer {
  ocsd_err_t error;
  std::uint32_t size;
  friend bool operator==(const MemoryAnswer&, const MemoryAnswer&) = default;
};
MemoryAnswer ask_memory(ocsd_vaddr_t address, std::uint32_t size) {
  std::vector<std::uint8_t> bytes(size);
  const ocsd_err_t error = echo.callbacks.fn_memory_access(
      echo.callbacks.lib_context, address, 0x10, OCSD_MEM_SPACE_EL1N, &size, bytes.data());
  return {error, size};
}

class CustomCApi : public TextCApi {
 protected:
  CustomCApi() { echo = {}; }
  // A process can register ten, ever.
  static void SetUpTestSuite() {
    ocsd_extern_dcd_fact_t factory = echo_factory();
    ASSERT_EQ(ocsd_register_custom_decoder("custom", &factory), OCSD_OK);
  }
  static void TearDownTestSuite() { ocsd_deregister_decoders(); }
  void create() {
    single();
    const unsigned char id = 0x10;
    ASSERT_EQ(ocsd_dt_create_decoder(tree, "custom", 2, &id, &id_of_decoder), OCSD_OK);
  }
};

TEST_F(CustomCApi, a_page_of_memory_is_read_whole_or_not_at_all) {
  create();
  const ByteVector bytes(64, 0xAA);
  add_code(0x1000, bytes);
  EXPECT_EQ(ask_memory(0x1000, 64), (MemoryAnswer{OCSD_OK, 64}));
  EXPECT_EQ(ask_memory(0x1000, 65), (MemoryAnswer{OCSD_OK, 0}));
  EXPECT_EQ(ask_memory(0x103E, 4), (MemoryAnswer{OCSD_OK, 0}));
  EXPECT_EQ(ask_memory(0x1000, 4096), (MemoryAnswer{OCSD_OK, 64})) << "more than a page";
  EXPECT_EQ(ocsd_dt_set_mem_acc_cacheing(tree, 0, 0, 0), OCSD_OK);
  EXPECT_EQ(ask_memory(0x103E, 4), (MemoryAnswer{OCSD_OK, 2}));
}

TEST_F(CustomCApi, a_function_that_returns_too_much_is_an_error) {
  create();
  ASSERT_EQ(ocsd_dt_add_callback_mem_acc(
                tree, 0x1000, 0x1FFF, OCSD_MEM_SPACE_ANY,
                [](const void*, ocsd_vaddr_t, ocsd_mem_space_acc_t, std::uint32_t wanted,
                   std::uint8_t*) { return wanted + 1; },
                nullptr),
            OCSD_OK);
  EXPECT_EQ(ask_memory(0x1000, 4), (MemoryAnswer{OCSD_ERR_MEM_ACC_BAD_LEN, 0}));
  EXPECT_EQ(notes.log.substr(0, 40), "Gen_Info : 0x0022 (OCSD_ERR_MEM_ACC_BAD_");
  EXPECT_NE(notes.log.find("; Mem Acc: Cache access error"), std::string::npos);
}

TEST_F(CustomCApi, the_last_error_may_have_the_code_ok) {
  create();
  echo.callbacks.fn_log_error(echo.callbacks.lib_context, OCSD_ERR_SEV_ERROR, OCSD_OK, 3, 0x10,
                              "all is well");
  std::array<char, 128> text{};
  ocsd_trc_index_t at = 0;
  std::uint8_t channel = 0;
  EXPECT_EQ(ocsd_get_last_err(&at, &channel, text.data(), text.size()), OCSD_OK);
  EXPECT_EQ(at, 3U);
  EXPECT_EQ(channel, 0x10);
  EXPECT_STREQ(text.data(), "0x0000 (OCSD_OK) [No Error.]; TrcIdx=3; CS ID=10; all is well");
}

TEST_F(CustomCApi, a_block_without_bytes_comes_to_the_decoder) {
  create();
  note_elements();
  used = 77;
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 0, loop.data(), &used), OCSD_RESP_CONT);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(notes.elements.size(), 1U);
}

TEST_F(CustomCApi, nothing_is_logged_before_the_decoder_has_a_name) {
  ocsd_extern_dcd_fact_t factory = echo_factory();
  factory.createDecoder = [](const int flags, const void* config,
                             const ocsd_extern_dcd_cb_fns* callbacks,
                             ocsd_extern_dcd_inst_t* instance) {
    callbacks->fn_log_msg(callbacks->lib_context, OCSD_ERR_SEV_INFO, "too early\n");
    callbacks->fn_log_error(callbacks->lib_context, OCSD_ERR_SEV_ERROR, OCSD_ERR_FAIL, 0, 0, "");
    return echo_create(flags, config, callbacks, instance);
  };
  ASSERT_EQ(ocsd_register_custom_decoder("talker", &factory), OCSD_OK);
  single();
  const unsigned char id = 0x10;
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "talker", 2, &id, &id_of_decoder), OCSD_OK);
  EXPECT_EQ(notes.log, "");
  echo.callbacks.fn_log_msg(echo.callbacks.lib_context, OCSD_ERR_SEV_INFO, "now\n");
  EXPECT_EQ(notes.log, "ECHO_0016 : now\n");
}

TEST_F(CustomCApi, helpers_of_decoders_return_whether_they_succeeded) {
  create();
  ocsd_extern_dcd_cb_fns none{};
  EXPECT_EQ(lib_cb_LogError(&none, OCSD_ERR_SEV_ERROR, OCSD_ERR_FAIL, 0, 0, ""), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(lib_cb_LogMsg(&none, OCSD_ERR_SEV_INFO, ""), OCSD_ERR_NOT_INIT);
  EXPECT_EQ(lib_cb_LogMsg(&echo.callbacks, OCSD_ERR_SEV_INFO, "x"), OCSD_OK);
  EXPECT_EQ(lib_cb_LogError(&echo.callbacks, OCSD_ERR_SEV_ERROR, OCSD_ERR_FAIL, 0, 0, ""), OCSD_OK);
  // A sink that is not needed does not have to exist.
  EXPECT_EQ(lib_cb_PktDataSink(&none, OCSD_OP_DATA, 0, nullptr), OCSD_RESP_CONT);
  lib_cb_updatePktCBFlags(&none, OCSD_CUST_DCD_PKT_CB_USE_SINK);
  EXPECT_EQ(lib_cb_PktDataSink(&none, OCSD_OP_DATA, 0, nullptr), OCSD_RESP_FATAL_NOT_INIT);
}

class RegisterCApi : public CApi {};

TEST_F(RegisterCApi, ten_custom_decoders_can_be_registered) {
  ocsd_extern_dcd_fact_t factory = echo_factory();
  unsigned count = 0;
  ocsd_err_t error = OCSD_OK;
  for (; error == OCSD_OK && count < 12; ++count)
    error = ocsd_register_custom_decoder(std::to_string(count).c_str(), &factory);
  EXPECT_EQ(error, OCSD_ERR_DCDREG_TOOMANY);
  EXPECT_LE(count, 11U);
  EXPECT_EQ(ocsd_deregister_decoders(), OCSD_OK);
}

}  // namespace
}  // namespace waymark::compat
