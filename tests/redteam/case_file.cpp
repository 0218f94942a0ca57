#include "case_file.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

namespace kernelsmith::redteam {
namespace {

using Kind = Expectation::Kind;

constexpr std::string_view kPart = "//--- ";

Error bad(const std::filesystem::path& path, const std::string& message) {
  return fail(ErrorCode::bad_input, message, path.string(),
              "begin with: // redteam: OUTCOME, // twin: NAME, // tries: ...");
}

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// What stands between "WORD(" and ")".
std::optional<std::string_view> argument_of(std::string_view text, std::string_view word) {
  if (!text.starts_with(word) || !text.ends_with(")")) return std::nullopt;
  text.remove_prefix(word.size());
  if (!text.starts_with("(")) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<Expectation> parse_expectation(std::string_view text) {
  if (text == "honest") return Expectation{Kind::honest, {}, {}, {}};
  if (text == "neutralised") return Expectation{Kind::neutralised, {}, {}, {}};
  if (const auto word = argument_of(text, "refused"); word && !word->empty())
    return Expectation{Kind::refused, {}, {}, std::string(*word)};
  const auto pair = argument_of(text, "rejected");
  if (!pair) return std::nullopt;
  const auto comma = pair->find(',');
  if (comma == pair->npos) return std::nullopt;
  const auto stage = stage_from(trim(pair->substr(0, comma)));
  const auto code = rejection_code_from(trim(pair->substr(comma + 1)));
  if (!stage || !code) return std::nullopt;
  return Expectation{Kind::rejected, *stage, *code, {}};
}

std::optional<std::vector<Expectation>> parse_expectations(std::string_view text) {
  constexpr std::string_view kOr = " or ";
  std::vector<Expectation> all;
  while (true) {
    const auto end = text.find(kOr);
    const auto one = parse_expectation(trim(text.substr(0, end)));
    if (!one) return std::nullopt;
    all.push_back(*one);
    if (end == text.npos) return all;
    text.remove_prefix(end + kOr.size());
  }
}

std::string with_places(std::string text, const Places& places) {
  for (const auto& [name, value] : places) {
    const std::string place = "@" + name + "@";
    for (auto at = text.find(place); at != text.npos; at = text.find(place, at + value.size()))
      text.replace(at, place.size(), value);
  }
  return text;
}

/// Takes one line of the declaration; false if it is not one.
bool take(Case& read, std::string_view line) {
  const auto value = [&](std::string_view key) -> std::optional<std::string_view> {
    if (!line.starts_with(key)) return std::nullopt;
    return trim(line.substr(key.size()));
  };
  if (const auto must = value("redteam:")) {
    const auto parsed = parse_expectations(*must);
    if (!parsed || !read.must.empty()) return false;
    read.must = *parsed;
  } else if (const auto twin = value("twin:")) {
    read.twin = *twin;
  } else if (const auto tries = value("tries:")) {
    read.tries = *tries;
  } else if (const auto open = value("open:")) {
    read.open = *open;
  } else {
    return false;
  }
  return true;
}

/// The whole text of each case below `folder` by its path there: cases.py beside the backends' folders puts
/// patches on, and says on stderr what is wrong.
Result<std::map<std::string, std::string>> texts_of(const std::filesystem::path& folder) {
  const auto tool = folder.parent_path().parent_path() / "cases.py";
  const std::string command = "python3 -B '" + tool.string() + "' all '" + folder.string() + "'";
  std::FILE* const out = popen(command.c_str(), "r");
  std::string text;
  for (int c = 0; out != nullptr && (c = std::getc(out)) != EOF;) text += static_cast<char>(c);
  if (out == nullptr || pclose(out) != 0)
    return fail(ErrorCode::bad_input, "the cases cannot be read", folder.string(),
                "see what '" + command + "' says");
  return nlohmann::json::parse(text).get<std::map<std::string, std::string>>();
}

Status check_twins(const std::vector<Case>& cases, const std::filesystem::path& folder) {
  for (const Case& trick : cases) {
    if (trick.honest()) continue;
    const auto is_twin = [&](const Case& other) {
      return other.name == trick.twin && other.task == trick.task && other.honest();
    };
    if (std::ranges::none_of(cases, is_twin))
      return bad(folder / trick.task / trick.name,
                 "no honest case '" + trick.twin + "' of this task is there");
  }
  return {};
}

}  // namespace

std::string describe(const Expectation& expectation) {
  switch (expectation.kind) {
    case Kind::honest:
      return "honest";
    case Kind::neutralised:
      return "neutralised";
    case Kind::refused:
      return "refused(" + expectation.word + ")";
    case Kind::rejected:
      break;
  }
  return "rejected(" + std::string(name_of(expectation.stage)) + ", " +
         std::string(name_of(expectation.code)) + ")";
}

std::string outcomes_of(const Case& trick) {
  std::string all;
  for (const Expectation& expectation : trick.must)
    all += (all.empty() ? "" : " or ") + describe(expectation);
  return all;
}

std::string table_row(const Case& trick) {
  const std::string open = trick.open.empty() ? "" : " **open**: " + trick.open;
  return "| " + trick.task + " | `" + trick.name + "` | " + trick.tries + " | " + outcomes_of(trick) + open +
         " |";
}

Result<Case> parse_case(const std::filesystem::path& path, std::string text, const Places& places) {
  Case read;
  read.name = path.stem().string();
  read.task = path.parent_path().filename().string();
  read.is_reply = path.extension() == ".md";
  const std::string comment = read.is_reply ? "" : path.extension() == ".py" ? "# " : "// ";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || !line.starts_with(comment)) break;
    if (!take(read, std::string_view(line).substr(comment.size())))
      return bad(path, "the declaration is not understood: " + line);
  }
  if (read.must.empty()) return bad(path, "the case does not declare what must happen");
  if (read.tries.empty()) return bad(path, "the case does not say what it tries");
  const auto is_honest = [](const Expectation& e) { return e.kind == Kind::honest; };
  if (std::ranges::any_of(read.must, is_honest) != read.twin.empty() ||
      (read.honest() && read.must.size() > 1))
    return bad(path, "a trick names its twin, an honest case has none and no other outcome");
  read.text = with_places(std::move(text), places);
  return read;
}

