#include "common/keys/key.h"

#include <sodium.h>

#include <cstdlib>
#include <utility>

namespace skerry::keys {
namespace {

constexpr std::string_view kAlphabet =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
static_assert(kAlphabet.size() == 85 && kKeyChars == kKeyBytes / 4 * 5);
static_assert(kKeyBytes == crypto_scalarmult_BYTES && kKeyBytes == crypto_scalarmult_SCALARBYTES);

Status CheckText(std::string_view text, const char* what) {
  KeyBytes bytes{};
  const bool good = FromZ85(text, bytes);
  sodium_memzero(bytes.data(), bytes.size());
  if (good) return {};
  return Fail(ErrorKind::kInvalid, std::string(what) +
                                       " must be 40 characters of Z85, as `skerry keygen` writes them; got " +
                                       std::to_string(text.size()) + " characters" +
                                       (text.size() == kKeyChars ? " that are not" : ""));
}

}  // namespace

std::string Z85Text(const KeyBytes& bytes) {
  std::string text(kKeyChars, '\0');
  for (std::size_t word = 0; word < kKeyBytes / 4; ++word) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[word * 4 + i];
    for (std::size_t i = 5; i-- > 0; value /= 85) text[word * 5 + i] = kAlphabet[value % 85];
  }
  return text;
}

bool FromZ85(std::string_view text, KeyBytes& bytes) {
  if (text.size() != kKeyChars) return false;
  for (std::size_t word = 0; word < kKeyBytes / 4; ++word) {
    std::uint64_t value = 0;
    for (const char c : text.substr(word * 5, 5)) {
      const std::size_t digit = kAlphabet.find(c);
      if (digit == std::string_view::npos) return false;
      value = value * 85 + digit;
    }
    if (value > UINT32_MAX) return false;  // 85^5 is a little more than 2^32
    for (std::size_t i = 4; i-- > 0; value >>= 8) bytes[word * 4 + i] = static_cast<unsigned char>(value);
  }
  return true;
}

Result<PublicKey> PublicKey::Parse(std::string_view text) {
  if (auto good = CheckText(text, "a public key"); !good) return Fail(good.error());
  return PublicKey(std::string(text));
}

SecretKey SecretKey::Generate() {
  if (sodium_init() < 0) std::abort();  // no random numbers: nothing may go on
  KeyBytes bytes{};
  randombytes_buf(bytes.data(), bytes.size());
  SecretKey key(Z85Text(bytes));
  sodium_memzero(bytes.data(), bytes.size());
  return key;
}

Result<SecretKey> SecretKey::Parse(std::string_view text) {
  if (auto good = CheckText(text, "a secret key"); !good) return Fail(good.error());
  return SecretKey(std::string(text));
}

PublicKey SecretKey::Public() const {
  KeyBytes secret{};
  KeyBytes bytes{};
  FromZ85(text_, secret);
  crypto_scalarmult_base(bytes.data(), secret.data());
  sodium_memzero(secret.data(), secret.size());
  return PublicKey(Z85Text(bytes));
}

void SecretKey::Wipe() {
  if (!text_.empty()) sodium_memzero(text_.data(), text_.size());
}

}  // namespace skerry::keys
