#include "clients/cpp/case_book.h"

#include <algorithm>
#include <utility>

#include "clients/cpp/ended.h"
#include "clients/cpp/spec_faults.h"
#include "common/hash.h"
#include "common/utf8.h"

namespace skerry {

Outcome CancelledUnrun(std::string_view why) {
  return client::Ended(Code::kCancelled, std::string(why), 1);
}

namespace client {
namespace {

// What a waiting case costs beside its input's text.
constexpr std::uint64_t kBytesPerCase = 64;
constexpr std::size_t kKeyDigits = 32;

std::uint64_t BytesOf(const std::string& input) {
  return input.size() + kBytesPerCase;
}

std::optional<std::string> FaultIn(const CasesRequest& request) {
  if (auto fault = FaultInSpec(request.spec)) return fault;
  if (!request.program) return "cases need a program";
  if (request.inputs.empty() || request.inputs.size() > kMaxCases)
    return "cases must be 1 to " + std::to_string(kMaxCases) + ", not " +
           std::to_string(request.inputs.size());
  const auto& numbers = request.numbers;
  if (numbers.empty()) return std::nullopt;
  if (numbers.size() != request.inputs.size()) return "cases must have as many numbers as inputs";
  if (std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) != numbers.end())
    return "cases must have ascending numbers";
  return std::nullopt;
}

std::string StoppedBy(std::uint32_t number, std::string_view was) {
  return std::string(was) + ": case " + std::to_string(number) + " failed";
}

/// Of `places`, those that cases may take together.
std::uint64_t ShareOfCases(std::uint64_t places) {
  const std::uint64_t others = std::max<std::uint64_t>(places / 4, 1);
  return places > others ? places - others : 1;
}

std::optional<CaseOf>* OfCaseIn(ClientEvent& event, const JobId*& id) {
  if (auto* notice = std::get_if<JobNotice>(&event)) return id = &notice->id, &notice->of_case;
  if (auto* restarted = std::get_if<JobRestarted>(&event)) return id = &restarted->id, &restarted->of_case;
  if (auto* final = std::get_if<JobFinal>(&event)) return id = &final->id, &final->of_case;
  return nullptr;
}

}  // namespace

std::string CaseBook::KeyOf(const JobId& job) const {
  // Neither holds a zero byte.
  return Hex(Sha256(session_.str() + '\0' + job.str())).substr(0, kKeyDigits);
}

JobId CaseBook::Name(const std::string& key, const JobId& job, std::uint32_t number) {
  std::string name = key + ":" + std::to_string(number) + ":";
  name += CutUtf8(job.str(), kMaxIdBytes - name.size());
  return JobId(std::move(name));
}

const CaseBook::Case* CaseBook::Find(const JobId& name) const {
  const auto found = submitted_.find(name);
  return found == submitted_.end() ? nullptr : &found->second;
}

Result<SubmitResult> CaseBook::Add(CasesRequest& request, TimePoint now) {
  const JobId id = request.spec.id;
  if (sets_.contains(id))
    return Fail(ErrorKind::kInvalid, "cases of '" + id.str() + "' are unfinished already");
  if (auto fault = FaultIn(request)) return Fail(ErrorKind::kInvalid, *fault);
  std::uint64_t bytes = 0;
  for (const std::string& input : request.inputs) bytes += BytesOf(input);
  if (!waiting_.empty() && waiting_bytes_ + bytes > max_waiting_.count()) return SubmitResult::kFull;
  Set& set = sets_[id];
  set.request = std::move(request);
  set.key = KeyOf(id);
  set.begun = now;
  waiting_.push_back(&set);
  waiting_bytes_ += bytes;
  return SubmitResult::kTaken;
}

bool CaseBook::Cancel(const JobId& job, JobPort& core, TimePoint now) {
  const auto found = sets_.find(job);
  if (found == sets_.end()) return false;
  Stop(found->second, "cancelled before it was sent", core);
  CloseIfEnded(found->second, now);
  return true;
}

std::vector<ClientEvent> CaseBook::Turn(JobPort& core, TimePoint now) {
  for (;;) {
    Feed(core, now);
    // An end makes room for the next case, and may cancel others, which ends some at once.
    auto events = core.TakeEvents();
    if (events.empty()) break;
    for (ClientEvent& event : events) Take(std::move(event), core, now);
  }
  return std::exchange(events_, {});
}

void CaseBook::Feed(JobPort& core, TimePoint now) {
  if (core.link() == LinkState::kFailed) return;
  while (!waiting_.empty() && submitted_.size() < ShareOfCases(core.places())) {
    Set& set = *waiting_.front();
    const std::uint32_t number = set.NumberAt(set.next);
    std::string& input = set.request.inputs[set.next];
    const std::uint64_t bytes = BytesOf(input);
    JobRequest job;
    job.spec = set.request.spec;
    job.spec.id = Name(set.key, set.id(), number);
    job.program = set.request.program;
    job.input = std::move(input);
    const JobId name = job.spec.id;
    const auto taken = core.Submit(job, now);
    if (taken && *taken == SubmitResult::kFull) {
      input = std::move(job.input);
      return;
    }
    ++set.next;
    waiting_bytes_ -= bytes;
    waiting_.pop_front();
    if (set.waits()) waiting_.push_back(&set);
    ++set.unfinished;
    if (taken) {
      submitted_[name] = {&set, number};
    } else {
      // Somebody who knows the session has given a job of theirs this very name.
      End({&set, number}, {name, Ended(Code::kValidation, taken.error().message, 1)}, core, now);
    }
  }
}

void CaseBook::Take(ClientEvent event, JobPort& core, TimePoint now) {
  if (std::holds_alternative<LinkFailed>(event)) {
    submitted_.clear();
    waiting_.clear();
    waiting_bytes_ = 0;
    sets_.clear();
  }
  const JobId* id = nullptr;
  std::optional<CaseOf>* of_case = OfCaseIn(event, id);
  const Case* found = of_case == nullptr ? nullptr : Find(*id);
  if (found == nullptr) return events_.push_back(std::move(event));
  if (auto* final = std::get_if<JobFinal>(&event)) {
    const Case ended = *found;
    submitted_.erase(final->id);
    return End(ended, std::move(*final), core, now);
  }
  *of_case = CaseOf{found->set->id(), found->number};
  events_.push_back(std::move(event));
}

void CaseBook::End(const Case& ended, JobFinal final, JobPort& core, TimePoint now) {
  Set& set = *ended.set;
  final.of_case = CaseOf{set.id(), ended.number};
  --set.unfinished;
  set.summary.Count(final.outcome);
  auto& error = final.outcome.error;
  // Its broker knows only that it was told to cancel it.
  if (error && error->code == Code::kCancelled && set.stopped_by)
    error->message = StoppedBy(*set.stopped_by, error->started ? "cancelled" : "not run");
  const bool stops =
      set.request.stop_on == StopOn::kFirstFailure && error && IsVerdict(error->code, error->fault);
  events_.push_back(std::move(final));
  if (stops && !set.stopped_by) {
    set.stopped_by = ended.number;
    Stop(set, StoppedBy(ended.number, "not run"), core);
  }
  CloseIfEnded(set, now);
}

void CaseBook::Stop(Set& set, std::string_view why, JobPort& core) {
  std::erase(waiting_, &set);
  for (; set.waits(); ++set.next) {
    waiting_bytes_ -= BytesOf(set.request.inputs[set.next]);
    const std::uint32_t number = set.NumberAt(set.next);
    JobFinal final{Name(set.key, set.id(), number), CancelledUnrun(why), CaseOf{set.id(), number}};
    set.summary.Count(final.outcome);
    events_.push_back(std::move(final));
  }
  for (const auto& [name, one] : submitted_) {
    if (one.set == &set) core.Cancel(name);
  }
}

void CaseBook::CloseIfEnded(Set& set, TimePoint now) {
  if (set.waits() || set.unfinished > 0) return;
  set.summary.wall = std::chrono::duration_cast<Millis>(now - set.begun);
  events_.push_back(CasesEnded{set.id(), set.summary});
  sets_.erase(JobId(set.id()));
}

}  // namespace client
}  // namespace skerry
