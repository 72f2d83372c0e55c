// Who may connect: the operator's list of public keys, each with the tenant, worker or
// operator that it stands for.
//
//   revoked = ["..."]               # never, wherever else they are listed; above every table
//   [clients]                       # tenant = its keys; two while one replaces the other
//   acme = ["rq:rM>}U...", "..."]
//   [workers]                       # name = its keys
//   rack-1 = ["..."]
//   [admins]                        # name = its keys: what they open is every tenant's figures, and drains
//   ada = ["..."]
//
// Threads: fixed once read. Errors: every fault of the file at once, one a line, with its line number.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "broker/identity.h"
#include "common/result.h"

namespace skerry::broker {

class AuthorizedKeys {
 public:
  static constexpr std::size_t kMaxKeys = 65'536;
  static constexpr std::size_t kMaxFileBytes = 8u << 20;

  /// `name` is what faults call it.
  static Result<AuthorizedKeys> Parse(std::string_view text, const std::string& name);
  /// Errors also: a file that others may write, or that belongs to another user.
  static Result<AuthorizedKeys> Load(const std::string& path);

  /// Null: nobody, or revoked.
  Proof Find(const std::string& key) const;
  bool IsRevoked(const std::string& key) const { return revoked_.contains(key); }
  /// Whether that very key still stands for that very name.
  bool Allows(const Identity& who) const;
  /// Whether the list in force may become this one. Errors: this one lists nobody's key (one that is revoked,
  /// too, is listed) and that one does: such a file is likelier cut off than meant.
  Status MayFollow(const AuthorizedKeys& in_force) const;
  std::size_t size() const { return owners_.size(); }
  std::size_t revoked() const { return revoked_.size(); }

 private:
  class Reader;

  std::unordered_map<std::string, Proof> owners_;  // by key
  std::unordered_set<std::string> revoked_;
};

}  // namespace skerry::broker
