// Rows of texts in columns, as wide as they need and cut where the terminal ends.
//
//   TextTable table({{"TENANT"}, {"QUEUED", Align::kRight}});
//   table.Add({row.name.str(), "12"});
//   for (const std::string& line : table.Lines(80)) ...
//
// Whatever is added is made fit for a terminal (terminal_text.h).
//
// Threads: plain data. Errors: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace skerry::cli {

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  /// Longer cells are cut: one tenant's name must not push all columns off the screen.
  std::size_t longest = 40;
};

class TextTable {
 public:
  static constexpr std::size_t kAnyWidth = SIZE_MAX;

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many as there are columns.
  void Add(const std::vector<std::string>& cells);
  /// The titles, then the rows; no line is longer than `width`, and none ends in blanks.
  std::vector<std::string> Lines(std::size_t width) const;
  std::size_t rows() const { return rows_.size(); }

 private:
  std::string Line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace skerry::cli
