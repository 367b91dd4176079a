#include "waymark/view/request.h"

#include <gtest/gtest.h>

#include <string>

namespace waymark::view {
namespace {

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

/// The question of a request; the test ends if there is none of this type.
template <class T>
T question(std::string_view text) {
  const auto request = parse_question(text);
  if (!request) {
    ADD_FAILURE() << request.error().sentence;
    return {};
  }
  return std::get<T>(std::get<Question>(request->what));
}

Refusal refusal(std::string_view text) {
  const auto request = parse_question(text);
  if (request) {
    ADD_FAILURE() << "not refused: " << text;
    return {};
  }
  return request.error();
}

TEST(ViewRequest, target_names_a_file_of_the_page) {
  for (const std::string_view name : {"", "app.js", "../secret", "%2e%2e/x"}) {
    const auto request = parse_target("/" + std::string(kToken) + "/" + std::string(name), kToken);
    ASSERT_TRUE(request);
    EXPECT_EQ(std::get<PageRequest>(request->what).name, name);
  }
}

TEST(ViewRequest, parameters_of_the_page_are_its_own) {
  const auto request = parse_target("/" + std::string(kToken) + "/?from=1&x", kToken);
  ASSERT_TRUE(request);
  EXPECT_EQ(std::get<PageRequest>(request->what).name, "");
}

TEST(ViewRequest, wrong_token_is_refused_whatever_follows) {
  const std::string token(kToken);
  for (const std::string& target :
       {std::string(), std::string("/"), std::string("/favicon.ico"), "/" + token,
        "/" + token.substr(1) + "/", "//" + token + "/", token + "/api/1/capture",
        "/" + std::string(32, '0') + "/api/1/capture", "/../" + token + "/",
        std::string("http://127.0.0.1/") + token + "/"}) {
    const auto request = parse_target(target, kToken);
    ASSERT_FALSE(request) << target;
    EXPECT_EQ(request.error().status, 403) << target;
  }
}

TEST(ViewRequest, long_target_is_refused) {
  const auto request =
      parse_target("/" + std::string(kToken) + "/" + std::string(kLongestTarget, 'a'), kToken);
  ASSERT_FALSE(request);
  EXPECT_EQ(request.error().status, 414);
}

TEST(ViewRequest, unknown_request_and_parameter) {
  EXPECT_EQ(refusal("captures").status, 404);
  EXPECT_EQ(refusal("").status, 404);
  EXPECT_EQ(refusal("capture/").status, 404);
  EXPECT_EQ(refusal("capture?x=1").sentence, "'x' is not a parameter of capture; it takes cancel.");
  EXPECT_EQ(refusal("measure?form=1").sentence,
            "'form' is not a parameter of measure; it takes from, to, tracks and cancel.");
  EXPECT_EQ(refusal("measure?from=1&from=2&to=3").sentence, "from is given twice.");
}

TEST(ViewRequest, timeline) {
  const auto asked = question<TimelineQuestion>("timeline?from=1.5&to=2e3&width=1280&tracks=1,7");
  EXPECT_EQ(asked.window.from, 1.5);
  EXPECT_EQ(asked.window.to, 2000);
  EXPECT_EQ(asked.window.tracks, (std::vector<TrackNumber>{1, 7}));
  EXPECT_EQ(asked.width, 1280U);
  EXPECT_FALSE(asked.binary);
  EXPECT_TRUE(question<TimelineQuestion>("timeline?width=1&format=binary").binary);
  EXPECT_EQ(refusal("timeline?from=0&to=1").sentence, "timeline needs the parameter width.");
  EXPECT_EQ(refusal("timeline?width=8193").sentence,
            "width is '8193'; it takes a whole number from 1 to 8192.");
  EXPECT_EQ(refusal("timeline?width=0").status, 400);
  EXPECT_EQ(refusal("timeline?width=1&format=xml").sentence,
            "format is 'xml'; its values are json and binary.");
}

TEST(ViewRequest, places_on_the_axis_are_finite_numbers) {
  for (const std::string_view bad : {"nan", "inf", "-inf", "-1", "1e400", "1e30", "0x10", "1 ", "",
                                     "1,5", "++1", "18446744073709551617000"}) {
    const auto refused = refusal("measure?from=" + std::string(bad) + "&to=5");
    EXPECT_EQ(refused.status, 400) << bad;
    EXPECT_TRUE(refused.sentence.starts_with("from is '")) << refused.sentence;
  }
  EXPECT_EQ(question<MeasureQuestion>("measure?from=0&to=18446744073709551616").window.to,
            18446744073709551616.0);
}

TEST(ViewRequest, window_has_a_length) {
  EXPECT_EQ(refusal("measure?from=5&to=5").sentence, "from is 5, and to is 5; from must be less.");
  EXPECT_EQ(refusal("measure?from=6&to=5").status, 400);
  EXPECT_FALSE(question<MeasureQuestion>("measure").window.from);
  EXPECT_FALSE(question<MeasureQuestion>("measure").window.to);
}

TEST(ViewRequest, tracks_are_a_list_of_numbers) {
  EXPECT_EQ(refusal("measure?tracks=").status, 400);
  EXPECT_EQ(refusal("measure?tracks=1,,2").status, 400);
  EXPECT_EQ(refusal("measure?tracks=-1").status, 400);
  EXPECT_EQ(refusal("measure?tracks=4294967296").status, 400);
  std::string many = "measure?tracks=1";
  for (std::uint32_t i = 0; i < kMostTracks; ++i) many += ",1";
  EXPECT_EQ(refusal(many).status, 400);
}

TEST(ViewRequest, place_is_by_time_or_by_number) {
  const auto time = question<PlaceQuestion>("at?track=3&t=0.25");
  EXPECT_EQ(std::get<TrackPlace>(time.place).track, 3U);
  EXPECT_EQ(std::get<TrackPlace>(time.place).at, 0.25);
  const auto number = question<PlaceQuestion>("at?source=16&n=18446744073709551615");
  EXPECT_EQ(std::get<Instant>(number.place), (Instant{16, 18446744073709551615U}));
  EXPECT_EQ(refusal("at").status, 400);
  EXPECT_EQ(refusal("at?track=3").sentence, "at needs the parameter t.");
  EXPECT_EQ(refusal("at?track=3&t=1&n=1").status, 400);
  EXPECT_EQ(refusal("at?source=256&n=0").status, 400);
  EXPECT_EQ(refusal("at?source=16&n=18446744073709551616").status, 400);
  EXPECT_EQ(refusal("at?source=16&n=-1").status, 400);
}

TEST(ViewRequest, instructions_are_bounded) {
  EXPECT_EQ(question<PlacesQuestion>("instructions?source=1&n=9&after=512").after, 512U);
  EXPECT_EQ(refusal("instructions?source=1&n=9&after=513").status, 400);
}

TEST(ViewRequest, step) {
  const auto asked =
      question<StepQuestion>("step?source=1&n=9&by=same_line&direction=back&count=3");
  EXPECT_EQ(asked.step.kind, StepKind::kSameLine);
  EXPECT_TRUE(asked.step.back);
  EXPECT_EQ(asked.step.count, 3U);
  EXPECT_EQ(question<StepQuestion>("step?source=1&n=9&by=message&direction=forward").step.kind,
            StepKind::kMessage);
  EXPECT_EQ(refusal("step?source=1&n=9&by=leap&direction=back").status, 400);
  EXPECT_EQ(refusal("step?source=1&n=9&by=line").status, 400);
}

TEST(ViewRequest, code_is_by_instruction_or_by_function) {
  EXPECT_EQ(std::get<FunctionNumber>(question<CodeQuestion>("code?function=7").code), 7U);
  EXPECT_EQ(std::get<Instant>(question<CodeQuestion>("code?source=1&n=2").code), (Instant{1, 2}));
  EXPECT_EQ(refusal("code?function=7&n=2").status, 400);
}

TEST(ViewRequest, find_decodes_its_text) {
  const auto asked = question<FindQuestion>("find?what=text&text=a+%3C%2fb%3e%26&source=16");
  EXPECT_EQ(asked.query.what, FindWhat::kText);
  EXPECT_EQ(asked.query.text, "a </b>&");
  EXPECT_EQ(asked.query.source, 16);
  EXPECT_EQ(refusal("find?what=text").status, 400);
  EXPECT_EQ(refusal("find?what=text&text=").status, 400);
  EXPECT_EQ(refusal("find?what=text&text=%4").sentence,
            "text has a % without two hexadecimal digits; write %25.");
  EXPECT_EQ(refusal("find?what=text&text=%zz").status, 400);
  EXPECT_EQ(refusal("find?what=text&text=" + std::string(kLongestText + 1, 'a')).status, 400);
}

TEST(ViewRequest, cancel_is_a_short_plain_key) {
  EXPECT_EQ(parse_question("capture?cancel=a-b_c.9")->cancel, "a-b_c.9");
  EXPECT_EQ(refusal("capture?cancel=").status, 400);
  EXPECT_EQ(refusal("capture?cancel=a%20b").status, 400);
  EXPECT_EQ(refusal("capture?cancel=" + std::string(kLongestKey + 1, 'a')).status, 400);
}

TEST(ViewRequest, refusals_are_one_short_sentence) {
  const std::string rubbish(4000, 'x');
  for (const std::string& text :
       {rubbish, "capture?" + rubbish, "measure?from=" + rubbish, "timeline?width=" + rubbish}) {
    EXPECT_LT(refusal(text).sentence.size(), 300U);
  }
}

TEST(ViewRequest, equal_in_constant_time) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_in_constant_time("abc", "ab"));
}

}  // namespace
}  // namespace waymark::view
