// cli::Fixtures::Parse: a file of answers to host calls.
#include "clients/cli/fixtures.h"

#include "common/text_check.h"
#include "tests/fuzz/targets/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using skerry::HostReply;
  using skerry::fuzz::Demand;
  skerry::fuzz::Script script(data, size);
  const std::string method = script.ShortText();
  const std::string text = script.Rest();
  const auto fixtures = skerry::cli::Fixtures::Parse(text);
  if (!fixtures) {
    Demand(!fixtures.error().message.empty(), "a refusal says why");
    return 0;
  }
  Demand(skerry::IsJson(text), "fixtures are JSON");
  for (const std::string& name : {method, std::string("*"), std::string("m")}) {
    const HostReply reply = fixtures->Answer(name);
    Demand(reply.delay >= skerry::Millis(0) && reply.delay <= skerry::Millis(86'400'000),
           "an answer comes within a day");
    if (reply.kind == HostReply::Kind::kValue) {
      Demand(skerry::IsJson(reply.text), "a value is JSON");
      Demand(reply.text.find_first_of("\r\n") == std::string::npos, "a value is on one line");
    }
  }
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const std::string method = {'\x01', 'm'};
  return {method + R"({"m":{"$value":{"a":[1,2]},"$delayMs":50},"*":null})",
          method + R"({"m":{"$error":"message"}})",
          method + R"({"m":{"$never":true}, "n" : "text" })",
          method + R"({"m":{"a":{"$value":1}}})",
          method + "{\"m\":[1,\n2]}",
          method + R"({"m":{"$delayMs":-1}})",
          method + R"({"m":{"$delayMs":1e3}})"};
}
