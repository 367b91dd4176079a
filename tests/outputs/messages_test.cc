#include "waymark/outputs/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "syst/support.h"

namespace waymark::outputs {
namespace {

using syst::Client;
using syst::Frame;
using syst::FrameEnd;
using syst::hex;
using syst::Record;
using testing::HasSubstr;
using testing::Not;

/// A frame of master 129, channel 3, and its output.
class Written {
 public:
  explicit Written(std::string_view bytes) : bytes_(hex(bytes)) {
    frame.bytes = bytes_;
    frame.index = 77;
    frame.trace_id = 0x20;
    frame.master = 129;
    frame.channel = 3;
    frame.has_master = true;
  }

  Frame frame;
  std::uint64_t frequency = 0;
  MessageWriter::Columns columns;
  /// Replaces the collateral's answer.
  const Client* client = nullptr;

  std::string text() {
    return written([](MessageWriter& writer, const Record& record) { writer.text(record); });
  }
  std::string json() {
    std::string line =
        written([](MessageWriter& writer, const Record& record) { writer.json(record); });
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    return line;
  }
  /// The fields by the names in the header.
  std::map<std::string, std::string> csv() {
    TextBuffer header;
    MessageWriter::csv_header(header);
    const auto names = fields(header.view());
    const auto values =
        fields(written([](MessageWriter& writer, const Record& record) { writer.csv(record); }));
    EXPECT_EQ(names.size(), values.size());
    std::map<std::string, std::string> result;
    for (std::size_t i = 0; i < std::min(names.size(), values.size()); ++i)
      if (!values[i].empty()) result[names[i]] = values[i];
    return result;
  }

 private:
  std::string written(const auto& write) {
    const syst::Collateral collateral;
    syst::Interpreter interpreter(collateral);
    interpreter.set_transport_frequency(frequency);
    Record record = interpreter.interpret(frame);
    if (client != nullptr) {
      record.client = client;
      record.status = syst::Status::kOk;
    }
    TextBuffer out;
    MessageWriter writer(out, columns);
    write(writer, record);
    return std::string(out.view());
  }

  static std::vector<std::string> fields(std::string_view line) {
    std::vector<std::string> result(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (c == '"') {
        if (quoted && i + 1 < line.size() && line[i + 1] == '"')
          result.back() += line[++i];
        else
          quoted = !quoted;
      } else if (c == ',' && !quoted) {
        result.emplace_back();
      } else if (c != '\n' || quoted) {
        result.back() += c;
      }
    }
    return result;
  }

