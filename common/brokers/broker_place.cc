#include "common/brokers/broker_place.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "common/printable.h"

namespace skerry {
namespace {

constexpr std::string_view kIpc = "ipc://";
constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kFile = "file:";
constexpr std::string_view kBlanks = " \t\r";
// sockaddr_un's sun_path is 108 bytes with its end; names of hosts are at most 253.
constexpr std::size_t kMaxIpcPath = 107;
constexpr std::size_t kMaxHost = 253;
constexpr std::size_t kMaxPath = 4095;

std::string_view Trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool IsPort(std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port <= 65535;
}

bool IsNumeric(const std::string& host) {
  in6_addr address{};
  if (host.starts_with('[') && host.ends_with(']')) {
    return ::inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &address) == 1;
  }
  return ::inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsHostName(std::string_view host) {
  return !host.empty() && host.size() <= kMaxHost && std::all_of(host.begin(), host.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

/// Z85's alphabet.
bool IsKey(std::string_view key) {
  constexpr std::string_view kSigns = ".-:+=^!/*?&<>()[]{}@%$#";
  return key.size() == kBrokerKeyLength && std::all_of(key.begin(), key.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  kSigns.find(c) != std::string_view::npos;
         });
}

/// A comment stands at the line's beginning, or behind a blank, where a key may begin with '#', too.
std::size_t BeginOfComment(std::string_view line) {
  if (line.starts_with('#')) return 0;
  for (std::size_t at = line.find(" #"); at != std::string_view::npos; at = line.find(" #", at + 1)) {
    const std::string_view word = line.substr(at + 1);
    if (!IsKey(word.substr(0, word.find_first_of(kBlanks)))) return at;
  }
  return line.size();
}

Result<BrokerPlace> Refused(std::string_view text, const std::string& why) {
  return Fail(ErrorKind::kInvalid,
              "broker '" + WithoutControls(std::string(text.substr(0, 256))) + "' " + why);
}

Result<BrokerPlace> ParseTcp(std::string_view text, BrokerPlace place) {
  const std::string_view address = text.substr(kTcp.size());
  if (address.find_first_of(kBlanks) != std::string_view::npos) {
    return Refused(text, "has words behind its port that are no broker's public key of " +
                             std::to_string(kBrokerKeyLength) + " characters: write tcp://HOST:PORT KEY");
  }
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || !IsPort(address.substr(colon + 1)))
    return Refused(text, "has no port: write tcp://HOST:PORT");
  place.host = address.substr(0, colon);
  place.port = address.substr(colon + 1);
  if (IsNumeric(place.host)) return place;
  if (!IsHostName(place.host)) return Refused(text, "names no host: write tcp://HOST:PORT, IPv6 in brackets");
  // Digits and dots alone are an address that somebody mistyped; no name ends in a number.
  const std::size_t dot = place.host.rfind('.');
  const std::string_view last = std::string_view(place.host).substr(dot == std::string::npos ? 0 : dot + 1);
  if (std::all_of(last.begin(), last.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return Refused(text, "has an address that is none");
  place.kind = BrokerPlace::Kind::kName;
  return place;
}

}  // namespace

Result<BrokerPlace> ParseBrokerPlace(std::string_view text) {
  const std::string_view whole = Trimmed(text);
  BrokerPlace place;
  std::string_view where = whole;
  // A path may have blanks in it, a key has none: only a last word that is one counts.
  const std::size_t blank = whole.find_last_of(kBlanks);
  if (blank != std::string_view::npos && IsKey(whole.substr(blank + 1))) {
    place.key = whole.substr(blank + 1);
    where = Trimmed(whole.substr(0, blank));
  }
  place.text = where;
  if (std::any_of(where.begin(), where.end(), IsControl)) return Refused(where, "has control characters");
  if (where.starts_with(kFile)) {
    place.kind = BrokerPlace::Kind::kFile;
    place.path = where.substr(kFile.size());
    if (place.path.empty() || place.path.size() > kMaxPath) return Refused(where, "names no file");
    return place;
  }
  if (where.starts_with(kIpc)) {
    const std::size_t path = where.size() - kIpc.size();
    if (path >= 1 && path <= kMaxIpcPath) return place;
    return Refused(where, "is refused: the path after ipc:// must be 1 to 107 bytes");
  }
  if (where.starts_with(kTcp)) return ParseTcp(where, std::move(place));
  return Refused(where, "is no place: write ipc://PATH, tcp://HOST:PORT or file:PATH");
}

Status CheckBrokerPlace(std::string_view text) {
  const auto place = ParseBrokerPlace(text);
  return place ? Status() : Fail(place.error());
}

Result<std::vector<BrokerPlace>> ParseBrokerPlaces(const std::vector<std::string>& texts) {
  std::vector<BrokerPlace> places;
  std::string faults;
  for (const std::string& text : texts) {
    if (auto place = ParseBrokerPlace(text)) {
      places.push_back(std::move(*place));
    } else {
      faults += (faults.empty() ? "" : "\n") + place.error().message;
    }
  }
  if (texts.size() > kMaxBrokers) {
    faults += (faults.empty() ? "" : "\n") + std::string("broker names more than ") +
              std::to_string(kMaxBrokers) + " places";
  }
  if (!faults.empty()) return Fail(ErrorKind::kInvalid, faults);
  return places;
}

Result<std::vector<BrokerPlace>> ParseBrokerFile(std::string_view text) {
  if (text.size() > kMaxBrokerFileBytes)
    return Fail(ErrorKind::kInvalid, "is larger than " + std::to_string(kMaxBrokerFileBytes) + " bytes");
  std::vector<BrokerPlace> places;
  std::string faults;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    line = Trimmed(line.substr(0, BeginOfComment(line)));
    if (line.empty()) continue;
    auto place = ParseBrokerPlace(line);
    if (place && place->kind == BrokerPlace::Kind::kFile) place = Refused(line, "is a file inside a file");
    if (place) {
      places.push_back(std::move(*place));
    } else {
      faults +=
          (faults.empty() ? "line " : "; line ") + std::to_string(number) + ": " + place.error().message;
      if (faults.size() > 1'024) break;  // enough to know what is wrong
    }
  }
  if (!faults.empty()) return Fail(ErrorKind::kInvalid, faults);
  if (places.empty()) return Fail(ErrorKind::kInvalid, "names no broker");
  return places;
}

std::string TcpEndpoint(const std::string& address, const std::string& port) {
  const bool v6 = address.find(':') != std::string::npos;
  return "tcp://" + (v6 ? "[" + address + "]" : address) + ":" + port;
}

}  // namespace skerry
