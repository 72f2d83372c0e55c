#include "broker/tenants/shared_rates.h"

#include <utility>

#include "common/logging.h"

namespace skerry::broker {

SharedRates::SharedRates(const RedisOptions& options, RedisAddress address, std::string password,
                         BrokerCore& core)
    : core_(core),
      gate_(options.timeout),
      brokers_(options.brokers),
      link_(options, std::move(address), std::move(password)) {
  core_.ShareRates(RateSharing::kLost, brokers_.count());
}

Result<std::unique_ptr<SharedRates>> SharedRates::Start(const RedisOptions& options, BrokerCore& core) {
  auto address = ParseAddress(options.address);
  if (!address) return Fail(ErrorKind::kInvalid, "redis " + address.error().message);
  auto password = ReadPassword(options);
  if (!password) return Fail(password.error());
  return std::unique_ptr<SharedRates>(
      new SharedRates(options, *std::move(address), *std::move(password), core));
}

bool SharedRates::Hold(const Peer& from, wire::Header& header, std::vector<Payload>& payloads,
                       TimePoint now) {
  const bool behind = gate_.Holds(from);
  if (!up_ && !behind) return false;
  auto ask = up_ ? core_.AskFor(from, header) : std::nullopt;
  if (!ask && !behind) return false;
  const std::uint64_t number = gate_.Hold({from, std::move(header), std::move(payloads)}, ask, now);
  if (ask) asks_.push_back({number, *std::move(ask)});
  return true;
}

void SharedRates::Turn(TimePoint now) {
  if (!asks_.empty()) link_.Ask(std::exchange(asks_, {}));
  for (RedisNews& news : link_.TakeNews()) OnNews(news, now);
  if (const auto deadline = gate_.Deadline(); up_ && deadline && *deadline <= now) {
    // The link has its own patience; that its thread did not run is as good as no answer.
    link_.Reset(up_count_);
    Lose("no answer in time");
  }
  while (auto ready = gate_.TakeReady()) Deliver(*std::move(ready), now);
}

void SharedRates::OnNews(RedisNews& news, TimePoint now) {
  switch (news.what) {
    case RedisNews::What::kUp:
      up_ = true;
      told_ = false;
      up_count_ = news.up;
      brokers_.OnUp(now);
      ShowBrokers(news.brokers, now);
      log::Info("rates are shared through Redis", {{"brokers", brokers_.count()}});
      break;
    case RedisNews::What::kDown:
      Lose(news.reason);
      break;
    case RedisNews::What::kAnswers:
      for (const auto& [number, verdict] : news.verdicts) gate_.Decide(number, verdict);
      if (up_) ShowBrokers(news.brokers, now);
      break;
  }
}

void SharedRates::ShowBrokers(std::uint64_t told, TimePoint now) {
  brokers_.OnTold(told, now);
  core_.ShareRates(RateSharing::kShared, brokers_.count());
}

void SharedRates::Lose(const std::string& reason) {
  up_ = false;
  gate_.GiveUp();
  core_.ShareRates(RateSharing::kLost, brokers_.count());
  if (std::exchange(told_, true)) return;
  log::Warn("Redis cannot be asked: this broker enforces its share of the rates",
            {{"reason", reason}, {"brokers", brokers_.count()}});
}

void SharedRates::Deliver(SubmitGate::Ready ready, TimePoint now) {
  auto& [from, header, payloads] = ready.message;
  if (!ready.verdict) return core_.OnMessage(from, std::move(header), std::move(payloads), now);
  const VerdictUse use =
      core_.OnRatedSubmit(from, std::move(header), std::move(payloads), *ready.verdict, now);
  if (use == VerdictUse::kUnused && !ready.verdict->wait && ready.ask) link_.Return(*std::move(ready.ask));
}

}  // namespace skerry::broker
