#include "waymark/exports/parquet.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "../../src/exports/parquet_encoding.h"
#include "../../src/exports/thrift.h"
#include "waymark/base/cursor.h"

namespace waymark::exports {
namespace {

Bytes bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

/// Values of `width` bits, least significant first.
std::vector<std::uint64_t> unpacked(Cursor& cursor, std::size_t count, unsigned width) {
  const Bytes bytes = cursor.take((count * width + 7) / 8);
  std::vector<std::uint64_t> values(count);
  for (std::size_t bit = 0; bit < count * width; ++bit)
    if ((bytes[bit / 8] >> bit % 8 & 1) != 0)
      values[bit / width] |= std::uint64_t{1} << bit % width;
  return values;
}

/// Reads what put_runs() wrote, by the specification.
std::vector<std::uint32_t> read_runs(const std::string& text, std::size_t count, unsigned width) {
  Cursor cursor(bytes_of(text));
  std::vector<std::uint32_t> values;
  while (values.size() < count && !cursor.overrun()) {
    const std::uint64_t header = cursor.continued(10);
    if ((header & 1) != 0) {
      for (const std::uint64_t value : unpacked(cursor, (header >> 1) * 8, width))
        values.push_back(static_cast<std::uint32_t>(value));
    } else {
      const auto value = unpacked(cursor, 1, (width + 7) / 8 * 8).front();
      values.insert(values.end(), header >> 1, static_cast<std::uint32_t>(value));
    }
  }
  EXPECT_EQ(cursor.remaining(), 0U);
  EXPECT_LT(values.size(), count + 8);
  values.resize(count);
  return values;
}

/// Reads what put_deltas() wrote, by the specification.
std::vector<std::uint64_t> read_deltas(const std::string& text) {
  Cursor cursor(bytes_of(text));
  EXPECT_EQ(cursor.continued(10), 128U);
  EXPECT_EQ(cursor.continued(10), 4U);
  const std::size_t count = cursor.continued(10);
  std::vector<std::uint64_t> values{static_cast<std::uint64_t>(unzigzag(cursor.continued(10)))};
  while (values.size() < count && !cursor.overrun()) {
    const auto least = static_cast<std::uint64_t>(unzigzag(cursor.continued(10)));
    const Bytes widths = cursor.take(4);
    for (const std::uint8_t width : widths) {
      if (values.size() >= count) break;
      for (const std::uint64_t delta : unpacked(cursor, 32, width))
        values.push_back(values.back() + least + delta);
    }
  }
  EXPECT_EQ(cursor.remaining(), 0U);
  values.resize(count);
  return values;
}

TEST(ParquetEncoding, bits_are_packed_as_the_example_of_the_specification) {
  constexpr std::array<std::uint64_t, 8> kValues = {0, 1, 2, 3, 4, 5, 6, 7};
  std::string out;
  put_bits(out, kValues, 3);
  EXPECT_EQ(out, "\x88\xC6\xFA");
}

TEST(ParquetEncoding, deltas_are_those_of_the_examples_of_the_specification) {
  constexpr std::array<std::uint64_t, 5> kEven = {1, 2, 3, 4, 5};
  std::string out;
  put_deltas(out, kEven);
  // 128, 4, five values, the first is 1; the least delta is 1, and nothing is above it.
  EXPECT_EQ(out, std::string("\x80\x01\x04\x05\x02\x02\0\0\0\0", 10));

  constexpr std::array<std::uint64_t, 8> kUneven = {7, 5, 3, 1, 2, 3, 4, 5};
  out.clear();
  put_deltas(out, kUneven);
  // The least delta is -2; above it are 0, 0, 0, 3, 3, 3, 3 in 2 bits each.
  EXPECT_EQ(out, std::string("\x80\x01\x04\x08\x0E\x03\x02\0\0\0\xC0\x3F\0\0\0\0\0\0", 18));
}

TEST(ParquetEncoding, runs_of_all_lengths_are_read_as_they_were) {
  std::mt19937 random(1);
  for (const unsigned width : {1U, 3U, 8U, 17U, 32U}) {
    for (unsigned round = 0; round < 50; ++round) {
      std::vector<std::uint32_t> values;
      while (values.size() < 300) {
        const std::uint32_t value = static_cast<std::uint32_t>(random()) >> (32 - width);
        values.insert(values.end(), random() % 3 == 0 ? random() % 40 : random() % 4, value);
      }
      std::string out;
      put_runs(out, values, width);
      EXPECT_EQ(read_runs(out, values.size(), width), values) << width;
    }
  }
}

TEST(ParquetEncoding, a_long_run_is_a_few_bytes) {
  std::string out;
  put_runs(out, std::vector<std::uint32_t>(100'000, 1), 1);
  EXPECT_LE(out.size(), 4U);
}

TEST(ParquetEncoding, deltas_overflow_as_they_are_added_up) {
  std::mt19937_64 random(2);
  for (const std::size_t size : {1U, 2U, 32U, 33U, 129U, 130U, 1000U}) {
    for (const unsigned width : {1U, 20U, 64U}) {
      std::vector<std::uint64_t> values(size);
      for (std::uint64_t& value : values) value = random() >> (64 - width);
      std::string out;
      put_deltas(out, values);
      EXPECT_EQ(read_deltas(out), values) << size << ' ' << width;
    }
  }
}

TEST(Thrift, a_struct_is_as_the_specification_of_the_compact_protocol_says) {
  ThriftStruct made;
  made.i32(1, -1);
  made.flag(2, true);
  made.open(5);
  made.i64(1, 300);
  made.close();
  made.list_of_numbers(6, {1, -2});
  made.text(8, "ab");
  EXPECT_EQ(made.take(), std::string("\x15\x01\x11\x3C\x16\xD8\x04\x00\x19\x25\x02\x03\x28\x02"
                                     "ab\x00",
                                     17));
}

TEST(Thrift, a_long_list_has_its_length_as_a_number) {
  ThriftStruct made;
  made.list_of_numbers(1, std::vector<std::int32_t>(20, 0));
  EXPECT_EQ(made.take().substr(0, 3), "\x19\xF5\x14");
}

constexpr std::array kColumns = {
    ParquetColumn{.name = "number", .type = ParquetType::kUint64},
    ParquetColumn{.name = "text", .type = ParquetType::kText, .nullable = true},
};

std::string written(std::size_t rows, const ParquetOptions& options) {
  TextBuffer out;
  ParquetWriter writer(kColumns, options, out);
  for (std::size_t i = 0; i < rows; ++i) {
    writer.number(0, i * i);
    if (i % 3 == 0) writer.text(1, i % 2 == 0 ? "even" : "odd");
    writer.end_row();
  }
  EXPECT_EQ(writer.rows(), rows);
  EXPECT_TRUE(writer.finish().has_value());
  return std::string(out.view());
}

TEST(Parquet, a_file_begins_and_ends_as_one) {
  for (const std::size_t rows : {0U, 1U, 10'000U}) {
    const std::string file = written(rows, {.created_by = "waymark version 1.2.3"});
    ASSERT_GT(file.size(), 12U);
    EXPECT_EQ(file.substr(0, 4), "PAR1");
    EXPECT_EQ(file.substr(file.size() - 4), "PAR1");
    Cursor cursor(bytes_of(file).subspan(file.size() - 8));
    const std::size_t footer = cursor.little(4);
    ASSERT_LE(footer + 12, file.size());
    const std::string_view end = std::string_view(file).substr(file.size() - 8 - footer, footer);
    EXPECT_NE(end.find("waymark version 1.2.3"), std::string_view::npos);
    EXPECT_NE(end.find("number"), std::string_view::npos);
  }
}

TEST(Parquet, the_same_rows_give_the_same_file) {
  EXPECT_EQ(written(5000, {.most_rows = 100}), written(5000, {.most_rows = 100}));
}

TEST(Parquet, a_group_ends_when_it_has_much_text) {
  const auto size = [](std::size_t most_text) {
    TextBuffer out;
    ParquetWriter writer(kColumns, {.most_text = most_text}, out);
    std::vector<std::size_t> sizes;
    for (std::uint64_t i = 0; i < 100; ++i) {
      writer.number(0, i);
      writer.text(1, std::string(1000, static_cast<char>('!' + i % 90)) + std::to_string(i));
      writer.end_row();
      if (sizes.empty() || sizes.back() != out.size()) sizes.push_back(out.size());
    }
    return sizes.size();
  };
  EXPECT_EQ(size(std::size_t{1} << 20), 1U);
  EXPECT_GT(size(10'000), 8U);
}

TEST(Parquet, long_texts_that_repeat_are_written_once) {
  TextBuffer out;
  ParquetWriter writer(kColumns, {}, out);
  const std::string text(100'000, 'x');
  // Texts that are all different are not put into a dictionary, unless it would be too much.
  for (std::uint64_t i = 0; i < 2000; ++i) {
    writer.number(0, i);
    writer.text(1, i % 2 == 0 ? text : std::to_string(i));
    writer.end_row();
  }
  EXPECT_TRUE(writer.finish().has_value());
  EXPECT_LT(out.size(), 300'000U);
}

}  // namespace
}  // namespace waymark::exports
