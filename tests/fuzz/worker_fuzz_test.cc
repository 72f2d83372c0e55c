// Wrong messages to a worker: from its broker, from the isolates of its jobs, and from its cell. After each
// hundred a right job must be answered; at the end the worker is the same process, no larger than its bound,
// with the descriptors and children it had.
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/wire/negotiate.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/fuzz_cell.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/played_broker.h"
#include "tests/fuzz/vital_signs.h"

namespace skerry::fuzz {
namespace {

using testing::Child;

constexpr Bytes kMostGrowth = Bytes::MiB(64);
constexpr std::uint64_t kFirstProbe = 1u << 20;  // leases that no sample names
constexpr std::size_t kSlots = 4;
// Mutations that one isolate sends. One a process would be 180,000 processes; nothing behind a breach is
// looked at, so that each process is good for the messages up to its first.
constexpr std::size_t kBurst = 25;

class WorkerFuzz : public ::testing::Test {
 protected:
  Child StartWorker(const std::string& cell) {
    return Child({testing::Binary("skerry-worker"), "--broker", broker_.url(), "--isolates",
                  std::to_string(kSlots), "--spares", std::to_string(kSlots), "--cell", cell, "--log-level",
                  "off"});
  }

  // A job of which the worker must say that it returned its input. Slots may still be taken by what came
  // before.
  void Probe() {
    for (const TimePoint end = SteadyClock::now() + Millis(30'000); SteadyClock::now() < end;) {
      const std::uint64_t lease = kFirstProbe + ++probes_;
      broker_.Dispatch(lease, "return input", std::to_string(lease));
      std::optional<PlayedBroker::Ended> ended;
      do {
        ended = broker_.NextFinal();
      } while (ended && ended->final.lease != LeaseId(lease));
      ASSERT_TRUE(ended) << "no answer to probe " << probes_;
      if (!ended->final.ok && ended->final.code == Code::kOverloaded) continue;
      ASSERT_TRUE(ended->final.ok) << NameOf(ended->final.code);
      ASSERT_EQ(ended->payload, std::to_string(lease));
      return;
    }
    FAIL() << "the worker's slots stay taken";
  }

  // A broker may end a worker: a right REFUSE does, and a WELCOME of a version that it does not speak; a
  // right BYE makes it greet anew.
  void SendAsBroker(const Frames& frames) {
    const auto header = frames.size() <= 3 ? wire::Decode(frames[0]) : Fail(ErrorKind::kInvalid, "too long");
    if (header && std::holds_alternative<wire::Refuse>(*header)) return;
    const auto* welcome = header ? std::get_if<wire::Welcome>(&*header) : nullptr;
    if (welcome != nullptr &&
        !wire::CheckAgreed({wire::kOldestVersion, wire::kVersion}, welcome->version, "worker"))
      return;
    broker_.Send(frames);
    if (header && std::holds_alternative<wire::Bye>(*header)) broker_.AwaitGreeting();
  }

  // Runs jobs whose isolates send `count` mutations of a type; every one of them must end as what it is: a
  // program that broke the protocol, or said something that an isolate may say.
  void AttackAsIsolates(const std::string& type, std::uint64_t seed, std::size_t count) {
    std::size_t begun = 0;
    std::size_t ended = 0;
    const std::size_t jobs = (count + kBurst - 1) / kBurst;
    while (ended < jobs && !HasFatalFailure()) {
      for (; begun < jobs && begun - ended < kSlots; ++begun)
        broker_.Dispatch(++next_lease_, FuzzingCode(type, seed + begun, kBurst), "null");
      const auto final = broker_.NextFinal();
      ASSERT_TRUE(final) << "a job of a hostile isolate did not end";
      ++ended;
      ASSERT_NE(final->final.fault, Fault::kInfrastructure)
          << NameOf(final->final.code) << ": "
          << wire::ToOutcome(final->final, final->payload).error->message;
    }
  }

  const Campaign campaign_;
  const Samples samples_ = LoadSamples();
  PlayedBroker broker_;
  std::uint64_t probes_ = 0;
  std::uint64_t next_lease_ = 0;
};

TEST_F(WorkerFuzz, WrongMessagesOfTheBrokerHarmNobody) {
  Child worker = StartWorker(testing::Binary("skerry-cell"));
  broker_.AwaitWorker();
  for (int i = 0; i < 20; ++i) Probe();
  const VitalSigns before(worker);
  for (const std::string& type : TypesOf(samples_)) {
    SCOPED_TRACE(campaign_.Shown(type));
    Mutator mutator(samples_, campaign_.SeedOf(type));
    const Samples of_type = OfType(samples_, type);
    for (std::size_t i = 0; i < campaign_.mutations && !HasFatalFailure(); ++i) {
      SendAsBroker(mutator.Mutate(of_type[i % of_type.size()].frames));
      if (i % kProbeEvery == kProbeEvery - 1) Probe();
    }
  }
  before.ExpectUnharmed(worker, kMostGrowth);
}

TEST_F(WorkerFuzz, WrongMessagesOfIsolatesCostTheirOwnJobsOnly) {
  Child worker = StartWorker(testing::Binary("skerry-fuzz-cell"));
  broker_.AwaitWorker();
  for (int i = 0; i < 20; ++i) Probe();
  const VitalSigns before(worker);
  const std::size_t children = testing::ChildrenOf(worker.pid()).size();
  for (const std::string& type : TypesOf(samples_)) {
    SCOPED_TRACE(campaign_.Shown(type));
    for (std::size_t done = 0; done < campaign_.mutations && !HasFatalFailure(); done += kProbeEvery) {
      AttackAsIsolates(type, campaign_.SeedOf(type) + done, kProbeEvery);
      Probe();
    }
  }
  before.ExpectUnharmed(worker, kMostGrowth);
  EXPECT_EQ(testing::ChildrenOf(worker.pid()).size(), children);
}

// The cell is started anew after each breach, later each time: a few rounds must do.
TEST_F(WorkerFuzz, ACellThatBreaksTheControlProtocolIsReplaced) {
  constexpr std::size_t kRounds = 5;
  const testing::TempDir dir;
  const std::string cell = dir / "fuzz-cell";
  ASSERT_EQ(symlink(testing::Binary("skerry-fuzz-cell").c_str(), cell.c_str()), 0);
  Child worker = StartWorker(cell);  // no seed yet: its first cell is a good one
  broker_.AwaitWorker();
  Probe();
  testing::WriteFile(cell + kSeedFile, std::to_string(campaign_.seed));
  for (const pid_t child : testing::ChildrenOf(worker.pid())) kill(child, SIGKILL);
  SCOPED_TRACE(campaign_.Shown("control"));
  for (const TimePoint end = SteadyClock::now() + Millis(4'000); SteadyClock::now() < end;) {
    const std::string seed = testing::ReadFile(cell + kSeedFile);
    if (std::strtoull(seed.c_str(), nullptr, 10) >= campaign_.seed + kRounds) break;
    ASSERT_TRUE(worker.IsRunning());
    broker_.Serve(Millis(20));
  }
  unlink((cell + kSeedFile).c_str());
  Probe();
  ASSERT_TRUE(worker.IsRunning());
}

}  // namespace
}  // namespace skerry::fuzz
