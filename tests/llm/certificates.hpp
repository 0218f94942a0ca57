// Certificates made for one test: a CA and what it signs.
#pragma once

#include <memory>
#include <string>

#include <openssl/evp.h>
#include <openssl/x509.h>

namespace kernelsmith {

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct CertificateDeleter {
  void operator()(X509* certificate) const { X509_free(certificate); }
};

/// A certificate with its key (EC, P-256).
struct Identity {
  std::unique_ptr<EVP_PKEY, KeyDeleter> key;
  std::unique_ptr<X509, CertificateDeleter> certificate;

  std::string pem() const;  ///< of the certificate
};

struct CertificateWish {
  std::string name = "127.0.0.1";  ///< an IPv4 address or a host name, as the alternative name
  bool expired = false;
};

Identity make_ca(const std::string& name);
Identity make_certificate(const Identity& ca, const CertificateWish& wish);

}  // namespace kernelsmith
