// The tables of settings in docs/ are what setting_texts() says. KERNELSMITH_WRITE_GOLDEN=1 writes them anew.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include <kernelsmith/session/run_config.hpp>

namespace kernelsmith {
namespace {

constexpr const char* kBegin = "<!-- settings: ";
constexpr const char* kEnd = "<!-- end of settings -->";
/// Tables that have a page of their own: the section and the kind, or the section alone.
const std::set<std::string> kPages = {"proposer chat", "proposer agent", "evaluator cuda", "evaluator torch",
                                      "evaluator.fleet"};

bool is_in(const SettingText& text, const std::string& table) {
  const auto space = table.find(' ');
  if (!text.key.starts_with(table.substr(0, space) + ".")) return false;
  return space == table.npos || text.of == table.substr(space + 1);
}

/// Whether the table holds the key. `kinds` is for what no other one holds.
bool is_of(const SettingText& text, const std::string& table) {
  if (kPages.contains(table))
    return is_in(text, table) && (table[9] == '.' || !is_in(text, "evaluator.fleet"));
  const bool elsewhere = std::ranges::any_of(kPages, [&](const auto& page) { return is_in(text, page); });
  return !elsewhere && text.of.empty() == (table == "run.yaml");
}

std::string row_of(const SettingText& text, const std::string& table, const std::string& kinds) {
  std::string key = text.key;
  if (kPages.contains(table)) key.erase(0, table.substr(0, table.find(' ')).size() + 1);
  std::string row = "| `" + key + "` | ";
  if (table == "kinds") row += kinds + " | ";
  row += text.usual + (text.usual.empty() ? "| " : " | ") + text.meaning;
  if (text.takes.starts_with('`')) row += ": " + text.takes;
  return row + " |\n";
}

std::string table_of(const std::string& table) {
  std::vector<SettingText> texts = setting_texts(default_registry());
  std::erase_if(texts, [&](const SettingText& text) { return !is_of(text, table); });
  std::string rows = table == "kinds" ? "| key | kind | default | meaning |\n|---|---|---|---|\n"
                                      : "| key | default | meaning |\n|---|---|---|\n";
  std::set<std::string> told;
  for (const SettingText& text : texts) {
    std::string kinds;
    for (const SettingText& other : texts)
      if (other.key == text.key && other.usual == text.usual && other.meaning == text.meaning)
        kinds += (kinds.empty() ? "`" : ", `") + other.of + "`";
    if (const std::string row = row_of(text, table, kinds); told.insert(row).second) rows += row;
  }
  return rows;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(SettingsInDocs, AreTheListOfTheSettings) {
  std::set<std::string> tables;
  for (const auto& page :
       std::filesystem::directory_iterator(std::string(KERNELSMITH_SOURCE_DIR) + "/docs")) {
    if (page.path().extension() != ".md") continue;
    const std::string before = read(page.path());
    std::string after = before;
    for (auto at = after.find(kBegin); at != after.npos; at = after.find(kBegin, at + 1)) {
      const auto name = at + std::string_view(kBegin).size(), name_end = after.find(" -->", name);
      const auto begin = after.find('\n', name_end) + 1, end = after.find(kEnd, begin);
      ASSERT_NE(end, after.npos) << page.path();
      const std::string table = after.substr(name, name_end - name);
      EXPECT_TRUE(tables.insert(table).second) << table << " stands twice";
      after.replace(begin, end - begin, table_of(table));
    }
    if (std::getenv("KERNELSMITH_WRITE_GOLDEN") && after != before)
      std::ofstream(page.path()) << after;
    else
      EXPECT_EQ(after, before) << page.path();
  }
  std::set<std::string> all = kPages;
  all.merge(std::set<std::string>{"run.yaml", "kinds"});
  EXPECT_EQ(tables, all);
}

TEST(SettingsInDocs, HaveAMeaningEach) {
  for (const SettingText& text : setting_texts(default_registry())) {
    EXPECT_FALSE(text.meaning.empty()) << text.key;
    EXPECT_EQ(text.meaning.find('|'), text.meaning.npos) << text.key;
  }
}

}  // namespace
}  // namespace kernelsmith
