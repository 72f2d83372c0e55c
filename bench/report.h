// Results, as they come: a table for people, or one JSON object a line for programs. Both have the same names
// and figures.
//
//   report.Begin("stack");
//   report.Add(Row().Text("workload", "trivial").Number("jobsPerSecond", 812.3, 0).Number("ratio", 0.93, 2));
//
// Threads: one. Ownership: borrows the stream. Errors: none.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace skerry::bench {

/// One line of results. Figures are rounded to `decimals` in both forms: more would be noise. One that is not
/// finite was not measured: "-", or null.
class Row {
 public:
  Row& Text(const std::string& name, const std::string& text);
  Row& Number(const std::string& name, double value, int decimals);

 private:
  friend class Report;
  struct Field {
    std::string name;
    std::string text;
    nlohmann::ordered_json value;
  };
  std::vector<Field> fields_;
};

class Report {
 public:
  enum class Form : std::uint8_t { kTable, kJson };
  Report(Form form, std::ostream& out) : form_(form), out_(out) {}

  void Begin(const std::string& bench);
  /// The table gets a new head where the names differ from those of the row before.
  void Add(const Row& row);
  /// What was not measured and why.
  void Skip(const std::string& what, const std::string& reason);
  /// What the table's figures mean; tables only.
  void Note(const std::string& text);

 private:
  std::string TableLines(const Row& row);

  const Form form_;
  std::ostream& out_;
  std::string bench_;
  std::vector<std::string> head_;
};

}  // namespace skerry::bench
