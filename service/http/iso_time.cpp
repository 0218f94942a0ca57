#include "iso_time.hpp"

#include <array>
#include <ctime>

namespace kernelsmith::http {

std::string iso_time(std::chrono::system_clock::time_point time) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = ms / 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  return std::string(date.data()) + "." + std::to_string(1000 + ms % 1000).substr(1) + "Z";
}

}  // namespace kernelsmith::http
