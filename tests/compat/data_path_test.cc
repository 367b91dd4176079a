// Operations, answers and counts of bytes; opencsd-c-api.md 3, frames.md 8.
#include "capi_fixture.h"

namespace waymark::compat {
namespace {

class DataPathCApi : public CApi {};

TEST_F(DataPathCApi, delivers_elements_in_order_with_their_index_and_id) {
  single();
  decode_loop(0x17);
  EXPECT_EQ(feed(start(kLoopAddress, 7) + taken()), OCSD_RESP_CONT);
  EXPECT_EQ(used, 30U);
  EXPECT_EQ(elements(),
            "0 NO_SYNC( [init-decoder])\n"
            "14 TRACE_ON( [begin or filter])\n"
            "15 PE_CONTEXT((ISA=A64) EL1N; 64-bit; CTXTID=0x7; )\n"
            "29 INSTR_RANGE(exec range=0x1000:[0x1008] num_i(2) last_sz(4) (ISA=A64) E BR   "
            "<cond>)\n");
  EXPECT_EQ(notes.ids, (std::vector<std::uint8_t>{0x17, 0x17, 0x17, 0x17}));
  EXPECT_EQ(operate(OCSD_OP_EOT), OCSD_RESP_CONT);
  EXPECT_EQ(notes.elements.back(), "29 EO_TRACE( [end-of-trace])");
}

TEST_F(DataPathCApi, fills_the_fields_of_a_range) {
  single();
  decode_loop();
  feed(start(kLoopAddress, 7) + taken());
  const ocsd_generic_trace_elem& range = notes.structures.back();
  EXPECT_EQ(range.elem_type, OCSD_GEN_TRC_ELEM_INSTR_RANGE);
  EXPECT_EQ(range.isa, ocsd_isa_aarch64);
  EXPECT_EQ(range.st_addr, 0x1000U);
  EXPECT_EQ(range.en_addr, 0x1008U);
  EXPECT_EQ(range.num_instr_range, 2U);
  EXPECT_EQ(range.last_i_type, OCSD_INSTR_BR);
  EXPECT_EQ(range.last_i_subtype, OCSD_S_INSTR_NONE);
  EXPECT_EQ(range.last_instr_exec, 1U);
  EXPECT_EQ(range.last_instr_sz, 4U);
  EXPECT_EQ(range.last_instr_cond, 1U);
  EXPECT_EQ(range.has_cc, 0U);
  EXPECT_EQ(range.context.context_id, 7U);
  EXPECT_EQ(range.context.ctxt_id_valid, 1U);
  EXPECT_EQ(range.context.exception_level, ocsd_EL1);
  EXPECT_EQ(range.context.security_level, ocsd_sec_nonsecure);
  EXPECT_EQ(range.context.bits64, 1U);
}

TEST_F(DataPathCApi, a_wait_stops_after_the_packet_that_caused_it) {
  single();
  decode_loop();
  notes.answer = [](const ocsd_generic_trace_elem& element, std::uint8_t) {
    return element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
  };
  const ByteVector before = start(kLoopAddress, 7);
  EXPECT_EQ(feed(before + taken() + taken() + taken()), OCSD_RESP_WAIT);
  EXPECT_EQ(used, before.size() + 1);
  EXPECT_EQ(ranges(), 1U);
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_CONT);
  EXPECT_EQ(ranges(), 1U);
  EXPECT_EQ(feed(taken()), OCSD_RESP_WAIT);
  EXPECT_EQ(ranges(), 2U);
}

TEST_F(DataPathCApi, flush_brings_one_element_after_the_other_within_a_packet) {
  single();
  decode_loop();
  notes.answer = [](const ocsd_generic_trace_elem& element, std::uint8_t) {
    return element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
  };
  EXPECT_EQ(feed(start(kLoopAddress, 7) + taken_three_times()), OCSD_RESP_WAIT);
  EXPECT_EQ(used, 30U);
  EXPECT_EQ(ranges(), 1U);
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_WAIT);
  EXPECT_EQ(ranges(), 2U);
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_WAIT);
  EXPECT_EQ(ranges(), 3U);
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_CONT);
  EXPECT_EQ(ranges(), 3U);
}

