// A short way to refuse a reply.
#pragma once

#include <string>
#include <utility>

#include <kernelsmith/core/proposal.hpp>

namespace kernelsmith {

inline Refusal refuse(RefusalCode code, std::string detail) { return {code, std::move(detail)}; }

}  // namespace kernelsmith
