// skerry-deny: runs a program from which some system calls are kept, as a container's default profile does.
// For tests.
//
//   skerry-deny CALL[,CALL...] PROGRAM ARGS...       each CALL fails with EPERM, clone3 with ENOSYS
#include <seccomp.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <sstream>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: skerry-deny CALL[,CALL...] PROGRAM ARGS...\n", stderr);
    return 2;
  }
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  std::istringstream calls(argv[1]);
  for (std::string call; std::getline(calls, call, ',');) {
    const int number = seccomp_syscall_resolve_name(call.c_str());
    const int error = call == "clone3" ? ENOSYS : EPERM;
    if (seccomp_rule_add(filter, SCMP_ACT_ERRNO(static_cast<std::uint16_t>(error)), number, 0) != 0) {
      std::fprintf(stderr, "skerry-deny: no such call: %s\n", call.c_str());
      return 2;
    }
  }
  if (seccomp_load(filter) != 0) return 2;
  execv(argv[2], argv + 2);
  std::perror("skerry-deny");
  return 127;
}
