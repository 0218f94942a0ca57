#include "certificates.hpp"

#include <stdexcept>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

namespace kernelsmith {
namespace {

constexpr long kDay = 86'400;

void must(bool holds) {
  if (!holds) throw std::runtime_error("OpenSSL could not make a certificate");
}

void add_extension(X509* certificate, X509* issuer, int which, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str());
  must(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

/// An unsigned certificate with a fresh key.
Identity draft(const char* name, long from_s, long until_s) {
  Identity identity;
  identity.key.reset(EVP_EC_gen("P-256"));
  identity.certificate.reset(X509_new());
  must(identity.key && identity.certificate);
  X509* certificate = identity.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  std::uint64_t serial = 0;
  must(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), from_s);
  X509_gmtime_adj(X509_getm_notAfter(certificate), until_s);
  X509_set_pubkey(certificate, identity.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  return identity;
}

void sign(const Identity& subject, const Identity& issuer) {
  X509_set_issuer_name(subject.certificate.get(), X509_get_subject_name(issuer.certificate.get()));
  must(X509_sign(subject.certificate.get(), issuer.key.get(), EVP_sha256()) > 0);
}

}  // namespace

std::string Identity::pem() const {
  BIO* memory = BIO_new(BIO_s_mem());
  must(memory && PEM_write_bio_X509(memory, certificate.get()) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string text(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return text;
}

Identity make_ca(const std::string& name) {
  Identity ca = draft(name.c_str(), -kDay, kDay);
  add_extension(ca.certificate.get(), ca.certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  add_extension(ca.certificate.get(), ca.certificate.get(), NID_key_usage, "critical,keyCertSign");
  sign(ca, ca);
  return ca;
}

Identity make_certificate(const Identity& ca, const CertificateWish& wish) {
  Identity identity = draft("server", -2 * kDay, wish.expired ? -kDay : kDay);
  const bool address = wish.name.find_first_not_of("0123456789.") == std::string::npos;
  add_extension(identity.certificate.get(), ca.certificate.get(), NID_subject_alt_name,
                (address ? "IP:" : "DNS:") + wish.name);
  sign(identity, ca);
  return identity;
}

}  // namespace kernelsmith
