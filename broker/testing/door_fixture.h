// A broker with keys on a thread of its own, and peers that come to its doors with a key or without.
//
// Threads: the test's, and the server's. Ownership: ends the server and removes its folder.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "broker/broker_server.h"
#include "broker/broker_server_raw_peer.h"
#include "common/curve/socket_monitor.h"
#include "common/fd.h"
#include "common/keys/key_file.h"
#include "common/testing/free_port.h"

namespace skerry::broker::testing {

using keys::SecretKey;
using skerry::testing::FreePort;

// Long enough for a handshake that would succeed, on a busy machine.
inline constexpr Millis kNothingComes{300};

class DoorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "skerry-door-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    clients_ = "tcp://127.0.0.1:" + std::to_string(FreePort());
    workers_ = "tcp://127.0.0.1:" + std::to_string(FreePort());
    admins_ = "tcp://127.0.0.1:" + std::to_string(FreePort());
    local_ = "ipc://" + folder_ + "/c";
    local_admin_ = "ipc://" + folder_ + "/a";
    options_.client_endpoints = {clients_, local_};
    options_.worker_endpoints = {workers_};
    options_.admin_endpoints = {admins_, local_admin_};
    options_.config.heartbeat = Millis(100);
    options_.config.peer_timeout = Millis(60'000);
    options_.door.key_file = folder_ + "/broker.key";
    options_.door.authorized_file = folder_ + "/authorized.toml";
    ASSERT_TRUE(keys::WriteKeyFile(options_.door.key_file, {keys::Role::kBroker, "", broker_}));
    Authorize({}, true);
    reload_ = Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    StartServer();
  }
  void StartServer() {
    auto server = BrokerServer::Start(options_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->Run(stop_.get(), reload_.get()); });
  }
  void TearDown() override {
    if (thread_.joinable()) {
      Tell(stop_);
      thread_.join();
    }
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  static void Tell(const Fd& fd) {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(fd.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  static std::string Key(const SecretKey& key) { return "\"" + key.Public().text() + "\""; }
  void Authorize(const std::vector<SecretKey>& revoked, bool second_key) {
    std::ofstream list(options_.door.authorized_file, std::ios::trunc);
    list << "revoked = [";
    for (const SecretKey& key : revoked) list << Key(key) << ", ";
    list << "]\n[clients]\nacme = [" << Key(acme_) << (second_key ? ", " + Key(acme_too_) : "")
         << "]\nevil = [" << Key(evil_) << "]\n[workers]\nrack = " << Key(worker_)
         << "\n[admins]\nada = " << Key(admin_) << "\n";
  }
  keys::LinkKeys With(const SecretKey& own, keys::Role role = keys::Role::kClient) const {
    return {{role, "", own}, broker_.Public()};
  }
  RawPeer Client(const SecretKey& own, const std::string& session = "s") {
    RawPeer peer(context_, clients_, With(own));
    peer.Put(HelloOf(session));
    return peer;
  }
  static wire::Hello HelloOf(const std::string& session) {
    wire::Hello hello;
    hello.session = SessionId(session);
    return hello;
  }
  static wire::Hello WorkerHello() {
    wire::Hello hello = HelloOf("w");
    hello.role = wire::Role::kWorker;
    hello.slots = 4;
    hello.memory_mb = 4096;
    return hello;
  }
  static wire::Submit JobOf(const std::string& tenant) {
    wire::Submit submit;
    submit.job.id = JobId("job");
    submit.job.tenant = TenantId(tenant);
    return submit;
  }
  /// What libzmq tells a peer of its handshake: the first failure.
  static std::uint32_t FailureOf(curve::SocketMonitor& monitor, std::uint16_t what) {
    for (int i = 0; i < kPatienceMs; ++i, std::this_thread::sleep_for(Millis(1))) {
      const auto event = monitor.Next();
      if (event && event->what == what) return event->value;
    }
    return 0;
  }

  const SecretKey broker_ = SecretKey::Generate(), acme_ = SecretKey::Generate(),
                  acme_too_ = SecretKey::Generate(), evil_ = SecretKey::Generate(),
                  worker_ = SecretKey::Generate(), admin_ = SecretKey::Generate(),
                  stranger_ = SecretKey::Generate();
  std::string folder_, clients_, workers_, admins_, local_, local_admin_;
  ServerOptions options_;
  const Fd stop_{eventfd(0, EFD_CLOEXEC)};
  Fd reload_;
  std::unique_ptr<BrokerServer> server_;
  std::thread thread_;
  zmq::context_t context_;
};

}  // namespace skerry::broker::testing
