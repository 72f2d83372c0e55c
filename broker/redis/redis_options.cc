#include "broker/redis/redis_options.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "common/fd.h"

namespace skerry::broker {
namespace {

// sockaddr_un's sun_path is 108 bytes with its end.
constexpr std::size_t kMaxPath = 107;
constexpr std::size_t kMaxHost = 255;
constexpr std::size_t kMaxPrefix = 64;
constexpr std::size_t kMaxPassword = 512;
constexpr int kMaxDatabase = 65'535;

std::optional<int> NumberOf(std::string_view text, int least, int most) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    return std::nullopt;
  return number;
}

bool IsHost(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':';
  };
  return !text.empty() && text.size() <= kMaxHost && std::all_of(text.begin(), text.end(), fits);
}

auto Wrong() {
  return Fail(
      ErrorKind::kInvalid,
      "must be /PATH of a socket (at most 107 bytes), HOST:PORT or HOST:PORT/DATABASE, without user and "
      "password");
}

Status CheckFile(int fd, const std::string& path) {
  struct stat about {};
  const auto refused = [&](const std::string& why) {
    return Fail(ErrorKind::kInvalid, "redis_password_file " + path + " " + why);
  };
  if (fd < 0 || fstat(fd, &about) != 0) return refused("cannot be read");
  if (!S_ISREG(about.st_mode)) return refused("is not a regular file");
  if (about.st_uid != 0 && about.st_uid != geteuid()) return refused("belongs to another user");
  if ((about.st_mode & 077) != 0) return refused("can be read by others: chmod 600");
  return {};
}

}  // namespace

Result<RedisAddress> ParseAddress(std::string_view text) {
  RedisAddress address;
  if (text.starts_with('/')) {
    if (text.size() > kMaxPath || text.find('\0') != std::string_view::npos) return Wrong();
    address.path = text;
    return address;
  }
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const auto database = NumberOf(text.substr(slash + 1), 0, kMaxDatabase);
    if (!database) return Wrong();
    address.database = *database;
    text = text.substr(0, slash);
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return Wrong();
  const auto port = NumberOf(text.substr(colon + 1), 1, 65'535);
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || !IsHost(host) || bracketed != (host.find(':') != std::string_view::npos)) return Wrong();
  address.host = host;
  address.port = *port;
  return address;
}

Status CheckAddress(std::string_view text) {
  if (text.empty()) return {};
  if (const auto address = ParseAddress(text); !address) return Fail(address.error());
  return {};
}

Status CheckPrefix(std::string_view text) {
  const auto fits = [](char c) { return c > ' ' && c < 0x7f && c != '{' && c != '}'; };
  if (!text.empty() && text.size() <= kMaxPrefix && std::all_of(text.begin(), text.end(), fits)) return {};
  return Fail(ErrorKind::kInvalid, "must be 1 to 64 printable ASCII characters without blanks and braces");
}

Result<std::string> ReadPassword(const RedisOptions& options) {
  std::string password;
  if (options.password_file.empty()) {
    const char* given = std::getenv(kPasswordVariable);
    password = given == nullptr ? "" : given;
    if (password.size() <= kMaxPassword) return password;
    return Fail(ErrorKind::kInvalid, std::string(kPasswordVariable) + " must be at most 512 bytes");
  }
  // Without O_NONBLOCK a pipe of that name would be waited for.
  const Fd file(open(options.password_file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (auto fine = CheckFile(file.get(), options.password_file); !fine) return Fail(fine.error());
  std::array<char, kMaxPassword + 2> bytes{};  // one for the line's end, one to see that it is too long
  const ssize_t size = read(file.get(), bytes.data(), bytes.size());
  if (size > 0) password.assign(bytes.data(), static_cast<std::size_t>(size));
  if (password.ends_with('\n')) password.pop_back();
  if (!password.empty() && password.size() <= kMaxPassword) return password;
  return Fail(ErrorKind::kInvalid,
              "redis_password_file " + options.password_file + " must hold a password of 1 to 512 bytes");
}

}  // namespace skerry::broker
