// One encoder, reply decoder and stream decoder for each protocol; protocol.cpp chooses among them.
#pragma once

#include <memory>

#include "wire.hpp"

namespace kernelsmith::llm {

Json encode_chat(const ModelCall& call, const ModelTraits& traits);
Attempt<ModelReply> decode_chat(const Json& document);
std::optional<Usage> chat_usage(const Json& document);
std::unique_ptr<StreamDecoder> chat_stream();

Json encode_responses(const ModelCall& call, const ModelTraits& traits);
Attempt<ModelReply> decode_responses(const Json& document);
std::optional<Usage> responses_usage(const Json& document);
std::unique_ptr<StreamDecoder> responses_stream();

Json encode_messages(const ModelCall& call, const ModelTraits& traits);
Attempt<ModelReply> decode_messages(const Json& document);
std::optional<Usage> messages_usage(const Json& document);
std::unique_ptr<StreamDecoder> messages_stream();

/// Whether a part of the reply has arrived; the server may bill that part.
inline bool has_text(const ModelReply& reply) { return !reply.text.empty() || !reply.reasoning.empty(); }

/// The fields that all three protocols share: the model, the output limit, sampling, streaming.
Json common_body(const ModelCall& call, const ModelTraits& traits);

/// The texts of all system messages, separated by an empty line.
std::string system_text(const ModelCall& call);

/// The messages of user and assistant, in the form of Responses and Messages.
Json turns_of(const ModelCall& call);

}  // namespace kernelsmith::llm
