#include <gtest/gtest.h>

#include <algorithm>

#include "tests/arrows/arrow_rules.h"
#include "tests/arrows/cmake_targets.h"

namespace skerry::arrows {
namespace {

// A small tree without fault; each test below plants one in it.
SourceTree SoundTree() {
  return {
      {"common/limits.h", "#include <string>\n"},
      {"common/CMakeLists.txt",
       "add_library(skerry_common STATIC limits.cc) # all\n"
       "add_library(skerry::common ALIAS skerry_common)\n"},
      {"common/limits.cc", "#include \"common/limits.h\"\n"},
      {"broker/broker_server.cc", "#include <zmq.hpp>\n#include \"common/limits.h\"\n"},
      {"broker/CMakeLists.txt",
       "add_library(skerry_broker broker_server.cc)\n"
       "target_link_libraries(skerry_broker PUBLIC skerry::common)\n"},
      {"clients/cpp/client.cc", "#include <zmq.hpp>\n"},
      {"clients/CMakeLists.txt", "add_library(skerry_client cpp/client.cc)\n"},
      {"worker/agent/link/broker_link.cc", "#include <zmq.hpp>\n"},
      {"worker/engine/engine.h", "#include \"common/limits.h\"\n"},
      {"worker/engine/engine.cc", "#include <v8.h>\n#include \"worker/engine/engine.h\"\n"},
      {"worker/engine/v8_text.h", "#include <v8.h>\n"},
      {"worker/engine/CMakeLists.txt",
       "add_library(skerry_engine STATIC\n  engine.cc)\n"
       "add_library(skerry::engine ALIAS skerry_engine)\n"
       "target_link_libraries(skerry_engine PUBLIC skerry::common)\n"},
      {"worker/cell/cell_main.cc", "#include \"worker/engine/engine.h\"\n"},
      {"worker/cell/CMakeLists.txt",
       "skerry_add_v8_executable(skerry-cell\n  SOURCES cell_main.cc\n  LIBRARIES skerry::engine "
       "skerry::common)\n"},
      {"bench/bench.cc", "#include \"worker/engine/engine.h\"\n"},
  };
}

// The one violation of the sound tree after `change`.
template <class Change>
std::string ViolationAfter(Change change) {
  SourceTree tree = SoundTree();
  change(tree);
  const auto violations = FindViolations(tree);
  EXPECT_EQ(violations.size(), 1u);
  return violations.empty() ? "" : violations.front();
}

bool Mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Arrows, PointOneWayInThisRepository) {
  const SourceTree tree = LoadTree(SKERRY_SOURCE_ROOT);
  ASSERT_TRUE(tree.contains("common/limits.h")) << "no sources were found at " << SKERRY_SOURCE_ROOT;
  for (const auto& violation : FindViolations(tree)) ADD_FAILURE() << violation;
}

TEST(ArrowRules, FindNothingInASoundTree) {
  EXPECT_EQ(FindViolations(SoundTree()), std::vector<std::string>{});
}

TEST(ArrowRules, RefuseACommonThatIncludesAWorker) {
  const auto said =
      ViolationAfter([](SourceTree& t) { t["common/limits.h"] += "#include \"worker/agent/x.h\"\n"; });
  EXPECT_TRUE(Mentions(said, "common must not use worker")) << said;
}

TEST(ArrowRules, RefuseABrokerThatIncludesAClient) {
  const auto said = ViolationAfter(
      [](SourceTree& t) { t["broker/broker_server.cc"] += "  #  include <clients/cpp/client.h>\n"; });
  EXPECT_TRUE(Mentions(said, "broker must not use clients")) << said;
}

TEST(ArrowRules, RefuseAClientThatLinksTheBroker) {
  const auto said = ViolationAfter([](SourceTree& t) {
    t["clients/CMakeLists.txt"] += "target_link_libraries(skerry_client PRIVATE skerry_broker)";
  });
  EXPECT_TRUE(Mentions(said, "target skerry_client links skerry_broker")) << said;
}

TEST(ArrowRules, RefuseV8OutsideTheEngine) {
  const auto said = ViolationAfter(
      [](SourceTree& t) { t["worker/cell/cell_main.cc"] += "#include <libplatform/libplatform.h>\n"; });
  EXPECT_TRUE(Mentions(said, "V8 belongs under worker/engine only")) << said;
}

TEST(ArrowRules, RefuseAnEngineHeaderThatBringsV8ToOthers) {
  SourceTree tree = SoundTree();
  tree["worker/engine/engine.h"] += "#include \"worker/engine/v8_text.h\"\n";
  const auto violations = FindViolations(tree);
  EXPECT_EQ(violations.size(), 2u);  // the cell and the benchmark include it
  for (const auto& said : violations)
    EXPECT_TRUE(Mentions(said, "brings v8.h by worker/engine/v8_text.h")) << said;
}

TEST(ArrowRules, RefuseZeroMqInABrokersCore) {
  const auto said = ViolationAfter([](SourceTree& t) { t["broker/broker_core.h"] = "#include <zmq.h>\n"; });
  EXPECT_TRUE(Mentions(said, "ZeroMQ belongs in the shells only")) << said;
}

TEST(ArrowRules, RefuseHiredisOutsideOfTheLinkToRedis) {
  const auto said = ViolationAfter(
      [](SourceTree& t) { t["broker/tenants/shared_rates.cc"] = "#include <hiredis/hiredis.h>\n"; });
  EXPECT_TRUE(Mentions(said, "hiredis belongs under broker/redis only")) << said;
}

TEST(ArrowRules, RefuseAThreadThatReachesTheCellThroughALibrary) {
  const auto said = ViolationAfter([](SourceTree& t) { t["common/limits.h"] += "#include <thread>\n"; });
  EXPECT_TRUE(Mentions(said, "the cell is made of common/limits.h, which includes thread")) << said;
}

TEST(ArrowRules, NoticeThatTheCellIsNotThereToBeChecked) {
  const auto said = ViolationAfter([](SourceTree& t) { t.erase("worker/cell/CMakeLists.txt"); });
  EXPECT_TRUE(Mentions(said, "no target skerry-cell")) << said;
}

TEST(CmakeTargets, FollowLinksThroughAliases) {
  const auto targets = ReadTargets(SoundTree());
  EXPECT_EQ(LinkClosure(targets, "skerry-cell"),
            (std::set<std::string>{"skerry-cell", "skerry_common", "skerry_engine"}));
}

}  // namespace
}  // namespace skerry::arrows
