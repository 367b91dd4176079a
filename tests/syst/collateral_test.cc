#include "waymark/syst/collateral.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "support/seed_count.h"
#include "waymark/syst/parser.h"

namespace waymark::syst {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGuid = "{494E5443-8A9C-4014-A65A-2F36A36D96E4}";

std::string client(std::string_view sections, std::string_view name = "demo",
                   std::string_view guid = kGuid) {
  return R"(<syst:Client Name=")" + std::string(name) + R"("><syst:Guids><syst:Guid ID=")" +
         std::string(guid) + R"(">g</syst:Guid></syst:Guids>)" + std::string(sections) +
         "</syst:Client>";
}

std::string document(std::string_view clients) {
  return R"(<?xml version="1.0"?><syst:Collateral xmlns:syst="http://www.mipi.org/1.0/sys-t">)" +
         std::string(clients) + "</syst:Collateral>";
}

std::string catalog(std::string_view entries) {
  return document(client("<syst:Catalog32>" + std::string(entries) + "</syst:Catalog32>"));
}

std::string problem_of(std::string_view xml, const Quirks& quirks = {}) {
  Collateral collateral(quirks);
  const auto added = collateral.add_text("file.xml", xml);
  return added ? "" : added.error().sentence();
}

TEST(SystCollateral, texts_by_id_and_mask) {
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text(
      "a.xml",
      catalog(R"(<syst:Format ID="0x10" File="0x1" Line="10"><![CDATA[one <%d>]]></syst:Format>
        <syst:Format ID="0x20" Mask="0xF0">masked</syst:Format>
        <syst:Format ID="7">&lt;seven&gt;</syst:Format>)")));
  const Client& demo = collateral.clients().front();
  ASSERT_NE(demo.catalog32.find(0x10), nullptr);
  EXPECT_EQ(demo.catalog32.find(0x10)->text, "one <%d>");
  EXPECT_EQ(demo.catalog32.find(0x10)->line, 10U);
  EXPECT_EQ(demo.catalog32.find(0x2F)->text, "masked");
  EXPECT_EQ(demo.catalog32.find(7)->text, "<seven>");
  EXPECT_EQ(demo.catalog32.find(0x11), nullptr);
}

TEST(SystCollateral, the_first_match_in_the_file_counts) {
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text("a.xml",
                                  catalog(R"(<syst:Format ID="0x100" Mask="0xF00">wide</syst:Format>
      <syst:Format ID="0x200">exact</syst:Format>
      <syst:Format ID="0x200" Mask="0xF00">late</syst:Format>)")));
  const EntryTable& table = collateral.clients().front().catalog32;
  EXPECT_EQ(table.find(0x123)->text, "wide");
  EXPECT_EQ(table.find(0x200)->text,
            "late");  // The new entry replaces the one that its ID matches.
  EXPECT_EQ(collateral.warnings().size(), 1U);
  EXPECT_THAT(collateral.warnings().front().sentence(), HasSubstr("'late' replaces 'exact'"));
}

TEST(SystCollateral, any_prefix_will_do_unless_as_the_reference) {
  const std::string xml = "<s:Collateral><s:Client Name='x'><s:Guids><s:Guid ID='" +
                          std::string(kGuid) + "'>g</s:Guid></s:Guids></s:Client></s:Collateral>";
  Collateral native;
  ASSERT_TRUE(native.add_text("a.xml", xml));
  EXPECT_EQ(native.clients().size(), 1U);
  Collateral compatible(Quirks::reference());
  ASSERT_TRUE(compatible.add_text("a.xml", xml));
  EXPECT_TRUE(compatible.empty());
}

TEST(SystCollateral, problems_name_file_line_and_element) {
  EXPECT_EQ(problem_of("<a>\n</b>"), "file.xml:2: this is not valid XML: Start-end tags mismatch.");
  EXPECT_THAT(problem_of(catalog("\n\n<syst:Format ID=\"12x\">v</syst:Format>")),
              HasSubstr("file.xml:3: in client 'demo', element syst:Format: the attribute "
                        "ID=\"12x\" is not a number that fits"));
  EXPECT_THAT(problem_of(catalog("<syst:Format>v</syst:Format>")), HasSubstr("missing or empty"));
  EXPECT_THAT(problem_of(document(client("", "c", "{1}"))), HasSubstr("not a GUID in braces"));
  EXPECT_THAT(problem_of("<html/>"), HasSubstr("no element Collateral"));
}

TEST(SystCollateral, entities_and_other_files_are_refused) {
  EXPECT_THAT(problem_of("<!DOCTYPE x [<!ENTITY a 'aa'><!ENTITY b '&a;&a;'>]>" + document("")),
              HasSubstr("document type declarations are not accepted"));
  EXPECT_THAT(problem_of("<!DOCTYPE x SYSTEM 'file:///etc/passwd'>" + document("")),
              HasSubstr("document type declarations are not accepted"));
}

TEST(SystCollateral, a_file_that_fails_leaves_nothing) {
  Collateral collateral;
  const std::string bad =
      document(client("") + client("<syst:Modules><syst:Module/></syst:Modules>"));
  ASSERT_FALSE(collateral.add_text("bad.xml", bad));
  EXPECT_TRUE(collateral.empty());
}

TEST(SystCollateral, a_newline_may_precede_the_declaration) {
  EXPECT_EQ(problem_of("\n" + document(client(""))), "");
}

TEST(SystCollateral, deep_nesting_does_no_harm) {
  std::string xml;
  for (int i = 0; i < 100000; ++i) xml += "<a>";
  EXPECT_THAT(problem_of(xml), HasSubstr("this is not valid XML"));
}

TEST(SystCollateral, what_is_searched_one_by_one_is_limited) {
  std::string masks;
  for (unsigned i = 0; i <= Collateral::kMaxMasks; ++i) {
    masks += "<syst:Format ID=\"" + std::to_string(0x10000 + i) + "\" Mask=\"" +
             std::to_string(0x10000 + i) + "\">" + std::to_string(i) + "</syst:Format>";
  }
  // All IDs except the first match an earlier entry, which they replace.
  EXPECT_EQ(problem_of(catalog(masks)), "");
  masks.clear();
  for (unsigned i = 0; i <= Collateral::kMaxMasks; ++i) {
    masks += "<syst:Format ID=\"" + std::to_string(i) + "\" Mask=\"" +
             std::to_string(0x80000FFF + (i << 12)) + "\">text</syst:Format>";
  }
  EXPECT_THAT(problem_of(catalog(masks)), HasSubstr("too many distinct masks"));

  std::string guids = "<syst:Guids>";
  std::string clients;
  for (std::size_t i = 0; i <= Collateral::kMaxGuids; ++i) {
    guids += "<syst:Guid ID=\"" + std::string(kGuid) + "\">g</syst:Guid>";
    clients += "<syst:Client/>";
  }
  EXPECT_THAT(problem_of(document(client(guids + "</syst:Guids>"))), HasSubstr("more GUIDs than"));
  EXPECT_THAT(problem_of(document(clients)), HasSubstr("more clients than"));
}

TEST(SystCollateral, an_equal_text_counts_for_what_only_its_mask_matches) {
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text("a.xml", catalog(R"(<syst:Format ID="0x201">same</syst:Format>
      <syst:Format ID="0x201" Mask="0xF00">same</syst:Format>)")));
  const EntryTable& table = collateral.clients().front().catalog32;
  ASSERT_NE(table.find(0x2FF), nullptr);
  EXPECT_EQ(table.find(0x2FF)->text, "same");
  EXPECT_TRUE(collateral.warnings().empty());
}

std::string guid_of(unsigned number) {
  return fmt::format("{{494E5443-8A9C-4014-A65A-2F36{:08X}}}", number);
}

TEST(SystCollateral, clients_are_found_at_once_among_many) {
  std::string clients;
  for (unsigned i = 0; i < Collateral::kMaxClients; ++i)
    clients += client("", std::to_string(i), guid_of(i));
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text("a.xml", document(clients)));
  // One by one, these would be ten thousand million comparisons.
  const std::uint64_t times = support::seed_count(3'000'000);
  for (unsigned i = 0; i < times; ++i) {
    const Guid guid = *parse_guid(guid_of(i % (2 * Collateral::kMaxClients)));
    const Client* const found = collateral.find(guid);
    ASSERT_EQ(found == nullptr, i % (2 * Collateral::kMaxClients) >= Collateral::kMaxClients);
  }
}

TEST(SystCollateral, of_several_masks_the_first_client_counts) {
  const auto masked = [](std::string_view name, std::string_view id, std::string_view mask) {
    return fmt::format(
        R"(<syst:Client Name="{}"><syst:Guids><syst:Guid ID="{}" Mask="{}">g</syst:Guid>
        </syst:Guids></syst:Client>)",
        name, id, mask);
  };
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text(
      "a.xml",
      document(masked("all", guid_of(1), "{FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF}") +
               masked("some", guid_of(0x100), "{FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFF00}") +
               masked("some again", guid_of(0x1FF), "{FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFF00}"))));
  ASSERT_TRUE(collateral.add_text("b.xml", document(client("", "late", guid_of(0x123)))));
  EXPECT_EQ(collateral.find(*parse_guid(guid_of(1)))->name, "all");
  EXPECT_EQ(collateral.find(*parse_guid(guid_of(0x123)))->name, "some");
  EXPECT_EQ(collateral.find(*parse_guid(guid_of(0x200))), nullptr);
  std::string many;
  for (unsigned i = 0; i <= Collateral::kMaxMasks; ++i) many += masked("", guid_of(0), guid_of(i));
  EXPECT_THAT(problem_of(document(many)), HasSubstr("more masks of GUIDs"));
}

