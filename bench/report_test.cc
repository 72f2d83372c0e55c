#include "bench/report.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

namespace skerry::bench {
namespace {

Row Sample(const std::string& workload, double ratio) {
  return Row().Text("workload", workload).Number("jobsPerSecond", 812.34, 0).Number("ratio", ratio, 2);
}

TEST(Report, IsOneObjectALineForPrograms) {
  std::ostringstream out;
  Report report(Report::Form::kJson, out);
  report.Begin("stack");
  report.Add(Sample("trivial", 0.9371));
  report.Note("for people");
  EXPECT_EQ(out.str(),
            "{\"bench\":\"stack\",\"workload\":\"trivial\",\"jobsPerSecond\":812,\"ratio\":0.94}\n");
}

TEST(Report, IsATableForPeopleWithOneHeadForRowsOfTheSameNames) {
  std::ostringstream out;
  Report report(Report::Form::kTable, out);
  report.Begin("stack");
  report.Add(Sample("trivial", 0.5));
  report.Add(Sample("tool", 10));
  EXPECT_EQ(out.str(),
            "\nstack\n"
            "workload        jobsPerSecond      ratio\n"
            "trivial                   812       0.50\n"
            "tool                      812      10.00\n");
}

TEST(Report, BeginsATableAnewWhereTheNamesChange) {
  std::ostringstream out;
  Report report(Report::Form::kTable, out);
  report.Begin("broker");
  report.Add(Row().Number("a", 1, 0));
  report.Add(Row().Number("b", 2, 0));
  EXPECT_EQ(out.str(), "\nbroker\n        a\n        1\n\nbroker\n        b\n        2\n");
}

TEST(Report, ShowsWhatWasNotMeasuredAsNothing) {
  const Row row = Row().Number("a", std::nan(""), 1).Number("b", 1 / 0.0, 1);
  std::ostringstream json;
  Report for_programs(Report::Form::kJson, json);
  for_programs.Add(row);
  EXPECT_EQ(json.str(), "{\"bench\":\"\",\"a\":null,\"b\":null}\n");
  std::ostringstream table;
  Report for_people(Report::Form::kTable, table);
  for_people.Add(row);
  EXPECT_EQ(table.str(), "\n\n        a          b\n        -          -\n");
}

TEST(Report, SaysWhatIsSkippedAndWhy) {
  std::ostringstream json;
  Report for_programs(Report::Form::kJson, json);
  for_programs.Begin("peers");
  for_programs.Skip("workerd", "npm says \"no\"");
  EXPECT_EQ(json.str(), R"({"bench":"peers","what":"workerd","skipped":"npm says \"no\""})"
                        "\n");
  std::ostringstream table;
  Report for_people(Report::Form::kTable, table);
  for_people.Begin("peers");
  for_people.Skip("workerd", "no network");
  EXPECT_EQ(table.str(), "peers: workerd is skipped: no network\n");
}

}  // namespace
}  // namespace skerry::bench
