// Tables as Markdown.
#include <kernelsmith/core/escape.hpp>

#include "tables.hpp"

namespace kernelsmith {
namespace {

/// The text as a cell, escaped so that it cannot end the cell or the row.
std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : escape_controls(text)) {
    if (c == '|' || c == '\\' || c == '<' || c == '`' || c == '*') escaped += '\\';
    escaped += c == '\n' || c == '\t' ? ' ' : c;
  }
  return escaped;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& one : cells) text += " " + markdown_cell(one) + " |";
  return text + "\n";
}

std::string section(const std::string& title, const suite::Table& table) {
  if (table.rows.empty()) return "";
  std::string text = "\n## " + title + "\n\n" + markdown_row(table.head) + "|";
  for (std::size_t i = 0; i < table.head.size(); ++i) text += "---|";
  text += "\n";
  for (const auto& row : table.rows) text += markdown_row(row);
  return text;
}

}  // namespace

std::string to_markdown(const SuiteReport& report) {
  std::string text = "# " + report.kind + "\n\n";
  if (const std::string left = suite::unfinished_text(report); !left.empty()) text += left + ".\n\n";
  for (const auto& [name, value] : report.settings)
    text += "- " + markdown_cell(name) + ": " + markdown_cell(value) + "\n";
  return text + section("Levels", suite::levels_for_people(report)) +
         section("By round", suite::rounds_for_people(report)) +
         section("Published candidates", suite::published_for_people(report)) +
         section("Where the time went", suite::times_for_people(report)) +
         section("Tasks", suite::tasks_for_people(report));
}

}  // namespace kernelsmith
