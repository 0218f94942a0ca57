// A parent and a reply, parted by the first NUL byte: a child has the parent's frozen bytes, a refusal says
// why.
#include <algorithm>
#include <cstdint>
#include <string>

#include <kernelsmith/code/blocks.hpp>
#include <kernelsmith/proposal/extract.hpp>

#include "fuzz.hpp"
#include "sources.hpp"

using namespace kernelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t border = std::min(bytes.find('\0'), bytes.size());
  const std::string reply = bytes.substr(border);
  const Source parents[] = {cpp(bytes.substr(0, border)),
                            Source::create({{"a.cpp", bytes.substr(0, border)}, {"b.hpp", "x\n"}}).value()};
  for (const Source& parent : parents) {
    for (const ReplyForm form : {ReplyForm::whole, ReplyForm::edits, ReplyForm::either}) {
      const auto outcome = extract(reply, parent, form);
      if (const auto* child = std::get_if<Source>(&outcome)) {
        require(check_frozen(parent, *child).has_value());
        require(*child != parent);
      } else {
        require(!std::get<Refusal>(outcome).detail.empty());
      }
    }
  }
  return 0;
}
