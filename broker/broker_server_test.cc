// The shell over real sockets: framing, hostile peers, endpoints, undeliverable messages.
#include "broker/broker_server.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "broker/broker_server_raw_peer.h"
#include "common/fd.h"

namespace skerry::broker {
namespace {

class Server : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "skerry-server-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    clients_ = "ipc://" + folder_ + "/c";
    workers_ = "ipc://" + folder_ + "/w";
    ServerOptions options;
    options.client_endpoints = {clients_};
    options.worker_endpoints = {workers_};
    options.config.heartbeat = Millis(100);
    options.config.peer_timeout = Millis(60'000);
    options.tenants = folder_ + "/tenants.toml";
    WriteTenants("");
    auto server = BrokerServer::Start(options);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::thread([this] { server_->Run(stop_.get(), reload_.get()); });
  }
  void TearDown() override {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(stop_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
    thread_.join();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void WriteTenants(const std::string& text) { std::ofstream(folder_ + "/tenants.toml") << text; }
  void Reload() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(write(reload_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  static wire::Hello ClientHello(const std::string& session) {
    wire::Hello hello;
    hello.session = SessionId(session);
    return hello;
  }
  static wire::Hello WorkerHello() {
    wire::Hello hello;
    hello.session = SessionId("w");
    hello.role = wire::Role::kWorker;
    hello.slots = 4;
    hello.memory_mb = 4096;
    return hello;
  }
  static wire::Submit Job(const std::string& id) {
    wire::Submit submit;
    submit.job.id = JobId(id);
    return submit;
  }

  std::string folder_, clients_, workers_;
  const Fd stop_{eventfd(0, EFD_CLOEXEC)};
  const Fd reload_{eventfd(0, EFD_CLOEXEC)};
  std::unique_ptr<BrokerServer> server_;
  std::thread thread_;
  zmq::context_t context_;
};

TEST_F(Server, CarriesAJobWithItsPayloadsThereAndBackOverSockets) {
  RawPeer client(context_, clients_);
  RawPeer worker(context_, workers_);
  worker.Put(WorkerHello());
  ASSERT_TRUE(worker.Await<wire::Welcome>());
  client.Put(ClientHello("s"));
  ASSERT_TRUE(client.Await<wire::Welcome>());
  const std::string code(100'000, 'c');
  client.Put(Job("a"), {code, ""});
  const auto dispatch = worker.Await<wire::Dispatch>();
  ASSERT_TRUE(dispatch);
  EXPECT_EQ(worker.payloads, (std::vector<std::string>{code, ""}));
  wire::Event event;
  event.lease = dispatch->lease;
  worker.Put(event, {"hello"});
  ASSERT_TRUE(client.Await<wire::Event>());
  EXPECT_EQ(client.payloads, (std::vector<std::string>{"hello"}));
  wire::Final final;
  final.lease = dispatch->lease;
  final.ok = true;
  const std::string value(3'000'000, '7');
  worker.Put(final, {value});
  const auto got = client.Await<wire::Final>();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->id.str(), "a");
  EXPECT_EQ(client.payloads, (std::vector<std::string>{value}));
}

TEST_F(Server, BrokenMessagesAreRefusedAndTheBrokerGoesOn) {
  RawPeer hostile(context_, clients_);
  hostile.Put({"not a map"});
  EXPECT_TRUE(hostile.Await<wire::Refuse>());
  hostile.Put({""});
  EXPECT_TRUE(hostile.Await<wire::Refuse>());
  hostile.Put({wire::Encode(wire::Ping{}), "1", "2", "3"});
  EXPECT_TRUE(hostile.Await<wire::Refuse>());
  hostile.Put({std::string(wire::kMaxHeaderBytes + 1, '\x80')});
  EXPECT_TRUE(hostile.Await<wire::Refuse>());
  RawPeer good(context_, clients_);
  good.Put(ClientHello("s"));
  EXPECT_TRUE(good.Await<wire::Welcome>());
}

TEST_F(Server, AWorkerOnTheClientsEndpointIsRefused) {
  RawPeer lost(context_, clients_);
  lost.Put(WorkerHello());
  EXPECT_TRUE(lost.Await<wire::Refuse>());
}

TEST_F(Server, ClientsThatVanishDoNotStopTheOthers) {
  RawPeer worker(context_, workers_);
  worker.Put(WorkerHello());
  ASSERT_TRUE(worker.Await<wire::Welcome>());
  LeaseId lease;
  {
    RawPeer vanishing(context_, clients_);
    vanishing.Put(ClientHello("gone"));
    ASSERT_TRUE(vanishing.Await<wire::Welcome>());
    vanishing.Put(Job("a"), {"x", ""});
    lease = worker.Await<wire::Dispatch>()->lease;
  }
  // Its events have nobody to go to: the ROUTER says so, and the session keeps them.
  wire::Event event;
  event.lease = lease;
  for (int i = 0; i < 20; ++i) {
    worker.Put(event, {"event " + std::to_string(i)});
    std::this_thread::sleep_for(Millis(5));
  }
  RawPeer back(context_, clients_);
  back.Put(ClientHello("gone"));
  const auto welcome = back.Await<wire::Welcome>();
  ASSERT_TRUE(welcome);
  EXPECT_TRUE(welcome->resumed);
  ASSERT_TRUE(back.Await<wire::Event>());
  wire::Final final;
  final.lease = lease;
  final.ok = true;
  worker.Put(final, {"1"});
  ASSERT_TRUE(back.Await<wire::Final>());
}

TEST_F(Server, AClientThatDoesNotReadLosesNothingAndHoldsNobodyUp) {
  RawPeer worker(context_, workers_);
  worker.Put(WorkerHello());
  ASSERT_TRUE(worker.Await<wire::Welcome>());
  RawPeer slow(context_, clients_);
  slow.Put(ClientHello("slow"));
  ASSERT_TRUE(slow.Await<wire::Welcome>());
  slow.Put(Job("a"), {"x", ""});
  const LeaseId lease = worker.Await<wire::Dispatch>()->lease;
  // Far more than both HWMs and the kernel's buffers hold, each naming its place.
  constexpr int kEvents = 2'000;  // what the job's caps let through
  wire::Event event;
  event.lease = lease;
  for (int i = 0; i < kEvents; ++i) worker.Put(event, {std::to_string(i) + std::string(10'000, '.')});
  RawPeer other(context_, clients_);
  other.Put(ClientHello("other"));
  ASSERT_TRUE(other.Await<wire::Welcome>()) << "the slow client held up another";

  int next = 0;
  while (next < kEvents) {
    const auto header = slow.AwaitAny();
    ASSERT_TRUE(header) << "only " << next << " events came";
    // Answering PINGs is what says that it has read; the window opens as it goes.
    if (const auto* ping = std::get_if<wire::Ping>(&*header)) slow.Put(wire::Pong{ping->number});
    if (!std::holds_alternative<wire::Event>(*header)) continue;
    ASSERT_EQ(std::atoi(slow.payloads.at(0).c_str()), next);
    ++next;
  }
}

TEST(ServerStart, RefusesEndpointsThatNothingProtects) {
  for (const char* endpoint : {"tcp://127.0.0.1:7001", "tcp://0.0.0.0:7001", "tcp://192.168.1.2:7001",
                               "tcp://*:7001", "tcp://127.evil.com:7001", "tcp://127.0.0.1.evil.com:1",
                               "inproc://x", "7001", "tcp://127.0.0.1", "ipc://"}) {
    ServerOptions options;
    options.client_endpoints = {endpoint};
    const auto server = BrokerServer::Start(options);
    ASSERT_FALSE(server) << endpoint;
    EXPECT_EQ(server.error().kind, ErrorKind::kInvalid) << endpoint;
    EXPECT_NE(server.error().message.find(endpoint), std::string::npos);
  }
}

TEST(ServerStart, SaysWhichEndpointIsTaken) {
  ServerOptions options;
  options.client_endpoints = {"tcp://127.0.0.1:17701"};
  options.door.plain_loopback = true;
  const auto first = BrokerServer::Start(options);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = BrokerServer::Start(options);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("17701"), std::string::npos);
}

TEST_F(Server, ReadsTenantsAgainWhenItIsToldAndTakesNothingOfAFileWithAFault) {
  RawPeer client(context_, clients_);
  client.Put(ClientHello("s"));
  ASSERT_TRUE(client.Await<wire::Welcome>());
  int next = 0;
  const auto refused_for = [&] {
    client.Put(Job("job " + std::to_string(++next)), {"code", ""});
    for (auto header = client.AwaitAny(); header; header = client.AwaitAny()) {
      if (std::holds_alternative<wire::Accepted>(*header)) return std::string("accepted");
      if (const auto* final = std::get_if<wire::Final>(&*header)) return final->limit;
    }
    return std::string("silence");
  };
  const auto until = [&](const std::string& text, const std::string& expected) {
    WriteTenants(text);
    Reload();
    std::string last;
    for (int i = 0; i < 200 && (last = refused_for()) != expected; ++i) usleep(10'000);
    return last;
  };
  EXPECT_EQ(refused_for(), "accepted");
  EXPECT_EQ(until("[default]\nmax_queued = 1\n", "maxQueued"), "maxQueued");
  WriteTenants("[default]\nmax_queued = 0\n");
  Reload();
  usleep(50'000);
  EXPECT_EQ(refused_for(), "maxQueued") << "as it was";
  EXPECT_EQ(until("", "accepted"), "accepted");
}

TEST(ServerStart, AFileOfTenantsWithAFaultKeepsItFromStarting) {
  ServerOptions options;
  options.tenants = "/nowhere/tenants.toml";
  const auto server = BrokerServer::Start(options);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(server.error().message.find("/nowhere/tenants.toml"), std::string::npos);
}

}  // namespace
}  // namespace skerry::broker
