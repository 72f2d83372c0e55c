// How jobs leave the client: what it takes and keeps of them, and whether a SUBMIT carries its code.
#include <utility>

#include "clients/cpp/client_core.h"
#include "clients/cpp/ended.h"
#include "clients/cpp/spec_faults.h"
#include "common/hash.h"

namespace skerry::client {
namespace {

/// What a broker without the capability "turns" would not do, and not say so.
bool AsksForTurns(const JobSpec& spec) {
  return !spec.turn.empty() || spec.turn_executions > 0 || spec.on_disconnect != OnDisconnect::kKeep;
}

}  // namespace

Result<SubmitResult> ClientCore::Submit(JobRequest& request, TimePoint now) {
  if (link_ == LinkState::kFailed) return Fail(failure_);
  if (jobs_.contains(request.spec.id)) {
    return Fail(ErrorKind::kInvalid, "job '" + request.spec.id.str() + "' is unfinished already");
  }
  if (jobs_.size() >= places() ||
      (!jobs_.empty() && bytes_in_flight_ + BytesOf(request) > options_.max_in_flight_bytes.count())) {
    return SubmitResult::kFull;
  }
  if (auto fault = FaultInSpec(request.spec)) return Fail(ErrorKind::kInvalid, *fault);
  unclaimed_.erase(request.spec.id);  // the broker answers the SUBMIT with it
  if (undealt_.erase(request.spec.id) > 0) NoteAcknowledged(request.spec.id);
  Job& job = jobs_[request.spec.id];
  job.number = next_number_++;
  job.spec = std::move(request.spec);
  TakeCode(job, request);
  job.input = std::make_shared<const std::string>(std::move(request.input));
  job.submitted_at = now;
  job.deadline_ms = job.spec.deadline_ms;
  bytes_in_flight_ += job.own_bytes();
  if (lost_.erase(job.spec.id) > 0 && job.spec.retry != Retry::kAlways) {
    FinishAsLost(job);
  } else if (link_ == LinkState::kLinked) {
    SendJob(job);
  }
  return SubmitResult::kTaken;
}

/// What taking it would add.
std::uint64_t ClientCore::BytesOf(const JobRequest& request) const {
  if (!request.program) return request.code.size() + request.input.size();
  const bool kept = shared_.contains(request.program->hash());
  return (kept ? 0 : request.program->text().size()) + request.input.size();
}

void ClientCore::TakeCode(Job& job, JobRequest& request) {
  if (!request.program && !job.spec.program) {
    job.spec.code_hash = Sha256(request.code);
    job.code = std::make_shared<const std::string>(std::move(request.code));
    return;
  }
  const auto program =
      request.program ? std::move(request.program) : Program::Of(std::exchange(request.code, {}));
  job.spec.code_hash = program->hash();
  SharedCode& shared = shared_[program->hash()];
  if (shared.jobs++ == 0) {
    shared.text = {program, &program->text()};
    bytes_in_flight_ += shared.text->size();
  }
  job.code = shared.text;
  job.shares_code = true;
}

void ClientCore::ReleaseCode(const Job& job) {
  bytes_in_flight_ -= job.own_bytes();
  if (!job.shares_code) return;
  const auto shared = shared_.find(job.spec.code_hash);
  if (--shared->second.jobs > 0) return;
  bytes_in_flight_ -= shared->second.text->size();
  shared_.erase(shared);
}

void ClientCore::SendJob(Job& job) {
  refused_.erase(job.number);
  if (!reproducible_ && AsksForReproducibility(job.spec)) {
    return Finish(
        job, Ended(Code::kValidation, "seed, clock and receipt are more than this broker knows: upgrade it",
                   job.attempt));
  }
  if (!programs_ && (!job.spec.libraries.empty() || job.spec.encoding != Encoding::kJson)) {
    return Finish(
        job, Ended(Code::kValidation, "libraries and encodings are more than this broker knows: upgrade it",
                   job.attempt));
  }
  if (!turns_ && AsksForTurns(job.spec)) {
    return Finish(job,
                  Ended(Code::kValidation,
                        "turn, turnExecutions and onDisconnect are more than this broker knows: upgrade it",
                        job.attempt));
  }
  job.stage = JobStage::kSent;
  PutSubmit(job);
  if (job.cancelled) Put(wire::Cancel{job.spec.id, LeaseId()});
}

void ClientCore::PutSubmit(Job& job) {
  static const auto kLeftOut = std::make_shared<const std::string>();
  job.submit = ++submits_;
  wire::Submit submit{job.spec};
  // Without them a program only runs from its beginning each time, in an isolate of its own.
  submit.job.program = job.spec.program && programs_;
  if (!programs_) submit.job.reuse = Reuse::kNone;
  const std::string key = CarriedCode::KeyOf(job.spec);
  job.carried = !submit.job.program || job.must_carry || job.code->empty() || carried_.At(key) == 0;
  if (job.carried && submit.job.program) carried_.Note(key, job.submit);
  Put(std::move(submit), {job.carried ? job.code : kLeftOut, job.input});
}

/// The broker has not taken the job, whose code was left out: it has forgotten the program, or the SUBMIT
/// that carried it was refused.
void ClientCore::OnNeed(const JobId& id) {
  Job* job = Find(id);
  if (link_ != LinkState::kLinked || job == nullptr || job->stage != JobStage::kSent) return;
  if (job->carried) {
    return FailLink({ErrorKind::kUnavailable, "the broker asks for the code of job '" + id.str() +
                                                  "', which it was given: it is broken"});
  }
  if (job->cancelled) return Finish(*job, Ended(Code::kCancelled, "cancelled before it was queued", 1));
  // A thousand SUBMITs may be on their way behind the first that is answered so: the code goes again with
  // that one only, and with those that are answered so once more.
  job->must_carry = job->needed || carried_.At(CarriedCode::KeyOf(job->spec)) < job->submit;
  job->needed = true;
  SendJob(*job);
}

void ClientCore::Cancel(const JobId& id) {
  Job* job = Find(id);
  if (job == nullptr || job->cancelled || link_ == LinkState::kFailed) return;
  job->cancelled = true;
  if (!job->may_be_there()) {
    const bool sent = job->sent_before > 0;
    return Finish(*job, Ended(Code::kCancelled, sent ? "cancelled" : "cancelled before it was sent", 1));
  }
  if (link_ == LinkState::kLinked) Put(wire::Cancel{id, LeaseId()});
}

}  // namespace skerry::client
