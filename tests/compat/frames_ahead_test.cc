// Many frames or packets decoded at once: the client sees the same as one by one.
// See frames.md 8.
#include <algorithm>

#include "capi_fixture.h"

namespace waymark::compat {
namespace {

/// The results of a client that answers WAIT to some elements.
struct Seen {
  std::vector<std::uint64_t> elements;
  std::vector<std::uint32_t>
      steps;  ///< For each call from the chosen WAIT on: elements, bytes used.
};

struct Client {
  Seen seen{};
  std::size_t first_wait = 0;  ///< Elements are counted from 1; 0: none.
  std::size_t second_wait = 0;
  std::size_t every = 0;  ///< After the second.
  ocsd_datapath_resp_t answer = OCSD_RESP_WAIT;
  ByteVector code = loop_code();
};

ocsd_datapath_resp_t on_element(const void* context, const ocsd_trc_index_t index, const uint8_t id,
                                const ocsd_generic_trace_elem* element) {
  auto& client = *static_cast<Client*>(const_cast<void*>(context));
  client.seen.elements.push_back(std::uint64_t{index} << 32 | std::uint64_t{id} << 24 |
                                 static_cast<std::uint64_t>(element->elem_type) << 16 |
                                 (element->context.context_id & 0xFF) << 8 |
                                 (element->num_instr_range & 0xFF));
  const std::size_t count = client.seen.elements.size();
  if (count == client.first_wait) return OCSD_RESP_WAIT;
  if (count == client.second_wait) return client.answer;
  const bool later = client.every != 0 && count > client.second_wait;
  return later && (count - client.second_wait) % client.every == 0 ? OCSD_RESP_WAIT
                                                                   : OCSD_RESP_CONT;
}

std::uint32_t read_code(const void* context, const ocsd_vaddr_t address, const ocsd_mem_space_acc_t,
                        const uint8_t, const std::uint32_t wanted, std::uint8_t* bytes) {
  const auto& code = static_cast<const Client*>(context)->code;
  const std::uint64_t offset = address - kLoopAddress;
  if (offset >= code.size()) return 0;
  const auto size = std::min<std::uint64_t>(wanted, code.size() - offset);
  std::copy_n(code.begin() + static_cast<std::ptrdiff_t>(offset), size, bytes);
  return static_cast<std::uint32_t>(size);
}

/// Atoms with packets of many lengths between them, so that some cross the end of a frame.
ByteVector busy_stream(std::size_t size) {
  ByteVector bytes = start(kLoopAddress, 7);
  for (unsigned i = 0; bytes.size() < size; ++i) {
    for (unsigned atoms = 0; atoms < i % 5; ++atoms) bytes = bytes + taken();
    if (i % 3 == 0) bytes = bytes + taken_three_times();
    if (i % 7 == 1) bytes = bytes + ByteVector{0x02, 0x80, 0x81, static_cast<std::uint8_t>(i % 64)};
    if (i % 11 == 2) bytes = bytes + context(static_cast<std::uint8_t>(i % 3));
    if (i % 13 == 3)
      bytes = bytes + address_context(kLoopAddress, static_cast<std::uint8_t>(i % 5));
    if (i % 17 == 4) bytes = bytes + ByteVector{0x71};
    // An exception: it makes elements with the address after it.
    if (i % 19 == 5)
      bytes = bytes + ByteVector{0x06, 0x02} + ByteVector{0x9A, 0x00, 0x08, 0x00, 0x00} +
              address_context(kLoopAddress, 7);
  }
  return bytes;
}

class FramesAhead : public CApi {
 protected:
  /// `piece`: the bytes of each call after the chosen WAIT; 0: all.
  Seen run(const ByteVector& trace, Client client, bool callback = false, std::size_t piece = 0) {
    if (framed_) {
      formatted();
    } else {
      single();
    }
    EXPECT_EQ(add_etmv4(0x10), OCSD_OK);
    EXPECT_EQ(ocsd_dt_set_gen_elem_outfn(tree, &on_element, &client), OCSD_OK);
    if (callback) {
      EXPECT_EQ(ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~ocsd_vaddr_t{0}, OCSD_MEM_SPACE_ANY,
                                                   &read_code, &client),
                OCSD_OK);
    } else {
      add_code(kLoopAddress, loop);
    }
    client.seen.elements.reserve(std::size_t{1} << 17);
    const auto note = [&](std::size_t place) {
      if (client.second_wait == 0 || client.seen.elements.size() < client.second_wait) return;
      client.seen.steps.push_back(static_cast<std::uint32_t>(client.seen.elements.size()));
      client.seen.steps.push_back(static_cast<std::uint32_t>(place));
    };
    ocsd_datapath_resp_t answer = OCSD_RESP_CONT;
    for (std::size_t at = 0; at < trace.size() && answer < OCSD_RESP_FATAL_NOT_INIT;) {
      const bool in_pieces = piece != 0 && client.seen.elements.size() >= client.second_wait;
      const std::size_t size = std::min(trace.size() - at, in_pieces ? piece : trace.size());
      answer = ocsd_dt_process_data(tree, OCSD_OP_DATA, static_cast<ocsd_trc_index_t>(at),
                                    static_cast<std::uint32_t>(size), &trace[at], &used);
      at += used;
      note(at);
      while (OCSD_DATA_RESP_IS_WAIT(answer)) {
        answer = operate(OCSD_OP_FLUSH);
        note(at);
      }
    }
    if (OCSD_DATA_RESP_IS_FATAL(answer)) return std::move(client.seen);
    answer = operate(OCSD_OP_EOT);
    while (OCSD_DATA_RESP_IS_WAIT(answer)) answer = operate(OCSD_OP_FLUSH);
    return std::move(client.seen);
  }

