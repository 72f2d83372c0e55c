#include "worker/engine/inspector.h"

#include <v8-array-buffer.h>
#include <v8-container.h>
#include <v8-date.h>
#include <v8-exception.h>
#include <v8-function.h>
#include <v8-isolate.h>
#include <v8-primitive-object.h>
#include <v8-promise.h>
#include <v8-regexp.h>
#include <v8-typed-array.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "common/utf8.h"
#include "worker/engine/error_report.h"
#include "worker/engine/safe_read.h"
#include "worker/engine/v8_text.h"

namespace skerry::engine {
namespace {

// Node's own bounds are depth 2, 100 items, 10,000 characters a string; depth 4 shows most answers of tools
// whole.
constexpr std::size_t kMaxDepth = 4;
constexpr int kMaxItems = 100;        // of one object
constexpr int kMaxItemsInAll = 2000;  // of one console call, so that nesting does not multiply
constexpr std::size_t kMaxStringBytes = 10'000;
constexpr std::size_t kMaxEntries = 10'000;  // of a Map or Set: V8 can only copy all of them
constexpr int kMaxBigIntWords = 128;         // converting is quadratic

bool IsIdentifier(std::string_view text) {
  const auto ok = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  };
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return false;
  return std::all_of(text.begin(), text.end(), ok);
}

}  // namespace

class Inspector::List {
 public:
  List(Inspector* out, char open, char close) : out_(out), close_(close) { out_->out_ += open; }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  ~List() {
    if (any_) out_->Text(" ");
    out_->Text(std::string_view(&close_, 1));
  }
  /// Starts another item; false: no more are shown.
  bool Next() {
    if (out_->full_ || done_) return false;
    out_->Text(any_ ? ", " : " ");
    any_ = true;
    if (left_ > 0 && out_->items_left_ > 0) {
      --left_;
      --out_->items_left_;
      return true;
    }
    out_->Text("...");
    done_ = true;
    return false;
  }
  void More(std::size_t count) {
    if (count == 0 || out_->full_) return;
    out_->Text(any_ ? ", " : " ");
    any_ = true;
    out_->Text("... " + std::to_string(count) + " more");
  }

 private:
  Inspector* const out_;
  const char close_;
  int left_ = kMaxItems;
  bool any_ = false;
  bool done_ = false;
};

Inspector::Inspector(v8::Local<v8::Context> context, const ProgramSource& source, std::size_t max_bytes)
    : isolate_(v8::Isolate::GetCurrent()),
      context_(context),
      source_(source),
      max_bytes_(max_bytes),
      items_left_(kMaxItemsInAll) {}

void Inspector::Text(std::string_view text) {
  if (full_) return;
  const std::string_view fits = CutUtf8(text, max_bytes_ - std::min(max_bytes_, out_.size()));
  out_ += fits;
  full_ = fits.size() < text.size();
}

void Inspector::Bare(v8::Local<v8::String> text) {
  const TextPrefix prefix = ToUtf8Prefix(isolate_, text, max_bytes_ - std::min(max_bytes_, out_.size()));
  Text(prefix.text);
  full_ = full_ || !prefix.whole;
}

void Inspector::Quoted(v8::Local<v8::String> text, char quote) {
  const TextPrefix prefix = ToUtf8Prefix(isolate_, text, kMaxStringBytes);
  std::string escaped(1, quote);
  for (const char c : prefix.text) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == quote || c == '\\') escaped += '\\';
      escaped += c;
    }
  }
  escaped += quote;
  Text(escaped);
  if (!prefix.whole) Text("...");
}

void Inspector::Value(v8::Local<v8::Value> value) {
  if (full_) return;
  const v8::HandleScope scope(isolate_);
  if (value->IsObject()) {
    Object(value.As<v8::Object>());
  } else {
    Primitive(value);
  }
}

void Inspector::Primitive(v8::Local<v8::Value> value) {
  if (value->IsString()) return Quoted(value.As<v8::String>(), '\'');
  if (value->IsBigInt()) return BigInt(value.As<v8::BigInt>());
  if (value->IsSymbol()) {
    const v8::Local<v8::Value> description = value.As<v8::Symbol>()->Description(isolate_);
    Text("Symbol(");
    if (description->IsString())
      Text(ToUtf8Prefix(isolate_, description.As<v8::String>(), kMaxStringBytes).text);
    return Text(")");
  }
  if (value->IsNumber() && value.As<v8::Number>()->Value() == 0 &&
      std::signbit(value.As<v8::Number>()->Value())) {
    return Text("-0");
  }
  v8::Local<v8::String> text;
  if (value->ToString(context_).ToLocal(&text))
    Text(ToUtf8(isolate_, text));  // a primitive: no code of its own
}

