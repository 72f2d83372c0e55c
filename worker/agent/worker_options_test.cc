#include "worker/agent/worker_options.h"

#include <gtest/gtest.h>

namespace skerry::agent {
namespace {

WorkerOptions Good() {
  WorkerOptions options;
  options.brokers = {"ipc:///tmp/w"};
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

TEST(WorkerOptions, SetsAnEighthAsideForKeptCellsWhereThereIsRoomToSpare) {
  WorkerOptions options = Good();
  options.memory_mb = 2048;
  options.FillDefaults(2, Bytes::MiB(10'000));
  EXPECT_EQ(options.kept_mb, 256u);
  EXPECT_EQ(options.ManagerOptions().JobsMb(),
            2048u - 2 * IsolateManager::kCellMb - 4 * IsolateManager::kSpareMb - 256);
  WorkerOptions small = Good();
  small.memory_mb = 2047;
  small.FillDefaults(2, Bytes::MiB(10'000));
  EXPECT_EQ(small.kept_mb, 0u);
  WorkerOptions given = Good();
  given.kept_mb = 17;
  given.FillDefaults(2, Bytes::MiB(10'000));
  EXPECT_EQ(given.kept_mb, 17u);
}

TEST(WorkerOptions, LibrariesNeedACellThatIsKept) {
  WorkerOptions options = Good();
  options.memory_mb = 512;
  options.libraries = {"a=/dev/null"};
  options.FillDefaults(2, Bytes::MiB(10'000));
  EXPECT_TRUE(options.Validate());
  EXPECT_EQ(options.ReadLibraries().error().message, "libraries: a: '/dev/null' is not a regular file");
  options.kept_mb = kLibraryMb;
  EXPECT_TRUE(options.Validate());
  options.kept_mb = kLibraryMb - 1;
  EXPECT_NE(options.Validate().error().message.find("--kept-mb"), std::string::npos);
  options.kept_mb.reset();
  options.kept_cells = 0;
  EXPECT_NE(options.Validate().error().message.find("--kept-mb"), std::string::npos);
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
  options.brokers = {"tcp://1.2.3.4:5"};
  options.isolates = 5'000;
  options.spares = 5'000;
  options.memory_mb = 100;
  options.jit = "turbo";
  options.cell_program = "/nowhere";
  options.id = std::string(300, 'x');
  options.max_job_memory_mb = 4;
  options.kept_cells = 1'025;
  options.kept_code_mb = 4'097;
  const auto status = options.Validate();
  ASSERT_FALSE(status);
  for (const char* option : {"--broker", "--isolates", "--spares", "--memory-mb", "--jit", "--cell", "--id",
                             "--max-job-memory-mb", "--kept-cells", "--kept-code-mb"}) {
    EXPECT_NE(status.error().message.find(option), std::string::npos) << option << " in:\n"
                                                                      << status.error().message;
  }
}

TEST(WorkerOptions, HasACellForFourCoresAndForFourGibibytesAndOneAtLeast) {
  const auto cells = [](unsigned cores, std::uint64_t mib) {
    WorkerOptions options = Good();
    options.memory_mb = mib;
    options.FillDefaults(cores, Bytes::MiB(mib));
    return options.cells;
  };
  EXPECT_EQ(cells(7, 65'536), 1u);
  EXPECT_EQ(cells(8, 65'536), 2u);
  EXPECT_EQ(cells(64, 8'191), 1u);
  EXPECT_EQ(cells(64, 8'192), 2u);
  EXPECT_EQ(cells(1024, 1u << 20), 64u);
  EXPECT_EQ(cells(1, 512), 1u);
}

}  // namespace
}  // namespace skerry::agent
