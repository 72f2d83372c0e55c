#include "broker/door/door_options.h"

namespace skerry::broker {

Status DoorOptions::Check(const std::string& endpoint) const {
  const auto reach = ReachOf(endpoint);
  if (!reach) return Fail(reach.error());
  if (*reach == Reach::kSocketFile || has_keys()) return {};
  if (*reach == Reach::kLoopback && plain_loopback) return {};
  return Fail(
      ErrorKind::kInvalid,
      "endpoint '" + endpoint +
          "' is refused without keys: make one with `skerry keygen --role broker`, and name it with --key "
          "and who may "
          "connect with --authorized; or use ipc://PATH" +
          (*reach == Reach::kLoopback ? ", or --plain-loopback where every user of this machine may connect"
                                      : ""));
}

Status DoorOptions::Validate(const std::vector<std::string>& clients, const std::vector<std::string>& workers,
                             const std::vector<std::string>& admins) const {
  std::string faults;
  const auto complain = [&](const std::string& fault) { faults += (faults.empty() ? "" : "\n") + fault; };
  if (has_keys() && authorized_file.empty())
    complain("authorized must name the file of who may connect: there is a key");
  if (!has_keys() && !authorized_file.empty())
    complain("key must name the broker's key: there is a file of who may connect");
  if (has_keys() && plain_loopback)
    complain("plain_loopback must not be set where there is a key: TCP is encrypted then");
  if (max_handshakes < 1) complain("max_handshakes must be at least 1");
  const auto check_all = [&](const std::string& setting, const std::vector<std::string>& endpoints) {
    for (const std::string& endpoint : endpoints) {
      if (auto good = Check(endpoint); !good) complain(setting + ": " + good.error().message);
    }
  };
  check_all("clients", clients);
  check_all("workers", workers);
  check_all("admin", admins);
  if (faults.empty()) return {};
  return Fail(ErrorKind::kInvalid, faults);
}

}  // namespace skerry::broker
