#include "stts_journal.hpp"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <kernelsmith/config/json.hpp>
#include <kernelsmith/core/untrusted_files.hpp>

namespace kernelsmith::suite {

namespace {

constexpr std::size_t kMostJournalBytes = std::size_t{1} << 30;

/// One line of the journal. Inserts `value` unchanged, because the records' own codecs have already made it
/// JSON.
std::string line_of(const nlohmann::ordered_json& head, const char* key = nullptr,
                    const std::string& value = {}) {
  std::string line = head.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (key) line.insert(line.size() - 1, ",\"" + std::string(key) + "\":" + value);
  return line + "\n";
}

/// The turns with `by` added. The file counts turns from 1, the program from 0.
std::vector<std::size_t> shifted(std::vector<std::size_t> turns, std::size_t by) {
  for (std::size_t& turn : turns) turn += by;
  return turns;
}

template <class T>
T value_at(const nlohmann::ordered_json& line, const char* key) {
  return from_json<T>(line.at(key).dump()).value();
}

}  // namespace

Digest digest_of(const std::vector<Message>& messages) {
  DigestBuilder digest;
  for (const Message& message : messages)
    digest.add(static_cast<std::uint64_t>(message.role)).add(message.text);
  return digest.finish();
}

Result<SttsJournal> SttsJournal::open(const std::filesystem::path& path, const TrajectoryKey& key) {
  if (const Status made = make_folders(path.parent_path()); !made) return made.error();
  SttsJournal journal(path, key);
  if (const Status read = journal.read(); !read) return read.error();
  journal.file_ =
      Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!journal.file_) return system_error("the journal cannot be opened", path, errno);
  return journal;
}

Status SttsJournal::read() {
  const auto text = read_regular_file(path_, kMostJournalBytes);
  if (!text) return text.error().code == ErrorCode::not_found ? Status() : Status(text.error());
  const std::size_t whole = text->rfind('\n') == text->npos ? 0 : text->rfind('\n') + 1;
  for (std::size_t at = 0; at < whole;) {
    const std::size_t end = text->find('\n', at);
    if (Status taken = take(text->substr(at, end - at)); !taken) return taken;
    at = end + 1;
  }
  if (whole < text->size() && ::truncate(path_.c_str(), static_cast<off_t>(whole)) != 0)
    return system_error("the incomplete last line of the journal cannot be removed", path_, errno);
  return {};
}

Status SttsJournal::take(const std::string& text) {
  ++lines_;
  try {
    const nlohmann::ordered_json line = nlohmann::ordered_json::parse(text);
    const auto event = line.at("event").get<std::string>();
    if (event == "trajectory" && !begun_) return take_head(line);
    if (event == "lost" && begun_) {
      trajectory_.lost.push_back(value_at<Proposal>(line, "proposal").cost);
      return {};
    }
    if (event == "reply" && begun_ && !unjudged_) return take_reply(line);
    if (event == "verdict" && unjudged_) return take_verdict(line);
    return corrupt("an event \"" + event + "\" is not allowed here");
  } catch (const std::exception& wrong) {  // from the parser, or from a codec that refuses a value
    return corrupt(wrong.what());
  }
}

Status SttsJournal::take_head(const nlohmann::ordered_json& line) {
  if (line.at("version").get<int>() != kSttsVersion)
    return fail(ErrorCode::version, "this journal has another version", path_.string(),
                "name another folder with --out");
  if (line.at("sample").get<std::size_t>() != key_.sample)
    return corrupt("it is a copy of another sample's journal");
  if (line.at("task").get<std::string>() != key_.task || line.at("basis").get<std::string>() != key_.basis)
    return fail(ErrorCode::invalid_argument,
                "the task or the settings were changed since this trajectory began", path_.string(),
                "name another folder with --out, or remove the journal to begin again");
  trajectory_.system = line.at("system").get<std::string>();
  trajectory_.user = line.at("user").get<std::string>();
  begun_ = true;
  return {};
}

