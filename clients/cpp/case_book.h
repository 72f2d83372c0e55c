// The sets of cases that a client has unfinished: their cases become jobs of the core as there is room, their
// ends are told as cases of their set, and each set ends with its summary.
//
//   book.Add(request, now);
//   for (ClientEvent& event : book.Turn(core, now)) ...    // instead of core.TakeEvents()
//
// Sets take turns, a case each. Together they leave a quarter of the core's places (at least one, where there
// is more than one) to other jobs, so that none waits for 100,000 cases.
//
// A case's name on the wire is 128 bits of SHA-256 over session and job id, its number, and as much of the
// job's id as fits: a session that is resumed finds the case by it, and no job has such an id by chance, nor
// by intent of who does not know the session.
//
// Threads: one at a time, with its core. Errors: Add says what is wrong with a request. After LinkFailed
// nothing follows.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "clients/cpp/job_port.h"

namespace skerry::client {

class CaseBook {
 public:
  CaseBook(SessionId session, Bytes max_waiting) : session_(std::move(session)), max_waiting_(max_waiting) {}

  /// Takes `request` when there is room for its inputs, else leaves it as it is.
  Result<SubmitResult> Add(CasesRequest& request, TimePoint now);
  /// Whether `job` is a set's id: its cases end then, those that run as their broker says.
  bool Cancel(const JobId& job, JobPort& core, TimePoint now);
  /// Gives the core cases while it has room, and what has happened to jobs and cases since.
  std::vector<ClientEvent> Turn(JobPort& core, TimePoint now);

  JobId NameOf(const JobId& job, std::uint32_t number) const { return Name(KeyOf(job), job, number); }

 private:
  struct Set {
    CasesRequest request;  // inputs are moved out as they are submitted
    std::string key;
    std::size_t next = 0;  // of the inputs: the first that was not submitted
    std::uint64_t unfinished = 0;
    CasesSummary summary;
    TimePoint begun;
    std::optional<std::uint32_t> stopped_by;  // the case whose failure did
    bool waits() const { return next < request.inputs.size(); }
    const JobId& id() const { return request.spec.id; }
    std::uint32_t NumberAt(std::size_t place) const {
      return request.numbers.empty() ? static_cast<std::uint32_t>(place) : request.numbers[place];
    }
  };
  struct Case {
    Set* set = nullptr;
    std::uint32_t number = 0;
  };

  std::string KeyOf(const JobId& job) const;
  static JobId Name(const std::string& key, const JobId& job, std::uint32_t number);
  void Feed(JobPort& core, TimePoint now);
  void Take(ClientEvent event, JobPort& core, TimePoint now);
  void End(const Case& ended, JobFinal final, JobPort& core, TimePoint now);
  void Stop(Set& set, std::string_view why, JobPort& core);
  void CloseIfEnded(Set& set, TimePoint now);
  const Case* Find(const JobId& name) const;

  SessionId session_;
  Bytes max_waiting_;
  std::unordered_map<JobId, Set> sets_;
  std::deque<Set*> waiting_;  // have cases to submit; the next turn first
  std::uint64_t waiting_bytes_ = 0;
  std::unordered_map<JobId, Case> submitted_;  // by name
  std::vector<ClientEvent> events_;
};

}  // namespace skerry::client
