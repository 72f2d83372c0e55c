#include "worker/engine/v8_text.h"

#include <algorithm>

namespace skerry::engine {

std::string ToUtf8(v8::Isolate* isolate, v8::Local<v8::String> text) {
  std::string utf8(text->Utf8LengthV2(isolate), '\0');
  const std::size_t written =
      text->WriteUtf8V2(isolate, utf8.data(), utf8.size(), v8::String::WriteFlags::kReplaceInvalidUtf8);
  utf8.resize(written);
  return utf8;
}

TextPrefix ToUtf8Prefix(v8::Isolate* isolate, v8::Local<v8::String> text, std::size_t max_bytes) {
  const auto length = static_cast<std::size_t>(text->Length());
  TextPrefix prefix;
  prefix.text.resize(std::min(max_bytes, length * 3));  // a UTF-16 unit is at most 3 bytes of UTF-8
  std::size_t units = 0;
  const std::size_t written = text->WriteUtf8V2(isolate, prefix.text.data(), prefix.text.size(),
                                                v8::String::WriteFlags::kReplaceInvalidUtf8, &units);
  prefix.text.resize(written);
  prefix.whole = units == length;
  return prefix;
}

v8::MaybeLocal<v8::String> FromUtf8(v8::Isolate* isolate, std::string_view text) {
  if (text.size() > static_cast<std::size_t>(v8::String::kMaxLength)) {
    isolate->ThrowError("text is too long");
    return {};
  }
  return v8::String::NewFromUtf8(isolate, text.data(), v8::NewStringType::kNormal,
                                 static_cast<int>(text.size()));
}

v8::Local<v8::String> Literal(v8::Isolate* isolate, std::string_view text) {
  return FromUtf8(isolate, text).FromMaybe(v8::String::Empty(isolate));
}

}  // namespace skerry::engine
