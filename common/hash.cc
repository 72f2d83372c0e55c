#include "common/hash.h"

#include <sodium.h>

namespace skerry {

std::string Sha256(std::string_view bytes) {
  std::string digest(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(digest.data()),
                     reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return digest;
}

struct Sha256Stream::State {
  crypto_hash_sha256_state sodium;
};

Sha256Stream::Sha256Stream() : state_(std::make_unique<State>()) {
  crypto_hash_sha256_init(&state_->sodium);
}
Sha256Stream::~Sha256Stream() = default;
Sha256Stream::Sha256Stream(Sha256Stream&&) noexcept = default;
Sha256Stream& Sha256Stream::operator=(Sha256Stream&&) noexcept = default;

void Sha256Stream::Add(std::string_view bytes) {
  crypto_hash_sha256_update(&state_->sodium, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
}

std::string Sha256Stream::Digest() {
  std::string digest(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256_final(&state_->sodium, reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

bool IsHashOfNothing(std::string_view hash) {
  static const std::string kOfNothing = Sha256("");
  return hash == kOfNothing;
}

std::string Hex(std::string_view bytes) {
  std::string text(bytes.size() * 2 + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()),
                 bytes.size());
  text.pop_back();
  return text;
}

std::string RandomHex(std::size_t count) {
  std::string bytes(count, '\0');
  randombytes_buf(bytes.data(), bytes.size());
  return Hex(bytes);
}

}  // namespace skerry
