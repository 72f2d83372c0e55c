#include "clients/cpp/client.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "clients/cpp/broker_sockets.h"
#include "clients/cpp/broker_spread.h"
#include "clients/cpp/case_book.h"
#include "clients/cpp/host_call_pool.h"
#include "common/brokers/broker_keys.h"
#include "common/hash.h"

namespace skerry {
namespace {

using client::LinkState;

// Messages taken in one turn before sends and events get theirs.
constexpr int kMessagesPerTurn = 256;
constexpr Millis kLongestSleep{1'000};
// Where one broker has answered, and others have not yet.
constexpr Millis kOthersMayTake{500};
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

/// What the thread works on; all but the sockets, which are its own, is touched under Client::mutex_ only.
struct Client::Link {
  Link(const ClientOptions& options, const SessionId& session, client::BrokerSpread::Places places,
       TimePoint now)
      : spread(options, session, places, now), cases(session, options.max_waiting_cases), sockets(options) {}

  client::BrokerSpread spread;
  client::CaseBook cases;
  client::BrokerSockets sockets;
  std::vector<BrokerWatch::News> news;
  bool all_known = false;  // every name and file was looked up
  std::string why_failed;  // beside what the spread knows
};

Client::Client(ClientOptions options, std::vector<BrokerPlace> places)
    : options_(std::move(options)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  const bool one = places.size() == 1 && places[0].kind == BrokerPlace::Kind::kEndpoint;
  using Places = client::BrokerSpread::Places;
  link_ =
      std::make_unique<Link>(options_, options_.session.empty() ? SessionId(RandomHex(16)) : options_.session,
                             one ? Places::kOne : Places::kMany, SteadyClock::now());
  BrokerDirectory::Options often;
  often.resolve_every = options_.resolve_every;
  watch_ = std::make_unique<BrokerWatch>(std::move(places), often, options_.lookups,
                                         [this](BrokerWatch::News news) {
                                           {
                                             const std::lock_guard lock(mutex_);
                                             link_->news.push_back(std::move(news));
                                           }
                                           Wake();
                                         });
  HearNews();
}

Result<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  if (auto valid = CheckOptions(options); !valid) return Fail(valid.error());
  std::vector<std::string> where = options.brokers;
  if (where.empty()) where.push_back(options.broker);
  const auto tenant = CheckBrokerKeys(where, options.key_file, options.broker_key, keys::Role::kClient);
  if (!tenant) return Fail(tenant.error());
  if (options.tenant == ClientOptions().tenant && !tenant->empty()) options.tenant = TenantId(*tenant);
  std::unique_ptr<Client> client(new Client(std::move(options), *ParseBrokerPlaces(where)));
  client->StartHostCalls();
  client->thread_ = std::thread([raw = client.get()] { raw->Loop(); });
  std::unique_lock lock(client->mutex_);
  Link& link = *client->link_;
  client->arrived_.wait(lock, [&] { return link.spread.link() != LinkState::kConnecting; });
  if (link.spread.link() == LinkState::kFailed) {
    Error failure = link.spread.failure();
    failure.message += link.why_failed;
    return Fail(std::move(failure));
  }
  // The others, too, if they are quick: jobs of an earlier life may be with them.
  client->arrived_.wait_for(lock, kOthersMayTake, [&] {
    return link.spread.link() == LinkState::kFailed || (link.all_known && link.spread.Settled());
  });
  lock.unlock();
  return client;
}

void Client::StartHostCalls() {
  if (options_.host_call_threads == 0 || !options_.on_call) return;
  client::HostCallPool::Hooks hooks;
  hooks.wanted = [this](const client::HostCall& call) {
    const std::lock_guard lock(mutex_);
    return link_->spread.Awaits(call);
  };
  hooks.done = [this](const client::HostCall& call, HostReply reply) {
    {
      const std::lock_guard lock(mutex_);
      link_->spread.Reply(call, std::move(reply), SteadyClock::now());
    }
    Wake();
  };
  host_calls_ = std::make_unique<client::HostCallPool>(options_.host_call_threads, options_.on_call, hooks);
}

Client::~Client() {
  watch_.reset();
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
    auto taken = link_->spread.Submit(request, SteadyClock::now());
    if (!taken || *taken == SubmitResult::kFull) return taken;
    ++unfinished_;
  }
  Wake();
  return SubmitResult::kTaken;
}

Result<SubmitResult> Client::SubmitCases(CasesRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    if (link_->spread.link() == LinkState::kFailed) return Fail(link_->spread.failure());
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
    if (!link_->cases.Cancel(id, link_->spread, SteadyClock::now())) link_->spread.Cancel(id);
  }
  Wake();
}

