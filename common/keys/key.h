// CURVE25519 keys, as the text that ZeroMQ knows them by: Z85 (ZeroMQ RFC 32), 40 characters for 32 bytes.
//
//   KeyPair pair = KeyPair::Generate();
//   Result<PublicKey> key = PublicKey::Parse(text);
//
// Threads: pure, but for the kernel's random numbers. Ownership: a secret is wiped when its object goes.
// Errors: Parse says what is wrong with the text, and never shows a secret.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"

namespace skerry::keys {

inline constexpr std::size_t kKeyBytes = 32;
inline constexpr std::size_t kKeyChars = 40;
using KeyBytes = std::array<unsigned char, kKeyBytes>;

/// Names its owner, and may be shown to anybody.
class PublicKey {
 public:
  static Result<PublicKey> Parse(std::string_view text);

  const std::string& text() const { return text_; }
  auto operator<=>(const PublicKey&) const = default;

 private:
  friend class SecretKey;
  explicit PublicKey(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

/// Whoever has it is its owner: it is never logged or printed.
class SecretKey {
 public:
  static SecretKey Generate();
  static Result<SecretKey> Parse(std::string_view text);
  ~SecretKey() { Wipe(); }
  SecretKey(const SecretKey&) = default;
  SecretKey& operator=(const SecretKey&) = default;

  const std::string& text() const { return text_; }
  PublicKey Public() const;

 private:
  explicit SecretKey(std::string text) : text_(std::move(text)) {}
  void Wipe();

  std::string text_;
};

/// Of 32 bytes.
std::string Z85Text(const KeyBytes& bytes);
/// False where `text` is not the 40 characters that Z85 makes of 32 bytes.
bool FromZ85(std::string_view text, KeyBytes& bytes);

}  // namespace skerry::keys
