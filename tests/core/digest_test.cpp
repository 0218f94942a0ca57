#include <gtest/gtest.h>

#include <kernelsmith/core/digest.hpp>

namespace kernelsmith {
namespace {

TEST(Digest, IsSha256) {
  EXPECT_EQ(digest_of("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, HexRoundTrips) {
  const Digest digest = digest_of("kernel");
  EXPECT_EQ(Digest::from_hex(digest.hex()), digest);
  EXPECT_FALSE(Digest::from_hex("ba78"));
  EXPECT_FALSE(Digest::from_hex(std::string(64, 'g')));
}

TEST(DigestBuilder, FieldsDoNotRunTogether) {
  EXPECT_NE(DigestBuilder{}.add("ab").add("c").finish(), DigestBuilder{}.add("a").add("bc").finish());
}

}  // namespace
}  // namespace kernelsmith