TEST_F(DataPathCApi, a_wait_counts_the_whole_frame_as_used) {
  formatted();
  decode_loop();
  notes.answer = [](const ocsd_generic_trace_elem& element, std::uint8_t) {
    return element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
  };
  ByteVector atoms;
  for (int i = 0; i < 40; ++i) atoms = atoms + taken();
  const ByteVector trace = frames_of({{0x10, start(kLoopAddress, 7) + atoms}});
  EXPECT_EQ(feed(trace), OCSD_RESP_WAIT);
  // 29 bytes before the first atom: 14 in the first frame, the others and it in the next two.
  EXPECT_EQ(used, 48U);
  EXPECT_EQ(ranges(), 1U);
  // The remaining elements of the frame come one by one.
  std::size_t waits = 1;
  while (operate(OCSD_OP_FLUSH) == OCSD_RESP_WAIT) ++waits;
  EXPECT_EQ(ranges(), waits);
  const std::size_t in_frame = ranges();
  EXPECT_LE(in_frame, 15U);
  const ByteVector rest(trace.begin() + 48, trace.end());
  EXPECT_EQ(feed(rest), OCSD_RESP_WAIT);
  EXPECT_EQ(ranges(), in_frame + 1);
}

TEST_F(DataPathCApi, all_elements_come_whatever_the_client_answers) {
  const ByteVector trace = frames_of({{0x10, start(kLoopAddress, 7) + taken_three_times()},
                                      {0x11, start(kLoopAddress, 8) + taken_three_times()},
                                      {0x10, taken_three_times() + taken()},
                                      {0x11, context(9) + taken() + taken_three_times()}});
  const auto run = [&](unsigned waits) {
    formatted();
    decode_loop(0x10);
    EXPECT_EQ(add_etmv4(0x11), OCSD_OK);
    notes = {};
    unsigned count = 0;
    if (waits != 0)
      notes.answer = [&count, waits](const ocsd_generic_trace_elem&, std::uint8_t) {
        return ++count % waits == 0 ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
      };
    for (std::size_t at = 0; at < trace.size();) {
      ocsd_datapath_resp_t answer =
          ocsd_dt_process_data(tree, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(at),
                               static_cast<std::uint32_t>(trace.size() - at), &trace[at], &used);
      at += used;
      while (OCSD_DATA_RESP_IS_WAIT(answer)) answer = operate(OCSD_OP_FLUSH);
      EXPECT_EQ(answer, OCSD_RESP_CONT);
    }
    ocsd_datapath_resp_t answer = operate(OCSD_OP_EOT);
    while (OCSD_DATA_RESP_IS_WAIT(answer)) answer = operate(OCSD_OP_FLUSH);
    return elements();
  };
  const std::string all = run(0);
  EXPECT_NE(all.find("CTXTID=0x9"), std::string::npos);
  for (const unsigned waits : {1U, 2U, 3U, 7U}) EXPECT_EQ(run(waits), all) << waits;
}

TEST_F(DataPathCApi, the_end_of_the_trace_reaches_all_decoders_although_one_waits) {
  formatted();
  decode_loop(0x10);
  EXPECT_EQ(add_etmv4(0x11), OCSD_OK);
  notes = {};
  feed(frames_of({{0x10, start(kLoopAddress, 7)}, {0x11, start(kLoopAddress, 8)}}));
  notes = {};
  notes.answer = [](const ocsd_generic_trace_elem&, std::uint8_t) { return OCSD_RESP_WAIT; };
  EXPECT_EQ(operate(OCSD_OP_EOT), OCSD_RESP_WAIT);
  EXPECT_EQ(notes.ids, (std::vector<std::uint8_t>{0x10, 0x11}));
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_CONT);
  EXPECT_EQ(notes.ids.size(), 2U);
}

