#include "tests/redis/redis_server.h"

#include <filesystem>
#include <stdexcept>
#include <thread>
#include <utility>

namespace skerry::testing {
namespace {

constexpr const char* kProgram = "/usr/bin/redis-server";

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
  for (const auto end = steady_clock::now() + std::chrono::seconds(20); !std::filesystem::exists(path());) {
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