void Client::Acknowledge(const JobId& id) {
  const std::lock_guard lock(mutex_);
  link_->spread.Acknowledge(id);
}

void Client::Acknowledge(const JobId& id, const std::vector<std::uint32_t>& cases) {
  const std::lock_guard lock(mutex_);
  for (const std::uint32_t number : cases) link_->spread.Acknowledge(link_->cases.NameOf(id, number));
}

std::uint64_t Client::unfinished() const {
  const std::lock_guard lock(mutex_);
  return unfinished_;
}

SpreadCounts Client::counts() const {
  const std::lock_guard lock(mutex_);
  return link_->spread.counts();
}

LinkHealth Client::Health() const {
  const std::lock_guard lock(mutex_);
  return link_->spread.Health(SteadyClock::now());
}

std::optional<ClientEvent> Client::Next(Millis timeout) {
  std::unique_lock lock(mutex_);
  for (const JobId& id : std::exchange(dealing_, {})) link_->spread.Acknowledge(id);
  if (link_->spread.acks_waiting() >= kAcksWorthAWake) Wake();
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
  for (ClientEvent& event : link_->cases.Turn(link_->spread, SteadyClock::now())) {
    ready_bytes_ += BytesOf(event);
    ready_.push_back(std::move(event));
  }
  arrived_.notify_all();
}

void Client::AnswerCalls(std::unique_lock<std::mutex>& lock) {
  for (client::HostCall& call : link_->spread.TakeCalls()) {
    if (host_calls_) {
      host_calls_->Push(std::move(call));
      continue;
    }
    lock.unlock();  // the handler may call us
    HostReply reply = client::Answered(options_.on_call, call);
    lock.lock();
    link_->spread.Reply(call, std::move(reply), SteadyClock::now());
  }
}

/// Whether what the broker sends next has a place here.
bool Client::MayRead() const {
  return ready_bytes_ < options_.max_undelivered.count() &&
         (!host_calls_ || host_calls_->waiting_bytes() < options_.max_waiting_calls.count());
}

void Client::HearNews() {
  for (const BrokerWatch::News& news : std::exchange(link_->news, {})) {
    link_->spread.Update(news.change, news.faults, SteadyClock::now());
    link_->all_known = news.complete;
  }
}

void Client::Loop() {
  std::unique_lock lock(mutex_);
  client::BrokerSpread& spread = link_->spread;
  client::BrokerSockets& sockets = link_->sockets;
  while (!stopping_) {
    HearNews();
    spread.OnTick(SteadyClock::now());
    if (spread.link() == LinkState::kFailed && link_->why_failed.empty())
      link_->why_failed = sockets.WhyNobodyAnswers();
    AnswerCalls(lock);
    Publish(lock);
    const auto placed = spread.TakePlacements();
    if (!placed.empty() && options_.on_placed) options_.on_placed(placed);
    sockets.Follow(spread, SteadyClock::now());
    sockets.Flush(spread);
    const bool full = !MayRead();
    if (full) spread.NotListening(SteadyClock::now());
    const auto until_wake = std::chrono::ceil<Millis>(spread.NextWake() - SteadyClock::now());
    lock.unlock();

    using Listen = client::BrokerSockets::Listen;
    sockets.Wait(wake_.get(), full ? Listen::kNo : Listen::kYes,
                 std::clamp(until_wake, Millis(0), kLongestSleep));
    std::uint64_t ignored = 0;
    (void)!read(wake_.get(), &ignored, sizeof ignored);

    lock.lock();
    if (!full) sockets.Read(spread, kMessagesPerTurn);
  }
  sockets.Leave(spread);
}

}  // namespace skerry
