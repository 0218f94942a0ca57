// What leaves an attempt, made fit to be seen: the key replaced first, and only then anything cut or
// rewritten.
#pragma once

#include <kernelsmith/core/error.hpp>
#include <kernelsmith/core/secret.hpp>
#include <kernelsmith/llm/protocol.hpp>

namespace kernelsmith::llm {

/// Every text of the reply without the key. A trace goes as a whole if its tokens, or the texts that they
/// stand for, spell the key: ids and log-probabilities would reveal it.
ModelReply redacted(ModelReply reply, const Secret& key);

/// The error without the key; then its message, which quotes the server whole, shortened to a few hundred
/// bytes and in one line of printable characters.
Error redacted(Error error, const Secret& key);

Attempt<ModelReply> redacted(Attempt<ModelReply> reply, const Secret& key);

}  // namespace kernelsmith::llm
