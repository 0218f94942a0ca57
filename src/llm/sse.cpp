#include "sse.hpp"

#include <algorithm>
#include <utility>

namespace kernelsmith::llm {
namespace {

bool ends_line(char c) { return c == '\n' || c == '\r'; }

}  // namespace

SseParser::SseParser(std::size_t max_event_bytes, Take take)
    : max_event_bytes_(max_event_bytes), take_(std::move(take)) {}

bool SseParser::feed(std::string_view bytes) {
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  while (!bytes.empty()) {
    const auto end = static_cast<std::size_t>(std::ranges::find_if(bytes, ends_line) - bytes.begin());
    if (line_.size() + end + data_.size() > max_event_bytes_) {
      too_large_ = true;
      return false;
    }
    if (end == bytes.size()) {
      line_ += bytes;
      return true;
    }
    const std::string_view here = bytes.substr(0, end);
    const bool carriage_return = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (carriage_return && bytes.empty()) after_cr_ = true;
    if (carriage_return && !bytes.empty() && bytes.front() == '\n') bytes.remove_prefix(1);
    if (line_.empty()) {
      if (!end_line(here)) return false;
      continue;
    }
    line_ += here;
    const bool goes_on = end_line(line_);
    line_.clear();
    if (!goes_on) return false;
  }
  return true;
}

void SseParser::end() {
  const std::string line = std::exchange(line_, {});
  if (line.empty() || end_line(line)) dispatch();
}

bool SseParser::end_line(std::string_view line) {
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) return dispatch();
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == line.npos ? std::string_view{} : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
  } else if (field == "event") {
    event_ = value;
  }
  return true;
}

bool SseParser::dispatch() {
  const bool goes_on = !has_data_ || take_(event_, data_);
  has_data_ = false;
  event_.clear();
  data_.clear();
  return goes_on;
}

}  // namespace kernelsmith::llm
