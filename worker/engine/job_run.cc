#include "worker/engine/job_run.h"

#include <v8-exception.h>
#include <v8-function.h>
#include <v8-microtask-queue.h>

#include <tuple>
#include <utility>

#include "worker/engine/bindings.h"
#include "worker/engine/error_report.h"
#include "worker/engine/json_text.h"
#include "worker/engine/limit_error.h"
#include "worker/engine/program_loader.h"
#include "worker/engine/v8_text.h"
#include "worker/engine/watched_globals.h"

namespace skerry::engine {
namespace {

// Some ten times as much bytecode and feedback comes of it.
constexpr std::size_t kMostEager = std::size_t{128} << 10;

/// SplitMix64 (Steele, Lea, Flood 2014): spreads one seed over the generator's state.
std::uint32_t NextSeedWord(std::uint64_t* state) {
  *state += 0x9E3779B97F4A7C15u;
  std::uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

JobError NeverSettles() {
  JobError error =
      MakeError(Code::kRuntime,
                "the program's promise can never settle: it waits, but no host call is outstanding and "
                "nothing else is left to run");
  error.stack = error.name + ": " + error.message;
  return error;
}

JobError CodeTooLong(std::size_t bytes, std::uint64_t limit) {
  return MakeError(
      Code::kValidation,
      "code of " + std::to_string(bytes) + " bytes is over maxCodeBytes " + std::to_string(limit),
      std::string(NameOf(LimitId::kMaxCodeBytes)));
}

}  // namespace

JobRun::JobRun(v8::Local<v8::Context> context, const Intrinsics& intrinsics, const Program& program,
               JobPort& port, const KeptProgram* kept)
    : isolate_(v8::Isolate::GetCurrent()),
      context_(context),
      intrinsics_(intrinsics),
      program_(program),
      kept_(kept),
      events_(program.limits, port),
      calls_(program.limits, port),
      rejections_(events_.console_cap()) {
  isolate_->SetData(kJobRunSlot, this);
}

JobRun::~JobRun() {
  isolate_->SetData(kJobRunSlot, nullptr);
}

JobRun* JobRun::Current(v8::Isolate* isolate) {
  return static_cast<JobRun*>(isolate->GetData(kJobRunSlot));
}

void JobRun::OnPromiseReject(v8::PromiseRejectMessage message) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  JobRun* const job = Current(isolate);
  if (job != nullptr) job->rejections_.On(job->context_, message);
}

Outcome JobRun::Run() {
  Outcome outcome;
  const std::uint64_t max_code = program_.limits.Get(LimitId::kMaxCodeBytes);
  if (kept_ == nullptr && program_.code.size() > max_code) {
    outcome.error = CodeTooLong(program_.code.size(), max_code);
    return outcome;
  }
  if (auto refused = SetUpGlobals()) {
    outcome.error = std::move(refused);
    return outcome;
  }
  ValueOrError evaluated = Evaluate();
  if (auto* error = std::get_if<JobError>(&evaluated)) {
    outcome.error = std::move(*error);
  } else {
    outcome.error = Convert(std::get<v8::Local<v8::Value>>(evaluated), &outcome.value);
  }
  rejections_.Report(context_, promise_, source_, &events_);
  events_.Report(&outcome.usage);
  calls_.Report(&outcome.usage);
  outcome.usage.result_bytes = outcome.value.size();
  return outcome;
}

std::optional<Unkeepable> JobRun::Keep(Seeding seeding, KeptProgram* kept) {
  if (program_.code.size() > program_.limits.Get(LimitId::kMaxCodeBytes)) return Unkeepable::kFails;
  SeedRandom();
  WatchedGlobals watched(context_);
  watched.Watch("input", Unkeepable::kTouchesInput);
  if (program_.wasm) DefineGlobal(context_, "WebAssembly", intrinsics_.web_assembly.Get(isolate_));
  // Which of them still finds its object is up to collections, and a template has more of those than a job.
  watched.Watch("WeakRef", Unkeepable::kHoldsWeakly);
  watched.Watch("FinalizationRegistry", Unkeepable::kHoldsWeakly);

  ProgramLoader loader(context_, intrinsics_, &source_);
  // A function that is compiled at its first call is compiled in every fork. Of large programs most are never
  // called, and what V8 makes of them would count in memoryMb.
  const auto when = program_.code.size() <= kMostEager ? ProgramLoader::CompileOptions::kEagerCompile
                                                       : ProgramLoader::CompileOptions::kNoCompileOptions;
  if (loader.Compile(program_.mode, program_.code, when)) return Unkeepable::kFails;
  if (program_.mode == Mode::kModule) {
    ProgramLoader::Started started = loader.Start();
    const auto* const promise = std::get_if<v8::Local<v8::Promise>>(&started);
    if (promise != nullptr) context_->GetMicrotaskQueue()->PerformCheckpoint(isolate_);
    if (auto touched = watched.Touched()) return touched;
    if (promise == nullptr || (*promise)->State() == v8::Promise::kRejected) return Unkeepable::kFails;
    if ((*promise)->State() == v8::Promise::kPending) return Unkeepable::kNeverSettles;
    if (rejections_.AnyLeft(isolate_)) return Unkeepable::kLeavesRejection;
    v8::Local<v8::Value> drawn;
    const bool asked = intrinsics_.random_drawn.Get(isolate_)
                           ->Call(context_, v8::Undefined(isolate_), 0, nullptr)
                           .ToLocal(&drawn);
    if (seeding == Seeding::kPerRun && (!asked || drawn->IsTrue())) return Unkeepable::kDrawsRandom;
  }
  loader.Keep(kept);
  kept->mode = program_.mode;
  kept->seeding = seeding;
  return watched.Touched();
}

std::optional<JobError> JobRun::SetUpGlobals() {
  v8::TryCatch caught(isolate_);
  if (kept_ == nullptr || kept_->seeding == Seeding::kPerRun) SeedRandom();

  v8::Local<v8::Value> input = v8::Undefined(isolate_);
  if (!program_.input.empty() && !ParseJson(context_, program_.input).ToLocal(&input)) {
    return MakeError(Code::kValidation, "input is not valid JSON: " + Headline(context_, caught.Exception()));
  }
  DefineGlobal(context_, "input", input);
  if (program_.wasm && kept_ == nullptr)
    DefineGlobal(context_, "WebAssembly", intrinsics_.web_assembly.Get(isolate_));
  return std::nullopt;
}

void JobRun::SeedRandom() {
  std::uint64_t state = program_.seed;
  v8::Local<v8::Value> words[3];
  for (auto& word : words) word = v8::Integer::New(isolate_, static_cast<std::int32_t>(NextSeedWord(&state)));
  std::ignore = intrinsics_.seed_random.Get(isolate_)->Call(context_, v8::Undefined(isolate_), 3, words);
}

JobRun::ValueOrError JobRun::Evaluate() {
  ProgramLoader loader(context_, intrinsics_, &source_);
  if (kept_ != nullptr) {
    loader.Resume(*kept_);
  } else if (auto refused = loader.Compile(program_.mode, program_.code)) {
    return std::move(*refused);
  }
  ProgramLoader::Started started = loader.Start();
  if (auto* error = std::get_if<JobError>(&started)) return std::move(*error);
  ValueOrError settled = Settle(std::get<v8::Local<v8::Promise>>(started));
  const Mode mode = kept_ == nullptr ? program_.mode : kept_->mode;
  if (mode != Mode::kModule || std::holds_alternative<JobError>(settled)) return settled;

  v8::Local<v8::Value> input;
  if (!context_->Global()->Get(context_, Literal(isolate_, "input")).ToLocal(&input)) {
    input = v8::Undefined(isolate_);
  }
  started = loader.Export(input);
  if (auto* error = std::get_if<JobError>(&started)) return std::move(*error);
  return Settle(std::get<v8::Local<v8::Promise>>(started));
}

JobRun::ValueOrError JobRun::Settle(v8::Local<v8::Promise> promise) {
  promise_ = promise;
  while (true) {
    {
      v8::HandleScope scope(isolate_);
      context_->GetMicrotaskQueue()->PerformCheckpoint(isolate_);
    }
    // The state is read directly: `then` is the program's to patch.
    if (promise->State() != v8::Promise::kPending) break;
    if (!calls_.AnyOutstanding()) return NeverSettles();
    calls_.AwaitOne(context_);
  }
  if (promise->State() == v8::Promise::kRejected) return Uncaught(promise->Result());
  return promise->Result();
}

JobError JobRun::Uncaught(v8::Local<v8::Value> exception) const {
  JobError error = DescribeUncaught(context_, exception, {}, Code::kRuntime, source_);
  const std::optional<LimitId> limit = LimitOf(context_, exception);
  if (!limit) return error;
  error.code = Code::kLimit;
  error.fault = Fault::kLimit;
  error.limit = NameOf(*limit);
  error.name = SandboxErrorName(Code::kLimit);
  return error;
}

std::optional<JobError> JobRun::Convert(v8::Local<v8::Value> value, std::string* text) const {
  v8::TryCatch caught(isolate_);
  v8::Local<v8::String> json;
  if (!ToJsonString(context_, value).ToLocal(&json)) {
    JobError error = MakeError(Code::kValidation, "");
    error.fault = Fault::kProgram;
    error.message = "converting the value to JSON threw";
    if (caught.HasCaught()) error.message += " " + Headline(context_, caught.Exception());
    return error;
  }
  const std::uint64_t bytes = json->Utf8LengthV2(isolate_);
  const std::uint64_t max_bytes = program_.limits.Get(LimitId::kMaxResultBytes);
  if (bytes > max_bytes) {
    JobError error = MakeError(Code::kValidation,
                               "a value of " + std::to_string(bytes) +
                                   " bytes of JSON is over maxResultBytes " + std::to_string(max_bytes),
                               std::string(NameOf(LimitId::kMaxResultBytes)));
    error.fault = Fault::kLimit;
    return error;
  }
  *text = ToUtf8(isolate_, json);
  return std::nullopt;
}

}  // namespace skerry::engine
