#include "bench/cell_load.h"

#include <poll.h>

#include <utility>
#include <variant>
#include <vector>

#include "common/wire/codec.h"
#include "worker/agent/process.h"

namespace skerry::bench {
namespace {

constexpr std::size_t kMaxFrameBytes = std::size_t{16} << 20;
constexpr std::size_t kReadBudget = std::size_t{1} << 20;
// Past any job of these workloads: what has not moved by then is lost.
constexpr int kPatienceMs = 20'000;

void KillAndReap(const cell::IsolateProcess& process) {
  agent::KillProcess(process.pidfd.get());
  agent::ReapBlocking(process.pidfd.get());
}

}  // namespace

Result<std::unique_ptr<CellLoad>> CellLoad::Start(const std::string& binaries, std::size_t slots) {
  cell::CellOptions options;
  options.program = binaries + "/skerry-cell";
  auto cell = cell::CellProcess::Start(options);
  if (!cell) return Fail(cell.error());
  return std::unique_ptr<CellLoad>(new CellLoad(std::move(*cell), slots));
}

CellLoad::~CellLoad() {
  cell_.reset();  // first, so that no more forks come
  for (const Running& job : running_) KillAndReap(job.process);
  for (const auto& spare : spares_) KillAndReap(spare);
}

Result<Sample> CellLoad::Run(const Workload& workload, Millis duration) {
  const TimePoint begin = SteadyClock::now();
  const TimePoint end = begin + duration;
  Sample sample;
  while (SteadyClock::now() < end || !running_.empty()) {
    if (auto asked = AskForForks(); !asked) return Fail(asked.error());
    while (SteadyClock::now() < end && running_.size() < slots_ && !spares_.empty()) StartJob(workload);
    if (auto stepped = Step(workload, sample); !stepped) return Fail(stepped.error());
  }
  sample.seconds = MillisBetween(begin, SteadyClock::now()) / 1000;
  return sample;
}

Status CellLoad::AskForForks() {
  for (; asked_ + spares_.size() < slots_; ++asked_) {
    const auto requested = cell_->RequestFork();
    if (!requested && requested.error().kind == ErrorKind::kExhausted) break;
    if (!requested) return requested;
  }
  return {};
}

Status CellLoad::TakeForks() {
  for (;;) {
    auto forked = cell_->OnReadable();
    if (!forked) return Fail(forked.error());
    if (!*forked) return {};
    --asked_;
    auto& isolate = std::get<cell::IsolateProcess>(**forked);
    if (isolate.pid > 0) spares_.push_back(std::move(isolate));
  }
}

void CellLoad::StartJob(const Workload& workload) {
  Running& job = running_.emplace_back(std::move(spares_.front()), kMaxFrameBytes, SteadyClock::now());
  spares_.pop_front();
  wire::Dispatch dispatch;
  dispatch.job.id = JobId("b");
  job.port.Send(dispatch, {workload.code, workload.input});
  Flush(job);
}

void CellLoad::Flush(Running& job) {
  job.blocked = job.port.Flush() == agent::IsolatePort::WriteEnd::kBlocked;
}

Status CellLoad::Step(const Workload& workload, Sample& sample) {
  std::vector<pollfd> waits = {{cell_->control_fd(), POLLIN, 0}};
  for (const Running& job : running_) {
    const auto events = static_cast<short>(job.blocked ? POLLIN | POLLOUT : POLLIN);
    waits.push_back(job.finished ? pollfd{job.process.pidfd.get(), POLLIN, 0}
                                 : pollfd{job.process.socket.get(), events, 0});
  }
  const int ready = poll(waits.data(), waits.size(), kPatienceMs);
  if (ready == 0) return Fail(ErrorKind::kUnavailable, "nothing has moved for 20 s");
  if (ready < 0) return FailErrno("poll");
  if (waits[0].revents != 0) {
    if (auto taken = TakeForks(); !taken) return taken;
  }
  std::size_t at = 1;
  for (auto job = running_.begin(); job != running_.end(); ++at) {
    if (waits[at].revents == 0) {
      ++job;
    } else if (!job->finished) {
      if (auto read = Read(*job, workload); !read) return read;
      if (job->blocked) Flush(*job);
      ++job;
    } else if (agent::TryReap(job->process.pidfd.get())) {
      sample.latencies_ms.push_back(MillisBetween(job->started, SteadyClock::now()));
      job = running_.erase(job);
    } else {
      ++job;
    }
  }
  return {};
}

Status CellLoad::Read(Running& job, const Workload& workload) {
  const auto end = job.port.Read(kReadBudget);
  for (;;) {
    auto frame = job.port.Next();
    if (!frame) return Fail(frame.error());
    if (!*frame) break;
    auto header = wire::Decode((*frame)->header);
    if (!header) return Fail(header.error());
    if (const auto* call = std::get_if<wire::Call>(&*header)) {
      wire::Answer answer;
      answer.call = call->call;
      job.port.Send(answer, {workload.answer});
      Flush(job);
    } else if (const auto* final = std::get_if<wire::Final>(&*header)) {
      if (!final->ok) return Fail(ErrorKind::kInternal, workload.name + " failed in its isolate");
      job.finished = true;
    }
  }
  if (job.finished || end != agent::IsolatePort::ReadEnd::kEof) return {};
  return Fail(ErrorKind::kInternal, "an isolate has ended without a final");
}

}  // namespace skerry::bench
