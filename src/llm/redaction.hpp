// Makes the results of an attempt safe to show: first the key is replaced, and only then text is cut or
// rewritten.
#pragma once

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith::llm {

/// Every text of the reply without the key. Drops a whole trace if its tokens or their texts contain the key,
/// because ids and log-probabilities would reveal it.
ModelReply redacted(ModelReply reply, const Secret& key);

/// The error without the key. Its message, which quotes the server, is then shortened to a few hundred bytes
/// and one line of printable characters.
Error redacted(Error error, const Secret& key);

Attempt<ModelReply> redacted(Attempt<ModelReply> reply, const Secret& key);

}  // namespace kernelsmith::llm
