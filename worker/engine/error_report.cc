#include "worker/engine/error_report.h"

#include <v8-exception.h>
#include <v8-isolate.h>
#include <v8-object.h>

#include <string_view>
#include <utility>

#include "common/limits.h"
#include "common/utf8.h"
#include "worker/engine/inspect.h"
#include "worker/engine/safe_read.h"
#include "worker/engine/stack_text.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

constexpr std::string_view kUncaught = "Uncaught ";

std::string Capped(std::string text, std::size_t max_bytes = kMaxErrorBytes) {
  text.resize(CutUtf8(text, max_bytes).size());
  return text;
}

/// A string that is a data property of the error or of what it inherits from.
bool ReadString(v8::Local<v8::Context> context, v8::Local<v8::Object> error, std::string_view key,
                std::size_t max_bytes, std::string* text) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::Local<v8::Value> value;
  if (!InheritedData(context, error, Literal(isolate, key)).ToLocal(&value) || !value->IsString())
    return false;
  *text = ToUtf8Prefix(isolate, value.As<v8::String>(), max_bytes).text;
  return true;
}

/// V8's own words for an exception: made without side effects.
std::string MessageText(v8::Isolate* isolate, v8::Local<v8::Message> message, std::size_t max_bytes) {
  std::string text = ToUtf8Prefix(isolate, message->Get(), max_bytes + kUncaught.size()).text;
  if (std::string_view(text).substr(0, kUncaught.size()) == kUncaught) text.erase(0, kUncaught.size());
  return text;
}

struct NameAndMessage {
  std::string name;
  std::string message;
};

NameAndMessage ReadNameAndMessage(v8::Local<v8::Context> context, v8::Local<v8::Value> exception,
                                  std::size_t max_bytes) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  NameAndMessage read{"Error", ""};
  if (!exception->IsObject() || exception->IsProxy()) {
    read.message = Inspect(context, exception, max_bytes);
    return read;
  }
  const auto error = exception.As<v8::Object>();
  std::string name;
  if (ReadString(context, error, "name", max_bytes, &name) && !name.empty()) {
    read.name = std::move(name);
  } else if (error->IsNativeError()) {
    read.name = Capped(ToUtf8(isolate, error->GetConstructorName()), max_bytes);
  }
  if (ReadString(context, error, "message", max_bytes, &read.message)) return read;
  read.message = error->IsNativeError()
                     ? MessageText(isolate, v8::Exception::CreateMessage(isolate, exception), max_bytes)
                     : Inspect(context, exception, max_bytes);
  return read;
}

v8::Local<v8::StackTrace> TraceOf(v8::Local<v8::Value> exception, v8::Local<v8::Message> message) {
  v8::Local<v8::StackTrace> trace;
  if (exception->IsObject()) trace = v8::Exception::GetStackTrace(exception);
  if (trace.IsEmpty() && !message.IsEmpty()) trace = message->GetStackTrace();
  return trace;
}

std::string HeadlineOf(const NameAndMessage& read) {
  return read.message.empty() ? read.name : read.name + ": " + read.message;
}

SourcePosition PositionOf(v8::Local<v8::Context> context, v8::Local<v8::Message> message,
                          v8::Local<v8::StackTrace> trace, Code code, const ProgramSource& source) {
  // Where the error was made, in every mode alike: the message of a script's would say where it was thrown.
  if (code != Code::kCompile && !trace.IsEmpty()) {
    const SourcePosition made = FirstOwnFrame(v8::Isolate::GetCurrent(), trace, source);
    if (made.line > 0) return made;
  }
  const bool own = message->GetScriptOrigin().ScriptId() == source.script_id;
  if (!own && code != Code::kCompile) return {};
  return source.ToUser(message->GetLineNumber(context).FromMaybe(0),
                       message->GetStartColumn(context).FromMaybe(0) + 1);
}

}  // namespace

JobError DescribeUncaught(v8::Local<v8::Context> context, v8::Local<v8::Value> exception,
                          v8::Local<v8::Message> message, Code code, const ProgramSource& source) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  v8::TryCatch ignored(isolate);
  if (message.IsEmpty()) message = v8::Exception::CreateMessage(isolate, exception);
  NameAndMessage read = ReadNameAndMessage(context, exception, kMaxErrorBytes);
  const v8::Local<v8::StackTrace> trace = TraceOf(exception, message);

  JobError error = MakeError(code, "");
  error.stack = HeadlineOf(read);
  if (!trace.IsEmpty()) error.stack += FramesText(isolate, trace, source);
  error.stack = Capped(std::move(error.stack));
  error.name = std::move(read.name);
  error.message = Capped(std::move(read.message));
  error.position = PositionOf(context, message, trace, code, source);
  return error;
}

std::string Headline(v8::Local<v8::Context> context, v8::Local<v8::Value> exception, std::size_t max_bytes) {
  if (!exception->IsNativeError()) return Inspect(context, exception, max_bytes);
  return HeadlineOf(ReadNameAndMessage(context, exception, max_bytes));
}

std::string ErrorText(v8::Local<v8::Context> context, v8::Local<v8::Value> exception,
                      const ProgramSource& source, std::size_t max_bytes) {
  std::string text = Headline(context, exception, max_bytes);
  const v8::Local<v8::StackTrace> trace = TraceOf(exception, {});
  if (!trace.IsEmpty()) text += FramesText(v8::Isolate::GetCurrent(), trace, source);
  return Capped(std::move(text), max_bytes);
}

}  // namespace skerry::engine
