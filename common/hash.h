// SHA-256 (FIPS 180-4, by libsodium) for names of content. A target of its own: the cell does not link it.
#pragma once

#include <string>
#include <string_view>

namespace skerry {

/// 32 raw bytes.
std::string Sha256(std::string_view bytes);
/// Lower-case hexadecimal of any bytes.
std::string Hex(std::string_view bytes);
/// `count` bytes from the kernel's generator as hexadecimal: for session and worker names.
std::string RandomHex(std::size_t count);

}  // namespace skerry
