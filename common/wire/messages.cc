#include "common/wire/messages.h"

#include <array>
#include <utility>

#include "common/wire/codec.h"

namespace skerry::wire {
namespace {

constexpr std::array<std::string_view, 2> kRoles = {"client", "worker"};
constexpr std::array<std::string_view, 3> kAnswerKinds = {"value", "error", "refused"};

}  // namespace

std::string_view NameOf(Role role) {
  return kRoles[static_cast<std::size_t>(role)];
}
std::string_view NameOf(AnswerKind kind) {
  return kAnswerKinds[static_cast<std::size_t>(kind)];
}
std::optional<Role> RoleByName(std::string_view name) {
  if (name == kRoles[0]) return Role::kClient;
  if (name == kRoles[1]) return Role::kWorker;
  return std::nullopt;
}
std::optional<AnswerKind> AnswerKindByName(std::string_view name) {
  for (std::size_t i = 0; i < kAnswerKinds.size(); ++i) {
    if (kAnswerKinds[i] == name) return static_cast<AnswerKind>(i);
  }
  return std::nullopt;
}

std::uint64_t SeqOf(const Header& header) {
  return std::visit(
      [](const auto& message) -> std::uint64_t {
        if constexpr (requires { message.seq; }) return message.seq;
        return 0;
      },
      header);
}

bool SetSeq(Header& header, std::uint64_t seq) {
  return std::visit(
      [seq](auto& message) {
        if constexpr (requires { message.seq; }) {
          message.seq = seq;
          return true;
        }
        return false;
      },
      header);
}

Final ToFinal(const Outcome& outcome) {
  Final final;
  final.attempt = outcome.attempt;
  final.ok = outcome.ok();
  final.usage = outcome.usage;
  if (outcome.error) {
    final.code = outcome.error->code;
    final.limit = outcome.error->limit;
    final.fault = outcome.error->fault;
    final.started = outcome.error->started;
    final.retryable = outcome.error->retryable;
    final.retry_after_ms = outcome.error->retry_after_ms;
  } else {
    final.started = true;
  }
  return final;
}

std::string DetailPayload(const JobError& error) {
  ErrorDetail detail;
  detail.message = error.message;
  detail.name = error.name;
  detail.stack = error.stack;
  detail.line = error.position.line;
  detail.column = error.position.column;
  return EncodeDetail(detail);
}

Outcome ToOutcome(const Final& final, std::string payload) {
  Outcome outcome;
  outcome.attempt = final.attempt;
  outcome.usage = final.usage;
  if (final.ok) {
    outcome.value = std::move(payload);
    return outcome;
  }
  JobError error = MakeError(final.code, "", final.limit);
  error.fault = final.fault;
  error.started = final.started;
  error.retryable = final.retryable;
  error.retry_after_ms = final.retry_after_ms;
  if (auto detail = DecodeDetail(payload)) {
    error.message = std::move(detail->message);
    if (!detail->name.empty()) error.name = std::move(detail->name);
    error.stack = std::move(detail->stack);
    error.position = {detail->line, detail->column};
  }
  outcome.error = std::move(error);
  return outcome;
}

}  // namespace skerry::wire
