// Common code for streams of all protocols: empty events, the end, and errors.
#pragma once

#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::llm {

/// Passes on the events of the protocol. Skips events without data, and events whose data is not JSON, such
/// as a gateway's "ping", because the reply is complete without them.
/// Stream.EventsThatCarryNothingAreSkipped
class EventDecoder : public StreamDecoder {
 public:
  Attempt<void> take(std::string_view event, std::string_view data) final;

 protected:
  /// Handles one event that is not an error. Its type comes from the document, else from the event's name.
  virtual Attempt<void> take_document(const std::string& type, const Json& document) = 0;

  /// Handles "[DONE]", with which gateways end the streams of all protocols.
  virtual void take_done() = 0;

  /// Keeps an unknown event that holds an error or a text, in case no reply follows.
  /// Stream.WhatAServerSaysInThePlaceOfAReplyIsTold
  void put_aside(const Json& document);

  /// The failure of a stream without a reply. It quotes the kept event if there is one.
  CallFailure without_reply(const std::string& what) const;

 private:
  Json aside_;
};

}  // namespace kernelsmith::llm
