#include "worker/cell/msgpack_job.h"

#include <string>
#include <utility>

#include "common/limits.h"
#include "common/msgpack_json.h"

namespace skerry::cell {
namespace {

/// nil: for a text of V8's that cannot be said, of which there is none: its stack ends long before the depth.
std::string Packed(std::string_view json) {
  return MsgpackFromJson(json).value_or("\xc0");
}

/// Between an engine that speaks JSON text and a worker that wants MessagePack.
class MsgpackPort final : public engine::JobPort {
 public:
  explicit MsgpackPort(engine::JobPort& port) : port_(port) {}

  void SendEvent(EventType type, Level level, std::string_view payload, bool truncated) override {
    if (type != EventType::kStatus) return port_.SendEvent(type, level, payload, truncated);
    port_.SendEvent(type, level, Packed(payload), truncated);
  }
  void SendDropped(std::uint64_t dropped_events) override { port_.SendDropped(dropped_events); }
  void SendTripped(LimitId limit) override { port_.SendTripped(limit); }
  void SendCall(std::uint32_t call, std::string_view method, std::string_view params) override {
    port_.SendCall(call, method, Packed(params));
  }
  engine::HostAnswer AwaitAnswer() override {
    using Kind = engine::HostAnswer::Kind;
    engine::HostAnswer answer = port_.AwaitAnswer();
    if (answer.kind != Kind::kValue) return answer;
    auto json = JsonFromMsgpack(answer.text);
    answer.kind = json ? Kind::kValue : Kind::kError;
    answer.text = json ? std::move(*json)
                       : "the host's answer is no JSON value in MessagePack: " + json.error().message;
    return answer;
  }

 private:
  engine::JobPort& port_;
};

JobError Refused(std::string why) {
  return MakeError(Code::kValidation, std::move(why));
}

/// Of a value whose JSON text was within maxResultBytes.
void Pack(Outcome* outcome) {
  auto packed = MsgpackFromJson(outcome->value);
  constexpr std::uint64_t kLargestFrame = SpecOf(LimitId::kMaxResultBytes).hard_maximum;
  if (packed && packed->size() <= kLargestFrame) {
    outcome->value = std::move(*packed);
    return;
  }
  outcome->value.clear();
  outcome->error = packed ? MakeError(Code::kValidation, "the value is too large for MessagePack",
                                      std::string(NameOf(LimitId::kMaxResultBytes)))
                          : Refused("the value cannot be said in MessagePack: " + packed.error().message);
  outcome->error->fault = packed ? Fault::kLimit : Fault::kProgram;
}

}  // namespace

Outcome RunMsgpackJob(std::string_view input, engine::JobPort& port, const RunJson& run) {
  std::string json;
  if (!input.empty()) {
    auto said = JsonFromMsgpack(input);
    if (!said) {
      Outcome outcome;
      outcome.error = Refused("input is no JSON value in MessagePack: " + said.error().message);
      return outcome;
    }
    json = std::move(*said);
  }
  MsgpackPort msgpack(port);
  Outcome outcome = run(json, msgpack);
  if (outcome.ok()) Pack(&outcome);
  return outcome;
}

}  // namespace skerry::cell
