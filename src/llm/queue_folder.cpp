#include "queue_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>

#include <kernelsmith/core/untrusted_files.hpp>

#include "wire.hpp"

namespace kernelsmith {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kRequest = ".request.json";
constexpr std::string_view kError = ".error.txt";
constexpr std::array<std::string_view, 2> kReplies{".reply.json", ".reply.txt"};
constexpr const char* kAnswered = "answered";
constexpr const char* kLock = "queue.lock";
constexpr std::uintmax_t kMaxBytes = std::uintmax_t{32} << 20;
constexpr std::size_t kBriefBytes = std::size_t{64} << 10;
constexpr std::uint64_t kMostTokens = 1'000'000'000;

std::optional<TicketId> ticket_of(const std::string& name) {
  TicketId ticket;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ticket.value);
  if (error != std::errc{} || *end != '.') return std::nullopt;
  return ticket;
}

std::uint64_t tokens_in(const Json& usage, const char* key) {
  if (!usage.contains(key)) return 0;
  const Json& count = usage.at(key);
  if (!count.is_number_unsigned() || count.get<std::uint64_t>() > kMostTokens)
    throw std::invalid_argument("\"usage." + std::string(key) + "\" must be a whole number from 0 to " +
                                std::to_string(kMostTokens));
  return count.get<std::uint64_t>();
}

void check_keys(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      throw std::invalid_argument("the key \"" + key + "\" is not known");
}

ModelReply reply_in(const Json& object) {
  if (!object.is_object()) throw std::invalid_argument("an object is expected");
  check_keys(object, {"text", "finish", "usage"});
  if (!object.contains("text") || !object.at("text").is_string())
    throw std::invalid_argument("the key \"text\", the reply as a text, is missing");
  ModelReply reply;
  reply.text = object.at("text").get<std::string>();
  const Json word = object.value("finish", Json("stop"));
  const std::string finish = word.is_string() ? word.get<std::string>() : "";
  reply.finish_detail = finish;
  if (finish == "length")
    reply.finish = Finish::length;
  else if (finish == "declined")
    reply.finish = Finish::declined;
  else if (finish != "stop")
    throw std::invalid_argument("\"finish\" must be stop, length or declined");
  if (object.contains("usage")) {
    const Json& usage = object.at("usage");
    if (!usage.is_object()) throw std::invalid_argument("\"usage\" must be an object");
    check_keys(usage, {"input_tokens", "output_tokens"});
    reply.usage.emplace();
    reply.usage->input_tokens = tokens_in(usage, "input_tokens");
    reply.usage->output_tokens = tokens_in(usage, "output_tokens");
  }
  return reply;
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      put(0xE0 | (code >> 12));
    } else {
      put(0xF0 | (code >> 18));
      put(0x80 | ((code >> 12) & 0x3F));
    }
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

/// Converts UTF-16, which Windows editors and shells write, to UTF-8. Recognises UTF-16 without a byte order
/// mark if it begins with an ASCII character. An unpaired surrogate gives invalid UTF-8.
std::string from_utf16(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const bool little = bytes.size() > 1 && ((at(0) == 0xFF && at(1) == 0xFE) || (at(0) != 0 && at(1) == 0));
  const bool big = bytes.size() > 1 && ((at(0) == 0xFE && at(1) == 0xFF) || (at(0) == 0 && at(1) != 0));
  if (!little && !big) return std::string(bytes);
  const auto unit = [&](std::size_t i) {
    const char32_t first = at(i), second = at(i + 1);
    return little ? second << 8 | first : first << 8 | second;
  };
  std::string text;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    char32_t code = unit(i);
    if (i == 0 && code == 0xFEFF) continue;
    if (code >= 0xD800 && code < 0xDC00 && i + 3 < bytes.size() && (unit(i + 2) & 0xFC00) == 0xDC00) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
      i += 2;
    }
    append_utf8(text, code);
  }
  return text;
}

}  // namespace

std::variant<ModelReply, std::string> read_reply(const std::string& name, std::string_view bytes) {
  const std::string text = from_utf16(bytes);
  if (!name.ends_with(".json")) {
    ModelReply reply;
    reply.text = text;
    try {
      (void)Json(text).dump();
    } catch (const Json::exception&) {
      return name + " is not a reply: its bytes are neither UTF-8 nor UTF-16";
    }
    return reply;
  }
  try {
    if (text.size() <= kBriefBytes)
      return reply_in(Json::parse(text));  // the exception names the place of the error
    if (const auto document = llm::parse_json(text)) return reply_in(*document);
    return name + " is not a reply: it is not JSON in UTF-8, nests too deeply or holds too many values";
  } catch (const Json::exception& wrong) {
    return name + " is not a reply: " + wrong.what();
  } catch (const std::invalid_argument& wrong) {
    return name + " is not a reply: " + wrong.what();
  }
}