void Inspector::BigInt(v8::Local<v8::BigInt> value) {
  v8::Local<v8::String> text;
  if (value->WordCount() > kMaxBigIntWords) {
    Text("[BigInt of " + std::to_string(value->WordCount() * 64) + " bits]");
  } else if (value->ToString(context_).ToLocal(&text)) {
    Text(ToUtf8(isolate_, text) + "n");
  }
}

void Inspector::Object(v8::Local<v8::Object> object) {
  if (object->IsProxy()) return Text("[Proxy]");
  if (Atom(object)) return;
  const auto same = [&](v8::Local<v8::Object> open) { return open == object; };
  if (std::any_of(open_.begin(), open_.end(), same)) return Text("[Circular]");
  if (open_.size() >= kMaxDepth) return Text("[" + (object->IsArray() ? "Array" : ClassName(object)) + "]");
  open_.push_back(object);
  object->IsNativeError() ? Error(object) : Compound(object);
  open_.pop_back();
}

bool Inspector::Atom(v8::Local<v8::Object> object) {
  if (object->IsFunction()) {
    Function(object);
  } else if (object->IsDate()) {
    const auto date = object.As<v8::Date>();
    Text(std::isnan(date->ValueOf()) ? "Invalid Date" : ToUtf8(isolate_, date->ToISOString()));
  } else if (object->IsRegExp()) {
    constexpr std::pair<v8::RegExp::Flags, char> kFlags[] = {
        {v8::RegExp::kHasIndices, 'd'},  {v8::RegExp::kGlobal, 'g'}, {v8::RegExp::kIgnoreCase, 'i'},
        {v8::RegExp::kMultiline, 'm'},   {v8::RegExp::kDotAll, 's'}, {v8::RegExp::kUnicode, 'u'},
        {v8::RegExp::kUnicodeSets, 'v'}, {v8::RegExp::kSticky, 'y'}};
    const auto regexp = object.As<v8::RegExp>();
    Text("/" + ToUtf8Prefix(isolate_, regexp->GetSource(), kMaxStringBytes).text + "/");
    for (const auto& [flag, letter] : kFlags) {
      if ((regexp->GetFlags() & flag) != 0) Text(std::string_view(&letter, 1));
    }
  } else if (object->IsWeakMap() || object->IsWeakSet() || object->IsWeakRef()) {
    Text(ClassName(object) + " { <items unknown> }");
  } else {
    return Boxed(object);
  }
  return true;
}

bool Inspector::Boxed(v8::Local<v8::Object> object) {
  const auto show = [this](std::string_view kind, v8::Local<v8::Value> value) {
    Text("[" + std::string(kind) + ": ");
    Value(value);
    Text("]");
    return true;
  };
  if (object->IsStringObject()) return show("String", object.As<v8::StringObject>()->ValueOf());
  if (object->IsSymbolObject()) return show("Symbol", object.As<v8::SymbolObject>()->ValueOf());
  if (object->IsBigIntObject()) return show("BigInt", object.As<v8::BigIntObject>()->ValueOf());
  if (object->IsNumberObject()) {
    return show("Number", v8::Number::New(isolate_, object.As<v8::NumberObject>()->ValueOf()));
  }
  if (object->IsBooleanObject()) {
    return show("Boolean", v8::Boolean::New(isolate_, object.As<v8::BooleanObject>()->ValueOf()));
  }
  return false;
}

void Inspector::Function(v8::Local<v8::Object> object) {
  const auto function = object.As<v8::Function>();
  const v8::Local<v8::Value> name = function->GetName();  // the declared one, whatever `name` has become
  std::string kind = "Function";
  if (object->IsAsyncFunction()) kind = "AsyncFunction";
  if (object->IsGeneratorFunction()) kind = "GeneratorFunction";
  const bool named = name->IsString() && name.As<v8::String>()->Length() > 0;
  if (!named) return Text("[" + kind + " (anonymous)]");
  Text("[" + kind + ": " + ToUtf8Prefix(isolate_, name.As<v8::String>(), kMaxStringBytes).text + "]");
}

void Inspector::Error(v8::Local<v8::Object> object) {
  Text(ErrorText(context_, object, source_, max_bytes_ + 1));
  v8::Local<v8::Value> cause;
  if (!OwnData(context_, object, Literal(isolate_, "cause")).ToLocal(&cause)) return;
  Text(" { [cause]: ");
  Value(cause);
  Text(" }");
}

