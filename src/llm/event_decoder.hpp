// What the streams of all protocols have in common: events that carry nothing, their end, and errors.
#pragma once

#include <string>
#include <string_view>

#include "wire.hpp"

namespace kernelsmith::llm {

/// Hands on what is an event of the protocol. Events without data, and what is no JSON at all (a gateway's
/// "ping"), are skipped: a reply that was paid for is whole without them.
/// Stream.EventsThatCarryNothingAreSkipped
class EventDecoder : public StreamDecoder {
 public:
  Attempt<void> take(std::string_view event, std::string_view data) final;

 protected:
  /// One event that is no error, with its type: the document's own, else the event's name.
  virtual Attempt<void> take_document(const std::string& type, const Json& document) = 0;

  /// "[DONE]", with which gateways end the streams of all protocols.
  virtual void take_done() = 0;

  /// Keeps an event outside the protocol that holds an error or a text, for the case that no
  /// reply comes. Stream.WhatAServerSaysInThePlaceOfAReplyIsTold
  void put_aside(const Json& document);

  /// The failure of a stream without a reply: that of an event that was put aside, if it tells one.
  CallFailure without_reply(const std::string& what) const;

 private:
  Json aside_;
};

}  // namespace kernelsmith::llm