TEST(SystCollateral, many_masked_texts_are_found_at_once) {
  std::string entries;
  for (unsigned i = 0; i < 100000; i += 2) {
    entries +=
        fmt::format(R"(<syst:Format ID="{}" Mask="0xFFFFFFFE">{}</syst:Format>)", 100 + i, i);
  }
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text("a.xml", catalog(entries)));
  const EntryTable& table = collateral.clients().front().catalog32;
  EXPECT_EQ(table.masks(), 1U);
  EXPECT_EQ(table.find(100 + 99999)->text, "99998");
  EXPECT_EQ(table.find(99), nullptr);
}

TEST(SystClientFinder, builds_choose_among_clients) {
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text(
      "a.xml",
      document(
          client(R"(<syst:Builds><syst:Build ID="7">b</syst:Build></syst:Builds>)", "seven") +
          client(R"(<syst:Builds><syst:Build ID="8">b</syst:Build></syst:Builds>)", "eight"))));
  ClientFinder finder(collateral);
  const auto text = hex("42 30 80 01 494E54438A9C4014A65A2F36A36D96E4 61 00");
  const auto build = hex("40 30 80 02 494E54438A9C4014A65A2F36A36D96E4 0800000000000000");
  EXPECT_EQ(finder.find(parse_message(text))->name, "seven");
  EXPECT_EQ(finder.find(parse_message(build))->name, "eight");
  EXPECT_EQ(finder.find(parse_message(text))->name, "eight");
}

