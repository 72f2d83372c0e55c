// JsonFromMsgpack, MsgpackFromJson and CheckMsgpack; judged by another reader, nlohmann::json.
#include "common/msgpack_json.h"

#include <nlohmann/json.hpp>

#include "common/text_check.h"
#include "tests/fuzz/targets/target.h"

namespace {

using skerry::fuzz::Demand;

void FromMsgpack(std::string_view bytes) {
  const auto json = skerry::JsonFromMsgpack(bytes);
  Demand(json.has_value() == skerry::CheckMsgpack(bytes).has_value(), "check and reading agree");
  if (!json) {
    Demand(!json.error().message.empty(), "a refusal says why");
    return;
  }
  Demand(skerry::IsJson(*json, skerry::JsonLayout::kOneLine), "what comes out is JSON on one line");
  Demand(nlohmann::json::from_msgpack(bytes, true, false) == nlohmann::json::parse(*json),
         "it says what another reader reads");
  const auto again = skerry::MsgpackFromJson(*json);
  Demand(again.has_value(), "JSON text of ours goes back");
  const auto twice = skerry::JsonFromMsgpack(*again);
  Demand(twice && *twice == *json, "there and back changes nothing");
}

void FromJson(std::string_view text) {
  const auto packed = skerry::MsgpackFromJson(text);
  if (!packed) return;
  if (!skerry::IsJson(text)) return;  // it is V8 that writes them, and its reader takes a little more
  Demand(skerry::CheckMsgpack(*packed).has_value(), "what comes out is ours to read");
  Demand(skerry::LeastJsonBytes(packed->size()) <= text.size(), "it grows by no more than it says");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  FromMsgpack(text);
  FromJson(text);
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  std::vector<std::string> seeds;
  for (const char* json :
       {R"({"a":[1,-2.5e+3,0.1E-2,"\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t",null,true,false],"":{}})",
        "[ 1 , { \"b\" : [ ] } ]", "[9007199254740991,9007199254740992,-129,70000,-70000,-1]", "\"\\ud800x\"",
        "[[[[[[[[]]]]]]]]", "1e999"}) {
    seeds.emplace_back(json);
    if (const auto packed = MsgpackFromJson(json)) seeds.push_back(*packed);
  }
  seeds.emplace_back("\xca\x3f\x00\x00\x00", 5);
  seeds.emplace_back("\xdf\x00\x00\x00\x01\xd9\x01\x61\xd3\xff\xff\xff\xff\xff\xff\xff\xff", 17);
  seeds.emplace_back("\xc7\x01\x05\xaa");
  return seeds;
}
