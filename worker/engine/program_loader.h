// Compiles and starts a program in one of the three modes (DESIGN section 5). Source text is never joined:
// the body of a function goes to the intrinsic AsyncFunction constructor, which refuses one that closes its
// wrapper.
//
// Threads: V8's.
#pragma once

#include <v8-context.h>
#include <v8-local-handle.h>
#include <v8-promise.h>
#include <v8-script.h>

#include <optional>
#include <string_view>
#include <variant>

#include "common/job.h"
#include "common/outcome.h"
#include "worker/engine/intrinsics.h"
#include "worker/engine/kept_program.h"
#include "worker/engine/program_source.h"

namespace skerry::engine {

class ProgramLoader {
 public:
  using CompileOptions = v8::ScriptCompiler::CompileOptions;

  /// `source` is filled in before any of the program runs, and must outlive the loader.
  ProgramLoader(v8::Local<v8::Context> context, const Intrinsics& intrinsics, ProgramSource* source);

  using Started = std::variant<v8::Local<v8::Promise>, JobError>;

  /// Why it cannot be compiled (COMPILE), if it cannot.
  /// `options`: of scripts and modules; eagerly, their functions are compiled now and not at their first
  /// call.
  std::optional<JobError> Compile(Mode mode, std::string_view code,
                                  CompileOptions options = CompileOptions::kNoCompileOptions);
  /// Instead of Compile: what another loader kept. A module is evaluated then.
  void Resume(const KeptProgram& kept);
  /// What has been compiled, and started if it is a module, for Resume.
  void Keep(KeptProgram* kept) const;

  /// Of what is compiled: the promise of its value, or RUNTIME where it threw before it came to that. For a
  /// module it is the promise of its evaluation, and Export gives the value's.
  Started Start();
  /// Of an evaluated module: calls the default export, or else the export `handler`, with `input`; an export
  /// that is no function is the value itself, and a module without either is the program's fault (RUNTIME).
  Started Export(v8::Local<v8::Value> input);

 private:
  std::optional<JobError> CompileFunction(v8::Local<v8::String> code);
  std::optional<JobError> CompileScript(v8::Local<v8::String> code, CompileOptions options);
  std::optional<JobError> CompileModule(v8::Local<v8::String> code, CompileOptions options);
  JobError RefuseImport() const;
  /// A promise that follows `value` exactly as `return value` in an async function does.
  Started Follow(v8::MaybeLocal<v8::Value> value, const v8::TryCatch& caught);
  JobError Caught(const v8::TryCatch& caught, Code code) const;

  v8::Isolate* const isolate_;
  const v8::Local<v8::Context> context_;
  const Intrinsics& intrinsics_;
  ProgramSource* const source_;
  // What is compiled: one of them.
  v8::Local<v8::Function> function_;
  v8::Local<v8::UnboundScript> script_;
  v8::Local<v8::Module> module_;
};

}  // namespace skerry::engine
