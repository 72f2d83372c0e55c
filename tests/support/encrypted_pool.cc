#include "tests/support/encrypted_pool.h"

#include <csignal>
#include <stdexcept>
#include <thread>

namespace skerry::testing {

EncryptedPool::EncryptedPool(const std::vector<std::string>& tenants, PoolOptions options)
    : pool_(WithKeys(std::move(options), tenants)) {}

PoolOptions EncryptedPool::WithKeys(PoolOptions options, const std::vector<std::string>& tenants) {
  for (const std::string& tenant : tenants) tenants_.emplace(tenant, keys_.Add(keys::Role::kClient, tenant));
  keys_.Publish();
  const auto add = [](std::vector<std::string>& to, const std::vector<std::string>& flags) {
    to.insert(to.end(), flags.begin(), flags.end());
  };
  add(options.broker_args, {"--clients", clients_url(), "--workers", workers_url()});
  add(options.broker_args, {"--metrics", "127.0.0.1:" + std::to_string(metrics_port_)});
  add(options.broker_args, keys_.BrokerFlags());
  add(options.worker_args, keys_.FlagsOf(worker_));
  options.workers_connect_to = workers_url();
  return options;
}

RunReport EncryptedPool::Run(const std::string& tenant, const std::vector<Job>& jobs,
                             RunOptions options) const {
  return RunWith(KeyOf(tenant), jobs, std::move(options));
}

RunReport EncryptedPool::RunWith(const keys::LinkKeys& link, const std::vector<Job>& jobs,
                                 RunOptions options) const {
  const auto flags = keys_.FlagsOf(link);
  options.args.insert(options.args.end(), flags.begin(), flags.end());
  options.broker = clients_url();
  return RunJobs(jobs, options);
}

ClientOptions EncryptedPool::ClientOf(const std::string& tenant) const {
  return ClientWith(KeyOf(tenant));
}

ClientOptions EncryptedPool::ClientWith(const keys::LinkKeys& link) const {
  ClientOptions options;
  options.broker = clients_url();
  options.key_file = keys_.FileOf(link);
  options.broker_key = keys_.broker_key();
  options.connect_timeout =
      Millis(60'000);  // the broker has just been started, on a machine that may be busy
  return options;
}

void EncryptedPool::Reload() {
  constexpr const char* kTold = "read again who may connect";
  const auto told = [&] {
    const std::string log = ReadFile(pool_.broker_log());
    std::size_t times = 0;
    for (std::size_t at = 0; (at = log.find(kTold, at)) != std::string::npos; ++at) ++times;
    return times;
  };
  keys_.Publish();
  const std::size_t before = told();
  pool_.broker().Signal(SIGHUP);
  for (const TimePoint end = SteadyClock::now() + Millis(10'000); told() == before;) {
    if (SteadyClock::now() >= end) throw std::runtime_error("the broker does not read its keys again");
    std::this_thread::sleep_for(Millis(5));
  }
}

}  // namespace skerry::testing
