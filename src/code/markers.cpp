#include "markers.hpp"

#include <algorithm>
#include <array>

#include <kernelsmith/code/text.hpp>

#include "characters.hpp"

namespace kernelsmith::detail {
namespace {

using namespace std::string_view_literals;

constexpr auto kStart = "EVOLVE-BLOCK-START"sv;
constexpr auto kEnd = "EVOLVE-BLOCK-END"sv;

struct CommentForm {
  std::string_view open, close;  // if `close` is empty, the comment ends with the line
};
// "<!--" must come before "--", its suffix.
constexpr std::array<CommentForm, 7> kForms{
    {{"//", ""}, {"#", ""}, {"!", ""}, {"/*", "*/"}, {"<!--", "-->"}, {"--", ""}, {"(*", "*)"}}};

// The form whose opener is at the end of `text`, or null.
const CommentForm* opened_by(std::string_view text) {
  const auto it =
      std::ranges::find_if(kForms, [&](const CommentForm& form) { return text.ends_with(form.open); });
  return it == kForms.end() ? nullptr : &*it;
}

Marker marker_at(std::string_view line, std::string_view word, Marker kind) {
  const std::size_t at = line.find(word);
  if (at == line.npos) return Marker::none;
  const std::string_view behind = line.substr(at + word.size());
  if (!behind.empty() && (is_word(behind.front()) || behind.front() == '-')) return Marker::none;
  const std::string_view before = trimmed(line.substr(0, at));
  const CommentForm* form = opened_by(before);
  if (form == nullptr) return Marker::none;  // this is prose about markers
  if (before != form->open) return Marker::misplaced;
  const bool closed_at_end =
      behind.ends_with(form->close) && behind.find(form->close) == behind.size() - form->close.size();
  return form->close.empty() || closed_at_end ? kind : Marker::misplaced;
}

}  // namespace

Marker marker_of(std::string_view line) {
  const std::string_view text = trimmed(line);
  const Marker start = marker_at(text, kStart, Marker::start);
  return start != Marker::none ? start : marker_at(text, kEnd, Marker::end);
}

}  // namespace kernelsmith::detail
