// The files of the manual proposer's folder: requests out, replies in, each ticket with files of its own.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>

#include <kernelsmith/core/descriptor.hpp>
#include <kernelsmith/core/ids.hpp>
#include <kernelsmith/core/result.hpp>
#include <kernelsmith/llm/model_call.hpp>

namespace kernelsmith {

/// The reply next to a request.
struct NoReply {};
struct BadReply {
  std::string message;  ///< its error, with the place
};
using Found = std::variant<NoReply, BadReply, ModelReply>;

/// Parses a reply file; returns a message if it is invalid. `.json` is an object, any other file the text
/// itself.
std::variant<ModelReply, std::string> read_reply(const std::string& name, std::string_view text);

/// Not thread-safe. Only one process at a time may use the folder.
class QueueFolder {
 public:
  /// Makes the folder, keeps other processes out and removes stale requests without a reply.
  static Result<QueueFolder> open(const std::filesystem::path& folder);

  /// Writes the request atomically. First moves away a reply to another request with this number, and replies
  /// to earlier tickets that were not requested in this session, because these were already used.
  Status post(TicketId ticket, const std::string& request);

  /// The reply file next to it: a regular file, not a link. A text is used once it is the same at two checks
  /// that are `settled` apart.
  Found look(TicketId ticket, double now_s, double settled_s);

  /// Writes a message next to an invalid reply.
  void complain(TicketId ticket, const std::string& message);

  /// Moves request and reply to `answered/`.
  void put_away(TicketId ticket);

  /// Removes an abandoned request, unless it has a reply.
  void withdraw(TicketId ticket);

 private:
  /// The file at the last check.
  struct Seen {
    std::filesystem::file_time_type written;
    std::uintmax_t bytes = 0;
    double since_s = 0;
    bool tried = false;  ///< it was read and was not a valid reply
    bool complained = false;
  };

  QueueFolder(std::filesystem::path folder, Descriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path file(TicketId ticket, std::string_view extension) const;
  std::optional<std::filesystem::path> reply_to(TicketId ticket) const;
  Status write(const std::filesystem::path& path, std::string_view text) const;

  std::filesystem::path folder_;
  Descriptor lock_;
  std::set<TicketId> left_;  ///< with a reply that an earlier session did not use
  std::map<TicketId, Seen> seen_;
};

}  // namespace kernelsmith
