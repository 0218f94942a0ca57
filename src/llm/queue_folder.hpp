// The files of the manual proposer's folder: each ticket has a file for its request and a file for the reply.
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

/// What is known of the reply to a request.
struct NoReply {};
struct BadReply {
  std::string message;  ///< the error in the file, with its place
};
using Found = std::variant<NoReply, BadReply, ModelReply>;

/// Parses a reply file; returns a message if it is invalid. A `.json` file holds an object, any other file
/// the text itself.
std::variant<ModelReply, std::string> read_reply(const std::string& name, std::string_view text);

/// Not thread-safe. Only one process at a time may use the folder.
class QueueFolder {
 public:
  /// Makes the folder, keeps other processes out and removes stale requests without a reply.
  static Result<QueueFolder> open(const std::filesystem::path& folder);

  /// Writes the request atomically. First moves away a reply to another request with this number. Also moves
  /// away replies to earlier tickets that this session did not request, because an earlier session has used
  /// them.
  Status post(TicketId ticket, const std::string& request);

  /// Looks for the reply file next to the request, which must be a regular file, not a link. Uses a text only
  /// if it is the same at two checks that are `settled_s` apart.
  Found look(TicketId ticket, double now_s, double settled_s);

  /// Writes a message next to an invalid reply.
  void complain(TicketId ticket, const std::string& message);

  /// Moves request and reply to `answered/`.
  void put_away(TicketId ticket);

  /// Removes an abandoned request, unless it has a reply.
  void withdraw(TicketId ticket);

 private:
  /// The reply file at the last check.
  struct Seen {
    std::filesystem::file_time_type written;
    std::uintmax_t bytes = 0;
    double since_s = 0;
    bool tried = false;  ///< whether it was read and was not a valid reply
    bool complained = false;
  };

  QueueFolder(std::filesystem::path folder, Descriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path file(TicketId ticket, std::string_view extension) const;
  std::optional<std::filesystem::path> reply_to(TicketId ticket) const;
  Status write(const std::filesystem::path& path, std::string_view text) const;

  std::filesystem::path folder_;
  Descriptor lock_;
  std::set<TicketId> left_;  ///< tickets with a reply that an earlier session did not use
  std::map<TicketId, Seen> seen_;
};

}  // namespace kernelsmith
