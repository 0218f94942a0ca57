// Uses OpenSSL below libcurl to find why a certificate was refused, and to reduce reads of a socket.
#pragma once

#include <functional>
#include <vector>

#include <curl/curl.h>
#include <openssl/ssl.h>

namespace kernelsmith::llm {

/// TLS on one connection. The exchange that opens the connection and OpenSSL's objects share it, because
/// either can outlive the other.
struct TlsConnection {
  /// X509_V_OK, or OpenSSL's reason for refusing the certificate. Needed because libcurl reports a wrong
  /// signature only as a failed handshake. ClientFailure.TrustsOnlyTheRightCertificate
  int verdict = X509_V_OK;

  /// The TLS object of the connection, and that of a proxy around it.
  std::vector<const SSL*> layers;

  /// The opened sockets; several if a name has several addresses.
  std::vector<curl_socket_t> sockets;

  /// Called when OpenSSL begins to read a record; may be empty.
  std::function<void()> on_record;

  /// Whether OpenSSL holds bytes that were read from the socket and not yet decrypted. libcurl does not know
  /// of them, and the socket does not signal them again.
  bool holds_more() const;
};

/// A callback for CURLOPT_SSL_CTX_FUNCTION, whose data is a std::shared_ptr<TlsConnection>*. libcurl still
/// verifies certificates.
CURLcode attach_connection(CURL*, void* context, void* connection);

}  // namespace kernelsmith::llm
