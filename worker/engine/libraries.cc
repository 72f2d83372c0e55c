#include "worker/engine/libraries.h"

#include <v8-exception.h>
#include <v8-isolate.h>
#include <v8-microtask-queue.h>
#include <v8-script.h>

#include <string>
#include <tuple>

#include "worker/engine/bindings.h"
#include "worker/engine/error_report.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

constexpr std::size_t kMaxNameBytes = 256;  // of what a program asks for, in the error

std::string NamesIn(v8::Local<v8::Map> libraries) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  const v8::Local<v8::Array> entries = libraries->AsArray();  // name, exports, name, exports, ...
  std::string names;
  for (std::uint32_t i = 0; i < entries->Length(); i += 2) {
    v8::Local<v8::Value> name;
    if (!entries->Get(isolate->GetCurrentContext(), i).ToLocal(&name) || !name->IsString()) continue;
    names += (names.empty() ? "" : ", ") + ToUtf8(isolate, name.As<v8::String>());
  }
  return names;
}

void Require(const v8::FunctionCallbackInfo<v8::Value>& info) {
  v8::Isolate* const isolate = info.GetIsolate();
  const v8::Local<v8::Context> context = isolate->GetCurrentContext();
  const auto libraries = info.Data().As<v8::Map>();
  if (!info[0]->IsString()) {
    isolate->ThrowException(
        v8::Exception::TypeError(Literal(isolate, "require: the name of a library must be a string")));
    return;
  }
  v8::Local<v8::Value> exports;
  if (!libraries->Has(context, info[0]).FromMaybe(false)) {
    const std::string name = ToUtf8Prefix(isolate, info[0].As<v8::String>(), kMaxNameBytes).text;
    isolate->ThrowError(Literal(
        isolate,
        "require: no library '" + name + "' here; " +
            (libraries->Size() == 0 ? "none comes before this one" : "this job has: " + NamesIn(libraries))));
  } else if (libraries->Get(context, info[0]).ToLocal(&exports)) {
    info.GetReturnValue().Set(exports);
  }
}

/// Where `message` says that it was: " (lodash:12:5)".
std::string PlaceOf(v8::Local<v8::Context> context, const LibraryText& library,
                    v8::Local<v8::Message> message) {
  int line = 0;
  if (message.IsEmpty() || !message->GetLineNumber(context).To(&line) || line <= 0) return "";
  const int column = message->GetStartColumn(context).FromMaybe(0) + 1;
  return " (" + std::string(library.name) + ":" + std::to_string(line) + ":" + std::to_string(column) + ")";
}

std::string OnOneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

/// The function whose body is the library, called; its `module.exports`.
v8::MaybeLocal<v8::Value> Evaluate(v8::Local<v8::Context> context, const LibraryText& library,
                                   v8::Local<v8::Function> require) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::String> text;
  v8::Local<v8::String> name;
  if (!FromUtf8(isolate, library.code).ToLocal(&text) || !FromUtf8(isolate, library.name).ToLocal(&name))
    return {};
  v8::ScriptOrigin origin(name);
  v8::ScriptCompiler::Source source(text, origin);
  const v8::Local<v8::String> exports_name = Literal(isolate, "exports");
  v8::Local<v8::String> parameters[] = {Literal(isolate, "module"), exports_name,
                                        Literal(isolate, "require")};
  v8::Local<v8::Function> body;
  if (!v8::ScriptCompiler::CompileFunction(context, &source, 3, parameters).ToLocal(&body)) return {};
  const v8::Local<v8::Object> module = v8::Object::New(isolate);
  const v8::Local<v8::Object> exports = v8::Object::New(isolate);
  if (module->CreateDataProperty(context, exports_name, exports).IsNothing()) return {};
  v8::Local<v8::Value> arguments[] = {module, exports, require};
  if (body->Call(context, exports, 3, arguments).IsEmpty()) return {};
  context->GetMicrotaskQueue()->PerformCheckpoint(isolate);
  return module->Get(context, exports_name);
}

}  // namespace

Status Libraries::Load(v8::Local<v8::Context> context, const LibraryText& library) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::HandleScope scope(isolate);
  if (require_.IsEmpty()) {
    if (auto made = MakeRequire(context); !made) return made;
  }
  v8::TryCatch caught(isolate);
  v8::Local<v8::Value> exports;
  v8::Local<v8::String> name;
  if (!Evaluate(context, library, require_.Get(isolate)).ToLocal(&exports) ||
      !FromUtf8(isolate, library.name).ToLocal(&name) ||
      exports_.Get(isolate)->Set(context, name, exports).IsEmpty()) {
    const std::string why = caught.HasCaught() ? Headline(context, caught.Exception()) : "no reason given";
    return Fail(ErrorKind::kInvalid, "library '" + std::string(library.name) + "' cannot be loaded: " +
                                         OnOneLine(why) + PlaceOf(context, library, caught.Message()));
  }
  return {};
}

Status Libraries::MakeRequire(v8::Local<v8::Context> context) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  const v8::Local<v8::Map> exports = v8::Map::New(isolate);
  v8::Local<v8::Function> require;
  if (!v8::Function::New(context, Require, exports, 1, v8::ConstructorBehavior::kThrow).ToLocal(&require)) {
    return Fail(ErrorKind::kInternal, "cannot make require");
  }
  require->SetName(Literal(isolate, "require"));
  std::ignore = require->SetIntegrityLevel(context, v8::IntegrityLevel::kFrozen);
  DefineGlobal(context, "require", require);
  exports_.Reset(isolate, exports);
  require_.Reset(isolate, require);
  return {};
}

}  // namespace skerry::engine
