// dataProxy.request: the job's calls to its client, with their three limits.
//
// What counts: a call is counted when it is sent. One that is refused before (a method that is no string,
// params that do not convert or are over maxParamsBytes, a call past maxDataRequests) rejects and is not
// counted, so usage.dataRequests never exceeds the limit. Bytes are those of the answers delivered, values
// and error messages.
//
// Threads: V8's. Ownership: holds the resolvers of calls that wait for their answer.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-persistent-handle.h>
#include <v8-promise.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "common/limits.h"
#include "common/outcome.h"
#include "worker/engine/job_port.h"
#include "worker/engine/limit_reporter.h"

namespace skerry::engine {

class HostCalls {
 public:
  HostCalls(const Limits& limits, JobPort& port);

  /// The promise of the answer. Empty: an exception is pending (V8 could not even make a promise).
  v8::MaybeLocal<v8::Promise> Request(v8::Local<v8::Context> context, v8::Local<v8::Value> method,
                                      v8::Local<v8::Value> params);

  bool AnyOutstanding() const { return !waiting_.empty(); }
  /// Waits for one answer and settles its promise. An answer to no call that waits is ignored.
  void AwaitOne(v8::Local<v8::Context> context);

  void Report(Usage* usage) const;

 private:
  /// Sends the call, or gives the value it must reject with.
  v8::MaybeLocal<v8::Value> Send(v8::Local<v8::Context> context, v8::Local<v8::Promise::Resolver> resolver,
                                 v8::Local<v8::Value> method, v8::Local<v8::Value> params);
  v8::MaybeLocal<v8::Value> RefuseRequest(v8::Local<v8::Context> context);
  v8::MaybeLocal<v8::Value> RefuseAnswer(v8::Local<v8::Context> context) const;

  JobPort& port_;
  LimitReporter limits_;
  const std::uint64_t max_requests_;
  const std::uint64_t max_data_bytes_;
  const std::uint64_t max_params_bytes_;
  std::uint32_t requests_ = 0;
  std::uint64_t data_bytes_ = 0;
  std::unordered_map<std::uint32_t, v8::Global<v8::Promise::Resolver>> waiting_;
};

}  // namespace skerry::engine