  /// A client that answers WAIT at the beginning gets frame by frame, or packet by packet.
  void expect_equal(const ByteVector& trace, const Client& client, bool callback = false) {
    Client careful = client;
    careful.first_wait = 1;
    const Seen ahead = run(trace, client, callback);
    const Seen one_by_one = run(trace, careful, callback);
    EXPECT_EQ(ahead.elements, one_by_one.elements) << client.second_wait;
    EXPECT_EQ(ahead.steps, one_by_one.steps) << client.second_wait;
  }

  bool framed_ = true;
};

/// Without frames, the parts of a block are its bytes.
class BytesAhead : public FramesAhead {
 protected:
  BytesAhead() { framed_ = false; }
};

// The first frames, or elements, are always delivered one by one.
constexpr std::size_t kTraceSize = 22000;

TEST_F(FramesAhead, without_a_wait_the_elements_are_the_same) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  expect_equal(trace, {});
  expect_equal(trace, {}, true);
}

TEST_F(FramesAhead, a_wait_counts_the_frames_up_to_its_own) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  const std::size_t all = run(trace, {}).elements.size();
  ASSERT_GT(all, 12000U);
  // Each element of several frames, and some others.
  for (std::size_t i = 0; i < 150; ++i) expect_equal(trace, {.second_wait = all - 300 + i});
  for (std::size_t i = 0; i < 40; ++i) expect_equal(trace, {.second_wait = all - 300 - 77 * i});
}

TEST_F(FramesAhead, the_same_where_memory_must_not_be_read_before_its_context) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  const std::size_t all = run(trace, {}).elements.size();
  for (std::size_t i = 0; i < 60; ++i)
    expect_equal(trace, {.second_wait = all - 500 + 5 * i}, true);
}

TEST_F(FramesAhead, more_waits_may_follow) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  const std::size_t all = run(trace, {}).elements.size();
  for (const std::size_t every : {1U, 2U, 3U, 50U})
    for (std::size_t i = 0; i < 12; ++i)
      expect_equal(trace, {.second_wait = all - 700 + 13 * i, .every = every});
}

TEST_F(FramesAhead, a_fatal_answer_ends_with_the_frame_of_its_element) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  const std::size_t all = run(trace, {}).elements.size();
  for (std::size_t i = 0; i < 60; ++i)
    expect_equal(trace, {.second_wait = all - 400 + 5 * i, .answer = OCSD_RESP_FATAL_SYS_ERR});
}

TEST_F(FramesAhead, a_reset_forgets_what_was_decoded_ahead) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  const auto after_reset = [&](std::size_t first_wait) {
    Client client{.first_wait = first_wait, .second_wait = 13000};
    formatted();
    EXPECT_EQ(add_etmv4(0x10), OCSD_OK);
    EXPECT_EQ(ocsd_dt_set_gen_elem_outfn(tree, &on_element, &client), OCSD_OK);
    add_code(kLoopAddress, loop);
    index = 0;
    while (client.seen.elements.size() < client.second_wait) {
      const ByteVector rest(trace.begin() + index, trace.end());
      EXPECT_EQ(feed(rest), OCSD_RESP_WAIT);
      if (client.seen.elements.size() == first_wait) operate(OCSD_OP_FLUSH);
    }
    EXPECT_EQ(operate(OCSD_OP_RESET), OCSD_RESP_CONT);
    client.seen = {};
    client.first_wait = client.second_wait = 0;
    index = 0;
    EXPECT_EQ(feed(trace), OCSD_RESP_CONT);
    EXPECT_EQ(used, trace.size());
    EXPECT_EQ(operate(OCSD_OP_EOT), OCSD_RESP_CONT);
    return client.seen.elements;
  };
  std::vector<std::uint64_t> ahead = after_reset(0);
  std::vector<std::uint64_t> one_by_one = after_reset(1);
  EXPECT_GT(ahead.size(), 13000U);
  // NO_SYNC and TRACE_ON repeat the context that was read last before the reset.
  ahead.erase(ahead.begin(), ahead.begin() + 2);
  one_by_one.erase(one_by_one.begin(), one_by_one.begin() + 2);
  EXPECT_EQ(ahead, one_by_one);
}

