// Two threads, each with its own tree; the preset tsan checks what they share.
#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "capi_fixture.h"

namespace waymark::compat {
namespace {

TEST(ThreadsCApi, trees_of_two_threads_are_independent) {
  const auto decode = [](std::uint8_t id, std::size_t& ranges) {
    const ByteVector loop = loop_code();
    for (int i = 0; i < 20; ++i) {
      Notes notes;
      void* const tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0);
      const ocsd_etmv4_cfg config = etmv4_config(id);
      ocsd_dt_create_decoder(tree, "ETMV4I", OCSD_CREATE_FLG_FULL_DECODER, &config, nullptr);
      ocsd_dt_set_gen_elem_outfn(tree, &note_element, &notes);
      ocsd_dt_add_buffer_mem_acc(tree, kLoopAddress, OCSD_MEM_SPACE_ANY, loop.data(), 8);
      // A reserved header: errors are logged from both.
      const ByteVector trace = start(kLoopAddress, id) + taken_three_times() + ByteVector{0x60};
      std::uint32_t used = 0;
      ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, static_cast<std::uint32_t>(trace.size()),
                           trace.data(), &used);
      ocsd_dt_process_data(tree, OCSD_OP_EOT, 0, 0, nullptr, nullptr);
      for (const auto& element : notes.structures)
        ranges += element.elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE;
      ocsd_destroy_dcd_tree(tree);
    }
  };
  ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr);
  std::size_t first = 0;
  std::size_t second = 0;
  std::thread thread([&] { decode(0x10, first); });
  decode(0x11, second);
  thread.join();
  EXPECT_EQ(first, 60U);
  EXPECT_EQ(second, 60U);
}

/// State of one thread of the test below, which no other thread uses.
struct Worker {
  std::size_t ranges = 0;
  std::array<ocsd_err_t, 4> answers{};
};

ocsd_datapath_resp_t count_range(const void* context, const ocsd_trc_index_t, const uint8_t,
                                 const ocsd_generic_trace_elem* element) {
  auto& worker = *static_cast<Worker*>(const_cast<void*>(context));
  worker.ranges += element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE;
  return OCSD_RESP_CONT;
}

void drop_text(const void*, const char*, const int) {}

TEST(ThreadsCApi, what_trees_of_two_threads_share_is_guarded) {
  // The log, the last error, a file of memory that both read, the register of decoders.
  const std::string path =
      (std::filesystem::temp_directory_path() / "waymark_threads_test.bin").string();
  const ByteVector loop = loop_code();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(loop.data()), static_cast<std::streamsize>(loop.size()));
  ByteVector stream = start(kLoopAddress, 7);
  for (int i = 0; i < 400; ++i) stream = stream + taken_three_times();
  const ByteVector trace = frames_of({{0x10, stream}});
  const auto work = [&](Worker& worker) {
    for (int i = 0; i < 5; ++i) {
      void* const tree =
          ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_FRAME_MEM_ALIGN);
      const ocsd_etmv4_cfg config = etmv4_config(0x10);
      worker.answers[0] =
          ocsd_dt_create_decoder(tree, "ETMV4I", OCSD_CREATE_FLG_FULL_DECODER, &config, nullptr);
      worker.answers[1] = ocsd_dt_set_gen_elem_outfn(tree, &count_range, &worker);
      worker.answers[2] =
          ocsd_dt_add_binfile_mem_acc(tree, kLoopAddress, OCSD_MEM_SPACE_ANY, path.c_str());
      worker.answers[3] = ocsd_dt_create_decoder(tree, "no such decoder",
                                                 OCSD_CREATE_FLG_FULL_DECODER, &config, nullptr);
      ocsd_def_errlog_set_strprint_cb(tree, &worker, &drop_text);
      ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1);
      ocsd_tl_log_mapped_mem_ranges(tree);
      std::uint32_t used = 0;
      ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, static_cast<std::uint32_t>(trace.size()),
                           trace.data(), &used);
      ocsd_trc_index_t index = 0;
      std::uint8_t id = 0;
      std::array<char, 256> text{};
      ocsd_get_last_err(&index, &id, text.data(), static_cast<int>(text.size()));
      ocsd_destroy_dcd_tree(tree);
    }
  };
  ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1);
  ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_NONE, nullptr);
  std::array<Worker, 2> workers;
  {
    std::jthread thread([&] { work(workers[1]); });
    work(workers[0]);
  }
  std::filesystem::remove(path);
  for (const Worker& worker : workers) {
    EXPECT_EQ(worker.ranges, 5U * 1200U);
    EXPECT_EQ(worker.answers,
              (std::array{OCSD_OK, OCSD_OK, OCSD_OK, OCSD_ERR_DCDREG_NAME_UNKNOWN}));
  }
}

}  // namespace
}  // namespace waymark::compat
