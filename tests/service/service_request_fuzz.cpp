// Any bytes as a request's target, and as its body: taken or refused, and what is taken keeps to its limits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <kernelsmith/config/yaml.hpp>

#include "evaluation/request.hpp"
#include "evaluation/task_resolver.hpp"
#include "fuzz.hpp"
#include "http/target.hpp"

using namespace kernelsmith;

namespace {

/// The backend of what requests bring, without its settings.
BackendDescription modules() {
  BackendDescription backend;
  backend.form = TaskForm::module;
  backend.settings = {.keys = {"torch"},
                      .read =
                          [](YamlMap& in, const Task&) {
                            in.kind("torch");
                            return std::string();
                          },
                      .check = {}};
  return backend;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = http::parse_target(text)) require(target->path.starts_with('/'));
  const auto body = service::parse_body(text);
  if (!body) return 0;
  if (const auto request = service::read_request(*body)) {
    require(!request->task_id.empty() && request->task_id.size() <= 400);
    require(request->timeout_s >= 10 && request->timeout_s <= 3600);
    static service::TaskResolver resolver({}, {{"torch", modules()}}, "fp32");
    if (const auto assigned = resolver.assign(*request))
      require(assigned->task && !assigned->candidate.empty());
  }
  if (const auto batch = service::read_batch(*body)) require(batch->requests.size() <= 100);
  return 0;
}