TEST_F(DataPathCApi, a_flush_after_the_end_of_the_trace_reaches_all_decoders) {
  formatted();
  add_code(kLoopAddress, loop);
  note_elements();
  for (const std::uint8_t id : {std::uint8_t{0x10}, std::uint8_t{0x11}}) {
    ocsd_etmv4_cfg config = etmv4_config(id);
    config.reg_idr8 = 9;  // Up to this depth, elements are held to the end.
    ASSERT_EQ(ocsd_dt_create_decoder(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER,
                                     &config, &id_of_decoder),
              OCSD_OK);
  }
  const ByteVector events = async() + trace_info() + ByteVector{0x71, 0x72};
  feed(frames_of({{0x10, events}, {0x11, events}}));
  notes = {};
  notes.answer = [](const ocsd_generic_trace_elem&, std::uint8_t) { return OCSD_RESP_WAIT; };
  EXPECT_EQ(operate(OCSD_OP_EOT), OCSD_RESP_WAIT);
  EXPECT_EQ(notes.ids, (std::vector<std::uint8_t>{0x10, 0x11}));
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_WAIT);
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_WAIT);
  EXPECT_EQ(notes.ids, (std::vector<std::uint8_t>{0x10, 0x11, 0x10, 0x11, 0x10, 0x11}));
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_CONT);
  EXPECT_EQ(notes.ids.size(), 6U);
}

TEST_F(DataPathCApi, the_answer_to_no_sync_at_the_end_of_the_trace_does_not_count) {
  single();
  decode_loop();
  feed({0x00});
  notes.answer = [](const ocsd_generic_trace_elem&, std::uint8_t) { return OCSD_RESP_WAIT; };
  EXPECT_EQ(operate(OCSD_OP_EOT), OCSD_RESP_WAIT);
  EXPECT_EQ(elements(), "0 NO_SYNC( [init-decoder])\n0 EO_TRACE( [end-of-trace])\n");
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_CONT);
}

TEST_F(DataPathCApi, reset_drops_what_waits) {
  single();
  decode_loop();
  notes.answer = [](const ocsd_generic_trace_elem& element, std::uint8_t) {
    return element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
  };
  feed(start(kLoopAddress, 7) + taken_three_times());
  EXPECT_EQ(operate(OCSD_OP_RESET), OCSD_RESP_CONT);
  EXPECT_EQ(operate(OCSD_OP_FLUSH), OCSD_RESP_CONT);
  EXPECT_EQ(ranges(), 1U);
  notes = {};
  feed(start(kLoopAddress, 7) + taken());
  EXPECT_EQ(notes.elements.front(), "30 NO_SYNC( [reset-decoder])");
}

TEST_F(DataPathCApi, data_instead_of_a_flush_loses_nothing) {
  single();
  decode_loop();
  bool wait = true;
  notes.answer = [&wait](const ocsd_generic_trace_elem& element, std::uint8_t) {
    return wait && element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE ? OCSD_RESP_WAIT
                                                                      : OCSD_RESP_CONT;
  };
  EXPECT_EQ(feed(start(kLoopAddress, 7) + taken_three_times()), OCSD_RESP_WAIT);
  EXPECT_EQ(feed(taken()), OCSD_RESP_WAIT);
  EXPECT_EQ(used, 0U);
  wait = false;
  EXPECT_EQ(feed(taken()), OCSD_RESP_CONT);
  EXPECT_EQ(ranges(), 4U);
}

