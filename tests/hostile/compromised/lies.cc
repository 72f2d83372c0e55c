#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "common/wire/codec.h"
#include "common/wire/stream.h"
#include "tests/hostile/compromised/probe.h"

namespace skerry::compromised {
namespace {

using cell::IsolatePort;
using cell::WriteAllOrExit;

void Write(int socket, const std::string& bytes) {
  WriteAllOrExit(socket, bytes.data(), bytes.size());
}

wire::Final OkFinal() {
  wire::Final final;
  final.ok = true;
  final.started = true;
  return final;
}

[[noreturn]] void SleepForEver() {
  const timespec an_hour{3600, 0};
  for (;;) nanosleep(&an_hour, nullptr);
}

void AnotherJobsFinal(IsolatePort& port, int) {
  wire::Final final = OkFinal();
  final.id = JobId("victim");
  final.lease = LeaseId(1);
  port.Send(final, {"\"stolen\""});
  SleepForEver();
}

void AnotherJobsEvent(IsolatePort& port, int) {
  wire::Event event;
  event.id = JobId("victim");
  event.lease = LeaseId(1);
  event.attempt = 7;
  port.Send(event, {"a word in another's name"});
  port.Send(OkFinal(), {"1"});
  _exit(0);
}

void OversizedFrame(IsolatePort&, int socket) {
  std::string prefix(wire::kStreamPrefixBytes, '\xff');
  prefix[0] = static_cast<char>(wire::kStreamVersion);
  prefix[1] = 1;
  Write(socket, prefix);
  SleepForEver();
}

void TruncatedFrame(IsolatePort&, int socket) {
  const std::string whole = wire::StreamBytes(OkFinal(), {"1"});
  Write(socket, whole.substr(0, whole.size() - 1));
  _exit(0);
}

void HalfAFrameAndSilence(IsolatePort&, int socket) {
  Write(socket, wire::StreamBytes(OkFinal(), {"1"}).substr(0, 5));
  SleepForEver();
}

void NotAMessage(IsolatePort&, int socket) {
  Write(socket, std::string(4096, 'x'));
  SleepForEver();
}

void ABrokersMessage(IsolatePort& port, int) {
  port.Send(wire::Drain{}, {});
  SleepForEver();
}

void SecondFinal(IsolatePort& port, int) {
  port.Send(OkFinal(), {"1"});
  port.Send(OkFinal(), {"2"});
  SleepForEver();
}

void EventsAfterTheFinal(IsolatePort& port, int) {
  port.Send(OkFinal(), {"1"});
  for (int i = 0; i < 1000; ++i) port.Send(wire::Event{}, {"late"});
  SleepForEver();
}

void EndlessEvents(IsolatePort& port, int) {
  for (;;) port.Send(wire::Event{}, {"again"});
}

void EndlessCalls(IsolatePort& port, int) {
  for (std::uint32_t call = 1;; ++call) port.Send(wire::Call{JobId(), LeaseId(), 1, call}, {"m", "null"});
}

void EndlessLargeEvents(IsolatePort& port, int) {
  const std::string text(65536, 'x');
  for (;;) port.Send(wire::Event{}, {text});
}

void BadJson(IsolatePort& port, int) {
  port.Send(OkFinal(), {"{\"a\":"});
  SleepForEver();
}

void InfrastructuresFault(IsolatePort& port, int) {
  wire::Final final;
  final.code = Code::kLost;
  final.fault = Fault::kInfrastructure;
  final.retryable = true;
  JobError error = MakeError(Code::kLost, "blame somebody else");
  port.Send(final, {wire::DetailPayload(error)});
  SleepForEver();
}

void NothingWhileRunning(IsolatePort&, int) {
  SleepForEver();
}

void CloseTheSocket(IsolatePort&, int socket) {
  close(socket);
  SleepForEver();
}

void LeaveWithoutAWord(IsolatePort&, int) {
  _exit(0);
}

}  // namespace

const std::vector<Lie>& Lies() {
  static const std::vector<Lie> kLies = {
      {"another-jobs-final", AnotherJobsFinal},
      {"another-jobs-event", AnotherJobsEvent},
      {"oversized-frame", OversizedFrame},
      {"truncated-frame", TruncatedFrame},
      {"half-a-frame", HalfAFrameAndSilence},
      {"not-a-message", NotAMessage},
      {"a-brokers-message", ABrokersMessage},
      {"second-final", SecondFinal},
      {"events-after-final", EventsAfterTheFinal},
      {"endless-events", EndlessEvents},
      {"endless-calls", EndlessCalls},
      {"endless-large-events", EndlessLargeEvents},
      {"bad-json", BadJson},
      {"infrastructures-fault", InfrastructuresFault},
      {"nothing", NothingWhileRunning},
      {"close-socket", CloseTheSocket},
      {"leave", LeaveWithoutAWord},
  };
  return kLies;
}

}  // namespace skerry::compromised
