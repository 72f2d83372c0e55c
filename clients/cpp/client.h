// A client of the broker: submit jobs, take their events and finals as they come, for as many jobs as you
// like.
//
//   auto client = Client::Connect({.broker = "ipc:///run/skerry/clients"});
//   while (more || (*client)->unfinished() > 0) {
//     while (more && *(*client)->Submit(request) == SubmitResult::kTaken) more = ReadNext(&request);
//     if (auto event = (*client)->Next(Millis(100))) Handle(*event);
//   }
//
// Submit never blocks: it says kFull when as many jobs are unfinished as the broker's credit (or
// max_in_flight) allows, and then Next is what makes room. Everything is bounded: unfinished jobs by credit,
// what waits for Next by max_undelivered; past that the client stops reading, which holds up the broker's
// relay for this client only. A lost broker is looked for again and told every unfinished job again (ids make
// that harmless). OVERLOADED with a retryAfterMs is waited out for jobs with `admission: "queue"`.
//
// A final is acknowledged, and then forgotten by the broker, when Next is called again: by then its caller
// has dealt with the one before (written it down, say). A client that is killed and comes back under the same
// ClientOptions::session finds the finals that it had not dealt with.
//
// With several brokers (ClientOptions::brokers, or a name that stands for several addresses) jobs are spread
// over them; what a lost one holds goes on with the others, under the same id and with one final, as far as
// `retry` allows another run.
//
// SubmitCases runs one program over many inputs: one final per case, as each ends, then one CasesEnded. The
// client feeds them as there is room and leaves a quarter of it to other jobs.
//
// Threads: any number may call; host calls are answered on threads of their own (host_call_threads).
// Ownership: the destructor waits for handlers that run, then says BYE: the broker drops this session's
// queued jobs and cancels its running ones. Errors: Connect says that no broker answered or that it refused;
// later loss of it is a LinkFailed event.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "clients/cpp/client_types.h"
#include "common/brokers/broker_watch.h"
#include "common/fd.h"

namespace skerry {

namespace client {
class HostCallPool;
}  // namespace client

class Client {
 public:
  static Result<std::unique_ptr<Client>> Connect(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Moves from `request` when it is taken; leaves it alone otherwise. Errors: kInvalid (an id that is
  /// unfinished already, an id out of range), kUnavailable (the link has failed).
  Result<SubmitResult> Submit(JobRequest& request);
  /// Moves from `request` when it is taken, whole; kFull: inputs of other cases wait already, as many bytes
  /// as max_waiting_cases. Errors: as Submit's, and numbers of cases out of range or order.
  Result<SubmitResult> SubmitCases(CasesRequest& request);
  /// The job's final says CANCELLED, or how it ended if it was faster. The id of a set of cases: of each of
  /// them that has not ended. Unknown ids do nothing.
  void Cancel(const JobId& id);
  /// Of an earlier life under this session: its final is safe with the caller, who will not submit it again.
  void Acknowledge(const JobId& id);
  /// The same of these cases of the job.
  void Acknowledge(const JobId& id, const std::vector<std::uint32_t>& cases);
  /// The next event in order, waiting up to `timeout` for one.
  std::optional<ClientEvent> Next(Millis timeout);
  /// Jobs and cases submitted whose final Next has not returned yet, and summaries likewise.
  std::uint64_t unfinished() const;
  /// Whether the broker still answers: while it does not, jobs wait for it and not for a worker.
  LinkHealth Health() const;
  SpreadCounts counts() const;

 private:
  struct Link;
  Client(ClientOptions options, std::vector<BrokerPlace> places);

  void Loop();
  void HearNews();
  void Publish(std::unique_lock<std::mutex>& lock);
  void AnswerCalls(std::unique_lock<std::mutex>& lock);
  void StartHostCalls();
  bool MayRead() const;
  void Wake();

  const ClientOptions options_;
  const Fd wake_;  // eventfd: something changed that the thread should look at
  std::unique_ptr<Link> link_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<ClientEvent> ready_;
  std::uint64_t ready_bytes_ = 0;
  std::uint64_t unfinished_ = 0;
  std::vector<JobId> dealing_;  // finals that Next has returned since it was called before
  bool stopping_ = false;
  std::unique_ptr<client::HostCallPool> host_calls_;  // none: handlers run on thread_
  std::thread thread_;
  std::unique_ptr<BrokerWatch> watch_;  // its thread calls us: ends first
};

}  // namespace skerry
