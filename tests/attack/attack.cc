#include "tests/attack/attack.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstdio>
#include <thread>

#include "common/testing/proc_fs.h"

namespace skerry::testing {

void Attack::Begin(std::vector<std::string> broker_args) {
  if (polite_ != nullptr) polite_->Stop();  // it would have no end
  polite_.reset();
  pool_.reset();
  pool_ = std::make_unique<EncryptedPool>(
      std::vector<std::string>{kPolite, kEvil},
      PoolOptions{.isolates = 2, .spares = 1, .broker_args = std::move(broker_args)});
  polite_ = std::make_unique<Load>(pool_->ClientOf(kPolite), Pace{.window = 16, .every = Millis(20)},
                                   Endless("p", Job("", "return 42").Tenant(kPolite)));
  ASSERT_TRUE(PoliteGoesOn(5));
  resident_before_ = ResidentBytes(pool_->broker());
}

void Attack::PoliteGotAll() {
  if (polite_ == nullptr) return;
  EXPECT_TRUE(PoliteGoesOn());
  polite_->Stop();
  const auto& finished = polite_->Join();
  ASSERT_FALSE(finished.empty()) << pool_->pool().Logs();
  for (const auto& [id, one] : finished) ASSERT_TRUE(IsOk(one.result, 42)) << id;
  const std::uint64_t peak = PeakResidentBytes(pool_->broker());
  EXPECT_LE(peak, resident_before_ + may_grow_);
  std::printf(
      "[ figures  ] broker RSS: %.1f MiB before, %.1f at its peak; polite tenant: %zu jobs, all ok, p99 %.0f "
      "ms\n",
      static_cast<double>(resident_before_) / kMiB, static_cast<double>(peak) / kMiB, finished.size(),
      Quantile(Latencies(finished), 0.99));
  polite_.reset();
  if (HasFailure()) std::fprintf(stderr, "%s\n", pool_->pool().Logs().c_str());
}

::testing::AssertionResult Attack::PoliteGoesOn(std::size_t results) {
  const std::size_t want = polite_->finished() + results;
  for (const TimePoint end = SteadyClock::now() + Millis(60'000); polite_->finished() < want;) {
    if (SteadyClock::now() >= end) {
      return ::testing::AssertionFailure()
             << "the polite tenant got " << polite_->finished() << " results, and not " << want;
    }
    std::this_thread::sleep_for(Millis(5));
  }
  return ::testing::AssertionSuccess();
}

broker::RawPeer Attack::GreetedClient(const std::string& tenant, const std::string& session) {
  broker::RawPeer peer = ClientPeer(pool().KeyOf(tenant));
  wire::Hello hello;
  hello.session = SessionId(session);
  peer.Put(hello);
  EXPECT_TRUE(peer.Await<wire::Welcome>());
  return peer;
}

wire::Submit Attack::JobOf(const std::string& tenant, const std::string& id) {
  wire::Submit submit;
  submit.job.id = JobId(id);
  submit.job.tenant = TenantId(tenant);
  return submit;
}

::testing::AssertionResult Attack::IsRefused(const MetricsPage& before, const std::string& reason,
                                             double times) {
  const std::string series = "skerry_handshakes_refused_total{reason=\"" + reason + "\"}";
  const double want = before.Value(series) + times;
  const MetricsPage page = pool().Await([&](const MetricsPage& at) { return at.Value(series) >= want; });
  if (page.Value(series) >= want) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << series << " is " << page.Value(series) << ", not " << want;
  for (const auto& [labels, count] : page.Since(before, "skerry_handshakes_refused_total"))
    failure << "; " << labels << " +" << count;
  return failure;
}

Fd ConnectRaw(std::uint16_t port) {
  Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

std::size_t SayRaw(const Fd& connection, std::string_view bytes, Millis patience) {
  std::size_t said = 0;
  for (const TimePoint end = SteadyClock::now() + patience; said < bytes.size();) {
    const ssize_t sent =
        send(connection.get(), bytes.data() + said, bytes.size() - said, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      said += static_cast<std::size_t>(sent);
      continue;
    }
    if (errno != EAGAIN || SteadyClock::now() >= end) return said;
    pollfd writable{connection.get(), POLLOUT, 0};
    poll(&writable, 1, 10);
  }
  return said;
}

bool HangsUp(const Fd& connection, Millis patience) {
  for (const TimePoint end = SteadyClock::now() + patience; SteadyClock::now() < end;) {
    char heard[4096];
    const ssize_t got = recv(connection.get(), heard, sizeof heard, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
    pollfd readable{connection.get(), POLLIN, 0};
    if (got < 0) poll(&readable, 1, 50);
  }
  return false;
}

std::string Greeting(std::string_view mechanism) {
  std::string greeting = "\xFF" + std::string(8, '\0') + "\x7F\x03" + std::string(1, '\0');
  greeting += mechanism;
  greeting.resize(64, '\0');
  return greeting;
}

std::string LongFrame(Kind kind, std::uint64_t bytes) {
  std::string begin(1, static_cast<char>(kind));
  for (int shift = 56; shift >= 0; shift -= 8) begin += static_cast<char>(bytes >> shift & 0xFF);
  return begin;
}

}  // namespace skerry::testing
