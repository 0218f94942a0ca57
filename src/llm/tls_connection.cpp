#include "tls_connection.hpp"

#include <algorithm>
#include <memory>

namespace kernelsmith::llm {
namespace {

using Kept = std::shared_ptr<TlsConnection>;

/// The index under which a TLS context keeps its connection; libcurl makes one context for each connection.
int connection_slot() {
  static const int slot = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr,
      [](void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) { delete static_cast<Kept*>(kept); });
  return slot;
}

/// The index under which a TLS object also keeps the connection, to detect the object's end. The context,
/// which ends later, keeps the connection alive.
int layer_slot() {
  static const int slot = SSL_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void* ssl, void* connection, CRYPTO_EX_DATA*, int, long, void*) {
        if (connection) std::erase(static_cast<TlsConnection*>(connection)->layers, static_cast<SSL*>(ssl));
      });
  return slot;
}

TlsConnection& connection_of(const SSL* ssl) {
  return **static_cast<const Kept*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), connection_slot()));
}

/// Records OpenSSL's decision without changing it.
int note_verdict(int accepted, X509_STORE_CTX* chain) {
  if (accepted != 0) return accepted;
  const auto* ssl =
      static_cast<const SSL*>(X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx()));
  connection_of(ssl).verdict = X509_STORE_CTX_get_error(chain);
  return accepted;
}

void note_layer(const SSL* ssl, int where, int) {
  if (!(where & SSL_CB_HANDSHAKE_START) || SSL_get_ex_data(ssl, layer_slot())) return;
  TlsConnection& connection = connection_of(ssl);
  if (SSL_set_ex_data(const_cast<SSL*>(ssl), layer_slot(), &connection) == 1)
    connection.layers.push_back(ssl);
}

void note_record(int written, int, int content, const void*, std::size_t, SSL* ssl, void*) {
  if (written != 0 || content != SSL3_RT_HEADER) return;
  if (const auto& on_record = connection_of(ssl).on_record) on_record();
}

}  // namespace

bool TlsConnection::holds_more() const {
  return std::ranges::any_of(layers,
                             [](const SSL* ssl) { return SSL_has_pending(ssl) && !SSL_want_read(ssl); });
}

CURLcode attach_connection(CURL*, void* context, void* connection) {
  auto* tls = static_cast<SSL_CTX*>(context);
  // The context frees this copy.
  if (auto* kept = new Kept(*static_cast<const Kept*>(connection));
      SSL_CTX_set_ex_data(tls, connection_slot(), kept) != 1) {
    delete kept;
    return CURLE_OUT_OF_MEMORY;
  }
  SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, &note_verdict);
  SSL_CTX_set_info_callback(tls, &note_layer);
  SSL_CTX_set_msg_callback(tls, &note_record);
  SSL_CTX_set_read_ahead(tls, 1);  // otherwise there are two reads for each record
  return CURLE_OK;
}

}  // namespace kernelsmith::llm
