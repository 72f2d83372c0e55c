#include "clients/cpp/client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include "clients/cpp/case_book.h"
#include "clients/cpp/client_core.h"
#include "clients/cpp/dealer.h"
#include "clients/cpp/host_call_pool.h"
#include "clients/cpp/ipc_socket.h"
#include "common/hash.h"

namespace skerry {
namespace {

using client::ClientCore;
using client::LinkState;

// Messages taken in one turn before sends and events get theirs.
constexpr int kMessagesPerTurn = 256;
constexpr Millis kLongestSleep{1'000};
constexpr std::uint64_t kBytesPerEvent = 256;
constexpr std::size_t kMaxHostCallThreads = 256;
// ACKs that are worth waking the thread for; fewer leave with whatever it sends next.
constexpr std::size_t kAcksWorthAWake = 64;

std::uint64_t BytesOf(const ClientEvent& event) {
  std::uint64_t bytes = kBytesPerEvent;
  if (const auto* notice = std::get_if<JobNotice>(&event)) bytes += notice->payload.size();
  if (const auto* final = std::get_if<JobFinal>(&event)) bytes += final->outcome.value.size();
  return bytes;
}

Status CheckOptions(const ClientOptions& options) {
  if (options.host_call_threads > kMaxHostCallThreads) {
    return Fail(ErrorKind::kInvalid, "host_call_threads must be 0 to " + std::to_string(kMaxHostCallThreads));
  }
  if (options.session.str().size() > kMaxIdBytes) {
    return Fail(ErrorKind::kInvalid, "session must be at most " + std::to_string(kMaxIdBytes) + " bytes");
  }
  return {};
}

}  // namespace

/// What the thread works on; the core is touched under Client::mutex_ only, the dealer by the thread only.
struct Client::Link {
  Link(const ClientOptions& options, const std::optional<keys::LinkKeys>& keys, const SessionId& session,
       TimePoint now)
      : core(options, session, now),
        cases(session, options.max_waiting_cases),
        dealer(options.broker, keys) {}

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
  client::CaseBook cases;
  client::Dealer dealer;
  std::deque<client::Outgoing> pending;
  std::uint64_t generation = 0;
};

Client::Client(ClientOptions options, const std::optional<keys::LinkKeys>& keys)
    : options_(std::move(options)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      link_(std::make_unique<Link>(options_, keys,
                                   options_.session.empty() ? SessionId(RandomHex(16)) : options_.session,
                                   SteadyClock::now())) {}

Result<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  if (auto valid = CheckOptions(options); !valid) return Fail(valid.error());
  const auto keys =
      keys::LoadLinkKeys({options.broker, options.key_file, options.broker_key}, keys::Role::kClient);
  if (!keys) return Fail(keys.error());
  if (*keys && options.tenant == ClientOptions().tenant && !(*keys)->own.tenant.empty())
    options.tenant = TenantId((*keys)->own.tenant);
  std::unique_ptr<Client> client;
  try {
    client.reset(new Client(std::move(options), *keys));
  } catch (const zmq::error_t& e) {
    return Fail(ErrorKind::kUnavailable, std::string("cannot connect to the broker: ") + e.what());
  }
  client->StartHostCalls();
  client->thread_ = std::thread([raw = client.get()] { raw->Loop(); });
  std::unique_lock lock(client->mutex_);
  client->arrived_.wait(lock, [&] { return client->link_->core.link() != LinkState::kConnecting; });
  if (client->link_->core.link() == LinkState::kFailed) {
    Error failure = client->link_->core.failure();
    failure.message +=
        client::WhyNobodyAnswers(client->options_.broker) + client->link_->dealer.WhyNotConnected();
    return Fail(std::move(failure));
  }
  lock.unlock();
  return client;
}

void Client::StartHostCalls() {
  if (options_.host_call_threads == 0 || !options_.on_call) return;
  client::HostCallPool::Hooks hooks;
  hooks.wanted = [this](const client::HostCall& call) {
    const std::lock_guard lock(mutex_);
    return link_->core.Awaits(call);
  };
  hooks.done = [this](const client::HostCall& call, HostReply reply) {
    {
      const std::lock_guard lock(mutex_);
      link_->core.Reply(call, std::move(reply), SteadyClock::now());
    }
    Wake();
  };
  host_calls_ = std::make_unique<client::HostCallPool>(options_.host_call_threads, options_.on_call, hooks);
}

Client::~Client() {
  // Its handlers may call us, which takes the loop; and the loop looks at it to its end.
  if (host_calls_) host_calls_->Stop();
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

Result<SubmitResult> Client::SubmitCases(CasesRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    if (link_->core.link() == LinkState::kFailed) return Fail(link_->core.failure());
    const std::uint64_t cases = request.inputs.size();
    auto taken = link_->cases.Add(request, SteadyClock::now());
    if (!taken || *taken == SubmitResult::kFull) return taken;
    unfinished_ += cases + 1;  // and their summary
  }
  Wake();
  return SubmitResult::kTaken;
}

void Client::Cancel(const JobId& id) {
  {
    const std::lock_guard lock(mutex_);
    if (!link_->cases.Cancel(id, link_->core, SteadyClock::now())) link_->core.Cancel(id);
  }
  Wake();
}

void Client::Acknowledge(const JobId& id) {
  const std::lock_guard lock(mutex_);
  link_->core.Acknowledge(id);
}

void Client::Acknowledge(const JobId& id, const std::vector<std::uint32_t>& cases) {
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t number : cases) link_->core.Acknowledge(link_->cases.NameOf(id, number));
}

std::uint64_t Client::unfinished() const {
  const std::lock_guard lock(mutex_);
  return unfinished_;
}

LinkHealth Client::Health() const {
  const std::lock_guard lock(mutex_);
  return link_->core.Health(SteadyClock::now());
}

std::optional<ClientEvent> Client::Next(Millis timeout) {
  std::unique_lock lock(mutex_);
  for (const JobId& id : std::exchange(dealing_, {})) link_->core.Acknowledge(id);
  if (link_->core.acks_waiting() >= kAcksWorthAWake) Wake();
  if (!arrived_.wait_for(lock, timeout, [&] { return !ready_.empty(); })) return std::nullopt;
  ClientEvent event = std::move(ready_.front());
  ready_.pop_front();
  const bool was_full = ready_bytes_ >= options_.max_undelivered.count();
  ready_bytes_ -= BytesOf(event);
  if (const auto* final = std::get_if<JobFinal>(&event)) {
    --unfinished_;
    dealing_.push_back(final->id);
  }
  if (std::holds_alternative<CasesEnded>(event)) --unfinished_;
  lock.unlock();
  if (was_full) Wake();
  return event;
}

void Client::Publish(std::unique_lock<std::mutex>&) {
  for (ClientEvent& event : link_->cases.Turn(link_->core, SteadyClock::now())) {
    ready_bytes_ += BytesOf(event);
    ready_.push_back(std::move(event));
  }
  arrived_.notify_all();
}

void Client::AnswerCalls(std::unique_lock<std::mutex>& lock) {
  for (client::HostCall& call : link_->core.TakeCalls()) {
    if (host_calls_) {
      host_calls_->Push(std::move(call));
      continue;
    }
    lock.unlock();  // the handler may call us
    HostReply reply = client::Answered(options_.on_call, call);
    lock.lock();
    link_->core.Reply(call, std::move(reply), SteadyClock::now());
  }
}

/// Whether what the broker sends next has a place here.
bool Client::MayRead() const {
  return ready_bytes_ < options_.max_undelivered.count() &&
         (!host_calls_ || host_calls_->waiting_bytes() < options_.max_waiting_calls.count());
}

void Client::Loop() {
  std::unique_lock lock(mutex_);
  ClientCore& core = link_->core;
  while (!stopping_) {
    core.OnTick(SteadyClock::now());
    AnswerCalls(lock);
    Publish(lock);
    const bool blocked = link_->Flush();
    const bool full = !MayRead();
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
