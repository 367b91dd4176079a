#include "waymark/live/recording.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <fstream>
#include <vector>

#include "waymark/live/head.h"

namespace waymark::live {
namespace {

using Data = std::vector<std::uint8_t>;

struct Step {
  PieceKind kind = PieceKind::kBytes;
  Data bytes{};
  ArrivalTime arrival = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

class Played final : public Stream {
 public:
  explicit Played(std::deque<Step> steps) : steps_(std::move(steps)) {}
  Result<Piece> next(Milliseconds /*patience*/) override {
    if (steps_.empty()) return Piece{.kind = PieceKind::kEnd};
    now_ = steps_.front();
    steps_.pop_front();
    return Piece{.kind = now_.kind, .bytes = now_.bytes, .arrival = now_.arrival};
  }
  [[nodiscard]] std::string name() const override { return "played"; }

 private:
  std::deque<Step> steps_;
  Step now_;
};

std::vector<Step> all_of(Stream& stream) {
  std::vector<Step> steps;
  while (true) {
    const auto piece = stream.next(Milliseconds(0));
    EXPECT_TRUE(piece.has_value()) << piece.error().detail;
    if (!piece || piece->kind == PieceKind::kEnd) return steps;
    steps.push_back({piece->kind, Data(piece->bytes.begin(), piece->bytes.end()), piece->arrival});
  }
}

class Recording : public testing::Test {
 protected:
  Recording() {
    std::string name = testing::TempDir() + "recordingXXXXXX";
    ::close(::mkstemp(name.data()));
    path_ = name;
  }
  ~Recording() override {
    (void)std::remove(path_.c_str());
    (void)std::remove(marks_path().c_str());
  }
  [[nodiscard]] std::string marks_path() const { return path_ + std::string(kMarksSuffix); }
  void write_marks(const std::string& text) const { std::ofstream(marks_path()) << text; }
  [[nodiscard]] std::string mark_error() const {
    auto marks = Marks::open(path_);
    if (!marks) return marks.error().detail;
    while (*marks) {
      const auto mark = (*marks)->next();
      if (!mark) return mark.error().detail;
      if (!*mark) break;
    }
    return "";
  }

  std::string path_;
};

TEST_F(Recording, comes_back_with_its_marks) {
  const std::deque<Step> steps{{PieceKind::kBytes, {1, 2, 3}, 1000},
                               {PieceKind::kGap, {}, 1000},
                               {PieceKind::kBytes, {4}, 2000},
                               {PieceKind::kBytes, {5, 6}, 3000}};
  auto recorded =
      record(std::make_unique<Played>(steps), {.path = path_, .arrivals = true, .notify = {}});
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(all_of(**recorded), std::vector<Step>(steps.begin(), steps.end()));
  (*recorded)->released();
  recorded->reset();
  const auto file = MappedFile::open(path_);
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(Data(file->bytes().begin(), file->bytes().end()), (Data{1, 2, 3, 4, 5, 6}));
  auto marks = Marks::open(path_);
  ASSERT_TRUE(marks.has_value() && marks->has_value());
  Playback playback("recording", file->bytes(), **std::move(marks));
  std::vector<Step> expected(steps.begin(), steps.end());
  expected.push_back({PieceKind::kRelease, {}, 3000});
  EXPECT_EQ(all_of(playback), expected);
  playback.seek(4);
  EXPECT_EQ(all_of(playback), (std::vector<Step>{{PieceKind::kBytes, {5, 6}, 3000},
                                                 {PieceKind::kRelease, {}, 3000}}));
}

TEST_F(Recording, without_events_has_no_marks) {
  write_marks("of an earlier recording");
  auto recorded = record(std::make_unique<Played>(std::deque<Step>{{.bytes = {1}, .arrival = 5}}),
                         {.path = path_});
  ASSERT_TRUE(recorded.has_value());
  all_of(**recorded);
  recorded->reset();
  const auto marks = Marks::open(path_);
  ASSERT_TRUE(marks.has_value());
  EXPECT_FALSE(marks->has_value());
}

TEST_F(Recording, full_disk_ends_the_recording_and_not_the_stream) {
  std::vector<std::string> told;
  auto recorded = record(std::make_unique<Played>(std::deque<Step>{{.bytes = {1}}, {.bytes = {2}}}),
                         {.path = "/dev/full", .notify = [&](const std::string& sentence) {
                            told.push_back(sentence);
                          }});
  ASSERT_TRUE(recorded.has_value());
  EXPECT_EQ(all_of(**recorded).size(), 2U);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told.front().find("/dev/full"), std::string::npos);
}

TEST_F(Recording, folder_that_does_not_exist) {
  const auto recorded =
      record(std::make_unique<Played>(std::deque<Step>{}), {.path = "/nonexistent/file"});
  ASSERT_FALSE(recorded.has_value());
  EXPECT_NE(recorded.error().detail.find("/nonexistent/file"), std::string::npos);
}

TEST_F(Recording, bad_marks_are_named) {
  write_marks("something else\n");
  EXPECT_NE(mark_error().find("not the file of marks"), std::string::npos);
  for (const char* line : {"gap", "gap x", "hole 3", "at 3", "at 3 0", "at 3 -1", "gap 5 6", ""}) {
    write_marks("waymark-live 1\ngap 1\n" + std::string(line) + "\n");
    EXPECT_NE(mark_error().find("line 3"), std::string::npos) << line;
  }
  write_marks("waymark-live 1\ngap 7\ngap 6\n");
  EXPECT_NE(mark_error().find("line 3"), std::string::npos);
}

TEST_F(Recording, cut_last_line_is_ignored) {
  write_marks("waymark-live 1\ngap 7\ngap 1");
  EXPECT_EQ(mark_error(), "");
}

TEST(Head, gives_what_was_looked_at) {
  const std::deque<Step> steps{{PieceKind::kBytes, {1, 2}, 10},
                               {PieceKind::kIdle},
                               {PieceKind::kGap, {}, 10},
                               {PieceKind::kBytes, {3}, 20},
                               {PieceKind::kBytes, {4}, 30}};
  Head head(std::make_unique<Played>(steps));
  while (head.bytes().size() < 3) ASSERT_TRUE(head.read_more(Milliseconds(0)).has_value());
  EXPECT_EQ(Data(head.bytes().begin(), head.bytes().end()), (Data{1, 2, 3}));
  EXPECT_EQ(all_of(head), (std::vector<Step>{{PieceKind::kBytes, {1, 2}, 10},
                                             {PieceKind::kGap, {}, 10},
                                             {PieceKind::kBytes, {3}, 20},
                                             {PieceKind::kBytes, {4}, 30}}));
}

TEST(Head, end_is_kept) {
  Head head(std::make_unique<Played>(std::deque<Step>{{.bytes = {1}}}));
  while (!head.ended()) ASSERT_TRUE(head.read_more(Milliseconds(0)).has_value());
  EXPECT_EQ(*head.read_more(Milliseconds(0)), PieceKind::kEnd);
  EXPECT_EQ(all_of(head).size(), 1U);
  EXPECT_EQ(head.next(Milliseconds(0))->kind, PieceKind::kEnd);
}

}  // namespace
}  // namespace waymark::live
