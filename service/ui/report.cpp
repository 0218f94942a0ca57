// The page as one file: it contains its style sheet, script and the run's documents, and its policy forbids
// running or loading anything else.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <nlohmann/json.hpp>

#include <kernelsmith/code/text.hpp>
#include <kernelsmith/config/text.hpp>
#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/service/ui.hpp>
#include <kernelsmith/session/run_json.hpp>

#include "page_files.hpp"

namespace kernelsmith::ui {
namespace {

using Document = nlohmann::json;

// The size limit: a browser opens some megabytes quickly, but a run of thousands of programs has many times
// more.
constexpr std::size_t kMostProgramBytes = 4'000'000;

constexpr std::string_view kSheet = R"(<link rel="stylesheet" href="/page.css">)";
constexpr std::string_view kScript = R"(<script type="module" src="/page.js"></script>)";
constexpr std::string_view kEncoding = R"(<meta charset="utf-8">)";

std::string_view file_named(std::string_view name) {
  const auto found = std::ranges::find(page_files(), name, &PageFile::name);
  if (found == page_files().end()) throw std::logic_error("the page has no " + std::string(name));
  return found->text;
}

/// A module without its imports and `export` keywords.
void append_module(std::string& script, std::string_view text) {
  constexpr std::string_view kExport = "export ";
  for (std::string_view line : lines_of(text)) {
    if (line.starts_with("import ")) continue;
    if (line.starts_with(kExport)) line.remove_prefix(kExport.size());
    script.append(without_newline(line)) += '\n';
  }
}

/// Joins all modules; code that runs at once follows the code that it uses. Their names are distinct.
std::string whole_script() {
  std::string script;
  for (const PageFile& file : page_files())
    if (file.name.ends_with(".js") && file.name != "page.js") append_module(script, file.text);
  append_module(script, file_named("page.js"));
  return script;
}

/// The hash of an allowed text for a content security policy.
std::string source_of(std::string_view text) {
  const Digest digest = digest_of(text);
  const auto* const bytes = reinterpret_cast<const char*>(digest.bytes.data());
  return "'sha256-" + detail::base64_encode({bytes, digest.bytes.size()}) + "'";
}

void replace(std::string& page, std::string_view what, std::string_view by) {
  const std::size_t at = page.find(what);
  if (at == page.npos) throw std::logic_error("the page has no " + std::string(what));
  page.replace(at, what.size(), by);
}

/// "<" occurs only in JSON's strings. Escaping it prevents a text from ending its HTML element.
std::string without_tags(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

/// The numbers of all programs that the value names, in its order.
void gather(const Document& value, std::vector<std::uint64_t>& ids) {
  for (const auto& [key, member] : value.items())
    if (key == "program" && member.is_number_unsigned())
      ids.push_back(member.get<std::uint64_t>());
    else if (member.is_structured())
      gather(member, ids);
}

/// Programs that a reader is likely to open come first.
std::vector<std::uint64_t> shown_programs(const Document& run) {
  std::vector<std::uint64_t> ids;
  for (const char* part : {"best", "lineage", "failures", "demoted", "islands"}) gather(run.at(part), ids);
  gather(run.at("curve").at("steps"), ids);
  gather(run.at("archive"), ids);
  const Document& dots = run.at("curve").at("accepted");
  for (auto dot = dots.rbegin(); dot != dots.rend(); ++dot) ids.push_back(dot->back().get<std::uint64_t>());
  return ids;
}

/// The documents of shown programs, as an object by number, up to the limit.
Result<std::string> programs_in(const RunView& view, const std::string& run) {
  std::string programs;
  std::unordered_set<std::uint64_t> known;
  for (const std::uint64_t id : shown_programs(Document::parse(run))) {
    if (!known.insert(id).second) continue;
    const auto program = program_json(view, {id});
    if (!program) return program.error();
    if (programs.size() + program->size() > kMostProgramBytes) break;
    programs += (programs.empty() ? "\"" : ",\"") + std::to_string(id) + "\":" + *program;
  }
  return "{" + programs + "}";
}

}  // namespace

Result<std::string> report_page(const RunView& view) {
  const auto run = page_json(view);
  if (!run) return run.error();
  const auto programs = programs_in(view, *run);
  if (!programs) return programs.error();
  const std::string script = whole_script();
  const std::string sheet(file_named("page.css"));
  const std::string policy = "default-src 'none'; script-src " + source_of(script) + "; style-src " +
                             source_of(sheet) + "; img-src data:; base-uri 'none'; form-action 'none'";
  std::string page(file_named("index.html"));
  replace(
      page, kEncoding,
      std::string(kEncoding) + "\n<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">");
  replace(page, kSheet, "<style>" + sheet + "</style>");
  replace(page, kScript,
          "<script type=\"application/json\" id=\"data\">{\"version\":\"" KERNELSMITH_VERSION "\",\"run\":" +
              without_tags(*run) + ",\"programs\":" + without_tags(*programs) +
              "}</script>\n<script type=\"module\">" + script + "</script>");
  return page;
}

}  // namespace kernelsmith::ui