Status SttsJournal::take_reply(const nlohmann::ordered_json& line) {
  if (line.at("turn").get<std::size_t>() != trajectory_.turns.size() + 1) return corrupt("a turn is missing");
  SttsTurn turn;
  turn.proposal = value_at<Proposal>(line, "proposal");
  for (const std::size_t shown : line.at("shown").get<std::vector<std::size_t>>()) {
    if (shown == 0 || shown > trajectory_.turns.size())
      return corrupt("a turn shows a turn that does not exist");
    turn.shown.push_back(shown - 1);
  }
  if (turn.proposal.prompt != digest_of(stts_messages(trajectory_, turn.shown)))
    return corrupt("a reply does not belong to the messages before it");
  unjudged_ = std::move(turn);
  return {};
}

Status SttsJournal::take_verdict(const nlohmann::ordered_json& line) {
  SttsTurn turn = std::move(*unjudged_);
  unjudged_.reset();
  if (line.contains("source")) turn.source = value_at<Source>(line, "source");
  if (line.contains("evaluation")) turn.evaluation.emplace(value_at<Evaluation>(line, "evaluation"));
  turn.reward = turn.evaluation ? stts_reward(*turn.evaluation) : 0;
  if (line.at("reward").get<double>() != turn.reward)
    return corrupt("a reward does not match its evaluation");
  turn.feedback = line.at("feedback").get<std::string>();
  trajectory_.turns.push_back(std::move(turn));
  return {};
}

Error SttsJournal::corrupt(const std::string& why) const {
  return fail(ErrorCode::corrupt, "this is not the journal of a trajectory: " + why,
              path_.string() + ":" + std::to_string(lines_),
              "remove the file to begin this trajectory again");
}

Status SttsJournal::append(const std::string& line) {
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t written = ::write(file_.get(), line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error("the journal cannot be written", path_, errno);
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Status SttsJournal::begin(std::string system, std::string user) {
  const nlohmann::ordered_json head = {
      {"event", "trajectory"}, {"version", kSttsVersion}, {"task", key_.task}, {"sample", key_.sample},
      {"basis", key_.basis},   {"system", system},        {"user", user}};
  if (Status written = append(line_of(head)); !written) return written;
  trajectory_.system = std::move(system);
  trajectory_.user = std::move(user);
  begun_ = true;
  return {};
}

Status SttsJournal::add_lost(const Proposal& paid_error) {
  trajectory_.lost.push_back(paid_error.cost);
  return append(line_of({{"event", "lost"}}, "proposal", to_json(paid_error)));
}

Status SttsJournal::add_reply(std::vector<std::size_t> shown, Proposal proposal) {
  const nlohmann::ordered_json head = {
      {"event", "reply"}, {"turn", trajectory_.turns.size() + 1}, {"shown", shifted(shown, 1)}};
  if (Status written = append(line_of(head, "proposal", to_json(proposal))); !written) return written;
  SttsTurn& turn = unjudged_.emplace();
  turn.shown = std::move(shown);
  turn.proposal = std::move(proposal);
  return {};
}

Status SttsJournal::add_verdict(SttsTurn judged) {
  nlohmann::ordered_json head = {{"event", "verdict"},
                                 {"turn", trajectory_.turns.size() + 1},
                                 {"reward", judged.reward},
                                 {"feedback", judged.feedback}};
  if (judged.source) head["source"] = nlohmann::ordered_json::parse(to_json(*judged.source));
  const bool evaluated = judged.evaluation.has_value();
  if (Status written = append(line_of(head, evaluated ? "evaluation" : nullptr,
                                      evaluated ? to_json(*judged.evaluation) : std::string()));
      !written)
    return written;
  trajectory_.turns.push_back(std::move(judged));
  unjudged_.reset();
  return {};
}

}  // namespace kernelsmith::suite
