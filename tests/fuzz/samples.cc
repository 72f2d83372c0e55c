#include "tests/fuzz/samples.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/wire/codec.h"
#include "tests/support/places.h"

namespace skerry::fuzz {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

Frames PayloadsOf(const std::string& type, const std::string& code) {
  if (type == "submit" || type == "dispatch") return {code, "{\"x\":1}"};
  if (type == "event") return {"text"};
  if (type == "call") return {"method", "{\"a\":[1,2,3]}"};
  if (type == "answer") return {"{\"b\":null}"};
  if (type == "final") return {wire::DetailPayload(MakeError(Code::kTimeout, "too long", "timeoutMs"))};
  return {};
}

}  // namespace

Samples LoadSamples(const std::string& code) {
  const std::string text = testing::ReadFile(testing::SourceRoot() / "schemas" / "vectors.json");
  Samples samples;
  for (const auto& vector : nlohmann::json::parse(text)) {
    Sample sample;
    sample.type = vector.at("type");
    sample.frames = {FromHex(vector.at("hex"))};
    const Frames payloads = PayloadsOf(sample.type, code);
    sample.frames.insert(sample.frames.end(), payloads.begin(), payloads.end());
    samples.push_back(std::move(sample));
  }
  if (samples.empty()) throw std::runtime_error("schemas/vectors.json holds no message");
  return samples;
}

std::vector<std::string> LoadMalformed() {
  const std::string text = testing::ReadFile(testing::SourceRoot() / "schemas" / "malformed.json");
  std::vector<std::string> headers;
  for (const auto& vector : nlohmann::json::parse(text)) headers.push_back(FromHex(vector.at("hex")));
  return headers;
}

std::vector<std::string> TypesOf(const Samples& samples) {
  std::vector<std::string> types;
  for (const Sample& sample : samples) {
    if (std::find(types.begin(), types.end(), sample.type) == types.end()) types.push_back(sample.type);
  }
  return types;
}

Samples OfType(const Samples& samples, std::string_view type) {
  Samples found;
  for (const Sample& sample : samples) {
    if (sample.type == type) found.push_back(sample);
  }
  return found;
}

std::string Retyped(const std::string& header, std::string_view type) {
  // The codec writes `t` first, as a short string: map, "\xa1t", 0xa0 + size, text.
  const std::size_t at = header.find("\xa1t");
  if (at == std::string::npos || at + 2 >= header.size()) return header;
  const auto size = static_cast<unsigned char>(header[at + 2]);
  if (size < 0xa0 || size > 0xbf || at + 3 + (size - 0xa0) > header.size()) return header;
  return header.substr(0, at + 2) + static_cast<char>(0xa0 + type.size()) + std::string(type) +
         header.substr(at + 3 + (size - 0xa0));
}

}  // namespace skerry::fuzz
