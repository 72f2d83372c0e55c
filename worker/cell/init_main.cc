// skerry-init: PID 1 of a cell's namespace, so that its end is the end of everything in there.
//
//   skerry-init < lifeline          started by skerry-worker, not by hand
//
// Its memory holds nothing, which is why the worker execs it instead of keeping a fork of itself here.

#include <unistd.h>

#include <cerrno>

int main() {
  char byte = 0;
  // Nobody writes; the read ends when the worker closes the other end or dies, by SIGKILL too.
  while (read(STDIN_FILENO, &byte, 1) < 0 && errno == EINTR) {
  }
  _exit(0);
}
