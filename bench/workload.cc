#include "bench/workload.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace skerry::bench {
namespace {

constexpr const char* kHostCalls = "hostCalls";

Status CheckNeeds(const nlohmann::json& json, const std::string& path) {
  bool calls = false;
  for (const auto& need : json.value("needs", nlohmann::json::array())) {
    if (need != kHostCalls) return Fail(ErrorKind::kInvalid, path + " needs the unknown " + need.dump());
    calls = true;
  }
  if (calls == json.contains("answer")) return {};
  return Fail(ErrorKind::kInvalid,
              path + ": answer goes with the need hostCalls, and neither without the other");
}

}  // namespace

Result<Workload> LoadWorkload(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Fail(ErrorKind::kUnavailable, "cannot read the workload " + path);
  const auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("code") || !json["code"].is_string() || !json.contains("input")) {
    return Fail(ErrorKind::kInvalid, path + " is not a workload: an object with code and input");
  }
  if (auto status = CheckNeeds(json, path); !status) return Fail(status.error());
  Workload workload;
  workload.name = std::filesystem::path(path).stem().string();
  workload.path = path;
  if (json.contains("summary") && json["summary"].is_string()) workload.summary = json["summary"];
  workload.code = json["code"];
  workload.input = json["input"].dump();
  if (json.contains("answer")) workload.answer = json["answer"].dump();
  return workload;
}

Result<std::vector<Workload>> LoadAllWorkloads() {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(SKERRY_WORKLOADS, failed)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  if (paths.empty()) return Fail(ErrorKind::kUnavailable, "no workloads in " SKERRY_WORKLOADS);
  std::sort(paths.begin(), paths.end());
  std::vector<Workload> all;
  for (const std::string& path : paths) {
    auto workload = LoadWorkload(path);
    if (!workload) return Fail(workload.error());
    all.push_back(std::move(*workload));
  }
  return all;
}

Result<Workload> FindWorkload(const std::string& name) {
  auto all = LoadAllWorkloads();
  if (!all) return Fail(all.error());
  std::string names;
  for (Workload& workload : *all) {
    if (workload.name == name) return std::move(workload);
    names += (names.empty() ? "" : ", ") + workload.name;
  }
  return Fail(ErrorKind::kInvalid, "no workload '" + name + "': " + names);
}

}  // namespace skerry::bench
