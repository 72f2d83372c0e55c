#include "clients/cli/doctor/redis_ping.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "clients/cli/doctor/try_connect.h"
#include "common/printable.h"

namespace skerry::cli::doctor {
namespace {

// "+OK", "+PONG" or an error's line; what says more is no Redis.
constexpr std::size_t kMaxReply = 1024;

std::string CommandOf(const std::vector<std::string>& words) {
  std::string command = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) command += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return command;
}

/// One line of its answer.
Result<std::string> ReadLine(int socket_of, TimePoint until) {
  std::string line;
  while (!line.ends_with("\r\n") && line.size() < kMaxReply) {
    const auto left = std::chrono::ceil<Millis>(until - SteadyClock::now());
    pollfd readable{socket_of, POLLIN, 0};
    if (left <= Millis(0) || poll(&readable, 1, static_cast<int>(left.count())) == 0)
      return Fail(ErrorKind::kUnavailable, "does not answer in time");
    char sign = 0;
    const ssize_t got = recv(socket_of, &sign, 1, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return Fail(ErrorKind::kUnavailable, "hangs up");
    line += sign;
  }
  return WithoutControls(line.substr(0, line.find('\r')));
}

Status Say(int socket_of, const std::vector<std::string>& words, std::string_view wanted, TimePoint until) {
  const std::string command = CommandOf(words);
  if (send(socket_of, command.data(), command.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(command.size()))
    return Fail(ErrorKind::kUnavailable, "takes no command");
  const auto answer = ReadLine(socket_of, until);
  if (!answer) return Fail(answer.error());
  if (*answer == wanted) return {};
  return Fail(ErrorKind::kUnavailable,
              answer->starts_with('-') ? "says " + answer->substr(1) : "answers what no Redis does");
}

}  // namespace

Status PingRedis(const std::string& endpoint, const RedisLogin& login, Millis patience) {
  const TimePoint until = SteadyClock::now() + patience;
  const auto connected = ConnectTo(endpoint, until);
  if (!connected) return Fail(connected.error());
  if (!login.password.empty()) {
    std::vector<std::string> words = {"AUTH", login.password};
    if (!login.user.empty()) words.insert(words.begin() + 1, login.user);
    if (auto let_in = Say(connected->get(), words, "+OK", until); !let_in) return let_in;
  }
  return Say(connected->get(), {"PING"}, "+PONG", until);
}

}  // namespace skerry::cli::doctor
