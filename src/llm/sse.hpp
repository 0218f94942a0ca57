// Server-sent events (WHATWG HTML, section 9.2): parses a byte stream, in pieces of any size, into events.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace kernelsmith::llm {

/// Lines end in LF, CR or CRLF; a byte order mark, comments, `id` and `retry` are skipped; `data` lines are
/// joined by LF. As in the specification, an event that the stream's end cuts off is dropped, unless end()
/// requests it. Not thread-safe.
class SseParser {
 public:
  /// Called for each complete event with its type (empty if unnamed) and its data. Returning false ends the
  /// parsing.
  using Take = std::function<bool(std::string_view event, std::string_view data)>;

  SseParser(std::size_t max_event_bytes, Take take);

  /// Returns false if `take` ended the parsing or an event grew past the limit; see too_large().
  bool feed(std::string_view bytes);

  /// Parses what follows the last empty line, because a stream may end without an empty line.
  void end();

  bool too_large() const { return too_large_; }

 private:
  bool end_line(std::string_view line);
  bool dispatch();

  std::size_t max_event_bytes_;
  Take take_;
  std::string line_;  ///< the beginning of a line whose end has not arrived yet
  std::string event_, data_;
  bool has_data_ = false;
  bool after_cr_ = false;
  bool first_line_ = true;
  bool too_large_ = false;
};

}  // namespace kernelsmith::llm
