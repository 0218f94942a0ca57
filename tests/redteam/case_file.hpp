// A case of the red team: a trick (or an honest oddity), and what must happen to it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <kernelsmith/core/evaluation.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/core/source.hpp>

namespace kernelsmith::redteam {

/// One of the outcomes that a case may have.
struct Expectation {
  enum class Kind {
    honest,       ///< accepted, and nothing to compare it with
    neutralised,  ///< accepted, and no faster than its twin
    rejected,     ///< at `stage` with `code`
    refused,      ///< turned away before it became a candidate, with the refusal or error named `word`
  };
  Kind kind = Kind::honest;
  Stage stage = Stage::parse;
  RejectionCode code = RejectionCode::unreadable;
  std::string word;
};

/// "rejected(run, crashed)" and so on.
std::string describe(const Expectation& expectation);

struct Case {
  std::string name;  ///< of the file, without its extension
  std::string task;  ///< of the folder
  std::vector<Expectation> must;
  std::string twin;   ///< the honest case of the same task; empty for an honest one
  std::string tries;  ///< in words
  std::string open;   ///< why the trick still works; empty if it must not
  bool is_reply = false;
  std::string text;  ///< the whole, also of a patch

  bool honest() const { return must.front().kind == Expectation::Kind::honest; }
};

/// All that may happen to a case: "rejected(run, crashed) or neutralised".
std::string outcomes_of(const Case& trick);

/// The case as a row of the table that --list prints.
std::string table_row(const Case& trick);

/// The values of the places `@NAME@` in a case's text, such as the path of a planted secret.
using Places = std::map<std::string, std::string>;

/// Reads a case. Its first lines are comments: `redteam: OUTCOME { or OUTCOME }`, `twin: NAME` unless it is
/// honest, `tries: ...`, and if it is not closed `open: ...`. Anything else is an Error (`bad_input`).
Result<Case> parse_case(const std::filesystem::path& path, std::string text, const Places& places);

/// All cases below `folder`, BACKEND/cases beside cases.py, by task and name; every twin is there and is
/// honest.
Result<std::vector<Case>> load_cases(const std::filesystem::path& folder, const Places& places);

/// The cases of every third task, in the order of the tasks' names; `which` is 0, 1 or 2.
std::vector<Case> third_of(std::vector<Case> all, int which);

/// The candidate: its file under the name `path`, or those between lines `//--- PATH`.
Result<Source> source_of(const Case& trick, const std::string& path);

}  // namespace kernelsmith::redteam
