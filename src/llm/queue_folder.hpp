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

/// What stands beside a request.
struct NoReply {};
struct BadReply {
  std::string message;  ///< what is wrong with it, and where
};
using Found = std::variant<NoReply, BadReply, ModelReply>;

/// A reply file's text as a reply; a message if it is not valid. `.json` is an object, anything else the text
/// itself.
std::variant<ModelReply, std::string> read_reply(const std::string& name, std::string_view text);

/// Not thread-safe. One process at a time has the folder.
class QueueFolder {
 public:
  /// Makes the folder, keeps other processes out and removes requests without a reply: nobody waits for them.
  static Result<QueueFolder> open(const std::filesystem::path& folder);

  /// Writes the request, all or nothing. A reply to another request under this number is put away first, and
  /// so are replies to earlier tickets that nobody asked for in this session: their answers were taken.
  Status post(TicketId ticket, const std::string& request);

  /// What was laid beside it: a regular file, not a link. A text counts once it is the same at two looks that
  /// are `settled` apart.
  Found look(TicketId ticket, double now_s, double settled_s);

  /// Lays a message beside a reply that cannot be taken.
  void complain(TicketId ticket, const std::string& message);

  /// Puts request and reply into `answered/`.
  void put_away(TicketId ticket);

  /// Removes a request that nobody waits for, unless a reply is there.
  void withdraw(TicketId ticket);

 private:
  /// As it was at the last look.
  struct Seen {
    std::filesystem::file_time_type written;
    std::uintmax_t bytes = 0;
    double since_s = 0;
    bool tried = false;  ///< it was read, and was no reply yet
    bool complained = false;
  };

  QueueFolder(std::filesystem::path folder, Descriptor lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}

  std::filesystem::path file(TicketId ticket, std::string_view extension) const;
  std::optional<std::filesystem::path> reply_to(TicketId ticket) const;
  Status write(const std::filesystem::path& path, std::string_view text) const;

  std::filesystem::path folder_;
  Descriptor lock_;
  std::set<TicketId> left_;  ///< with a reply that an earlier session did not take
  std::map<TicketId, Seen> seen_;
};

}  // namespace kernelsmith
