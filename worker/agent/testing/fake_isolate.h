// What a forked test child does in place of an isolate: reads one DISPATCH from its socket and plays the
// script that is the job's code. One command a line; behind the last the child exits with 0, or says that it
// is ready for the next job where this one asked for `reuse: "context"`.
//
//   event TEXT | event-not-utf8
//   status JSON | raw-status TEXT | dropped N | call METHOD PARAMS (and awaits the answer) |
//   call-only METHOD PARAMS | ok VALUE | echo (the last answer as value) | input | attempt | seed |
//   final CODE FAULT LIMIT|- | big BYTES (a result of that size) |
//   exit N | signal N | hang | spin | sleep MS | flood | alloc MB (touched) | cannot-map MB | close |
//   partial | garbage | oversized | unknown-message | headerless
//   on-attempt N COMMAND (only in that attempt) | on-job N COMMAND (only in the Nth job of this isolate) |
//   jobs (how many it has run, as value)
//
// Threads: the child's only one. Ownership: never returns. Errors: a bug in a script exits with 99.
#pragma once

namespace skerry::agent {

[[noreturn]] void PlayIsolate(int socket);

}  // namespace skerry::agent