  std::vector<std::uint8_t> bytes_;
};

constexpr const char* kHello = "42504101 68656C6C6F00";

TEST(MessageWriter, a_line_of_text_has_time_place_severity_origin_and_text) {
  Written hello(kHello);
  EXPECT_EQ(hello.text(), "                 -  129:3        INFO    module 65:5  hello\n");
  hello.frame.time = 1500;
  hello.frame.has_time = true;
  EXPECT_EQ(hello.text(), "              1500  129:3        INFO    module 65:5  hello\n");
  hello.frequency = 1'000'000;
  EXPECT_EQ(hello.text(), "       0.001500000  129:3        INFO    module 65:5  hello\n");
  hello.columns.trace_id = true;
  EXPECT_EQ(hello.text(), "       0.001500000  0x20  129:3        INFO    module 65:5  hello\n");
  hello.columns = {.time = false, .place = false};
  EXPECT_EQ(hello.text(), "INFO    module 65:5  hello\n");
}

TEST(MessageWriter, a_time_without_its_upper_bits_says_so_in_every_form) {
  Written hello(kHello);
  hello.frame.time = 1500;
  hello.frame.has_time = true;
  hello.frame.time_is_partial = true;
  hello.frequency = 1'000'000;
  EXPECT_THAT(hello.text(), HasSubstr("             ~1500  "));
  EXPECT_THAT(hello.json(), HasSubstr("\"time_is\":\"partial\""));
  EXPECT_THAT(hello.json(), Not(HasSubstr("\"nanoseconds\":")));
  const auto row = hello.csv();
  EXPECT_EQ(row.at("time"), "1500");
  EXPECT_EQ(row.at("time_is"), "partial");
  EXPECT_FALSE(row.contains("nanoseconds"));
}

TEST(MessageWriter, members_of_json) {
  // With GUID, location, length, timestamp and checksum.
  Written all(
      "42 5F 80 0B 494E54438A9C4014A65A2F36A36D96E4 00 0100 0C00 0B00 DC05000000000000 "
      "763D25642C20257300 0700 00000000");
  const std::string bad = all.json();
  EXPECT_THAT(bad, HasSubstr("\"status\":\"CHECKSUM_ERROR\""));
  EXPECT_THAT(bad, HasSubstr("\"problem\":\"its checksum does not match\""));
  EXPECT_THAT(bad, Not(HasSubstr("\"text\":")));
  EXPECT_THAT(bad, HasSubstr("\"guid\":\"{494e5443-8a9c-4014-a65a-2f36a36d96e4}\""));
  Written good(
      "42 5B 80 0B 494E54438A9C4014A65A2F36A36D96E4 00 0100 0C00 0900 DC05000000000000 "
      "763D256400 07000000");
  good.frame.time = 9;
  good.frame.has_time = true;
  const std::string members = good.json();
  EXPECT_THAT(members, HasSubstr("\"type\":\"message\""));
  EXPECT_THAT(members, HasSubstr("\"index\":77"));
  EXPECT_THAT(members, HasSubstr("\"id\":32"));
  EXPECT_THAT(members, HasSubstr("\"master\":129"));
  EXPECT_THAT(members, HasSubstr("\"channel\":3"));
  EXPECT_THAT(members, HasSubstr("\"status\":\"OK\""));
  EXPECT_THAT(members, HasSubstr("\"transport_time\":\"9\""));
  EXPECT_THAT(members, HasSubstr("\"time\":\"9\""));
  EXPECT_THAT(members, HasSubstr("\"time_is\":\"of_transport\""));
  EXPECT_THAT(members, HasSubstr("\"kind\":\"STRING:PRINTF32\""));
  EXPECT_THAT(members, HasSubstr("\"severity\":\"INFO\""));
  EXPECT_THAT(members, HasSubstr("\"unit\":5"));
  EXPECT_THAT(members, HasSubstr("\"text\":\"v=7\""));
  EXPECT_THAT(members, HasSubstr("\"timestamp\":1500,\"timestamp_text\":\"1500\""));
  EXPECT_THAT(members, HasSubstr("\"file\":1"));
  EXPECT_THAT(members, HasSubstr("\"line\":12"));
  EXPECT_THAT(members, Not(HasSubstr("\"problem\":")));
}

TEST(MessageWriter, a_csv_row_has_the_fields_of_its_header) {
  Written hello("42504101 612C226200");
  hello.frame.time = 9;
  hello.frame.has_time = true;
  const std::map<std::string, std::string> expected = {
      {"index", "77"},  {"id", "32"},         {"master", "129"},
      {"channel", "3"}, {"time", "9"},        {"time_is", "of_transport"},
      {"status", "OK"}, {"severity", "INFO"}, {"kind", "STRING:GENERIC"},
      {"origin", "65"}, {"unit", "5"},        {"text", "a,\"b"},
      {"size", "9"}};
  EXPECT_EQ(hello.csv(), expected);
  hello.frame.end = FrameEnd::kLost;
  EXPECT_EQ(hello.csv().at("problem"), "the transport lost data before its end");
}

TEST(MessageWriter, bad_messages_show_their_bytes) {
  Written bad("42564101020061000BADC0DE");
  EXPECT_THAT(bad.text(), HasSubstr("BAD     STRING:GENERIC its checksum does not match: "
                                    "42564101020061000BADC0DE"));
  EXPECT_EQ(bad.csv().at("bytes"), "42564101020061000BADC0DE");
  EXPECT_FALSE(bad.csv().contains("text"));
  bad.frame.end = FrameEnd::kNoMessage;
  EXPECT_THAT(bad.text(), HasSubstr("BAD     no message starts here: 4256"));
  EXPECT_THAT(bad.json(), Not(HasSubstr("\"kind\":")));
  Written empty("");
  EXPECT_THAT(empty.text(), HasSubstr("BAD     it ends within its header: \n"));
}

TEST(MessageWriter, whatever_was_sent_is_one_line_without_control_characters) {
  // ESC [ 3 1 m, newline, U+009B as UTF-8, a byte that is not UTF-8, ä, a tab.
  Written odd("42504101 1B5B33316D 0A C29B FF C3A4 09 7800");
  EXPECT_THAT(odd.text(), HasSubstr("  \\x1b[31m\\x0a\\u{009b}\\xff\xC3\xA4\\x09x\n"));
  Client client;
  client.name = "a\nb\x1B";
  odd.client = &client;
  EXPECT_THAT(odd.text(), HasSubstr("INFO    a\\x0ab\\x1b:5  "));
  EXPECT_THAT(odd.json(), HasSubstr(R"("client":"a\u000ab\u001b")"));
}

TEST(MessageWriter, names_of_modules_follow_that_of_the_client) {
  Client client;
  client.name = "demo";
  (void)client.modules.add({.id = 65, .text = "network"});
  Written hello(kHello);
  hello.client = &client;
  EXPECT_THAT(hello.text(), HasSubstr("INFO    demo/network:5  hello"));
  EXPECT_THAT(hello.json(), HasSubstr("\"module\":\"network\""));
  EXPECT_EQ(hello.csv().at("module"), "network");
}

TEST(MessageWriter, ports_and_captures_without_a_place) {
  Written hello(kHello);
  hello.frame.has_master = false;
  EXPECT_THAT(hello.text(), HasSubstr("-  port 3       INFO"));
  EXPECT_THAT(hello.json(), HasSubstr("\"port\":3"));
  hello.frame.channel = syst::kNoChannel;
  EXPECT_THAT(hello.text(), HasSubstr("-  -            INFO"));
  EXPECT_THAT(hello.json(), Not(HasSubstr("\"id\":")));
  EXPECT_FALSE(hello.csv().contains("channel"));
}

}  // namespace
}  // namespace waymark::outputs
