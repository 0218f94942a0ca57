// Uses OpenSSL below libcurl to find why a certificate was refused, and to reduce reads of a socket.
#pragma once

#include <functional>
#include <vector>

#include <curl/curl.h>
#include <openssl/ssl.h>

namespace kernelsmith::llm {

/// TLS on one connection. Shared by the exchange that opens it and OpenSSL's objects; either can outlive the
/// other.
struct TlsConnection {
  /// X509_V_OK, or OpenSSL's reason: libcurl reports a certificate whose signature is wrong only as a
  /// handshake that failed. ClientFailure.TrustsOnlyTheRightCertificate
  int verdict = X509_V_OK;

  /// The connection's own, and that of a proxy around it.
  std::vector<const SSL*> layers;

  /// The opened sockets; several if a name has several addresses.
  std::vector<curl_socket_t> sockets;

  /// Called when reading of a record begins; may be empty.
  std::function<void()> on_record;

  /// Whether bytes that were read from the socket wait in OpenSSL to be decrypted. libcurl does not know of
  /// them, and the socket does not signal them again.
  bool holds_more() const;
};

/// For CURLOPT_SSL_CTX_FUNCTION, with a std::shared_ptr<TlsConnection>* as its data. Verification is
/// libcurl's and stays on.
CURLcode attach_connection(CURL*, void* context, void* connection);

}  // namespace kernelsmith::llm
