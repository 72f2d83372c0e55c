// The JavaScript of worker/prelude, embedded at build time.
#pragma once

#include <string_view>

namespace skerry::engine::prelude {

extern const std::string_view kEnvironment;  ///< environment.js: takes out, and saves intrinsics
extern const std::string_view kRandom;       ///< random.js: the seeded Math.random
extern const std::string_view kRehearsal;    ///< rehearsal.js: the job whose pages every fork gets ready-made
extern const std::string_view kWarm;         ///< warm.js: the job that warms the template

}  // namespace skerry::engine::prelude
