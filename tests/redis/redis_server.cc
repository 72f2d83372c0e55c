#include "tests/redis/redis_server.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

#include "common/fd.h"

namespace skerry::testing {
namespace {

constexpr const char* kProgram = "/usr/bin/redis-server";

/// The file is there a little before anybody listens.
bool Listens(const std::string& path) {
  const Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

bool RedisServer::IsHere() {
  return std::filesystem::exists(kProgram);
}

RedisServer::RedisServer(std::vector<std::string> args) : args_(std::move(args)) {
  Start();
}

void RedisServer::Start() {
  std::vector<std::string> argv = {kProgram, "--port",       "0",  "--unixsocket", path(),     "--save",
                                   "",       "--appendonly", "no", "--dir",        dir_.path()};
  argv.insert(argv.end(), args_.begin(), args_.end());
  server_ =
      std::make_unique<Child>(argv, ChildStreams{.stdout_path = dir_ / "log", .stderr_path = dir_ / "log"});
  using std::chrono::steady_clock;
  for (const auto end = steady_clock::now() + std::chrono::seconds(20); !Listens(path());) {
    if (!server_->IsRunning() || steady_clock::now() > end)
      throw std::runtime_error("redis-server does not come up: " + Log());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void RedisServer::Kill() {
  server_.reset();
  std::filesystem::remove(path());
}

}  // namespace skerry::testing