TEST_F(FramesAhead, what_was_read_ahead_is_not_counted_before_it_is_given) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  for (const ocsd_datapath_op_t operation : {OCSD_OP_EOT, OCSD_OP_RESET, OCSD_OP_DATA}) {
    Client client{.second_wait = 13000};
    formatted();
    ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
    ASSERT_EQ(ocsd_dt_set_gen_elem_outfn(tree, &on_element, &client), OCSD_OK);
    add_code(kLoopAddress, loop);
    index = 0;
    ASSERT_EQ(feed(trace), OCSD_RESP_WAIT);
    ASSERT_LT(used, trace.size());
    const auto expect_counts = [&] {
      ocsd_decode_stats_t* stats = nullptr;
      ASSERT_EQ(ocsd_dt_get_decode_stats(tree, 0x10, &stats), OCSD_OK);
      EXPECT_EQ(stats->channel_total, stats->demux.valid_id_bytes);
    };
    expect_counts();
    while (operate(OCSD_OP_FLUSH) == OCSD_RESP_WAIT) {
    }
    expect_counts();
    const std::size_t before = client.seen.elements.size();
    if (operation == OCSD_OP_DATA) {
      EXPECT_EQ(feed(ByteVector(trace.begin() + index, trace.end())), OCSD_RESP_CONT);
    } else {
      // The packet that continues in the next frame is cut, which is a warning.
      EXPECT_LT(operate(operation), OCSD_RESP_WAIT);
      // EO_TRACE alone, or nothing: the frames were not given.
      EXPECT_EQ(client.seen.elements.size() - before, operation == OCSD_OP_EOT ? 1U : 0U);
      if (operation == OCSD_OP_RESET) {
        index = 0;
        EXPECT_EQ(feed(trace), OCSD_RESP_CONT);
      }
    }
    expect_counts();
  }
}

TEST_F(BytesAhead, without_a_wait_the_elements_are_the_same) {
  const ByteVector trace = busy_stream(kTraceSize);
  expect_equal(trace, {});
  expect_equal(trace, {}, true);
}

TEST_F(BytesAhead, a_wait_counts_the_bytes_up_to_its_packet) {
  const ByteVector trace = busy_stream(kTraceSize);
  const std::size_t all = run(trace, {}).elements.size();
  ASSERT_GT(all, 12000U);
  for (std::size_t i = 0; i < 150; ++i) expect_equal(trace, {.second_wait = all - 300 + i});
  for (std::size_t i = 0; i < 40; ++i) expect_equal(trace, {.second_wait = all - 300 - 77 * i});
  for (std::size_t i = 0; i < 60; ++i)
    expect_equal(trace, {.second_wait = all - 500 + 5 * i}, true);
}

TEST_F(BytesAhead, more_waits_may_follow) {
  const ByteVector trace = busy_stream(kTraceSize);
  const std::size_t all = run(trace, {}).elements.size();
  for (const std::size_t every : {1U, 2U, 3U, 50U})
    for (std::size_t i = 0; i < 12; ++i)
      expect_equal(trace, {.second_wait = all - 700 + 13 * i, .every = every});
}

TEST_F(BytesAhead, a_fatal_answer_ends_with_the_packet_of_its_element) {
  const ByteVector trace = busy_stream(kTraceSize);
  const std::size_t all = run(trace, {}).elements.size();
  for (std::size_t i = 0; i < 60; ++i)
    expect_equal(trace, {.second_wait = all - 400 + 5 * i, .answer = OCSD_RESP_FATAL_SYS_ERR});
}

TEST_F(BytesAhead, after_a_wait_the_bytes_may_come_in_pieces) {
  const ByteVector trace = busy_stream(kTraceSize);
  const std::size_t all = run(trace, {}).elements.size();
  const std::vector<std::uint64_t> expected = run(trace, {}).elements;
  for (std::size_t piece = 1; piece < 40; ++piece)
    EXPECT_EQ(run(trace, {.second_wait = all - 900 + 7 * piece}, false, piece).elements, expected)
        << piece;
}

TEST_F(FramesAhead, other_bytes_after_a_wait_are_refused) {
  const ByteVector trace = frames_of({{0x10, busy_stream(kTraceSize)}});
  Client client{.second_wait = 13000};
  formatted();
  ASSERT_EQ(add_etmv4(0x10), OCSD_OK);
  ASSERT_EQ(ocsd_dt_set_gen_elem_outfn(tree, &on_element, &client), OCSD_OK);
  add_code(kLoopAddress, loop);
  ASSERT_EQ(feed(trace), OCSD_RESP_WAIT);
  while (operate(OCSD_OP_FLUSH) == OCSD_RESP_WAIT) {
  }
  ByteVector other(32, 0);
  notes.log.clear();
  EXPECT_EQ(feed(other), OCSD_RESP_FATAL_INVALID_DATA);
  EXPECT_NE(notes.log.find("The bytes after a WAIT are not those that were given before"),
            std::string::npos);
}

}  // namespace
}  // namespace waymark::compat
