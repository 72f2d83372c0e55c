#include "worker/engine/template.h"

#include <v8-exception.h>
#include <v8-function.h>
#include <v8-primitive.h>
#include <v8-profiler.h>
#include <v8-promise.h>
#include <v8-script.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "worker/engine/bindings.h"
#include "worker/engine/host/memory_guard.h"
#include "worker/engine/job_run.h"
#include "worker/engine/prelude.h"
#include "worker/engine/stack_text.h"
#include "worker/engine/v8_text.h"
#include "worker/engine/warming_port.h"

namespace skerry::engine {
namespace {

// The young generation cannot be resized after the fork, so it must suit the smallest job: with V8's 16 MiB
// semi-spaces a job of 8 MiB peaks far over its budget. 1 MiB costs a 20 ms compute job nothing that could be
// measured.
constexpr std::size_t kSemiSpaceBytes = 1u << 20;
// V8 counts three semi-spaces as the young generation.
constexpr std::size_t kYoungGenerationBytes = 3 * kSemiSpaceBytes;
// The first full collection happens no later than this: without it a job fills its whole budget with garbage
// first, and with what garbage keeps outside the heap (half a million dead internalised strings hold 16 MiB
// of string table).
constexpr std::size_t kInitialOldGenerationBytes = 16u << 20;

/// What the snapshot keeps beside the context, in the order of AddData.
enum Kept : std::size_t {
  kAsyncFunction,
  kSettle,
  kSeedRandom,
  kRandomDrawn,
  kError,
  kErrorToString,
  kKeptCount
};

v8::MaybeLocal<v8::Value> RunPrelude(v8::Local<v8::Context> context, std::string_view code) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::ScriptOrigin origin(Literal(isolate, "prelude"));
  v8::ScriptCompiler::Source source(Literal(isolate, code), origin);
  v8::Local<v8::Script> script;
  // Eagerly, so that no fork compiles the prelude's functions.
  if (!v8::ScriptCompiler::Compile(context, &source, v8::ScriptCompiler::kEagerCompile).ToLocal(&script))
    return {};
  return script->Run(context);
}

bool KeepIntrinsics(v8::SnapshotCreator* creator, v8::Local<v8::Context> context) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::Value> environment;
  v8::Local<v8::Value> random;
  if (!RunPrelude(context, prelude::kEnvironment).ToLocal(&environment) ||
      !RunPrelude(context, prelude::kRandom).ToLocal(&random)) {
    return false;
  }
  const auto member = [&](v8::Local<v8::Value> bundle, std::string_view name) {
    // Our own object literals.
    return bundle.As<v8::Object>()->Get(context, Literal(isolate, name)).ToLocalChecked();
  };
  creator->AddData(context, member(environment, "asyncFunction"));
  creator->AddData(context, member(environment, "settle"));
  creator->AddData(context, member(random, "seed"));
  creator->AddData(context, member(random, "drawn"));
  creator->AddData(context, member(environment, "error"));
  creator->AddData(context, member(environment, "errorToString"));
  return true;
}

v8::MaybeLocal<v8::Promise> RefuseDynamicImport(v8::Local<v8::Context> context,
                                                v8::Local<v8::Data> /*options*/,
                                                v8::Local<v8::Value> /*referrer*/,
                                                v8::Local<v8::String> /*specifier*/,
                                                v8::Local<v8::FixedArray> /*attributes*/) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::Promise::Resolver> resolver;
  if (!v8::Promise::Resolver::New(context).ToLocal(&resolver)) return {};
  const auto error = v8::Exception::TypeError(Literal(isolate, "import() is not available"));
  if (resolver->Reject(context, error).IsNothing()) return {};
  return resolver->GetPromise();
}

class NoObject : public v8::QueryObjectPredicate {
 public:
  bool Filter(v8::Local<v8::Object> /*object*/) override { return false; }
};

void OnV8OutOfMemory(const char* /*location*/, const v8::OOMDetails& /*details*/) {
  MemoryGuard::OutOfMemory();
}

}  // namespace

