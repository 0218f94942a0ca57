// Writes plans and calls as bytes, and reads them as untrusted data.
#include <kernelsmith/evaluator/plan.hpp>
#include <kernelsmith/evaluator/plan_coders.hpp>
#include <kernelsmith/evaluator/plan_fields.hpp>

namespace kernelsmith::plan {
namespace {

constexpr std::string_view kMagic = "KSPL";
constexpr std::uint32_t kVersion = 1;

/// The kind of a text.
enum class Content : std::uint8_t { plan = 1, call = 2 };

std::string_view name_of(Content content) { return content == Content::plan ? "plan" : "call"; }

template <class T>
std::vector<std::byte> encode_as(Content content, const T& value) {
  Writer writer;
  writer.magic(kMagic);
  writer.number(kVersion);
  writer.number(static_cast<std::uint8_t>(content));
  fields(writer, value);
  return writer.take();
}

void read_header(Reader& reader, Content wanted) {
  reader.magic(kMagic);
  std::uint32_t version = 0;
  reader.number(version);
  if (version != kVersion)
    reader.refuse("a plan of version " + std::to_string(version) + "; this build reads version " +
                  std::to_string(kVersion));
  std::uint8_t content = 0;
  reader.number(content);
  if (content != static_cast<std::uint8_t>(wanted))
    reader.refuse("content " + std::to_string(content) + " is not a " + std::string(name_of(wanted)));
}

template <class T>
Result<T> decode_as(Content content, std::span<const std::byte> bytes) {
  const std::size_t most = content == Content::plan ? kMaxEncodedBytes : kMaxEncodedCall;
  if (bytes.size() > most)
    return fail(ErrorCode::bad_input,
                "a " + std::string(name_of(content)) + " of " + std::to_string(bytes.size()) +
                    " bytes; at most " + std::to_string(most),
                "byte " + std::to_string(most));
  Reader reader(bytes);
  read_header(reader, content);
  T value;
  fields(reader, value);
  if (Status status = reader.finish(); !status) return status.error();
  return value;
}

}  // namespace

std::vector<std::byte> encode(const Plan& plan) { return encode_as(Content::plan, plan); }
std::vector<std::byte> encode(const Call& call) { return encode_as(Content::call, call); }

Result<Plan> decode_plan(std::span<const std::byte> bytes) { return decode_as<Plan>(Content::plan, bytes); }
Result<Call> decode_call(std::span<const std::byte> bytes) { return decode_as<Call>(Content::call, bytes); }

}  // namespace kernelsmith::plan
