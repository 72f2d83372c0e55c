// Wrong messages on both of the broker's sockets, from peers that said HELLO and peers that did not. After
// each hundred an honest client's job on an honest worker must be answered; at the end the broker is the same
// process, no larger than its bound, with the descriptors it had.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clients/cpp/client.h"
#include "common/fd.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/raw_peer.h"
#include "tests/fuzz/vital_signs.h"
#include "tests/support/pool.h"

namespace skerry::fuzz {
namespace {

using testing::Child;
using testing::Pool;

// Above its size before the first wrong message: queues of both sockets, full of the largest mutations.
constexpr Bytes kMostGrowth = Bytes::MiB(64);
constexpr std::size_t kPeers = 4;
// A peer whose message was refused must greet anew to be heard.
constexpr std::size_t kGreetEvery = 5;

class BrokerFuzz : public ::testing::Test {
 protected:
  void SetUp() override {
    honest_ = Connect();
    ASSERT_TRUE(honest_);
    for (int i = 0; i < 20; ++i) Probe(*honest_);  // buffers reach their size
  }

  std::unique_ptr<Client> Connect() {
    ClientOptions options;
    options.broker = pool_.client_url();
    auto client = Client::Connect(options);
    if (client) return std::move(*client);
    ADD_FAILURE() << client.error().message;
    return nullptr;
  }

  // One job of the honest client on the honest worker.
  void Probe(Client& client) {
    JobRequest request;
    request.spec.id = JobId("probe-" + std::to_string(++probes_));
    request.spec.retry = Retry::kAlways;  // a peer that plays a worker may have been given it
    request.code = "echo";
    request.input = std::to_string(probes_);
    const auto taken = client.Submit(request);
    ASSERT_TRUE(taken && *taken == SubmitResult::kTaken);
    for (;;) {
      const auto event = client.Next(Millis(10'000));
      ASSERT_TRUE(event) << "no answer to probe " << probes_;
      ASSERT_FALSE(std::holds_alternative<LinkFailed>(*event)) << std::get<LinkFailed>(*event).error.message;
      const auto* final = std::get_if<JobFinal>(&*event);
      if (final == nullptr) continue;
      ASSERT_TRUE(final->outcome.ok()) << final->outcome.error->message;
      ASSERT_EQ(final->outcome.value, std::to_string(probes_));
      return;
    }
  }

  static wire::Hello Greeting(wire::Role role, std::size_t peer) {
    wire::Hello hello;
    hello.role = role;
    hello.session = SessionId("fuzz-" + std::to_string(peer));
    if (role == wire::Role::kWorker) hello.slots = hello.memory_mb = 1;
    return hello;
  }

  // A hundred mutations from several peers, the first of which never says HELLO.
  void Attack(Mutator& mutator, const Samples& of_type, wire::Role role, std::size_t count) {
    std::vector<RawPeer> peers;
    const bool client = role == wire::Role::kClient;
    for (std::size_t i = 0; i < kPeers; ++i)
      peers.emplace_back(context_, client ? pool_.client_url() : pool_.worker_url());
    for (std::size_t i = 0; i < count && !HasFatalFailure(); ++i) {
      const std::size_t at = i % kPeers;
      if (at > 0 && (i / kPeers) % kGreetEvery == 0) peers[at].Say(Greeting(role, at));
      peers[at].Send(mutator.Mutate(of_type[i % of_type.size()].frames));
      replies_ += peers[at].Drain();
    }
    // What they were given goes back to the queue.
    for (RawPeer& peer : peers) peer.Say(wire::Bye{});
    Probe(*honest_);
    for (RawPeer& peer : peers) replies_ += peer.Drain();
  }

  void AttackWithEveryType(wire::Role role) {
    const VitalSigns before(pool_.broker());
    const Samples samples = LoadSamples("echo");
    for (const std::string& type : TypesOf(samples)) {
      SCOPED_TRACE(campaign_.Shown(type));
      Mutator mutator(samples, campaign_.SeedOf(type));
      const Samples of_type = OfType(samples, type);
      for (std::size_t done = 0; done < campaign_.mutations && !HasFatalFailure(); done += kProbeEvery)
        Attack(mutator, of_type, role, std::min(kProbeEvery, campaign_.mutations - done));
    }
    // It was the broker that was hit: it answers wrong messages, greetings, and everything from strangers.
    EXPECT_GT(replies_, campaign_.mutations * TypesOf(samples).size() / 4);
    before.ExpectUnharmed(pool_.broker(), kMostGrowth);
    const auto newcomer = Connect();
    ASSERT_TRUE(newcomer) << "sessions of peers that are gone have filled the broker";
    Probe(*newcomer);
  }

  const Campaign campaign_;
  Pool pool_{{.workers = 0,
              .broker_args = {"--heartbeat-ms", "100", "--peer-timeout-ms", "3000", "--log-level", "off"}}};
  Child worker_{{testing::Binary("skerry-fake-worker"), "--broker", pool_.worker_url(), "--isolates", "4"}};
  zmq::context_t context_;
  std::unique_ptr<Client> honest_;
  std::uint64_t probes_ = 0;
  std::size_t replies_ = 0;
};

TEST_F(BrokerFuzz, WrongMessagesOfClientsHarmNobody) {
  AttackWithEveryType(wire::Role::kClient);
}

TEST_F(BrokerFuzz, WrongMessagesOfWorkersHarmNobody) {
  AttackWithEveryType(wire::Role::kWorker);
}

// Bytes that are no ZeroMQ at all, or stop being it in the middle of its handshake.
TEST_F(BrokerFuzz, ConnectionsThatDoNotSpeakZeroMqHarmNobody) {
  constexpr std::size_t kConnections = 400;
  constexpr std::string_view kGreeting("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16);
  const VitalSigns before(pool_.broker());
  Random random(campaign_.seed);
  std::vector<Fd> open;
  for (std::size_t i = 0; i < kConnections; ++i) {
    const std::string url = i % 2 == 0 ? pool_.client_url() : pool_.worker_url();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    url.copy(address.sun_path, sizeof address.sun_path - 1, std::string_view("ipc://").size());
    Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    std::string bytes = random.OneIn(2) ? std::string(kGreeting) : std::string();
    bytes += random.Bytes(random.Below(300));
    (void)!send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (random.OneIn(2)) open.push_back(std::move(fd));
    if (i % kProbeEvery == 0) Probe(*honest_);
  }
  Probe(*honest_);
  open.clear();
  before.ExpectUnharmed(pool_.broker(), kMostGrowth);
}

}  // namespace
}  // namespace skerry::fuzz
