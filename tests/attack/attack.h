// A pool over TCP with keys, a polite tenant at work on it, and what an attack beside it may cost.
//
//   TEST_F(Attack, ...) { ... attack pool() ...; EXPECT_TRUE(PoliteGoesOn()); }
//
// TearDown demands that every job of the polite tenant ended well, exactly once, and that the broker grew by
// no more than may_grow_; it prints both figures.
//
// Threads: the test's, and the polite tenant's. Ownership: a pool for each test.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "broker/broker_server_raw_peer.h"
#include "tests/support/encrypted_pool.h"
#include "tests/support/load.h"

namespace skerry::testing {

class Attack : public ::testing::Test {
 protected:
  static constexpr const char* kPolite = "polite";
  static constexpr const char* kEvil = "evil";
  static constexpr std::uint64_t kMiB = 1u << 20;

  void SetUp() override { Begin(); }
  void TearDown() override { PoliteGotAll(); }
  /// Starts the pool with more flags for its broker; in the place of what SetUp started.
  void Begin(std::vector<std::string> broker_args = {});

  /// What is demanded at the end; TearDown does it, where it was not done before.
  void PoliteGotAll();

  EncryptedPool& pool() { return *pool_; }
  /// Waits until the polite tenant has got so many more results.
  ::testing::AssertionResult PoliteGoesOn(std::size_t results = 20);

  /// A peer with that key, at the clients' or the workers' endpoint.
  broker::RawPeer ClientPeer(const keys::LinkKeys& link) { return {context_, pool().clients_url(), link}; }
  broker::RawPeer WorkerPeer(const keys::LinkKeys& link) { return {context_, pool().workers_url(), link}; }
  /// One that has said HELLO and heard WELCOME.
  broker::RawPeer GreetedClient(const std::string& tenant, const std::string& session);
  static wire::Submit JobOf(const std::string& tenant, const std::string& id);

  /// Waits until `times` more handshakes than in `before` were refused for that.
  ::testing::AssertionResult IsRefused(const MetricsPage& before, const std::string& reason,
                                       double times = 1);

  /// What the broker's memory may grow by beside an attack.
  std::uint64_t may_grow_ = 48 * kMiB;
  zmq::context_t context_;

 private:
  std::unique_ptr<EncryptedPool> pool_;
  std::unique_ptr<Load> polite_;
  std::uint64_t resident_before_ = 0;
};

/// A TCP connection to this machine that says what it is told; closed with the object.
Fd ConnectRaw(std::uint16_t port);
/// As much of it as the other side takes within `patience`; how much that was.
std::size_t SayRaw(const Fd& connection, std::string_view bytes, Millis patience = Millis(1'000));
/// Whether the other side has hung up within `patience`.
bool HangsUp(const Fd& connection, Millis patience);

/// What a ZMTP 3.0 peer says first.
std::string Greeting(std::string_view mechanism);
/// The beginning of a frame, or of a handshake's command, of so many bytes.
enum class Kind : unsigned char { kMessage = 0x02, kCommand = 0x06 };
std::string LongFrame(Kind kind, std::uint64_t bytes);

}  // namespace skerry::testing
