// Host calls: given out once, answered as often as the broker asks.
#include <utility>

#include "clients/cpp/client_core.h"

namespace skerry::client {
namespace {

// Texts of replies that may have to be given again; past it the oldest are forgotten.
constexpr std::uint64_t kMaxReplyBytes = 64u << 20;
constexpr std::size_t kMaxReplies = 65'536;

}  // namespace

void ClientCore::OnCall(const wire::Call& call, std::vector<std::string>& payloads) {
  Job* job = Find(call.id);
  if (job == nullptr || call.attempt < job->attempt || payloads.size() != 2) return;
  NoteAttempt(*job, call.attempt);
  refuses_since_.reset();
  const auto [known, is_new] = job->calls.try_emplace(call.call);
  if (is_new) {
    calls_.push_back({call.id, call.attempt, call.call, std::move(payloads[0]), std::move(payloads[1])});
  } else if (known->second) {
    SendAnswer(*job, call.call, *known->second);
  }
}

bool ClientCore::Awaits(const HostCall& call) const {
  const auto found = jobs_.find(call.job);
  return link_ != LinkState::kFailed && found != jobs_.end() && found->second.attempt == call.attempt;
}

void ClientCore::Reply(const HostCall& call, HostReply reply, TimePoint now) {
  if (reply.kind == HostReply::Kind::kNever) return;
  if (reply.delay <= Millis(0)) return SendReply(call, std::move(reply));
  const TimePoint due = now + reply.delay;
  delayed_.emplace(due, DelayedReply{call, std::move(reply)});
}

void ClientCore::SendReply(const HostCall& call, HostReply reply) {
  Job* job = Find(call.job);
  if (job == nullptr || job->attempt != call.attempt) return;
  GivenReply given;
  given.kind = reply.kind == HostReply::Kind::kValue ? wire::AnswerKind::kValue : wire::AnswerKind::kError;
  given.text = std::make_shared<const std::string>(std::move(reply.text));
  KeepReply(*job, call.call, given.text->size());
  SendAnswer(*job, call.call, given);
  job->calls[call.call] = std::move(given);
}

void ClientCore::SendAnswer(const Job& job, std::uint32_t call, const GivenReply& reply) {
  if (link_ != LinkState::kLinked) return;  // the broker asks again
  static const auto kForgotten =
      std::make_shared<const std::string>("the answer was lost with its connection");
  const wire::AnswerKind kind = reply.text ? reply.kind : wire::AnswerKind::kError;
  Put(wire::Answer{job.spec.id, LeaseId(), job.attempt, call, kind}, {reply.text ? reply.text : kForgotten});
}

void ClientCore::KeepReply(const Job& job, std::uint32_t call, std::uint64_t bytes) {
  replies_.push_back({job.spec.id, call, bytes});
  reply_bytes_ += bytes;
  while (replies_.size() > 1 && (reply_bytes_ > kMaxReplyBytes || replies_.size() > kMaxReplies)) {
    const KeptReply& oldest = replies_.front();
    reply_bytes_ -= oldest.bytes;
    if (Job* holder = Find(oldest.job)) {
      const auto known = holder->calls.find(oldest.call);
      if (known != holder->calls.end() && known->second) known->second->text.reset();
    }
    replies_.pop_front();
  }
}

}  // namespace skerry::client
