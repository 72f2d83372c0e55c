// `skerry keygen` on the command line: a new key in a file that its owner alone can read.
#include <cstdio>
#include <string>

#include "clients/cli/commands.h"
#include "clients/cli/exit_codes.h"
#include "clients/cli/say.h"
#include "common/config/command_line.h"
#include "common/keys/key_file.h"

namespace skerry::cli {
namespace {

constexpr const char* kExamples =
    "  skerry keygen --role broker                       broker.key, for [broker] key\n"
    "  skerry keygen --role client --tenant acme         client.key, for [client] key\n"
    "  skerry keygen --role worker -o rack-1.key         for [worker] key\n"
    "  skerry keygen --role admin                        admin.key, for [client] admin_key: looks on and "
    "drains\n";

constexpr const char* kAbout =
    "Makes a CURVE25519 key for links over TCP. The file holds the secret and is for its owner alone; nobody "
    "else "
    "needs it.\nThe public key is printed to stdout: a client's, a worker's and an operator's (admin) go "
    "into the broker's "
    "file of who may connect\n(--authorized), the broker's to every client and worker (--broker-key). A file "
    "that is there "
    "is never "
    "replaced.";

class Keygen : public Command {
 public:
  explicit Keygen(CLI::App* app) : Command(app) {
    config::SetHelp(*app, {kExamples, kAbout});
    app->add_option("--role", role_, "whose key it is: client, worker, broker or admin")->type_name("ROLE");
    app->add_option("--tenant", tenant_, "of a client's key: the tenant whose jobs it submits")
        ->type_name("NAME");
    app->add_option("-o,--output", output_, "the secret key's file (ROLE.key)")->type_name("FILE");
  }

  int Run() override {
    if (role_.empty())
      return config::Complain("skerry",
                              "keygen needs --role client, --role worker, --role broker or --role admin");
    const auto role = keys::RoleByName(role_);
    if (!role) return config::Complain("skerry", "--role: must be client, worker, broker or admin");
    const bool client = *role == keys::Role::kClient;
    if (client && tenant_.empty()) {
      return config::Complain("skerry",
                              "a client's key needs --tenant NAME: the tenant whose jobs it submits");
    }
    if (!client && !tenant_.empty())
      return config::Complain("skerry", "--tenant: only a client's key has one");
    if (client && !keys::IsKeyOwnersName(tenant_)) {
      return config::Complain("skerry", std::string("--tenant: ") + keys::kOwnersNameRule);
    }
    return Make({*role, tenant_, keys::SecretKey::Generate()});
  }

 private:
  int Make(const keys::KeyFile& file) {
    const std::string path = output_.empty() ? role_ + ".key" : output_;
    if (const auto written = keys::WriteKeyFile(path, file); !written) {
      const bool invalid = written.error().kind == ErrorKind::kInvalid;
      return Complain(written.error().message, invalid ? kExitUsage : kExitCannotWrite);
    }
    const std::string key = file.secret.Public().text();
    std::fprintf(stderr, "skerry: the secret key is in %s; its public key goes %s\n", path.c_str(),
                 Where(file, key).c_str());
    std::printf("%s\n", key.c_str());
    return std::fflush(stdout) == 0 ? 0 : kExitCannotWrite;
  }

  static std::string Where(const keys::KeyFile& file, const std::string& key) {
    switch (file.role) {
      case keys::Role::kClient:
        return "under [clients] of the broker's --authorized file:\n\"" + file.tenant + "\" = [\"" + key +
               "\"]";
      case keys::Role::kWorker:
        return "under [workers] of the broker's --authorized file:\n\"NAME\" = [\"" + key + "\"]";
      case keys::Role::kAdmin:
        return "under [admins] of the broker's --authorized file:\n\"NAME\" = [\"" + key + "\"]";
      case keys::Role::kBroker:
        return "to clients, workers and operators, as their --broker-key:";
    }
    return {};
  }

  std::string role_;
  std::string tenant_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> MakeKeygen(CLI::App& parent) {
  return std::make_unique<Keygen>(parent.add_subcommand("keygen", "make a key for links over TCP"));
}

}  // namespace skerry::cli
