// What is read from and written to files: lines, results, resumed results, fixtures, ids.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "clients/cli/fixtures.h"
#include "clients/cli/id_set.h"
#include "clients/cli/line_reader.h"
#include "clients/cli/result_file.h"
#include "clients/cli/result_line.h"

namespace skerry::cli {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "skerry-files-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/file";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Put(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  std::string Get() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }
  std::vector<std::pair<std::uint64_t, std::string>> Lines() {
    auto reader = LineReader::Open(path_);
    std::vector<std::pair<std::uint64_t, std::string>> lines;
    std::string_view line;
    while (reader->Next(Millis(1000), line) == LineReader::Got::kLine) {
      lines.emplace_back(reader->number(), std::string(line));
    }
    return lines;
  }
  static std::string Result(const std::string& id, std::optional<Code> code = std::nullopt) {
    Outcome outcome;
    outcome.value = "1";
    if (code) outcome.error = MakeError(*code, "m");
    return ResultLine(JobId(id), outcome, "");
  }

  std::string folder_;
  std::string path_;
};

using Line = std::pair<std::uint64_t, std::string>;

TEST_F(Files, BlankLinesAreSkippedButCountedAndTheLastNeedsNoEnd) {
  Put("a\n\n  \r\nb\nc");
  EXPECT_EQ(Lines(), (std::vector<Line>{{1, "a"}, {4, "b"}, {5, "c"}}));
}

TEST_F(Files, BytesConsumedAreThoseOfTheLinesGivenOut) {
  Put("12345\n12345\n");
  auto reader = LineReader::Open(path_);
  std::string_view line;
  EXPECT_EQ(reader->bytes_total(), 12u);
  EXPECT_EQ(reader->bytes_consumed(), 0u);
  reader->Next(Millis(1000), line);
  EXPECT_EQ(reader->bytes_consumed(), 6u);
  reader->Next(Millis(1000), line);
  EXPECT_EQ(reader->bytes_consumed(), 12u);
}

TEST_F(Files, AByteOrderMarkIsNotPartOfTheFirstLine) {
  Put("\xef\xbb\xbf{}\n\xef\xbb\xbf{}\n");
  EXPECT_EQ(Lines(), (std::vector<Line>{{1, "{}"}, {2, "\xef\xbb\xbf{}"}}));
}

TEST_F(Files, LinesOfAnyLengthAndNumberComeOutWhole) {
  std::string text;
  for (int i = 1; i <= 3000; ++i) text += std::string(static_cast<std::size_t>(i), 'x') + "\n";
  Put(text);
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 3000u);
  for (const auto& [number, line] : lines) ASSERT_EQ(line.size(), number);
}

TEST_F(Files, ALineThatIsTooLongIsReportedAndTheNextOneIsFine) {
  {
    std::ofstream file(path_, std::ios::binary);
    const std::string block(1 << 20, 'x');
    for (std::size_t i = 0; i <= kMaxLineBytes >> 20; ++i) file << block;
    file << "\nnext\n";
  }
  auto reader = LineReader::Open(path_);
  std::string_view line;
  EXPECT_EQ(reader->Next(Millis(1000), line), LineReader::Got::kTooLong);
  EXPECT_EQ(reader->number(), 1u);
  EXPECT_EQ(reader->Next(Millis(1000), line), LineReader::Got::kLine);
  EXPECT_EQ(line, "next");
  EXPECT_EQ(reader->number(), 2u);
  EXPECT_EQ(reader->Next(Millis(1000), line), LineReader::Got::kEnd);
}

TEST_F(Files, APipeThatHasNothingYetDoesNotBlock) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  LineReader reader{Fd(ends[0])};
  Fd writer(ends[1]);
  std::string_view line;
  EXPECT_EQ(reader.Next(Millis(0), line), LineReader::Got::kNotYet);
  ASSERT_EQ(write(writer.get(), "half", 4), 4);
  EXPECT_EQ(reader.Next(Millis(0), line), LineReader::Got::kNotYet);
  ASSERT_EQ(write(writer.get(), " line\n", 6), 6);
  EXPECT_EQ(reader.Next(Millis(0), line), LineReader::Got::kLine);
  EXPECT_EQ(line, "half line");
  writer.Reset();
  EXPECT_EQ(reader.Next(Millis(0), line), LineReader::Got::kEnd);
}

TEST_F(Files, AMissingFileOrAFolderIsAnError) {
  EXPECT_FALSE(LineReader::Open(folder_ + "/none"));
  EXPECT_FALSE(LineReader::Open(folder_));
}

TEST_F(Files, WithoutResumeTheOutputBeginsAnew) {
  Put("old\n");
  auto file = ResultFile::Open(path_, Existing::kReplace);
  ASSERT_TRUE(file);
  EXPECT_EQ(Get(), "old\n") << "what else a run needs may fail still";
  ASSERT_TRUE(file->Begin());
  ASSERT_TRUE(file->Write("new\n"));
  EXPECT_EQ(Get(), "new\n");
}

TEST_F(Files, ResumeCutsATruncatedLastLineAndAppends) {
  Put(Result("a") + Result("b", Code::kTimeout) + Result("x").substr(0, 20));
  auto file = ResultFile::Open(path_, Existing::kKeep);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->done().Contains("a"));
  EXPECT_TRUE(file->done().Contains("b"));
  EXPECT_FALSE(file->done().Contains("x"));
  EXPECT_EQ(file->kept_ok(), 1u);
  EXPECT_EQ(file->kept_errors(), 1u);
  ASSERT_TRUE(file->Begin());
  ASSERT_TRUE(file->Write(Result("x")));
  EXPECT_EQ(Get(), Result("a") + Result("b", Code::kTimeout) + Result("x"));
}

