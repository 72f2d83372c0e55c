#include "bench/workload.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace skerry::bench {

Result<Workload> LoadWorkload(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Fail(ErrorKind::kUnavailable, "cannot read the workload " + path);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("code") || !json["code"].is_string() || !json.contains("input")) {
    return Fail(ErrorKind::kInvalid, path + " is not a workload: an object with code and input");
  }
  return Workload{std::filesystem::path(path).stem().string(), json["code"].get<std::string>(),
                  json["input"].dump()};
}

}  // namespace skerry::bench
