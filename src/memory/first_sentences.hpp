// The model's description of its change before the code.
#pragma once

#include <string>
#include <string_view>

namespace kernelsmith::memory {

/// The first two sentences of a reply, on one line; empty if code comes first, or if they are longer than 400
/// bytes or contain a tag, like thoughts.
std::string first_sentences(std::string_view reply);

}  // namespace kernelsmith::memory
