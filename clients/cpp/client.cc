#include "clients/cpp/client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "clients/cpp/client_core.h"
#include "clients/cpp/dealer.h"
#include "common/endpoint.h"
#include "common/hash.h"

namespace skerry {
namespace {

using client::ClientCore;
using client::LinkState;

// Messages taken in one turn before sends and events get theirs.
constexpr int kMessagesPerTurn = 256;
constexpr Millis kLongestSleep{1'000};
constexpr std::uint64_t kBytesPerEvent = 256;

std::uint64_t BytesOf(const ClientEvent& event) {
  std::uint64_t bytes = kBytesPerEvent;
  if (const auto* notice = std::get_if<JobNotice>(&event)) bytes += notice->payload.size();
  if (const auto* final = std::get_if<JobFinal>(&event)) bytes += final->outcome.value.size();
  return bytes;
}

}  // namespace

/// What the thread works on; the core is touched under Client::mutex_ only, the dealer by the thread only.
struct Client::Link {
  Link(const ClientOptions& options, TimePoint now)
      : core(options, SessionId(RandomHex(16)), now), dealer(options.broker) {}

  /// Sends what the core wants sent. True: something is left that the socket did not take.
  bool Flush() {
    if (generation != core.generation()) {
      generation = core.generation();
      pending.clear();
    }
    for (auto& outgoing : core.TakeSends()) pending.push_back(std::move(outgoing));
    while (!pending.empty() && dealer.Put(pending.front()) == client::PutResult::kSent) pending.pop_front();
    return !pending.empty();
  }

  ClientCore core;
  client::Dealer dealer;
  std::deque<client::Outgoing> pending;
  std::uint64_t generation = 0;
};

Client::Client(ClientOptions options)
    : options_(std::move(options)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      link_(std::make_unique<Link>(options_, SteadyClock::now())) {}

Result<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  if (auto allowed = CheckEndpoint(options.broker); !allowed) return Fail(allowed.error());
  std::unique_ptr<Client> client;
  try {
    client.reset(new Client(std::move(options)));
  } catch (const zmq::error_t& e) {
    return Fail(ErrorKind::kUnavailable, std::string("cannot connect to the broker: ") + e.what());
  }
  client->thread_ = std::thread([raw = client.get()] { raw->Loop(); });
  std::unique_lock lock(client->mutex_);
  client->arrived_.wait(lock, [&] { return client->link_->core.link() != LinkState::kConnecting; });
  if (client->link_->core.link() == LinkState::kFailed) return Fail(client->link_->core.failure());
  lock.unlock();
  return client;
}

Client::~Client() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  Wake();
  if (thread_.joinable()) thread_.join();
}

void Client::Wake() {
  const std::uint64_t one = 1;
  (void)!write(wake_.get(), &one, sizeof one);
}

Result<SubmitResult> Client::Submit(JobRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    auto taken = link_->core.Submit(request, SteadyClock::now());
    if (!taken || *taken == SubmitResult::kFull) return taken;
    ++unfinished_;
  }
  Wake();
  return SubmitResult::kTaken;
}

void Client::Cancel(const JobId& id) {
  {
    const std::lock_guard lock(mutex_);
    link_->core.Cancel(id);
  }
  Wake();
}

std::uint64_t Client::unfinished() const {
  const std::lock_guard lock(mutex_);
  return unfinished_;
}

std::optional<ClientEvent> Client::Next(Millis timeout) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_for(lock, timeout, [&] { return !ready_.empty(); })) return std::nullopt;
  ClientEvent event = std::move(ready_.front());
  ready_.pop_front();
  const bool was_full = ready_bytes_ >= options_.max_undelivered.count();
  ready_bytes_ -= BytesOf(event);
  if (std::holds_alternative<JobFinal>(event)) --unfinished_;
  lock.unlock();
  if (was_full) Wake();
  return event;
}

void Client::Publish(std::unique_lock<std::mutex>&) {
  for (ClientEvent& event : link_->core.TakeEvents()) {
    ready_bytes_ += BytesOf(event);
    ready_.push_back(std::move(event));
  }
  arrived_.notify_all();
}

void Client::AnswerCalls(std::unique_lock<std::mutex>& lock) {
  const auto calls = link_->core.TakeCalls();
  for (const client::HostCall& call : calls) {
    HostReply reply{HostReply::Kind::kError, "this client answers no host calls"};
    if (options_.on_call) {
      lock.unlock();  // the handler may call us
      reply = options_.on_call(call.job, call.method, call.params);
      lock.lock();
    }
    link_->core.Reply(call, std::move(reply), SteadyClock::now());
  }
}

void Client::Loop() {
  std::unique_lock lock(mutex_);
  ClientCore& core = link_->core;
  while (!stopping_) {
    core.OnTick(SteadyClock::now());
    AnswerCalls(lock);
    const bool blocked = link_->Flush();
    Publish(lock);
    const bool full = ready_bytes_ >= options_.max_undelivered.count();
    if (full) core.NotListening(SteadyClock::now());
    const auto until_wake = std::chrono::ceil<Millis>(core.NextWake() - SteadyClock::now());
    lock.unlock();

    const short events = static_cast<short>((full ? 0 : ZMQ_POLLIN) | (blocked ? ZMQ_POLLOUT : 0));
    std::array<zmq::pollitem_t, 2> items = {
        {{link_->dealer.socket().handle(), 0, events, 0}, {nullptr, wake_.get(), ZMQ_POLLIN, 0}}};
    // The C call: a signal that lands on this thread is only an early wake.
    zmq_poll(items.data(), static_cast<int>(items.size()),
             std::clamp(until_wake, Millis(0), kLongestSleep).count());
    std::uint64_t ignored = 0;
    (void)!read(wake_.get(), &ignored, sizeof ignored);

    std::optional<client::Incoming> incoming;
    lock.lock();
    for (int taken = 0; !full && taken < kMessagesPerTurn && link_->dealer.Get(incoming); ++taken) {
      if (incoming)
        core.OnMessage(std::move(incoming->header), std::move(incoming->payloads), SteadyClock::now());
    }
  }
  if (core.link() == LinkState::kLinked) {
    link_->Flush();
    link_->dealer.Put({wire::Bye{}, {}});
  }
}

}  // namespace skerry