TEST_F(Files, ResumeTakesOutInfrastructureFaultsSoThatTheyRunAgain) {
  Put(Result("a") + Result("lost", Code::kLost) + Result("b") + Result("full", Code::kOverloaded));
  auto file = ResultFile::Open(path_, Existing::kKeep);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_FALSE(file->done().Contains("lost"));
  EXPECT_FALSE(file->done().Contains("full"));
  EXPECT_EQ(file->run_again(), 2u);
  ASSERT_TRUE(file->Write(Result("lost")));
  EXPECT_EQ(Get(), Result("a") + Result("b") + Result("lost"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, ResumeOfAFileThatIsOnlyATruncatedLineOrEmptyOrMissingStartsAnew) {
  for (const char* text : {"{\"id\":\"a\"", ""}) {
    Put(text);
    auto file = ResultFile::Open(path_, Existing::kKeep);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->done().size(), 0u);
    EXPECT_EQ(Get(), "");
  }
  std::filesystem::remove(path_);
  EXPECT_TRUE(ResultFile::Open(path_, Existing::kKeep));
}

TEST_F(Files, ResumeCutsATruncatedLineLongerThanOneBlock) {
  Put(Result("a") + std::string(100'000, 'x'));
  ASSERT_TRUE(ResultFile::Open(path_, Existing::kKeep));
  EXPECT_EQ(Get(), Result("a"));
}

TEST_F(Files, ResumeRefusesAFileThatIsNotResultsAndLeavesItAlone) {
  Put("some notes\n");
  auto file = ResultFile::Open(path_, Existing::kKeep);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(Get(), "some notes\n");
  EXPECT_FALSE(ResultFile::Open("-", Existing::kKeep));
}

TEST_F(Files, OneRunAtATimeWritesToAFile) {
  Put(Result("a") + Result("lost", Code::kLost));
  for (const Existing existing : {Existing::kReplace, Existing::kKeep}) {
    auto first = ResultFile::Open(path_, Existing::kKeep);
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(first->Write(Result("b")));
    const std::string before = Get();
    auto second = ResultFile::Open(path_, existing);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("another run is writing to it"), std::string::npos);
    EXPECT_EQ(Get(), before);
  }
  EXPECT_TRUE(ResultFile::Open(path_, Existing::kKeep)) << "the first has ended";
}

TEST_F(Files, AFullDiskIsAnError) {
  auto file = ResultFile::Open("/dev/full", Existing::kReplace);
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->Begin());
  EXPECT_FALSE(file->Write("x\n"));
}

TEST(IdSet, KnowsEachOfManyIdsExactlyOnce) {
  IdSet ids;
  for (int i = 0; i < 50'000; ++i) ASSERT_TRUE(ids.Insert("id" + std::to_string(i)));
  EXPECT_EQ(ids.size(), 50'000u);
  for (int i = 0; i < 50'000; ++i) {
    ASSERT_FALSE(ids.Insert("id" + std::to_string(i)));
    ASSERT_FALSE(ids.Contains("no" + std::to_string(i)));
  }
}

TEST(Fixtures, AnswersValuesDelaysErrorsAndNever) {
  const auto fixtures = Fixtures::Parse(
      R"({"plain": {"a": [1,  2]}, "text": "s", "slow": {"$value": {"x": 1}, "$delayMs": 50}, "bad": {"$error": "no\n"},)"
      R"( "hang": {"$never": true}, "pause": {"$delayMs": 5}})");
  ASSERT_TRUE(fixtures) << fixtures.error().message;
  EXPECT_EQ(fixtures->Answer("plain").kind, HostReply::Kind::kValue);
  EXPECT_EQ(fixtures->Answer("plain").text, R"({"a": [1,  2]})");
  EXPECT_EQ(fixtures->Answer("text").text, "\"s\"");
  EXPECT_EQ(fixtures->Answer("slow").text, R"({"x": 1})");
  EXPECT_EQ(fixtures->Answer("slow").delay, Millis(50));
  EXPECT_EQ(fixtures->Answer("bad").kind, HostReply::Kind::kError);
  EXPECT_EQ(fixtures->Answer("bad").text, "no\n");
  EXPECT_EQ(fixtures->Answer("hang").kind, HostReply::Kind::kNever);
  EXPECT_EQ(fixtures->Answer("pause").text, "null");
}

TEST(Fixtures, AStarAnswersAnyOtherMethodAndWithoutOneTheCallIsRejected) {
  const auto with = Fixtures::Parse(R"({"a": 1, "*": 2})");
  ASSERT_TRUE(with);
  EXPECT_EQ(with->Answer("a").text, "1");
  EXPECT_EQ(with->Answer("other").text, "2");
  const auto without = Fixtures::Parse(R"({"a": 1})");
  ASSERT_TRUE(without);
  EXPECT_EQ(without->Answer("other").kind, HostReply::Kind::kError);
  EXPECT_EQ(without->Answer("other").text, "no fixture for method 'other'");
  EXPECT_EQ(Fixtures().Answer("a").kind, HostReply::Kind::kError);
}

TEST(Fixtures, AMistakeNamesItsMethod) {
  for (const char* json : {R"({"m": {"$delay": 1}})", R"({"m": {"$delayMs": -1}})", R"({"m": {"$error": 1}})",
                           R"({"m": {"$never": false}})", R"({"m": {"$value": 1, "x": 2}})"}) {
    const auto fixtures = Fixtures::Parse(json);
    ASSERT_FALSE(fixtures) << json;
    EXPECT_NE(fixtures.error().message.find("'m'"), std::string::npos) << fixtures.error().message;
  }
  for (const char* json : {"", "[]", "{", "{} {}"}) EXPECT_FALSE(Fixtures::Parse(json)) << json;
}

}  // namespace
}  // namespace skerry::cli
