#include "clients/cli/settings.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "clients/cli/admin/admin_pool.h"
#include "common/brokers/broker_keys.h"
#include "common/ids.h"

namespace skerry::cli {
namespace {

constexpr std::array<std::string_view, 11> kOfEveryRun = {
    "admin",  "admin_key", "broker", "key",      "broker_key", "failover_after_ms", "resolve_every_ms",
    "tenant", "user",      "data",   "log_level"};

Status CheckProgram(std::string_view path) {
  const std::string program(path);
  struct stat about {};
  if (program.empty()) return {};
  if (stat(program.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(program.c_str(), X_OK) == 0) {
    return {};
  }
  return Fail(ErrorKind::kInvalid, "'" + config::Shown(program) + "' is not there or cannot be executed");
}

}  // namespace

void Describe(config::Settings& s, ConnectOptions& options) {
  PoolOptions& pool = options.pool;
  s.List("broker", options.brokers,
         "where the brokers are, for clients: endpoints, names that stand for all their addresses, file:PATH")
      .DefaultText("none: a private broker and worker are started for the run")
      .Check(&CheckBrokerPlace)
      .TradeOff("of several, each gets a part of the jobs; those of a lost one go on with the others");
  s.Duration("failover_after_ms", options.failover_after, {100, 3'600'000},
             "how long one of several brokers may be silent before its jobs go to others, ms")
      .TradeOff("less runs more jobs twice that a busy broker was slow about");
  s.Duration("resolve_every_ms", options.resolve_every, {1'000, 3'600'000},
             "how often names of brokers are resolved again, ms");
  s.Text("key", options.key_file, config::kAnyText,
         "file of this client's secret key, for a broker at tcp:// (skerry keygen --role client)")
      .File()
      .DefaultText("none: ipc:// and plain loopback only");
  s.Text("broker_key", options.broker_key, config::kAnyText,
         "the brokers' public key, where a key is named; of a broker with another, write it behind its place")
      .DefaultText("none");
  s.List("admin", options.admin,
         "admin sockets of brokers, for `skerry workers`, `skerry tenants` and `skerry top`")
      .DefaultText("that of the one pool of this user's that runs here")
      .Check(&CheckAdminPlace);
  s.Text("admin_key", options.admin_key_file, config::kAnyText,
         "file of this operator's secret key, for admin sockets at tcp:// (skerry keygen --role admin)")
      .File()
      .DefaultText("none: ipc:// and plain loopback only");
  s.Text("tenant", options.tenant, {1, kMaxIdBytes}, "tenant of jobs that name none")
      .DefaultText("the one in the key's file, or default");
  s.Text("user", options.user, {0, kMaxIdBytes}, "user of jobs that name none");
  s.Text("data", options.data, config::kAnyText, "file with answers to host calls (JSON)").File();
  s.Number("workers", pool.workers, {1, 256}, "private workers to start");
  s.Number("isolates", pool.isolates, {1, 4096}, "jobs at once per private worker").DefaultText("2 x cores");
  s.Number("spares", pool.spares, {0, 4096}, "isolates forked ahead per private worker")
      .DefaultText("as isolates, at most 2 x cores");
  s.Number("memory_mb", pool.memory_mb, {1, 1u << 26},
           "memory of each private worker for cells, spares and jobs together, MiB")
      .DefaultText("80 % of RAM, shared by the workers");
  s.Choice("jit", pool.jit, {"full", "maglev", "none"}, "V8's compilers in private workers")
      .TradeOff("full pays only for jobs of seconds, and is where most V8 exploits live");
  s.Choice("sandbox", pool.sandbox, {"strict", "best-effort", "off"},
           "what must hold jobs in, in private workers: strict starts none whose sandbox has a hole")
      .Guarded()
      .TradeOff("best-effort goes on with what the machine has; off is for looking for faults only");
  s.Files("libraries", "--library", pool.libraries,
          "a library (CommonJS) that jobs may name in private pools, and its file");
  s.Text("worker_program", pool.worker_program, config::kAnyText, "the private workers' program")
      .File()
      .Guarded()
      .DefaultText("skerry-worker beside skerry")
      .Check(&CheckProgram);
  s.Choice("log_level", pool.log_level, {"trace", "debug", "info", "warn", "error", "off"},
           "least severe line that private processes log");
  s.CeilingsOf(pool.ceilings);
}

bool IsOfPrivatePool(const config::Setting& setting) {
  return std::find(kOfEveryRun.begin(), kOfEveryRun.end(), setting.key()) == kOfEveryRun.end();
}

Status FinishConnection(const config::Settings& settings, ConnectOptions& options) {
  if (auto fitting = CheckPoolFlags(settings, options); !fitting || options.brokers.empty()) return fitting;
  const auto tenant =
      CheckBrokerKeys(options.brokers, options.key_file, options.broker_key, keys::Role::kClient);
  if (!tenant) return Fail(tenant.error());
  if (!settings.IsGiven("tenant") && !tenant->empty()) options.tenant = *tenant;
  return {};
}

Status CheckPoolFlags(const config::Settings& settings, const ConnectOptions& options) {
  if (options.brokers.empty()) return {};
  const config::Setting& broker = settings.At("broker");
  const std::string named_by =
      broker.source().from == config::Source::From::kFlag ? "--broker" : broker.source().text;
  std::string faults;
  for (const config::Setting& setting : settings.all()) {
    if (!IsOfPrivatePool(setting) || setting.source().from != config::Source::From::kFlag) continue;
    faults += (faults.empty() ? "" : "\n") + setting.flag() +
              ": is for a private pool, and a broker is named (" + named_by +
              "); leave one of them out, or say --broker '' for a private pool";
  }
  if (faults.empty()) return {};
  return Fail(ErrorKind::kInvalid, faults);
}

}  // namespace skerry::cli
