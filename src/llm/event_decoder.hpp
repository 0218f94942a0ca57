// Common code for streams of all protocols: empty events, the end, and errors.
#pragma once

#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::llm {

/// Passes on events of the protocol. Skips events without data or without JSON (a gateway's "ping"), because
/// a paid reply is complete without them.
/// Stream.EventsThatCarryNothingAreSkipped
class EventDecoder : public StreamDecoder {
 public:
  Attempt<void> take(std::string_view event, std::string_view data) final;

 protected:
  /// Handles one event that is not an error, with its type: the document's own, else the event's name.
  virtual Attempt<void> take_document(const std::string& type, const Json& document) = 0;

  /// "[DONE]", with which gateways end the streams of all protocols.
  virtual void take_done() = 0;

  /// Keeps an unknown event with an error or a text, for the case that no reply comes.
  /// Stream.WhatAServerSaysInThePlaceOfAReplyIsTold
  void put_aside(const Json& document);

  /// The failure of a stream without a reply: that of a kept event, if it has one.
  CallFailure without_reply(const std::string& what) const;

 private:
  Json aside_;
};

}  // namespace kernelsmith::llm
