// Makes the results of an attempt safe to show. Replaces the key before it cuts or rewrites text.
#pragma once

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith::llm {

/// The reply with the key removed from every text. Drops the whole trace if any text contains the key,
/// because ids and log-probabilities would reveal the key.
ModelReply redacted(ModelReply reply, const Secret& key);

/// The error without the key. Then shortens its message, which quotes the server, to one line of a few
/// hundred printable bytes.
Error redacted(Error error, const Secret& key);

Attempt<ModelReply> redacted(Attempt<ModelReply> reply, const Secret& key);

}  // namespace kernelsmith::llm