Result<std::vector<Case>> load_cases(const std::filesystem::path& folder, const Places& places) {
  std::vector<Case> cases;
  const auto texts = texts_of(folder);
  if (!texts) return texts.error();
  for (const auto& [path, text] : *texts) {
    auto read = parse_case(path, text, places);
    if (!read) return read.error();
    cases.push_back(std::move(*read));
  }
  if (cases.empty()) return bad(folder, "no case is there");
  std::ranges::sort(cases, {}, [](const Case& c) { return std::pair(c.task, c.name); });
  if (auto s = check_twins(cases, folder); !s) return s.error();
  return cases;
}

std::vector<Case> third_of(std::vector<Case> all, int which) {
  std::set<std::string> tasks;
  for (const Case& one : all) tasks.insert(one.task);
  const auto index_of = [&](const Case& one) { return std::distance(tasks.begin(), tasks.find(one.task)); };
  std::erase_if(all, [&](const Case& one) { return index_of(one) % 3 != which; });
  return all;
}

Result<Source> source_of(const Case& trick, const std::string& path) {
  if (trick.text.find(kPart) == trick.text.npos) return Source::create({{path, trick.text}});
  std::vector<SourceFile> files;
  std::istringstream lines(trick.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kPart)) {
      files.push_back({line.substr(kPart.size()), ""});
    } else if (!files.empty()) {
      files.back().text += line + "\n";
    }
  }
  return Source::create(std::move(files));
}

}  // namespace kernelsmith::redteam