TEST_F(DataPathCApi, a_fatal_answer_of_the_client_is_the_answer) {
  single();
  decode_loop();
  notes.answer = [](const ocsd_generic_trace_elem&, std::uint8_t) {
    return OCSD_RESP_FATAL_SYS_ERR;
  };
  EXPECT_EQ(feed(start(kLoopAddress, 7) + taken()), OCSD_RESP_FATAL_SYS_ERR);
  EXPECT_EQ(notes.elements.size(), 1U);
}

TEST_F(DataPathCApi, the_worst_answer_of_the_class_that_goes_on_is_given) {
  single();
  decode_loop();
  notes.answer = [](const ocsd_generic_trace_elem& element, std::uint8_t) {
    return element.elem_type == OCSD_GEN_TRC_ELEM_TRACE_ON ? OCSD_RESP_WARN_CONT : OCSD_RESP_CONT;
  };
  EXPECT_EQ(feed(start(kLoopAddress, 7) + taken()), OCSD_RESP_WARN_CONT);
  EXPECT_EQ(ranges(), 1U);
}

TEST_F(DataPathCApi, refuses_calls_without_meaning) {
  EXPECT_EQ(ocsd_dt_process_data(nullptr, OCSD_OP_DATA, 0, 1, loop.data(), &used),
            OCSD_RESP_FATAL_NOT_INIT);
  single();
  used = 5;
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 1, loop.data(), &used),
            OCSD_RESP_FATAL_NOT_INIT);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(operate(OCSD_OP_RESET), OCSD_RESP_FATAL_NOT_INIT);
  decode_loop();
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 0, loop.data(), &used),
            OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 1, nullptr, &used),
            OCSD_RESP_FATAL_INVALID_PARAM);
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 1, loop.data(), nullptr),
            OCSD_RESP_FATAL_INVALID_PARAM);
  const int number = 9;
  ocsd_datapath_op_t unknown;
  std::memcpy(&unknown, &number, sizeof unknown);
  EXPECT_EQ(ocsd_dt_process_data(tree, unknown, 0, 1, loop.data(), &used),
            OCSD_RESP_FATAL_INVALID_OP);
}

TEST_F(DataPathCApi, blocks_of_frames_have_their_multiple_and_continue) {
  const ByteVector trace(64, 0);
  struct Case {
    std::uint32_t flags;
    std::uint32_t size;
    const char* message;
  };
  for (const Case& c :
       {Case{OCSD_DFRMTR_FRAME_MEM_ALIGN, 15,
             "Input block incorrect size, must be 16 byte multiple"},
        Case{OCSD_DFRMTR_HAS_FSYNCS, 6, "Input block incorrect size, must be 4 byte multiple"},
        Case{OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS, 3,
             "Input block incorrect size, must be 2 byte multiple"}}) {
    formatted(c.flags);
    notes.log.clear();
    EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, c.size, trace.data(), &used),
              OCSD_RESP_FATAL_INVALID_DATA);
    EXPECT_EQ(notes.log, std::string("DFMT_CSFRAMES : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) "
                                     "[Invalid value parameter passed to component.]; ") +
                             c.message);
  }
  formatted();
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, trace.data(), &used), OCSD_RESP_CONT);
  notes.log.clear();
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 99, 16, trace.data(), &used),
            OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_EQ(notes.log,
            "DFMT_CSFRAMES : 0x0011 (OCSD_ERR_DFMTR_NOTCONTTRACE) [Trace input to deformatter "
            "none-continuous]; TrcIdx=99; ");
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_DATA, 16, 16, trace.data(), &used), OCSD_RESP_CONT);
}

TEST_F(DataPathCApi, a_decoder_without_client_or_memory_says_what_is_missing) {
  single();
  ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
  EXPECT_EQ(feed(start(kLoopAddress, 7)), OCSD_RESP_FATAL_NOT_INIT);
  EXPECT_NE(notes.log.find("No element output interface attached and enabled"), std::string::npos);
  note_elements();
  EXPECT_EQ(feed(start(kLoopAddress, 7)), OCSD_RESP_FATAL_NOT_INIT);
  EXPECT_NE(notes.log.find("DCD_ETMV4 : 0x0003 (OCSD_ERR_NOT_INIT) [Component not initialised.]; "
                           "No memory access interface attached and enabled"),
            std::string::npos);
  add_code(kLoopAddress, loop);
  EXPECT_EQ(feed(start(kLoopAddress, 7) + taken()), OCSD_RESP_CONT);
  EXPECT_EQ(ranges(), 1U);
}