Result<QueueFolder> QueueFolder::open(const fs::path& folder) {
  std::error_code error;
  if (const Status made = make_folders(folder / kAnswered); !made) return made.error();
  const fs::path lock_path = folder / kLock;
  Descriptor lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (lock.get() < 0) return system_error("cannot open", lock_path, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail(ErrorCode::busy, "another run asks through this folder", folder.string(),
                "give each run a folder of its own");
  QueueFolder queue(folder, std::move(lock));
  std::set<TicketId> asked;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (const auto ticket = ticket_of(name)) asked.insert(*ticket);
  }
  if (error) return system_error("cannot read", folder, error.value());
  for (const TicketId ticket : asked) {
    if (queue.reply_to(ticket))
      queue.left_.insert(ticket);
    else
      queue.withdraw(ticket);
  }
  return queue;
}

Status QueueFolder::post(TicketId ticket, const std::string& request) {
  while (!left_.empty() && *left_.begin() < ticket) put_away(*left_.begin());
  const fs::path path = file(ticket, kRequest);
  const auto there = read_regular_file(path, request.size());
  const bool same = there && *there == request;
  if (!same && reply_to(ticket)) put_away(ticket);  // a reply that exists already answers another request
  left_.erase(ticket);
  if (same) return {};
  return write(path, request);
}

Found QueueFolder::look(TicketId ticket, double now_s, double settled_s) {
  const auto path = reply_to(ticket);
  if (!path) return NoReply{};
  std::error_code gone;
  const auto written = fs::last_write_time(*path, gone);
  const auto bytes = fs::file_size(*path, gone);
  if (gone || bytes == 0) return NoReply{};
  Seen& seen = seen_[ticket];
  if (seen.bytes != bytes || seen.written != written) {
    seen = {.written = written, .bytes = bytes, .since_s = now_s};
    std::error_code none;
    fs::remove(file(ticket, kError), none);
  }
  if (seen.complained) return NoReply{};
  const bool settled = now_s - seen.since_s >= settled_s;
  const std::string name = path->filename().string();
  if (bytes > kMaxBytes) {
    seen.complained = true;
    return BadReply{name + " is larger than 32 MiB"};
  }
  if (!settled && !name.ends_with(".json")) return NoReply{};
  if (seen.tried && !settled) return NoReply{};
  const auto text = read_regular_file(*path, kMaxBytes);
  if (!text) return NoReply{};
  seen.tried = true;
  auto reply = read_reply(name, *text);
  if (auto* good = std::get_if<ModelReply>(&reply)) return std::move(*good);
  if (!settled) return NoReply{};
  seen.complained = true;
  return BadReply{std::get<std::string>(std::move(reply))};
}

void QueueFolder::complain(TicketId ticket, const std::string& message) {
  (void)write(file(ticket, kError),
              message + "\nCorrect the file; kernelsmith reads it again when it changes.\n");
}

void QueueFolder::put_away(TicketId ticket) {
  std::error_code ignored;
  for (const std::string_view extension : {kRequest, kReplies[0], kReplies[1]}) {
    const fs::path path = file(ticket, extension);
    fs::rename(path, folder_ / kAnswered / path.filename(), ignored);
  }
  fs::remove(file(ticket, kError), ignored);
  left_.erase(ticket);
  seen_.erase(ticket);
}

void QueueFolder::withdraw(TicketId ticket) {
  if (reply_to(ticket)) return;
  std::error_code ignored;
  for (const std::string_view extension : {kRequest, kError}) fs::remove(file(ticket, extension), ignored);
}

fs::path QueueFolder::file(TicketId ticket, std::string_view extension) const {
  char number[32];
  std::snprintf(number, sizeof number, "%06llu", static_cast<unsigned long long>(ticket.value));
  return folder_ / (number + std::string(extension));
}

std::optional<fs::path> QueueFolder::reply_to(TicketId ticket) const {
  std::error_code ignored;
  for (const std::string_view extension : kReplies)
    if (fs::path path = file(ticket, extension); fs::is_regular_file(fs::symlink_status(path, ignored)))
      return path;
  return std::nullopt;
}

Status QueueFolder::write(const fs::path& path, std::string_view text) const {
  fs::path fresh = folder_ / ("." + path.filename().string() + ".new");
  if (Status written = write_new_file(fresh, text, Flush::no); !written) return written;
  std::error_code error;
  fs::rename(fresh, path, error);
  if (error) return system_error("cannot replace", path, error.value());
  return {};
}

}  // namespace kernelsmith
