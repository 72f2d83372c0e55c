#include "bench/report.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace skerry::bench {
namespace {

constexpr std::size_t kTextWidth = 14;
constexpr std::size_t kNumberWidth = 9;

/// Text begins at its column's left, figures end at its right.
std::string Padded(const std::string& text, std::size_t width, bool is_text) {
  const std::string blanks(width - std::min(width, text.size()), ' ');
  return is_text ? text + blanks : blanks + text;
}

}  // namespace

Row& Row::Text(const std::string& name, const std::string& text) {
  fields_.push_back({name, text, text});
  return *this;
}

Row& Row::Number(const std::string& name, double value, int decimals) {
  if (!std::isfinite(value)) {
    fields_.push_back({name, "-", nullptr});
    return *this;
  }
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  fields_.push_back({name, text, nlohmann::ordered_json::parse(text)});
  return *this;
}

void Report::Begin(const std::string& bench) {
  bench_ = bench;
  head_.clear();
}

void Report::Add(const Row& row) {
  if (form_ == Form::kTable) {
    out_ << TableLines(row) << std::flush;
    return;
  }
  nlohmann::ordered_json line = {{"bench", bench_}};
  for (const auto& field : row.fields_) line[field.name] = field.value;
  out_ << line.dump() << '\n' << std::flush;
}

std::string Report::TableLines(const Row& row) {
  std::vector<std::string> names;
  for (const auto& field : row.fields_) names.push_back(field.name);
  std::string head;
  std::string line;
  for (const auto& field : row.fields_) {
    const bool is_text = field.value.is_string();
    const std::size_t width = std::max(field.name.size(), is_text ? kTextWidth : kNumberWidth);
    const std::string gap = line.empty() ? "" : "  ";
    head += gap + Padded(field.name, width, is_text);
    line += gap + Padded(field.text, width, is_text);
  }
  if (names == head_) return line + '\n';
  head_ = std::move(names);
  return '\n' + bench_ + '\n' + head + '\n' + line + '\n';
}

void Report::Skip(const std::string& what, const std::string& reason) {
  if (form_ == Form::kTable) {
    out_ << bench_ << ": " << what << " is skipped: " << reason << '\n' << std::flush;
    return;
  }
  out_ << nlohmann::ordered_json({{"bench", bench_}, {"what", what}, {"skipped", reason}}).dump() << '\n'
       << std::flush;
}

void Report::Note(const std::string& text) {
  if (form_ == Form::kTable) out_ << text << '\n' << std::flush;
}

}  // namespace skerry::bench