TEST_F(DataPathCApi, an_unsupported_configuration_is_reported_when_decoding_starts) {
  single();
  ocsd_etmv4_cfg config = etmv4_config(0x10);
  config.reg_configr = 0xC3;
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "ETMV4I", OCSD_CREATE_FLG_FULL_DECODER, &config, nullptr),
            OCSD_OK);
  note_elements();
  EXPECT_EQ(feed(start(kLoopAddress, 7)), OCSD_RESP_FATAL_NOT_INIT);
}

TEST_F(DataPathCApi, four_fsyncs_reset_the_decoders_where_the_flag_says_so) {
  formatted(OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC);
  decode_loop();
  const ByteVector part = frames_of({{0x10, start(kLoopAddress, 7) + taken()}});
  ByteVector barrier;
  for (int i = 0; i < 4; ++i) barrier = barrier + ByteVector{0xFF, 0xFF, 0xFF, 0x7F};
  EXPECT_EQ(feed(part + barrier + part), OCSD_RESP_CONT);
  EXPECT_NE(elements().find("NO_SYNC( [reset-decoder])"), std::string::npos);
  EXPECT_EQ(ranges(), 2U);
}

TEST_F(DataPathCApi, the_reset_of_four_fsyncs_has_their_index) {
  formatted(OCSD_DFRMTR_FRAME_MEM_ALIGN | OCSD_DFRMTR_RESET_ON_4X_FSYNC);
  ocsd_etmv4_cfg config = etmv4_config(0x10);
  ASSERT_EQ(ocsd_dt_create_decoder(tree, "ETMV4I", OCSD_CREATE_FLG_PACKET_PROC, &config, nullptr),
            OCSD_OK);
  std::vector<ocsd_trc_index_t> resets;
  const FnDefPktDataIn sink = [](const void* context, const ocsd_datapath_op_t op,
                                 const ocsd_trc_index_t at, const void*) {
    if (op == OCSD_OP_RESET)
      static_cast<std::vector<ocsd_trc_index_t>*>(const_cast<void*>(context))->push_back(at);
    return OCSD_RESP_CONT;
  };
  ASSERT_EQ(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK,
                                           reinterpret_cast<void*>(sink), &resets),
            OCSD_OK);
  const ByteVector part = frames_of({{0x10, start(kLoopAddress, 7)}});
  ByteVector barrier;
  for (int i = 0; i < 4; ++i) barrier = barrier + ByteVector{0xFF, 0xFF, 0xFF, 0x7F};
  EXPECT_EQ(feed(part + barrier + part), OCSD_RESP_CONT);
  EXPECT_EQ(resets, (std::vector<ocsd_trc_index_t>{static_cast<ocsd_trc_index_t>(part.size())}));
  EXPECT_EQ(ocsd_dt_process_data(tree, OCSD_OP_RESET, 0, 0, nullptr, nullptr), OCSD_RESP_CONT);
  EXPECT_EQ(resets.back(), 0U);
}

TEST_F(DataPathCApi, indexes_of_32_bits_wrap) {
  single();
  decode_loop();
  index = 0xFFFFFFF0;
  EXPECT_EQ(feed(start(kLoopAddress, 7) + taken()), OCSD_RESP_CONT);
  EXPECT_EQ(ranges(), 1U);
  EXPECT_EQ(notes.elements.back().substr(0, 3), "13 ");
}

}  // namespace
}  // namespace waymark::compat
