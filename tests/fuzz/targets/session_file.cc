// cli::SessionFile: the name of an earlier run, kept beside its results.
#include "clients/cli/session_file.h"

#include "tests/fuzz/targets/target.h"
#include "tests/support/places.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using skerry::fuzz::Demand;
  static const skerry::testing::TempDir dir;
  static const std::string output = dir / "r";
  const std::string text(reinterpret_cast<const char*>(data), size);
  skerry::testing::WriteFile(output + ".session", text);
  auto file = skerry::cli::SessionFile::Of(output);
  const std::string name = file.Kept().str();
  Demand(name.size() == 32 && name.find_first_not_of("0123456789abcdef") == std::string::npos,
         "a session's name is 32 hexadecimal digits, whatever the file holds");
  Demand(file.Keep().has_value() && file.Kept().str() == name, "a name that is kept is found again");
  return 0;
}

std::vector<std::string> skerry::fuzz::Seeds() {
  const std::string name = "0123456789abcdef0123456789abcdef";
  return {name + "\n", name, " " + name + " x", name.substr(1), name + "0", "", std::string(32, 'g')};
}
