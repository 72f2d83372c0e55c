#include "worker/agent/worker_options.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

WorkerOptions Good() {
  WorkerOptions options;
  options.broker_url = "ipc:///tmp/w";
  options.cell_program = "/bin/true";
  options.spares = 4;
  return options;
}

TEST(WorkerOptions, FillsInTwoIsolatesPerCoreAndFourFifthsOfTheMemory) {
  WorkerOptions options = Good();
  options.FillDefaults(3, Bytes::MiB(10'000));
  EXPECT_EQ(options.isolates, 6u);
  EXPECT_EQ(options.memory_mb, 8'000u);
  EXPECT_EQ(options.max_job_memory_mb, 1'024u);
  EXPECT_FALSE(options.id.empty());
  EXPECT_TRUE(options.Validate());
}

TEST(WorkerOptions, KeepsWhatIsGivenAndLowersTheLargestJobToWhatFits) {
  WorkerOptions options = Good();
  options.isolates = 1;
  options.memory_mb = 512;
  options.id = "me";
  options.FillDefaults(8, Bytes::MiB(10'000));
  EXPECT_EQ(options.isolates, 1u);
  EXPECT_EQ(options.memory_mb, 512u);
  EXPECT_TRUE(options.id.starts_with("me-")) << options.id;
  EXPECT_EQ(options.max_job_memory_mb, 512u - 2 * IsolateManager::kCellMb - 4 * IsolateManager::kSpareMb);
}

TEST(WorkerOptions, TwoWorkersOfOneNameAreTwoWorkers) {
  WorkerOptions one = Good();
  WorkerOptions other = Good();
  one.id = other.id = "me";
  one.FillDefaults(8, Bytes::MiB(10'000));
  other.FillDefaults(8, Bytes::MiB(10'000));
  EXPECT_NE(one.id, other.id);
}

TEST(WorkerOptions, ReportsEveryFaultAtOnce) {
  WorkerOptions options = Good();
  options.broker_url = "tcp://1.2.3.4:5";
  options.isolates = 5'000;
  options.spares = 5'000;
  options.memory_mb = 100;
  options.jit = "turbo";
  options.cell_program = "/nowhere";
  options.id = std::string(300, 'x');
  options.max_job_memory_mb = 4;
  const auto status = options.Validate();
  ASSERT_FALSE(status);
  for (const char* option : {"--broker", "--isolates", "--spares", "--memory-mb", "--jit", "--cell", "--id",
                             "--max-job-memory-mb"}) {
    EXPECT_NE(status.error().message.find(option), std::string::npos) << option << " in:\n"
                                                                      << status.error().message;
  }
}

}  // namespace
}  // namespace skerry::agent
