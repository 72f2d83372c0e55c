#include "worker/engine/program_loader.h"

#include <v8-exception.h>
#include <v8-function.h>
#include <v8-isolate.h>

#include <string>
#include <utility>

#include "worker/engine/error_report.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

/// "async function anonymous(\n) {\n": what V8 puts before the body of a dynamic function.
constexpr int kFunctionHeaderLines = 2;

/// Never reached, since modules with imports are refused before; V8 wants a callback all the same.
v8::MaybeLocal<v8::Module> ResolveNothing(v8::Local<v8::Context> /*context*/,
                                          v8::Local<v8::String> /*specifier*/,
                                          v8::Local<v8::FixedArray> /*attributes*/,
                                          v8::Local<v8::Module> /*referrer*/) {
  v8::Isolate::GetCurrent()->ThrowError("imports are not available");
  return {};
}

}  // namespace

ProgramLoader::ProgramLoader(v8::Local<v8::Context> context, const Intrinsics& intrinsics,
                             ProgramSource* source)
    : isolate_(v8::Isolate::GetCurrent()), context_(context), intrinsics_(intrinsics), source_(source) {}

std::optional<JobError> ProgramLoader::Compile(Mode mode, std::string_view code, CompileOptions options) {
  *source_ = ProgramSource::Of(code, mode == Mode::kFunction ? kFunctionHeaderLines : 0);
  v8::TryCatch caught(isolate_);
  v8::Local<v8::String> text;
  if (!FromUtf8(isolate_, code).ToLocal(&text)) return Caught(caught, Code::kCompile);
  switch (mode) {
    case Mode::kFunction:
      return CompileFunction(text);
    case Mode::kScript:
      return CompileScript(text, options);
    case Mode::kModule:
      return CompileModule(text, options);
  }
  return MakeError(Code::kValidation, "unknown mode", "mode");
}

std::optional<JobError> ProgramLoader::CompileFunction(v8::Local<v8::String> code) {
  v8::TryCatch caught(isolate_);
  v8::Local<v8::Value> arguments[] = {code};
  v8::Local<v8::Value> made;
  if (!intrinsics_.async_function.Get(isolate_)
           ->Call(context_, v8::Undefined(isolate_), 1, arguments)
           .ToLocal(&made)) {
    return Caught(caught, Code::kCompile);
  }
  function_ = made.As<v8::Function>();
  source_->script_id = function_->ScriptId();
  return std::nullopt;
}

std::optional<JobError> ProgramLoader::CompileScript(v8::Local<v8::String> code, CompileOptions options) {
  v8::TryCatch caught(isolate_);
  v8::ScriptOrigin origin(Literal(isolate_, kProgramName));
  v8::ScriptCompiler::Source source(code, origin);
  v8::Local<v8::Script> script;
  if (!v8::ScriptCompiler::Compile(context_, &source, options).ToLocal(&script))
    return Caught(caught, Code::kCompile);
  script_ = script->GetUnboundScript();
  source_->script_id = script_->GetId();
  return std::nullopt;
}

std::optional<JobError> ProgramLoader::CompileModule(v8::Local<v8::String> code, CompileOptions options) {
  v8::TryCatch caught(isolate_);
  v8::ScriptOrigin origin(Literal(isolate_, kProgramName), 0, 0, false, -1, {}, false, false,
                          /*is_module=*/true);
  v8::ScriptCompiler::Source source(code, origin);
  if (!v8::ScriptCompiler::CompileModule(isolate_, &source, options).ToLocal(&module_))
    return Caught(caught, Code::kCompile);
  source_->script_id = module_->ScriptId();
  if (module_->GetModuleRequests()->Length() > 0) return RefuseImport();
  if (!module_->InstantiateModule(context_, ResolveNothing).FromMaybe(false))
    return Caught(caught, Code::kCompile);
  return std::nullopt;
}

void ProgramLoader::Resume(const KeptProgram& kept) {
  *source_ = kept.source;
  function_ = kept.function.Get(isolate_);
  script_ = kept.script.Get(isolate_);
  module_ = kept.module.Get(isolate_);
}

