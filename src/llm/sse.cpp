#include "sse.hpp"

#include <utility>

namespace kernelsmith::llm {

SseParser::SseParser(std::size_t max_event_bytes, Take take)
    : max_event_bytes_(max_event_bytes), take_(std::move(take)) {}

bool SseParser::feed(std::string_view bytes) {
  if (after_cr_ && !bytes.empty()) {
    after_cr_ = false;
    if (bytes.front() == '\n') bytes.remove_prefix(1);
  }
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    line_ += bytes.substr(0, end);
    if (line_.size() + data_.size() > max_event_bytes_) {
      too_large_ = true;
      return false;
    }
    if (end == bytes.npos) return true;
    const bool carriage_return = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (carriage_return && bytes.empty()) after_cr_ = true;
    if (carriage_return && !bytes.empty() && bytes.front() == '\n') bytes.remove_prefix(1);
    if (!end_line()) return false;
  }
  return true;
}

bool SseParser::end_line() {
  std::string_view line = line_;
  if (std::exchange(first_line_, false) && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  if (line.empty()) {
    line_.clear();
    return dispatch();
  }
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
  line_.clear();
  return true;
}

bool SseParser::dispatch() {
  const std::string event = std::exchange(event_, {});
  if (!std::exchange(has_data_, false)) return true;
  const std::string data = std::exchange(data_, {});
  return take_(event, data);
}

}  // namespace kernelsmith::llm