Result<v8::StartupData> Template::MakeSnapshot() {
  v8::Isolate::CreateParams params;
  const std::unique_ptr<v8::ArrayBuffer::Allocator> allocator(
      v8::ArrayBuffer::Allocator::NewDefaultAllocator());
  params.array_buffer_allocator = allocator.get();
  v8::SnapshotCreator creator(params);
  v8::Isolate* const isolate = creator.GetIsolate();
  {
    v8::HandleScope scope(isolate);
    creator.SetDefaultContext(v8::Context::New(isolate));
    const v8::Local<v8::Context> context = v8::Context::New(isolate);
    v8::Context::Scope entered(context);
    v8::TryCatch caught(isolate);
    if (!KeepIntrinsics(&creator, context)) {
      const std::string why =
          caught.HasCaught() ? ToUtf8(isolate, caught.Message()->Get()) : "no reason given";
      return Fail(ErrorKind::kInternal, "the engine's prelude fails: " + why);
    }
    creator.AddContext(context);
  }
  const v8::StartupData blob = creator.CreateBlob(v8::SnapshotCreator::FunctionCodeHandling::kKeep);
  if (blob.data == nullptr) return Fail(ErrorKind::kInternal, "V8 cannot make a startup snapshot");
  return blob;
}

Result<std::unique_ptr<Template>> Template::Make(const EngineOptions& options) {
  const Result<v8::StartupData> snapshot = MakeSnapshot();
  if (!snapshot) return Fail(snapshot.error());
  auto made = std::make_unique<Template>();
  if (auto isolate = made->MakeIsolate(options, *snapshot); !isolate) return Fail(isolate.error());
  v8::HandleScope scope(made->isolate_);
  if (auto warmed = made->Warm(); !warmed) return Fail(warmed.error());
  if (auto context = made->MakeJobContext(); !context) return Fail(context.error());
  made->Compact();
  return made;
}

Result<std::unique_ptr<Template>> Template::MakeCold(const EngineOptions& options, v8::StartupData snapshot) {
  auto made = std::make_unique<Template>();
  if (auto isolate = made->MakeIsolate(options, snapshot); !isolate) return Fail(isolate.error());
  v8::HandleScope scope(made->isolate_);
  if (auto context = made->MakeJobContext(); !context) return Fail(context.error());
  return made;
}

void Template::Dispose() {
  DropContext();
  isolate_->Exit();
  isolate_->Dispose();
  isolate_ = nullptr;
}

Status Template::MakeIsolate(const EngineOptions& options, v8::StartupData snapshot) {
  snapshot_ = snapshot;

  v8::Isolate::CreateParams params;
  params.array_buffer_allocator = &budget_;
  params.snapshot_blob = &snapshot_;
  params.allow_atomics_wait = false;
  const std::size_t max_heap = Bytes::MiB(options.max_memory_mb).count();
  params.constraints.set_max_young_generation_size_in_bytes(kYoungGenerationBytes);
  params.constraints.set_max_old_generation_size_in_bytes(max_heap);
  params.constraints.set_initial_old_generation_size_in_bytes(std::min(max_heap, kInitialOldGenerationBytes));
  isolate_ = v8::Isolate::New(params);
  if (isolate_ == nullptr) return Fail(ErrorKind::kInternal, "V8 cannot make an isolate from the snapshot");

  isolate_->Enter();  // and never exited: a fork goes on inside it
  isolate_->SetMicrotasksPolicy(v8::MicrotasksPolicy::kExplicit);
  isolate_->SetOOMErrorHandler(OnV8OutOfMemory);
  isolate_->SetPromiseRejectCallback(JobRun::OnPromiseReject);
  isolate_->SetPrepareStackTraceCallback(PrepareStackTrace);
  isolate_->SetHostImportModuleDynamicallyCallback(RefuseDynamicImport);
  isolate_->SetCaptureStackTraceForUncaughtExceptions(true, 10, v8::StackTrace::kDetailed);
  budget_.Attach(isolate_);
  return {};
}

Status Template::MakeJobContext() {
  microtasks_ = v8::MicrotaskQueue::New(isolate_, v8::MicrotasksPolicy::kExplicit);
  auto context = MakeContext(&intrinsics_, microtasks_.get());
  if (!context) return Fail(context.error());
  context_.Reset(isolate_, *context);
  return {};
}

void Template::DropContext() {
  {
    v8::HandleScope scope(isolate_);
    context()->DetachGlobal();  // what it still refers to of its queue goes with this
  }
  intrinsics_ = {};
  context_.Reset();
  microtasks_.reset();
}

Status Template::Renew() {
  DropContext();
  budget_.CollectLeftovers();
  v8::HandleScope scope(isolate_);
  return MakeJobContext();
}

