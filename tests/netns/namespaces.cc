#include "tests/netns/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "tests/support/child.h"
#include "tests/support/places.h"

namespace skerry::testing {
namespace {

using std::chrono::milliseconds;

constexpr const char* kFolder = "/run/netns";  // iproute2's own
constexpr std::string_view kPrefix = "skerry-";
constexpr const char* kHub = "hub";
constexpr milliseconds kPatience{20'000};

struct Said {
  int code;
  std::string words;
};

/// `words` separated by single blanks.
Said Say(const std::string& words) {
  std::vector<std::string> argv = {"/usr/bin/env"};
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(' ', at), words.size());
    argv.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  const TempDir dir;
  const auto out = dir / "out";
  Child child(argv, {.stdout_path = out, .stderr_path = out});
  const auto code = child.Wait(kPatience);
  return {code.value_or(-1), ReadFile(out)};
}

void Must(const std::string& words) {
  const Said said = Say(words);
  if (said.code != 0) throw std::runtime_error("`" + words + "` failed: " + said.words);
}

/// Of `skerry-PID-node`; 0: another's.
pid_t OwnerOf(const std::string& name) {
  if (!name.starts_with(kPrefix)) return 0;
  char* end = nullptr;
  const long pid = std::strtol(name.c_str() + kPrefix.size(), &end, 10);
  return *end == '-' && pid > 0 ? static_cast<pid_t>(pid) : 0;
}

void EnterNamespace(const Fd& fd) {
  if (!fd.valid() || setns(fd.get(), CLONE_NEWNET) != 0)
    throw std::system_error(errno, std::generic_category(), "entering a network namespace");
}

Fd OpenNamespace(const std::string& path) {
  return Fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

std::optional<std::string> Network::Missing() {
  if (geteuid() != 0) return "network namespaces need root";
  if (Say("ip -V").code != 0) return "there is no `ip` (Debian: iproute2)";
  const std::string name = std::string(kPrefix) + std::to_string(getpid()) + "-try";
  const Said added = Say("ip netns add " + name);
  if (added.code != 0) return "no network namespace can be made here: " + added.words;
  const Said linked = Say("ip -n " + name + " link add name one type veth peer name other");
  const Said bridged = Say("ip -n " + name + " link add name bridge type bridge");
  Say("ip netns del " + name);
  if (linked.code != 0) return "this kernel has no veth: " + linked.words;
  if (bridged.code != 0) return "this kernel has no bridge: " + bridged.words;
  return std::nullopt;
}

int Network::RemoveStale() {
  int removed = 0;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder, none)) {
    const std::string name = entry.path().filename();
    const pid_t owner = OwnerOf(name);
    if (owner == 0 || kill(owner, 0) == 0 || errno != ESRCH) continue;
    removed += Say("ip netns del " + name).code == 0 ? 1 : 0;
  }
  return removed;
}

Network::Network(const std::vector<std::string>& nodes)
    : prefix_(std::string(kPrefix) + std::to_string(getpid()) + "-") {
  RemoveStale();
  try {
    Must("ip netns add " + NameOf(kHub));
    Must("ip -n " + NameOf(kHub) + " link add name br0 type bridge");
    Must("ip -n " + NameOf(kHub) + " link set br0 up");
    for (const std::string& node : nodes) AddNode(node);
    const std::string try_netem = "tc -n " + NameOf(kHub) + " qdisc add dev br0 root netem delay 1ms";
    has_netem_ = Say(try_netem).code == 0;
    if (has_netem_) Must("tc -n " + NameOf(kHub) + " qdisc del dev br0 root");
  } catch (...) {
    RemoveAll();
    throw;
  }
}

Network::~Network() {
  RemoveAll();
}

void Network::RemoveAll() {
  // What a namespace holds goes with it.
  for (auto& [node, state] : nodes_) {
    state.wire.reset();
    Say("ip netns del " + NameOf(node));
  }
  Say("ip netns del " + NameOf(kHub));
}

std::string Network::NameOf(const std::string& node) const {
  return prefix_ + node;
}

void Network::AddNode(const std::string& node) {
  Node& state = nodes_[node];
  state.number = static_cast<int>(nodes_.size());
  state.port = "p" + std::to_string(state.number);
  const std::string inside = "ip -n " + NameOf(node);
  const std::string hub = "ip -n " + NameOf(kHub);
  Must("ip netns add " + NameOf(node));
  Must(hub + " link add name " + state.port + " type veth peer name eth0 netns " + NameOf(node));
  Must(hub + " link set " + state.port + " master br0 up");
  Must(inside + " link set lo up");
  Must(inside + " addr add " + AddressOf(node) + "/24 dev eth0");
  Must(inside + " link set eth0 up");
}

std::string Network::AddressOf(const std::string& node) const {
  return "10.77.0." + std::to_string(nodes_.at(node).number + 1);
}

std::vector<std::string> Network::Inside(const std::string& node,
                                         const std::vector<std::string>& argv) const {
  // nsenter becomes the program: the pid is the program's, and what its parent's death means stays with it.
  std::vector<std::string> line = {"/usr/bin/nsenter", "--net=" + std::string(kFolder) + "/" + NameOf(node)};
  line.insert(line.end(), argv.begin(), argv.end());
  return line;
}

void Network::Cut(const std::string& node) {
  Must("ip -n " + NameOf(kHub) + " link set " + At(node).port + " down");
}

void Network::Silence(const std::string& node) {
  Must("ip -n " + NameOf(kHub) + " link set " + At(node).port + " nomaster");
}

void Network::Degrade(const std::string& node, milliseconds delay, unsigned lost_per_mille) {
  Node& state = At(node);
  const std::string hub = NameOf(kHub);
  if (has_netem_) {
    const std::string how = " root netem delay " + std::to_string(delay.count()) + "ms loss " +
                            std::to_string(lost_per_mille / 10) + "." + std::to_string(lost_per_mille % 10) +
                            "%";
    Must("tc -n " + hub + " qdisc replace dev " + state.port + how);
    Must("tc -n " + NameOf(node) + " qdisc replace dev eth0" + how);
    return;
  }
  // The port leaves the bridge, and the wire takes its packets to and from another that is in it.
  const std::string in = state.port + "i";
  const std::string out = state.port + "o";
  Must("ip -n " + hub + " link set " + state.port + " nomaster");
  Must("ip -n " + hub + " link add name " + in + " type veth peer name " + out);
  Must("ip -n " + hub + " link set " + in + " up");
  Must("ip -n " + hub + " link set " + out + " master br0 up");
  const Fd home = OpenNamespace("/proc/thread-self/ns/net");
  EnterNamespace(OpenNamespace(std::string(kFolder) + "/" + hub));
  state.wire = std::make_unique<SlowWire>(
      state.port, in, WireManners{delay, lost_per_mille, static_cast<std::uint64_t>(state.number)});
  EnterNamespace(home);
}

void Network::Heal(const std::string& node) {
  Node& state = At(node);
  const std::string hub = NameOf(kHub);
  if (has_netem_) {
    Say("tc -n " + hub + " qdisc del dev " + state.port + " root");
    Say("tc -n " + NameOf(node) + " qdisc del dev eth0 root");
  }
  if (state.wire) {
    state.wire.reset();
    Must("ip -n " + hub + " link del " + state.port + "i");
  }
  Must("ip -n " + hub + " link set " + state.port + " master br0 up");
}

Network::Visit::Visit(const Network& network, const std::string& node)
    : home_(OpenNamespace("/proc/thread-self/ns/net")) {
  EnterNamespace(OpenNamespace(std::string(kFolder) + "/" + network.NameOf(node)));
}

Network::Visit::~Visit() {
  if (setns(home_.get(), CLONE_NEWNET) != 0)
    std::abort();  // this thread would do what it should not, where not
}

}  // namespace skerry::testing
