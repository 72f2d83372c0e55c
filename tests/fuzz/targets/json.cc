// IsJson and IsUtf8, on which rests that no program's value can break a line of results, and the writer of
// JSON strings; judged by another reader, nlohmann::json.
#include <nlohmann/json.hpp>

#include "clients/cli/json_text.h"
#include "common/text_check.h"
#include "common/utf8.h"
#include "tests/fuzz/targets/target.h"

namespace {

using skerry::fuzz::Demand;

bool IsOneLine(std::string_view text) {
  return text.find_first_of("\n\r\t") == std::string_view::npos;
}

/// This one takes a byte order mark, and a NUL for the end of the text.
bool IsJsonToTheOther(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf") || text.find('\0') != std::string_view::npos) return false;
  return nlohmann::json::accept(text.begin(), text.end());
}

void CheckJson(std::string_view text) {
  const bool json = skerry::IsJson(text);
  const bool one_line = skerry::IsJson(text, skerry::JsonLayout::kOneLine);
  Demand(!one_line || json, "JSON on one line is JSON");
  Demand(!one_line || IsOneLine(text), "JSON on one line has no line break");
  Demand(one_line || !json || !IsOneLine(text), "JSON without a line break is on one line");
  Demand(!json || skerry::IsUtf8(text), "JSON is UTF-8");
  const bool other = IsJsonToTheOther(text);
  Demand(json || !other, "what another reader takes is JSON");
  // The other's numbers end at a double's range, RFC 8259's do not.
  if (json && !other)
    Demand(text.find_first_of("0123456789") != std::string_view::npos, "JSON is JSON to others");
  if (!json) return;
  std::string line;
  skerry::cli::AppendOneLine(line, text);
  Demand(skerry::IsJson(line) && line.find_first_of("\r\n") == std::string::npos, "JSON goes on one line");
}

void CheckUtf8(std::string_view text) {
  const bool utf8 = skerry::IsUtf8(text);
  Demand(skerry::IsUtf8Header(text) == utf8, "both checks of UTF-8 agree");
  for (std::size_t most = 0; most <= text.size() && most < 9; ++most) {
    const std::string_view cut = skerry::CutUtf8(text, most);
    Demand(cut.size() <= most && text.starts_with(cut), "a cut text is a bounded prefix");
    Demand(!utf8 || (skerry::IsUtf8(cut) && most - cut.size() < 4), "a cut loses less than a character");
  }
  std::string quoted;
  skerry::cli::AppendJsonString(quoted, text);
  Demand(skerry::IsJson(quoted, skerry::JsonLayout::kOneLine), "a quoted text is JSON on one line");
  const auto read = nlohmann::json::parse(quoted, nullptr, false);
  Demand(read.is_string(), "a quoted text is a string");
  if (utf8) Demand(read.get<std::string>() == text, "a quoted text says what it said");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckJson(text);
  CheckUtf8(text);
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  return {R"({"a":[1,-2.5e+3,0.1E-2,"\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t",null,true,false],"":{}})",
          "[ 1 ,\n\t{ \"b\" : [ ] }\r\n]",
          "\xef\xbb\xbf[1]",
          "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
          "\xed\xa0\x80\xc0\x80\xf5\x80\x80\x80",
          "[[[[[[[[[[[[]]]]]]]]]]]]",
          "01",
          "1e999",
          "\"\x01\""};
}