Result<v8::Local<v8::Context>> Template::MakeContext(Intrinsics* intrinsics, v8::MicrotaskQueue* microtasks) {
  v8::EscapableHandleScope scope(isolate_);
  v8::Local<v8::Context> context;
  if (!v8::Context::FromSnapshot(isolate_, 0, {}, nullptr, {}, microtasks).ToLocal(&context)) {
    return Fail(ErrorKind::kInternal, "V8 cannot make a context from the snapshot");
  }
  v8::Context::Scope entered(context);
  const auto kept = [&]<class T>(Kept index, v8::Global<T>* global) {
    v8::Local<T> value;
    if (context->GetDataFromSnapshotOnce<T>(index).ToLocal(&value)) global->Reset(isolate_, value);
  };
  kept(kAsyncFunction, &intrinsics->async_function);
  kept(kSettle, &intrinsics->settle);
  kept(kSeedRandom, &intrinsics->seed_random);
  kept(kRandomDrawn, &intrinsics->random_drawn);
  kept(kError, &intrinsics->error);
  kept(kErrorToString, &intrinsics->error_to_string);

  if (auto taken = TakeOffGlobals(context, intrinsics); !taken) return Fail(taken.error());
  if (auto installed = InstallBindings(context); !installed) return Fail(installed.error());
  return scope.Escape(context);
}

Status Template::TakeOffGlobals(v8::Local<v8::Context> context, Intrinsics* intrinsics) {
  // V8 puts these two back into every context that it makes from a snapshot, so the prelude cannot take them
  // out.
  const v8::Local<v8::Object> global = context->Global();
  const v8::Local<v8::String> web_assembly = Literal(isolate_, "WebAssembly");
  const v8::Local<v8::String> shared_buffer = Literal(isolate_, "SharedArrayBuffer");
  v8::Local<v8::Value> value;
  v8::Local<v8::Value> shared;
  v8::Local<v8::Value> prototype;
  if (!global->Get(context, web_assembly).ToLocal(&value) ||
      !global->Get(context, shared_buffer).ToLocal(&shared) || !shared->IsObject() ||
      !shared.As<v8::Object>()->Get(context, Literal(isolate_, "prototype")).ToLocal(&prototype) ||
      !prototype->IsObject() ||
      // Shared memory is the raw material of hand-made clocks, and there is no second thread to share it
      // with. A shared memory of WebAssembly must not lead back to the constructor.
      !prototype.As<v8::Object>()->Delete(context, Literal(isolate_, "constructor")).FromMaybe(false) ||
      !global->Delete(context, web_assembly).FromMaybe(false) ||
      !global->Delete(context, shared_buffer).FromMaybe(false)) {
    return Fail(ErrorKind::kInternal, "cannot take WebAssembly and SharedArrayBuffer off the global object");
  }
  intrinsics->web_assembly.Reset(isolate_, value);
  return {};
}

Status Template::Warm() {
  v8::HandleScope scope(isolate_);
  Intrinsics intrinsics;
  auto context = MakeContext(&intrinsics, nullptr);
  if (!context) return Fail(context.error());
  v8::Context::Scope entered(*context);
  Program program;
  program.code = prelude::kWarm;
  program.input = R"({"list":[1,2.5,"three",null,true],"nested":{"a":{"b":"c"}}})";
  WarmingPort port;
  JobRun job(*context, intrinsics, program, port);
  const Outcome outcome = job.Run();
  if (!outcome.ok()) {
    return Fail(ErrorKind::kInternal, "the engine's warming job fails: " + outcome.error->stack);
  }
  return {};
}

void Template::Compact() {
  // Twice: the first frees the throw-away context, the second what only its caches kept.
  isolate_->ContextDisposedNotification(v8::ContextDependants::kNoDependants);
  isolate_->LowMemoryNotification();
  isolate_->LowMemoryNotification();
  Sweep();
}

void Template::Sweep() {
  // A collection leaves its sweeping to whoever allocates next: every fork would sweep, and so copy, the
  // whole heap. Walking the heap is the one thing in V8's API that has the sweeping done first.
  v8::HandleScope scope(isolate_);
  NoObject none;
  std::vector<v8::Global<v8::Object>> found;
  isolate_->GetHeapProfiler()->QueryObjects(context(), &none, &found);
  // The collections have given back every page of the young generation: with one object each fork has its
  // first page ready-made, where it would ask the kernel for it.
  const v8::Context::Scope entered(context());
  v8::Object::New(isolate_);
}

}  // namespace skerry::engine