void ProgramLoader::Keep(KeptProgram* kept) const {
  kept->source = *source_;
  kept->function.Reset(isolate_, function_);
  kept->script.Reset(isolate_, script_);
  kept->module.Reset(isolate_, module_);
}

ProgramLoader::Started ProgramLoader::Start() {
  v8::TryCatch caught(isolate_);
  if (!script_.IsEmpty()) return Follow(script_->BindToCurrentContext()->Run(context_), caught);
  v8::Local<v8::Value> promise;
  if (!module_.IsEmpty()) {
    // Of one that is evaluated this is the promise of that.
    if (!module_->Evaluate(context_).ToLocal(&promise)) return Caught(caught, Code::kRuntime);
  } else if (!function_->Call(context_, v8::Undefined(isolate_), 0, nullptr).ToLocal(&promise)) {
    return Caught(caught, Code::kRuntime);  // an async function throws only where V8 has no stack left
  }
  return promise.As<v8::Promise>();
}

JobError ProgramLoader::RefuseImport() const {
  const auto request = module_->GetModuleRequests()->Get(0).As<v8::ModuleRequest>();
  const std::string specifier = ToUtf8Prefix(isolate_, request->GetSpecifier(), 200).text;
  v8::Location location = module_->SourceOffsetToLocation(request->GetSourceOffset());
  JobError error = MakeError(Code::kCompile, "imports are not available: '" + specifier + "'");
  error.position = source_->ToUser(location.GetLineNumber() + 1, location.GetColumnNumber() + 1);
  error.stack = error.name + ": " + error.message;
  return error;
}

ProgramLoader::Started ProgramLoader::Export(v8::Local<v8::Value> input) {
  v8::TryCatch caught(isolate_);
  const auto exports = module_->GetModuleNamespace().As<v8::Object>();
  v8::Local<v8::Value> exported;
  for (const std::string_view name : {"default", "handler"}) {
    const v8::Local<v8::String> key = Literal(isolate_, name);
    if (!exports->HasOwnProperty(context_, key).FromMaybe(false)) continue;
    if (!exports->Get(context_, key).ToLocal(&exported)) return Caught(caught, Code::kRuntime);
    break;
  }
  if (exported.IsEmpty()) {
    JobError error = MakeError(Code::kRuntime, "the module exports neither a default nor a handler");
    error.stack = error.name + ": " + error.message;
    return error;
  }
  if (!exported->IsFunction()) return Follow(exported, caught);
  v8::Local<v8::Value> arguments[] = {input};
  return Follow(exported.As<v8::Function>()->Call(context_, v8::Undefined(isolate_), 1, arguments), caught);
}

ProgramLoader::Started ProgramLoader::Follow(v8::MaybeLocal<v8::Value> value, const v8::TryCatch& caught) {
  v8::Local<v8::Value> settled;
  if (!value.ToLocal(&settled)) return Caught(caught, Code::kRuntime);
  v8::Local<v8::Value> arguments[] = {settled};
  v8::Local<v8::Value> promise;
  if (!intrinsics_.settle.Get(isolate_)
           ->Call(context_, v8::Undefined(isolate_), 1, arguments)
           .ToLocal(&promise)) {
    return Caught(caught, Code::kRuntime);
  }
  return promise.As<v8::Promise>();
}

JobError ProgramLoader::Caught(const v8::TryCatch& caught, Code code) const {
  const v8::Local<v8::Value> exception =
      caught.HasCaught() ? caught.Exception() : v8::Undefined(isolate_).As<v8::Value>();
  JobError error = DescribeUncaught(context_, exception, caught.Message(), code, *source_);
  // The wrapper's closing `})` is no token of the user's: what V8 met is the end of the text.
  const SourcePosition end{source_->lines, source_->last_column};
  if (code == Code::kCompile && source_->header_lines > 0 && error.position == end &&
      error.message.rfind("Unexpected token '", 0) == 0) {
    error.message = "Unexpected end of input";
    error.stack = error.name + ": " + error.message;
  }
  return error;
}

}  // namespace skerry::engine
