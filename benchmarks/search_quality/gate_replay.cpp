// Which recorded programs the gate would have refused, and what would have been lost with them. Reads what
// gate_programs.py writes, prints a table in Markdown.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <nlohmann/json.hpp>

#include <kernelsmith/code/fingerprint.hpp>
#include <kernelsmith/code/lexer.hpp>

namespace {

using namespace kernelsmith;
using Shingles = std::vector<std::size_t>;  // sorted, without repetitions
using Score = std::optional<double>;        // empty: rejected

constexpr std::size_t kShingle = 5;  // tokens: a statement is a handful
constexpr double kNoise = .01;       // scores within 1 % are one outcome, and what is more is an improvement
constexpr double kThresholds[] = {.99, .98, .97, .95, .9};

struct Program {
  Digest fingerprint;
  std::string same_code;
  Shingles shingles;
  Score score;
};

struct Row {
  std::size_t refused = 0, duplicates = 0, same_outcome = 0, repaired = 0, improvements = 0;
};

struct Table {
  std::size_t programs = 0, duplicates = 0, improvements = 0;
  std::vector<Row> rows = std::vector<Row>(1 + std::size(kThresholds));  // the first: the same tokens
};

Shingles shingles_of(const std::string& text) {
  const auto tokens = without_comments(tokenize(text, Language::python));
  Shingles shingles;
  for (std::size_t i = 0; i + kShingle <= tokens.size(); ++i) {
    std::string joined;
    for (std::size_t k = i; k < i + kShingle; ++k) joined.append(tokens[k].in(text)).push_back('\n');
    shingles.push_back(std::hash<std::string>{}(joined));
  }
  std::ranges::sort(shingles);
  const auto [first, last] = std::ranges::unique(shingles);
  shingles.erase(first, last);
  return shingles;
}

// Jaccard's: what MinHash estimates.
double similarity(const Shingles& a, const Shingles& b) {
  const auto [less, more] = std::minmax(a.size(), b.size());
  if (static_cast<double>(less) < .9 * static_cast<double>(more)) return 0;
  std::size_t common = 0;
  for (auto i = a.begin(), k = b.begin(); i != a.end() && k != b.end();) {
    if (*i == *k) ++common;
    const bool advance_i = *i <= *k, advance_k = *k <= *i;
    i += advance_i ? 1 : 0;
    k += advance_k ? 1 : 0;
  }
  const std::size_t all = a.size() + b.size() - common;
  return all == 0 ? 1 : static_cast<double>(common) / static_cast<double>(all);
}

bool is_same_outcome(const Score& a, const Score& b) {
  if (!a || !b) return !a && !b;
  return std::abs(*a - *b) <= kNoise * std::max(std::abs(*a), std::abs(*b));
}

bool is_better(const Score& score, const Score& than) {
  return score && (!than || *score > *than + kNoise * std::abs(*than));
}

struct Search {
  std::vector<Program> earlier;
  std::unordered_map<Digest, std::size_t> by_fingerprint;
  std::unordered_map<std::string, std::size_t> by_code;
  Score best;
};

void count(Row& row, const Program& program, const Program& like, bool is_duplicate, bool improves) {
  ++row.refused;
  row.duplicates += is_duplicate ? 1 : 0;
  row.same_outcome += is_same_outcome(program.score, like.score) ? 1 : 0;
  row.repaired += program.score && !like.score ? 1 : 0;
  // A second measurement of the same code finds nothing, however high it is.
  row.improvements += improves && !is_duplicate ? 1 : 0;
}

void add(Table& sum, const Table& table) {
  sum.programs += table.programs;
  sum.duplicates += table.duplicates;
  sum.improvements += table.improvements;
  for (std::size_t i = 0; i < sum.rows.size(); ++i) {
    Row& row = sum.rows[i];
    const Row& more = table.rows[i];
    row = {row.refused + more.refused, row.duplicates + more.duplicates, row.same_outcome + more.same_outcome,
           row.repaired + more.repaired, row.improvements + more.improvements};
  }
}

void take(Search& search, Program program, Table& table) {
  const bool is_duplicate = search.by_code.contains(program.same_code);
  const bool improves = search.best && is_better(program.score, search.best);
  ++table.programs;
  table.duplicates += is_duplicate ? 1 : 0;
  table.improvements += improves && !is_duplicate ? 1 : 0;
  const auto same = search.by_fingerprint.find(program.fingerprint);
  if (same != search.by_fingerprint.end()) {
    const Program& like = search.earlier[same->second];
    for (Row& row : table.rows) count(row, program, like, is_duplicate, improves);
  } else {
    const Program* nearest = nullptr;
    double most = 0;
    for (const Program& one : search.earlier) {
      const double now = similarity(program.shingles, one.shingles);
      if (now <= most) continue;
      most = now;
      nearest = &one;
    }
    for (std::size_t i = 0; i < std::size(kThresholds); ++i)
      if (nearest && most >= kThresholds[i])
        count(table.rows[i + 1], program, *nearest, is_duplicate, improves);
  }
  if (program.score && (!search.best || *program.score > *search.best)) search.best = program.score;
  search.by_fingerprint.emplace(program.fingerprint, search.earlier.size());
  search.by_code.emplace(program.same_code, search.earlier.size());
  search.earlier.push_back(std::move(program));
}

std::string of(std::size_t part, std::size_t all) {
  char text[64];
  std::snprintf(text, sizeof text, "%zu of %zu (%.1f %%)", part, all,
                all == 0 ? 0. : 100. * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

void print(const std::string& corpus, const Table& table) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row& row = table.rows[i];
    char rule[32] = "same tokens";
    if (i > 0) std::snprintf(rule, sizeof rule, "or alike by %.2f", kThresholds[i - 1]);
    std::cout << "| " << corpus << " | " << rule << " | " << of(row.refused, table.programs) << " | "
              << of(row.duplicates, table.duplicates) << " | " << of(row.same_outcome, row.refused) << " | "
              << row.repaired << " | " << of(row.improvements, table.improvements) << " |\n";
  }
}

}  // namespace

int main() {
  std::map<std::string, Table> tables;
  std::map<std::pair<std::string, std::string>, Search> searches;
  for (std::string line; std::getline(std::cin, line);) {
    const auto record = nlohmann::json::parse(line);
    const auto text = record.at("text").get<std::string>();
    const auto corpus = record.at("corpus").get<std::string>();
    Program program{fingerprint(Source::create({{"program.py", text}}).value()),
                    record.at("same_code").get<std::string>(), shingles_of(text), std::nullopt};
    if (!record.at("score").is_null()) program.score = record.at("score").get<double>();
    take(searches[{corpus, record.at("search").get<std::string>()}], std::move(program), tables[corpus]);
  }
  std::cout
      << "| corpus | refused if | programs refused | duplicates refused | refused with the same outcome "
         "| refused repairs | improvements lost |\n|---|---|---|---|---|---|---|\n";
  Table both;
  for (const auto& [corpus, table] : tables) {
    print(corpus, table);
    add(both, table);
  }
  print("both", both);
}
