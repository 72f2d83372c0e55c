// One long run: every id exactly once, and nothing that a job needed stays with broker, worker or cell after
// it. 100,000 jobs under the label `full`; a tenth of that, with a wider bound for what has not settled yet,
// always.
//
// Memory is RSS (VmRSS) of each of the three processes, under load both times: the median of a few readings,
// since messages in flight come and go. Descriptors and processes are compared at rest, before and after.
#include <algorithm>
#include <fstream>
#include <thread>

#include "common/testing/proc_fs.h"
#include "tests/support/pool_watch.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Size {
  int jobs;       ///< of the run
  int settled;    ///< jobs after which memory is what it should stay
  double growth;  ///< at the end, at most so many times that
  milliseconds patience;
};

// Counts an output's lines as they come.
class LineCount {
 public:
  explicit LineCount(std::filesystem::path path) : path_(std::move(path)) {}
  int Now() {
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(read_));
    std::string chunk(1 << 20, '\0');
    while (file.read(chunk.data(), static_cast<std::streamsize>(chunk.size())) || file.gcount() > 0) {
      lines_ += static_cast<int>(std::count(chunk.begin(), chunk.begin() + file.gcount(), '\n'));
      read_ += static_cast<std::uint64_t>(file.gcount());
    }
    return lines_;
  }

 private:
  const std::filesystem::path path_;
  std::uint64_t read_ = 0;
  int lines_ = 0;
};

class Soak : public ::testing::Test {
 protected:
  struct Memory {
    std::uint64_t broker = 0;
    std::uint64_t worker = 0;
    std::uint64_t cell = 0;
  };
  void SetUp() override { ASSERT_TRUE(IsOk(pool_.RunOne(Job("warm", "return 1")), Json(1))) << pool_.Logs(); }

  static void WriteJobs(const std::filesystem::path& path, int count) {
    std::ofstream file(path, std::ios::binary);
    for (int i = 0; i < count; ++i) {
      // A far deadline and a CPU bound each: a watchdog that is not cancelled would pile up.
      file << R"({"id":"j)" << i << R"(","code":"console.log(input);return input+1","input":)" << i
           << R"(,"limits":{"timeoutMs":600000,"cpuMs":600000}})"
           << "\n";
    }
  }

  Memory MedianMemory() {
    constexpr int kReadings = 9;
    std::vector<std::uint64_t> broker;
    std::vector<std::uint64_t> worker;
    std::vector<std::uint64_t> cell;
    for (int i = 0; i < kReadings; ++i) {
      broker.push_back(ResidentBytes(pool_.broker().pid()));
      worker.push_back(ResidentBytes(pool_.worker().pid()));
      cell.push_back(ResidentBytes(NewestCellOf(pool_)));
      std::this_thread::sleep_for(milliseconds(20));
    }
    const auto median = [](std::vector<std::uint64_t>& values) {
      std::nth_element(values.begin(), values.begin() + kReadings / 2, values.end());
      return values[kReadings / 2];
    };
    return {median(broker), median(worker), median(cell)};
  }

  void Run(const Size& size) {
    WriteJobs(dir_ / "jobs", size.jobs);
    const Resources before = AtRest(pool_);
    Child skerry({Binary("skerry"), "run", dir_ / "jobs", "-o", dir_ / "out", "--quiet", "--broker",
                  pool_.client_url()},
                 {.stderr_path = dir_ / "stderr"});
    LineCount lines(dir_ / "out");
    Memory settled;
    Memory last;
    const auto end = steady_clock::now() + size.patience;
    while (skerry.IsRunning() && steady_clock::now() < end) {
      const int done = lines.Now();
      if (done >= size.settled && settled.broker == 0) settled = MedianMemory();
      // The last reading that was still under load.
      if (done >= size.jobs * 9 / 10 && done < size.jobs * 98 / 100) last = MedianMemory();
      std::this_thread::sleep_for(milliseconds(20));
    }
    ASSERT_EQ(skerry.Wait(milliseconds(0)), 0) << ReadFile(dir_ / "stderr") << pool_.Logs();
    CheckEveryIdOnce(size.jobs);
    ASSERT_GT(settled.broker, 0u);
    ASSERT_GT(last.broker, 0u) << "no reading near the end: the machine was too busy";
    ExpectNoGrowth("broker", settled.broker, last.broker, size.growth);
    ExpectNoGrowth("worker", settled.worker, last.worker, size.growth);
    ExpectNoGrowth("cell", settled.cell, last.cell, size.growth);
    const Resources after = AtRest(pool_);
    EXPECT_EQ(after, before);
  }

  void ExpectNoGrowth(const std::string& who, std::uint64_t settled, std::uint64_t last, double growth) {
    RecordProperty(who + "_settled_kib", static_cast<int>(settled >> 10));
    RecordProperty(who + "_last_kib", static_cast<int>(last >> 10));
    std::printf("%s: %llu KiB, at the end %llu KiB\n", who.c_str(),
                static_cast<unsigned long long>(settled >> 10), static_cast<unsigned long long>(last >> 10));
    EXPECT_GT(settled, 0u) << who;
    EXPECT_LE(static_cast<double>(last), static_cast<double>(settled) * growth) << who;
  }

  void CheckEveryIdOnce(int jobs) const {
    std::vector<bool> seen(static_cast<std::size_t>(jobs));
    std::ifstream file(dir_ / "out");
    int lines = 0;
    for (std::string line; std::getline(file, line); ++lines) {
      const auto json = ParseJson(line);
      ASSERT_TRUE(json) << line;
      const int job = std::atoi(json->at("id").get<std::string>().c_str() + 1);
      ASSERT_TRUE(IsOk(JobResult(*json, line), job + 1));
      ASSERT_FALSE(seen.at(static_cast<std::size_t>(job))) << "twice: " << line;
      seen[static_cast<std::size_t>(job)] = true;
    }
    EXPECT_EQ(lines, jobs);
  }

  Pool pool_;
  TempDir dir_;
};

TEST_F(Soak, TenThousandJobsLeaveEverythingAsItWas) {
  Run({.jobs = 10'000, .settled = 3'000, .growth = 1.1, .patience = std::chrono::minutes(2)});
}

using SoakFull = Soak;

TEST_F(SoakFull, AHundredThousandJobsLeaveEverythingAsItWas) {
  Run({.jobs = 100'000, .settled = 10'000, .growth = 1.05, .patience = std::chrono::minutes(14)});
}

}  // namespace
}  // namespace skerry::testing
