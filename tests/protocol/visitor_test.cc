#include "waymark/protocol/visitor.h"

#include <gtest/gtest.h>

namespace waymark::protocol {
namespace {

struct Packet {};

struct TakesAll {
  static consteval VisitorTakes takes() {
    return {.atom_rows = true, .p_headers = true, .places = true, .own_packet = true};
  }

  bool on_atom_row(Bytes headers);
  std::size_t on_p_headers(std::span<const frames::Run> runs, const std::uint8_t* data,
                           std::size_t position, std::size_t size);
  void on_place(const std::uint8_t* at);
  Packet& place();
};

struct TakesPackets {
  static consteval VisitorTakes takes() { return {}; }
};

struct Misspells {
  bool on_atom_rows(Bytes headers);
  void on_atom_row(Bytes headers);
  std::size_t on_p_headers(const std::uint8_t* data, std::size_t position, std::size_t size);
  void on_place();
};

TEST(VisitorTakes, what_is_stated_is_compared_with_the_functions_that_are_there) {
  EXPECT_TRUE(has_what_it_takes<TakesAll>());
  EXPECT_TRUE(has_what_it_takes<TakesPackets>());
}

TEST(VisitorTakes, a_function_with_another_name_or_signature_is_not_there) {
  constexpr VisitorTakes kHas = functions_of<Misspells>();
  EXPECT_FALSE(kHas.atom_rows || kHas.p_headers || kHas.places || kHas.own_packet);
}

}  // namespace
}  // namespace waymark::protocol
