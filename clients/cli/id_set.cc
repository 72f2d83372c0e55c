#include "clients/cli/id_set.h"

#include <cstring>
#include <string>
#include <utility>

#include "common/hash.h"

namespace skerry::cli {
namespace {

constexpr std::size_t kFirstPlaces = 1024;

}  // namespace

IdSet::IdSet() : places_(kFirstPlaces) {}

IdSet::Key IdSet::KeyOf(std::string_view id) {
  const std::string digest = Sha256(id);
  Key key{};
  std::memcpy(key.data(), digest.data(), sizeof key);
  if (key == Key{}) key[0] = 1;  // keeps "empty" free
  return key;
}

std::size_t IdSet::PlaceOf(const Key& key) const {
  const std::size_t mask = places_.size() - 1;
  std::size_t place = key[0] & mask;
  while (places_[place] != Key{} && places_[place] != key) place = (place + 1) & mask;
  return place;
}

bool IdSet::Contains(std::string_view id) const {
  return places_[PlaceOf(KeyOf(id))] != Key{};
}

bool IdSet::Insert(std::string_view id) {
  if ((size_ + 1) * 10 > places_.size() * 7) Grow();
  const Key key = KeyOf(id);
  Key& place = places_[PlaceOf(key)];
  if (place == key) return false;
  place = key;
  ++size_;
  return true;
}

void IdSet::Grow() {
  const std::vector<Key> old = std::exchange(places_, std::vector<Key>(places_.size() * 2));
  for (const Key& key : old) {
    if (key != Key{}) places_[PlaceOf(key)] = key;
  }
}

}  // namespace skerry::cli