void Inspector::Compound(v8::Local<v8::Object> object) {
  const std::string name = ClassName(object);
  if (object->IsArray()) {
    const std::size_t length = object.As<v8::Array>()->Length();
    if (name != "Array") Text(name + "(" + std::to_string(length) + ") ");
    List list(this, '[', ']');
    Elements(object, length, &list);
    return Properties(object, &list);
  }
  if (object->IsTypedArray()) {
    const std::size_t length = object.As<v8::TypedArray>()->Length();
    Text(name + "(" + std::to_string(length) + ") ");
    List list(this, '[', ']');
    return Elements(object, length, &list);
  }
  if (object->IsMap() || object->IsSet()) {
    const bool is_map = object->IsMap();
    const std::size_t size = is_map ? object.As<v8::Map>()->Size() : object.As<v8::Set>()->Size();
    Text(name + "(" + std::to_string(size) + ") ");
    List list(this, '{', '}');
    if (size > kMaxEntries) return list.More(size);
    return Entries(is_map ? object.As<v8::Map>()->AsArray() : object.As<v8::Set>()->AsArray(), is_map ? 2 : 1,
                   &list);
  }
  if (name.empty()) {
    Text("[Object: null prototype] ");
  } else if (name != "Object") {
    Text(name + " ");
  }
  List list(this, '{', '}');
  if (object->IsPromise()) Promise(object, &list);
  if (object->IsArrayBuffer() && list.Next()) {
    Text("byteLength: " + std::to_string(object.As<v8::ArrayBuffer>()->ByteLength()));
  }
  Properties(object, &list);
}

void Inspector::Elements(v8::Local<v8::Object> object, std::size_t length, List* list) {
  const std::size_t shown = std::min<std::size_t>(length, kMaxItems);
  std::size_t holes = 0;
  for (std::size_t i = 0; i < shown && !full_; ++i) {
    const v8::HandleScope scope(isolate_);
    v8::Local<v8::Value> element;
    if (!OwnElement(context_, object, static_cast<std::uint32_t>(i)).ToLocal(&element)) {
      ++holes;
      continue;
    }
    if (holes > 0 && list->Next()) Text("<" + std::to_string(std::exchange(holes, 0)) + " empty>");
    if (!list->Next()) return;
    Value(element);
  }
  if (holes > 0 && list->Next()) Text("<" + std::to_string(holes) + " empty>");
  list->More(length - shown);
}

void Inspector::Entries(v8::Local<v8::Array> entries, std::size_t stride, List* list) {
  for (std::uint32_t i = 0; i + stride <= entries->Length() && list->Next(); i += stride) {
    const v8::HandleScope scope(isolate_);
    for (std::uint32_t part = 0; part < stride; ++part) {
      v8::Local<v8::Value> value;
      if (part > 0) Text(" => ");
      // An array of V8's own making: every element is a data property.
      if (entries->Get(context_, i + part).ToLocal(&value)) Value(value);
    }
  }
}

void Inspector::Promise(v8::Local<v8::Object> object, List* list) {
  const auto promise = object.As<v8::Promise>();
  if (!list->Next()) return;
  if (promise->State() == v8::Promise::kPending) return Text("<pending>");
  if (promise->State() == v8::Promise::kRejected) Text("<rejected> ");
  Value(promise->Result());
}

void Inspector::Properties(v8::Local<v8::Object> object, List* list) {
  v8::Local<v8::Array> keys;
  const bool indexed = object->IsArray() || object->IsTypedArray();
  if (!object
           ->GetPropertyNames(context_, v8::KeyCollectionMode::kOwnOnly, v8::ONLY_ENUMERABLE,
                              indexed ? v8::IndexFilter::kSkipIndices : v8::IndexFilter::kIncludeIndices,
                              v8::KeyConversionMode::kConvertToString)
           .ToLocal(&keys)) {
    return;
  }
  for (std::uint32_t i = 0; i < keys->Length(); ++i) {
    const v8::HandleScope scope(isolate_);
    v8::Local<v8::Value> key;
    if (!keys->Get(context_, i).ToLocal(&key) || !key->IsName()) continue;
    if (!list->Next()) return;
    Property(object, key.As<v8::Name>());
  }
}

void Inspector::Property(v8::Local<v8::Object> object, v8::Local<v8::Name> key) {
  Key(key);
  Text(": ");
  v8::Local<v8::Value> value;
  if (HasOwnAccessor(context_, object, key)) {
    Text("[Getter/Setter]");
  } else if (OwnData(context_, object, key).ToLocal(&value)) {
    Value(value);
  } else {
    Text("?");
  }
}

void Inspector::Key(v8::Local<v8::Name> key) {
  if (key->IsSymbol()) {
    Text("[");
    Primitive(key);
    return Text("]");
  }
  const auto text = key.As<v8::String>();
  const TextPrefix utf8 = ToUtf8Prefix(isolate_, text, kMaxStringBytes);
  IsIdentifier(utf8.text) ? Text(utf8.text) : Quoted(text, '\'');
}

std::string Inspector::ClassName(v8::Local<v8::Object> object) {
  if (object->GetPrototypeV2()->IsNull()) return {};
  return ToUtf8Prefix(isolate_, object->GetConstructorName(), kMaxStringBytes).text;
}

}  // namespace skerry::engine
