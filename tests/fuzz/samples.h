// One right message of each kind, as frames: the headers of schemas/vectors.json with payloads that fit.
//
//   const Samples samples = LoadSamples();
//   for (const Sample& sample : samples) ...
//
// Threads: plain data. Errors: vectors that cannot be read throw: no test can begin without them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skerry::fuzz {

/// A message over ZeroMQ without its routing id: header, payloads.
using Frames = std::vector<std::string>;

struct Sample {
  std::string type;
  Frames frames;
};
using Samples = std::vector<Sample>;

/// `code` is what the samples that carry a program carry.
Samples LoadSamples(const std::string& code = "return 1");
/// The headers of schemas/malformed.json, which every decoder refuses.
std::vector<std::string> LoadMalformed();
/// The types, each once, in the order of the vectors.
std::vector<std::string> TypesOf(const Samples& samples);
/// The samples of one type.
Samples OfType(const Samples& samples, std::string_view type);

/// The header under another message's name; as it was where it has none.
std::string Retyped(const std::string& header, std::string_view type);

}  // namespace skerry::fuzz
