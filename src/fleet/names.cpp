#include "names.hpp"

#include <algorithm>
#include <vector>

#include <kernelsmith/core/digest.hpp>
#include <kernelsmith/core/number_text.hpp>

namespace kernelsmith::fleet {
namespace {

constexpr std::size_t kLongestToken = 64;
constexpr std::size_t kDigestDigits = 32;
constexpr std::size_t kShortDigits = 16;

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

std::string digits_of(std::string_view text, std::size_t digits) {
  return digest_of(text).hex().substr(0, digits);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == text.npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto read = number_in<Number>(text);
  number = read.value_or(0);
  return read.has_value();
}

std::string numbers(const JobKey& key) {
  return key.run + "." + std::to_string(key.candidate.value) + "." + std::to_string(key.attempt);
}

}  // namespace

JobKey key_of(const EvaluationJob& job, std::string_view text) {
  return {token(job.run), job.candidate, job.attempt, digits_of(text, kDigestDigits)};
}

std::string JobId::text() const { return numbers(key) + "." + key.digest + "." + std::to_string(round); }

std::optional<JobId> JobId::parse(std::string_view text) {
  const auto parts = split(text);
  JobId id;
  if (parts.size() != 5 || !read(parts[1], id.key.candidate.value) || !read(parts[2], id.key.attempt) ||
      !read(parts[4], id.round))
    return std::nullopt;
  id.key.run = parts[0];
  id.key.digest = parts[3];
  const bool plain = token(id.key.run) == id.key.run && id.key.digest.size() == kDigestDigits &&
                     std::ranges::all_of(id.key.digest, is_plain);
  if (!plain) return std::nullopt;
  return id;
}

std::string token(std::string_view text) {
  const bool plain = !text.empty() && text.size() <= kLongestToken && std::ranges::all_of(text, is_plain);
  return plain ? std::string(text) : "h-" + digits_of(text, kShortDigits);
}

std::string hardware_token(std::string_view hardware) {
  return hardware.empty() ? "any" : "h-" + digits_of(hardware, kShortDigits);
}

std::string job_subject(std::string_view backend, std::string_view hardware, const JobKey& key) {
  return "kernelsmith.jobs." + token(backend) + "." + hardware_token(hardware) + "." + numbers(key);
}

std::string jobs_filter(std::string_view backend, std::string_view hardware) {
  return "kernelsmith.jobs." + token(backend) + "." + hardware_token(hardware) + ".>";
}

std::string jobs_queue(std::string_view backend, std::string_view hardware) {
  return token(backend) + "-" + hardware_token(hardware);
}

std::string result_subject(const JobKey& key) { return "kernelsmith.results." + numbers(key); }
std::string results_filter(std::string_view run) { return "kernelsmith.results." + token(run) + ".>"; }
std::string task_subject(const Digest& task) { return "kernelsmith.tasks." + task.hex(); }
std::string short_name(const Digest& task) { return task.hex().substr(0, kShortDigits); }
std::string run_subject(std::string_view run) { return "kernelsmith.fleet.run." + token(run); }
std::string begun_subject(const JobId& id, std::uint64_t delivery) {
  return "kernelsmith.begun." + numbers(id.key) + "." + id.key.digest + "." + std::to_string(id.round) + "-" +
         std::to_string(delivery);
}

std::string begun_filter(const JobKey& key) {
  return "kernelsmith.begun." + numbers(key) + "." + key.digest + ".*";
}

std::string worker_subject(std::string_view id) { return "kernelsmith.workers." + token(id); }

}  // namespace kernelsmith::fleet
