#include "clients/cli/admin/text_table.h"

#include <algorithm>

#include "clients/cli/admin/terminal_text.h"

namespace skerry::cli {

void TextTable::Add(const std::vector<std::string>& cells) {
  auto& row = rows_.emplace_back();
  for (std::size_t i = 0; i < columns_.size(); ++i)
    row.push_back(i < cells.size() ? CutTo(TerminalText(cells[i]), columns_[i].longest) : std::string());
}

std::string TextTable::Line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string padding(widths[i] - WidthOf(cells[i]), ' ');
    if (i > 0) line += "  ";
    line += columns_[i].align == Align::kRight ? padding + cells[i] : cells[i] + padding;
  }
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

std::vector<std::string> TextTable::Lines(std::size_t width) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(WidthOf(column.title));
  }
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], WidthOf(row[i]));
  }
  std::vector<std::string> lines = {CutTo(Line(titles, widths), width)};
  for (const auto& row : rows_) lines.push_back(CutTo(Line(row, widths), width));
  return lines;
}

}  // namespace skerry::cli
