#include "common/keys/key.h"

#include <gtest/gtest.h>

namespace skerry::keys {
namespace {

// The pair of zmq_curve(7)'s example.
constexpr const char* kSecret = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6";
constexpr const char* kPublic = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";

TEST(Z85, IsThatOfTheRfc) {
  KeyBytes bytes{0x86, 0x4F, 0xD2, 0x6F, 0xB5, 0x59, 0xF7, 0x5B};
  const std::string text = Z85Text(bytes);
  EXPECT_EQ(text, "HelloWorld" + std::string(30, '0'));
  KeyBytes back{};
  ASSERT_TRUE(FromZ85(text, back));
  EXPECT_EQ(back, bytes);
}

TEST(Z85, TakesTheLargestWordAndNotTheOneAfterIt) {
  KeyBytes bytes{};
  EXPECT_TRUE(FromZ85("%nSc0" + std::string(35, '0'), bytes));  // 0xFFFFFFFF
  EXPECT_EQ(bytes[0], 0xFF);
  EXPECT_EQ(bytes[3], 0xFF);
  EXPECT_FALSE(FromZ85("%nSc1" + std::string(35, '0'), bytes));
}

TEST(PublicKey, IsWhatLibzmqMakesOfTheSecret) {
  const auto secret = SecretKey::Parse(kSecret);
  ASSERT_TRUE(secret) << secret.error().message;
  EXPECT_EQ(secret->Public().text(), kPublic);
}

TEST(PublicKey, OfOneCharacterTooFewOrManyOrForeignIsRefused) {
  const std::string good = kPublic;
  EXPECT_TRUE(PublicKey::Parse(good));
  for (const std::string& text :
       {std::string(), good.substr(1), good + "0", "~" + good.substr(1), "\"" + good.substr(1)}) {
    const auto key = PublicKey::Parse(text);
    ASSERT_FALSE(key) << text;
    EXPECT_NE(key.error().message.find("40 characters"), std::string::npos);
  }
}

TEST(SecretKey, ThatIsWrongIsNotShown) {
  const std::string secret = "not a secret but somebody's password";
  const auto key = SecretKey::Parse(secret);
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().message.find(secret), std::string::npos);
}

TEST(SecretKey, IsNewEachTime) {
  const SecretKey one = SecretKey::Generate();
  const SecretKey other = SecretKey::Generate();
  EXPECT_NE(one.text(), other.text());
  EXPECT_EQ(one.text().size(), kKeyChars);
  EXPECT_TRUE(SecretKey::Parse(one.text()));
}

}  // namespace
}  // namespace skerry::keys