TEST(SystClientFinder, builds_choose_among_clients_in_the_form_of_the_reference) {
  Collateral collateral;
  const std::string guid = "{00000000-0000-0041-0000-000000000000}";
  ASSERT_TRUE(collateral.add_text(
      "a.xml", document(client(R"(<syst:Builds><syst:Build ID="7">b</syst:Build></syst:Builds>)",
                               "seven", guid) +
                        client(R"(<syst:Builds><syst:Build ID="8">b</syst:Build></syst:Builds>)",
                               "eight", guid))));
  ClientFinder finder(collateral);
  const auto text = hex("42 50 41 01 61 00");
  const auto build = hex("40 50 41 02 0800000000000000");
  EXPECT_EQ(finder.find(parse_message(text), 0x81, 4)->name, "seven");
  EXPECT_EQ(finder.find(parse_message(build), 0x81, 4)->name, "eight");
  EXPECT_EQ(finder.find(parse_message(text), 0x81, 4)->name, "eight");
  EXPECT_EQ(finder.find(parse_message(text), 0x81, 5)->name, "seven");  // Another sender.
}

TEST(SystClientFinder, builds_are_learned_however_many_senders_there_are) {
  Collateral collateral;
  const std::string any = R"(<syst:Guid ID="{00000000-0000-0000-0000-000000000000}"
      Mask="{00000000-0000-0000-0000-000000000000}">g</syst:Guid>)";
  const auto of = [&](int build) {
    return fmt::format(R"(<syst:Client Name="{0}"><syst:Guids>{1}</syst:Guids><syst:Builds>
        <syst:Build ID="{0}">b</syst:Build></syst:Builds></syst:Client>)",
                       build, any);
  };
  ASSERT_TRUE(collateral.add_text("a.xml", document(of(7) + of(8))));
  ClientFinder finder(collateral);
  for (unsigned i = 0; i < 20'000; ++i) {
    auto build = hex("40 30 80 02 494E54438A9C4014A65A2F36A36D96E4 0800000000000000");
    build[4] = static_cast<std::uint8_t>(i & 0xFF);
    build[5] = static_cast<std::uint8_t>(i >> 8);
    EXPECT_EQ(finder.find(parse_message(build))->name, "8");
    build[20] = 7;
    EXPECT_EQ(finder.find(parse_message(build))->name, "7");
  }
}

TEST(SystClientFinder, clients_without_guid_by_master_channel_and_origin) {
  Collateral collateral;
  ASSERT_TRUE(collateral.add_text(
      "a.xml", document(client("", "here", "{00000000-0081-0004-4100-000000000000}") +
                        client("", "old form", "{00000000-0000-0041-0000-000000000000}"))));
  const auto text = hex("42 50 41 01 61 00");
  ClientFinder finder(collateral);
  EXPECT_EQ(finder.find(parse_message(text), 0x81, 4)->name, "here");
  EXPECT_EQ(finder.find(parse_message(text), 0x81, 5)->name, "old form");
  ClientFinder compatible(collateral, Quirks::reference());
  EXPECT_EQ(compatible.find(parse_message(text), 0x81, 4)->name, "old form");
}

}  // namespace
}  // namespace waymark::syst
