#include "bench/workload.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace skerry::bench {
namespace {

class WorkloadFile {
 public:
  explicit WorkloadFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("skerry-workload-" + std::to_string(getpid()) + ".json")) {
    std::ofstream(path_) << text;
  }
  ~WorkloadFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string ErrorOf(const std::string& text) {
  const WorkloadFile file(text);
  const auto workload = LoadWorkload(file.path());
  return workload ? "" : workload.error().message;
}

TEST(Workload, TheTreesOwnAreAllThere) {
  for (const char* name : {"trivial", "tool", "compute", "calls", "large"}) {
    const auto workload = FindWorkload(name);
    ASSERT_TRUE(workload) << workload.error().message;
    EXPECT_FALSE(workload->summary.empty()) << name;
    EXPECT_EQ(workload->answer.empty(), std::string(name) != "calls") << name;
  }
}

TEST(Workload, AnUnknownNameIsToldWhatThereIs) {
  const auto workload = FindWorkload("tribial");
  ASSERT_FALSE(workload);
  EXPECT_NE(workload.error().message.find("trivial"), std::string::npos) << workload.error().message;
}

TEST(Workload, WithoutCodeOrInputIsRefused) {
  EXPECT_NE(ErrorOf(R"({"code": "return 1"})"), "");
  EXPECT_NE(ErrorOf(R"({"input": 1, "code": 1})"), "");
  EXPECT_NE(ErrorOf("not JSON"), "");
  EXPECT_EQ(ErrorOf(R"({"code": "return 1", "input": null})"), "");
}

TEST(Workload, ThatNeedsWhatIsNotKnownHereIsRefused) {
  const std::string error = ErrorOf(R"({"code": "", "input": 1, "needs": ["libraries"]})");
  EXPECT_NE(error.find("libraries"), std::string::npos) << error;
}

TEST(Workload, AnAnswerGoesWithTheNeedForHostCalls) {
  EXPECT_NE(ErrorOf(R"({"code": "", "input": 1, "needs": ["hostCalls"]})"), "");
  EXPECT_NE(ErrorOf(R"({"code": "", "input": 1, "answer": 1})"), "");
  EXPECT_EQ(ErrorOf(R"({"code": "", "input": 1, "needs": ["hostCalls"], "answer": 1})"), "");
}

}  // namespace
}  // namespace skerry::bench
