#include "worker/engine/inspect.h"

#include <v8-exception.h>
#include <v8-isolate.h>
#include <v8-primitive.h>

#include <cmath>
#include <string_view>

#include "worker/engine/inspector.h"

namespace skerry::engine {
namespace {

using Arguments = std::vector<v8::Local<v8::Value>>;

void NumberAs(v8::Local<v8::Context> context, Inspector* out, v8::Local<v8::Value> value, bool integer) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  if (value->IsBigInt()) return out->Value(value);
  double number = std::nan("");
  // Of a string or another primitive; an object would have to be asked, and that runs its code.
  if (!value->IsObject() && !value->IsSymbol()) number = value->NumberValue(context).FromMaybe(number);
  if (integer && std::isfinite(number)) number = std::trunc(number);
  out->Value(v8::Number::New(isolate, number));
}

/// One directive of a format string; false: it is none, and stands for itself.
bool Directive(v8::Local<v8::Context> context, Inspector* out, char directive, v8::Local<v8::Value> value) {
  switch (directive) {
    case 's':
      value->IsString() ? out->Bare(value.As<v8::String>()) : out->Value(value);
      return true;
    case 'd':
    case 'f':
      NumberAs(context, out, value, /*integer=*/false);
      return true;
    case 'i':
      NumberAs(context, out, value, /*integer=*/true);
      return true;
    case 'j':  // JSON.stringify would run user code, so an object is inspected instead
    case 'o':
    case 'O':
      out->Value(value);
      return true;
    case 'c':  // CSS, for browsers
      return true;
    default:
      return false;
  }
}

/// Writes the format string and the arguments it takes; returns how many arguments are done with.
std::size_t Format(v8::Local<v8::Context> context, Inspector* out, const Arguments& arguments,
                   std::string_view format) {
  std::size_t used = 1;
  std::size_t from = 0;
  for (std::size_t at = format.find('%'); at != std::string_view::npos && at + 1 < format.size();
       at = format.find('%', at)) {
    out->Text(format.substr(from, at - from));
    const char directive = format[at + 1];
    if (directive == '%') {
      out->Text("%");
    } else if (used >= arguments.size() || !Directive(context, out, directive, arguments[used])) {
      out->Text(format.substr(at, 2));
    } else {
      ++used;
    }
    at += 2;
    from = at;
  }
  out->Text(format.substr(from));
  return used;
}

}  // namespace

std::string Inspect(v8::Local<v8::Context> context, v8::Local<v8::Value> value, std::size_t max_bytes) {
  const v8::HandleScope scope(v8::Isolate::GetCurrent());
  v8::TryCatch ignored(v8::Isolate::GetCurrent());
  const ProgramSource no_source;
  Inspector out(context, no_source, max_bytes);
  out.Value(value);
  return out.Take();
}

TextPrefix FormatConsole(v8::Local<v8::Context> context, const Arguments& arguments,
                         const ProgramSource& source, std::size_t max_bytes) {
  v8::Isolate* const isolate = v8::Isolate::GetCurrent();
  const v8::HandleScope scope(isolate);
  v8::TryCatch ignored(isolate);  // near the stack's end V8 itself throws; the text is then shorter
  if (arguments.size() == 1 && arguments[0]->IsString()) {
    return ToUtf8Prefix(isolate, arguments[0].As<v8::String>(), max_bytes);
  }
  Inspector out(context, source, max_bytes);
  std::size_t next = 0;
  if (arguments.size() > 1 && arguments[0]->IsString()) {
    const TextPrefix format = ToUtf8Prefix(isolate, arguments[0].As<v8::String>(), max_bytes);
    next = Format(context, &out, arguments, format.text);
    if (!format.whole) return {out.Take(), false};
  }
  for (; next < arguments.size() && !out.full(); ++next) {
    if (next > 0) out.Text(" ");
    arguments[next]->IsString() ? out.Bare(arguments[next].As<v8::String>()) : out.Value(arguments[next]);
  }
  const bool whole = !out.full();
  return {out.Take(), whole};
}

}  // namespace skerry::engine
