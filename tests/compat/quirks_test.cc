// The named quirks, as a client of the C API has them: all on, or none.
#include <cstdlib>

#include "capi_fixture.h"

namespace waymark::compat {
namespace {

class QuirksCApi : public CApi {
 protected:
  ~QuirksCApi() override { set(nullptr); }

  static void set(const char* value) {
    // NOLINTBEGIN(concurrency-mt-unsafe): this program tests in one thread.
    if (value == nullptr) {
      unsetenv("WAYMARK_OPENCSD_QUIRKS");
    } else {
      setenv("WAYMARK_OPENCSD_QUIRKS", value, 1);
    }
    // NOLINTEND(concurrency-mt-unsafe)
  }

  /// What a PE reset becomes, which the reference's decoder takes for a bad packet.
  std::string pe_reset() {
    single();
    notes = {};
    index = 0;
    const ocsd_etmv4_cfg etm = etmv4_config(0x10);
    const ocsd_ete_cfg config{.reg_idr0 = etm.reg_idr0,
                              .reg_idr1 = 0x4100FFF3,
                              .reg_idr2 = etm.reg_idr2,
                              .reg_idr8 = 0,
                              .reg_devarch = 0x47705A13,
                              .reg_configr = etm.reg_configr,
                              .reg_traceidr = 0x10,
                              .arch_ver = ARCH_AA64,
                              .core_prof = profile_CortexA};
    EXPECT_EQ(ocsd_dt_create_decoder(tree, "ETE", OCSD_CREATE_FLG_FULL_DECODER, &config, nullptr),
              OCSD_OK);
    note_elements();
    add_code(kLoopAddress, loop);
    feed(start(kLoopAddress, 7) + taken() + ByteVector{0x06, 0x00, 0x00});
    return notes.elements.back();
  }
};

TEST_F(QuirksCApi, are_on_unless_the_environment_says_none) {
  const std::string with = pe_reset();
  set("none");
  const std::string without = pe_reset();
  EXPECT_EQ(with.find("EXCEPTION"), std::string::npos) << with;
  EXPECT_NE(without.find("EXCEPTION"), std::string::npos) << without;
  set("all");
  EXPECT_EQ(pe_reset(), with);
}

TEST_F(QuirksCApi, none_is_for_the_frames_too) {
  // An FSYNC behind an HSYNC between two frames.
  const ByteVector first(16, 0);
  ByteVector trace{0xFF, 0xFF, 0xFF, 0x7F};
  trace = trace + first + ByteVector{0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0x7F} + first;
  const auto answer = [&] {
    formatted(OCSD_DFRMTR_HAS_FSYNCS | OCSD_DFRMTR_HAS_HSYNCS);
    index = 0;
    return feed(trace);
  };
  EXPECT_EQ(answer(), OCSD_RESP_FATAL_INVALID_DATA);
  set("none");
  EXPECT_EQ(answer(), OCSD_RESP_CONT);
}

}  // namespace
}  // namespace waymark::compat
