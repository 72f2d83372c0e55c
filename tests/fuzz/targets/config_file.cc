// config::ParseConfig: skerry.toml.
#include "common/config/config_file.h"

#include "tests/fuzz/targets/target.h"
#include "tests/support/places.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using skerry::fuzz::Demand;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto file = skerry::config::ParseConfig(text, "f.toml");
  if (!file) {
    Demand(file.error().message.starts_with("f.toml"), "a fault names its file");
    Demand(file.error().message.find('\n') == std::string::npos, "a fault is one line");
    return 0;
  }
  const auto lines = static_cast<std::uint32_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const skerry::config::Entry& entry : file->entries)
    Demand(entry.line >= 1 && entry.line <= lines, "an entry is on a line of its file");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  return {
      skerry::testing::ReadFile(skerry::testing::SourceRoot() / "ops" / "skerry.toml"),
      "[broker]\nmax_queued = 1_000\nclients = \"tcp://127.0.0.1:1\"\n[broker.ceilings]\nmemoryMb = 0x10\n",
      "a = [1, 'b', {c = true}]\nd.e = 1.5\nf = 1979-05-27T07:32:00Z\n[[g]]\nh = \"\"\"\nx\"\"\"\n", "a = \n",
      "[a"};
}
