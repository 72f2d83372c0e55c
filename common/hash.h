// SHA-256 (FIPS 180-4, by libsodium) for names of content. A target of its own: the cell does not link it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace skerry {

/// 32 raw bytes.
std::string Sha256(std::string_view bytes);
/// The same, of bytes that come a piece at a time.
class Sha256Stream {
 public:
  Sha256Stream();
  ~Sha256Stream();
  Sha256Stream(Sha256Stream&&) noexcept;
  Sha256Stream& operator=(Sha256Stream&&) noexcept;
  void Add(std::string_view bytes);
  /// 32 raw bytes; call it once, last.
  std::string Digest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};
/// Whether `hash` is that of no bytes at all: code which came empty under any other was left out.
bool IsHashOfNothing(std::string_view hash);
/// Lower-case hexadecimal of any bytes.
std::string Hex(std::string_view bytes);
/// `count` bytes from the kernel's generator as hexadecimal: for session and worker names.
std::string RandomHex(std::size_t count);

}  // namespace skerry
