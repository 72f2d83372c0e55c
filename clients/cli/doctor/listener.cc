#include "clients/cli/doctor/listener.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <vector>

namespace skerry::cli::doctor {
namespace {

std::vector<std::string> Words(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

/// The inode of a UNIX socket that listens at `path`: Num RefCount Protocol Flags Type St Inode Path.
std::string UnixInode(Machine& machine, const std::string& path) {
  constexpr const char* kAcceptsConnections = "00010000";
  std::istringstream table(machine.ReadFile("/proc/net/unix").value_or(""));
  for (std::string line; std::getline(table, line);) {
    const auto words = Words(line);
    if (words.size() >= 8 && words[3] == kAcceptsConnections && line.ends_with(" " + path)) return words[6];
  }
  return {};
}

/// The inode of a TCP socket that listens at `port`, on whatever address: sl local rem st … inode is the
/// tenth.
std::string TcpInode(Machine& machine, unsigned port) {
  constexpr const char* kListens = "0A";
  char wanted[8];
  std::snprintf(wanted, sizeof wanted, ":%04X", port);
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream table(machine.ReadFile(path).value_or(""));
    for (std::string line; std::getline(table, line);) {
      const auto words = Words(line);
      if (words.size() >= 10 && words[1].ends_with(wanted) && words[3] == kListens) return words[9];
    }
  }
  return {};
}

Listener OwnerOf(Machine& machine, const std::string& inode) {
  const std::string wanted = "socket:[" + inode + "]";
  for (const std::string& pid : machine.ListFolder("/proc")) {
    if (!std::all_of(pid.begin(), pid.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    const std::string folder = "/proc/" + pid + "/fd";
    for (const std::string& fd : machine.ListFolder(folder)) {
      if (machine.ReadLink(folder + "/" + fd) != wanted) continue;
      return {Word(machine, "/proc/" + pid + "/comm").value_or(""), pid};
    }
  }
  return {};
}

}  // namespace

std::optional<Listener> ListenerOn(Machine& machine, const std::string& endpoint) {
  constexpr std::string_view kIpc = "ipc://";
  std::string inode;
  if (endpoint.starts_with(kIpc)) {
    inode = UnixInode(machine, endpoint.substr(kIpc.size()));
  } else {
    unsigned port = 0;
    const char* begin = endpoint.data() + endpoint.rfind(':') + 1;
    std::from_chars(begin, endpoint.data() + endpoint.size(), port);
    if (port > 0 && port < 65'536) inode = TcpInode(machine, port);
  }
  if (inode.empty()) return std::nullopt;
  return OwnerOf(machine, inode);
}

}  // namespace skerry::cli::doctor
