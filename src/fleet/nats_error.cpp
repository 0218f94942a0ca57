// Interprets the statuses of libnats and JetStream.
#include "nats_link.hpp"

namespace kernelsmith::fleet {

bool Outcome::is_passing() const {
  switch (status) {
    case NATS_IO_ERROR:
    case NATS_NO_SERVER:
    case NATS_STALE_CONNECTION:
    case NATS_CONNECTION_DISCONNECTED:
    case NATS_CONNECTION_CLOSED:
    case NATS_TIMEOUT:
    case NATS_NO_RESPONDERS:
      return !lacks_jetstream();
    default:
      return code == JSClusterNotAvailErr || code == JSClusterNoPeersErr;
  }
}

bool Outcome::lacks_room() const {
  return code == JSStorageResourcesExceededErr || code == JSInsufficientResourcesErr;
}

bool Outcome::lacks_jetstream() const { return code == JSNotEnabledErr || code == JSNotEnabledForAccountErr; }

bool Outcome::may_pass() const {
  const bool unreadable = (status == NATS_ERR || status == NATS_PROTOCOL_ERROR) && code == 0;
  return is_passing() || lacks_jetstream() || lacks_room() || unreadable;
}

Error nats_error(const Outcome& outcome, const std::string& doing, const std::string& url) {
  std::string message = doing + ": " + natsStatus_GetText(outcome.status);
  switch (outcome.code) {
    case JSNotEnabledErr:
    case JSNotEnabledForAccountErr:
      return fail(ErrorCode::unsupported, doing + ": JetStream is not enabled", url,
                  "start nats-server with -js, and with -sd FOLDER for its data");
    case JSMaximumStreamsLimitErr:
    case JSMaximumConsumersLimitErr:
      return fail(ErrorCode::server_failed,
                  doing + ": the account has reached its limit of streams or queues", url,
                  "raise max_streams and max_consumers of the account");
    case JSStreamMessageExceedsMaximumErr:
      return fail(ErrorCode::too_long, doing + ": it is longer than the stream allows a message to be", url,
                  "raise max_msg_size of the stream");
    case JSStreamStoreFailedErr:
      return fail(ErrorCode::server_failed, doing + ": a stream of the fleet is at its limit", url,
                  "start workers that empty it: kernelsmith worker --nats " + url);
    case JSStorageResourcesExceededErr:
    case JSInsufficientResourcesErr:
      return fail(ErrorCode::disk_full, doing + ": the server has no room for it", url,
                  "raise max_file_store of its JetStream, or make room on its disk");
    default:
      break;
  }
  if (outcome.code != 0) message += " (JetStream error " + std::to_string(outcome.code) + ")";
  switch (outcome.status) {
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED:
      return fail(ErrorCode::permission, doing + ": the server does not accept these credentials", url,
                  "check the user and password in the URL, or the file of credentials");
    case NATS_SSL_ERROR:
      return fail(ErrorCode::untrusted, doing + ": the server's certificate is not accepted", url,
                  "name the certificate that signed it as the CA file");
    case NATS_SECURE_CONNECTION_REQUIRED:
      return fail(ErrorCode::untrusted, doing + ": the server wants TLS", url,
                  "write tls:// in place of nats://");
    case NATS_SECURE_CONNECTION_WANTED:
      return fail(ErrorCode::untrusted, doing + ": the server has no TLS", url,
                  "write nats:// in place of tls:// if you trust the network in between");
    case NATS_NO_RESPONDERS:
      return fail(ErrorCode::unsupported, doing + ": JetStream does not answer", url,
                  "start nats-server with -js, and with -sd FOLDER for its data");
    case NATS_MAX_PAYLOAD:
      return fail(ErrorCode::too_long, doing + ": it is larger than the server allows a message to be", url,
                  "raise max_payload in the configuration of the NATS server");
    default:
      return fail(ErrorCode::network, std::move(message), url,
                  "is a server there? nats-server -js -sd FOLDER starts one");
  }
}

}  // namespace kernelsmith::fleet
