// Keys as an operator hands them out: a broker's, tenants' and workers', and the list of who may connect.
//
//   KeyRing keys(folder);
//   keys::LinkKeys acme = keys.Add(keys::Role::kClient, "acme");
//   keys.Publish();                                  // then SIGHUP to the broker
//
// Threads: the test's. Ownership: writes into the folder, whose owner removes it. Errors: a file that cannot
// be written throws.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/keys/link_keys.h"

namespace skerry::testing {

class KeyRing {
 public:
  explicit KeyRing(std::filesystem::path folder);

  /// A new key of that tenant, worker or operator, which the next Publish lists.
  keys::LinkKeys Add(keys::Role role, const std::string& owner);
  /// The next Publish lists it no more.
  void Drop(const keys::LinkKeys& link);
  /// The next Publish names it among the revoked, wherever else it is listed.
  void Revoke(const keys::LinkKeys& link);
  void Publish() const;

  /// The broker's flags for its key and its list.
  std::vector<std::string> BrokerFlags() const;
  /// A client's or a worker's flags for its key and the broker's.
  std::vector<std::string> FlagsOf(const keys::LinkKeys& link) const;
  std::string FileOf(const keys::LinkKeys& link) const;
  std::string broker_key() const { return broker_.Public().text(); }

 private:
  struct Listed {
    keys::Role role;
    std::string owner;
    std::string key;
  };

  const std::filesystem::path folder_;
  const keys::SecretKey broker_ = keys::SecretKey::Generate();
  std::vector<Listed> listed_;
  std::vector<std::string> revoked_;
};

}  // namespace skerry::testing
