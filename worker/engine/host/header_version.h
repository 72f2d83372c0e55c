// The version of the V8 headers that this program was compiled against, e.g. "14.6.202.34".
#pragma once

#include <v8-version.h>

#define SKERRY_TEXT_OF(x) #x
#define SKERRY_TEXT(x) SKERRY_TEXT_OF(x)

namespace skerry::engine {

inline constexpr char kHeaderVersion[] = SKERRY_TEXT(V8_MAJOR_VERSION) "." SKERRY_TEXT(
    V8_MINOR_VERSION) "." SKERRY_TEXT(V8_BUILD_NUMBER) "." SKERRY_TEXT(V8_PATCH_LEVEL);

}  // namespace skerry::engine
