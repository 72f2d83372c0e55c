#include "clients/cli/doctor/finding.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace skerry::cli::doctor {
namespace {

TEST(Finding, IsOneLineWithWhatWhyAndWhatToDo) {
  EXPECT_EQ(LineOf(Good("kernel", "6.1", "it has the calls")), "ok    kernel: 6.1 — it has the calls");
  EXPECT_EQ(LineOf(Poor("clock", "slow", "costs time", "boot with tsc")),
            "warn  clock: slow — costs time; boot with tsc");
  EXPECT_EQ(LineOf(Bad("cell", "gone", "jobs run in it", "build it")),
            "FAIL  cell: gone — jobs run in it; build it");
}

TEST(Finding, IsAnObjectForPrograms) {
  const auto json = nlohmann::json::parse(JsonOf(Bad("cell", "say \"no\"\n", "w", "a")));
  EXPECT_EQ(json["verdict"], "fail");
  EXPECT_EQ(json["check"], "cell");
  EXPECT_EQ(json["what"], "say \"no\"\n");
  EXPECT_EQ(json["why"], "w");
  EXPECT_EQ(json["advice"], "a");
}

TEST(Finding, OnlyFailuresFailTheDoctor) {
  EXPECT_EQ(ExitStatusOf({Good("a", "", ""), Poor("b", "", "", "")}), 0);
  EXPECT_EQ(ExitStatusOf({Good("a", "", ""), Bad("b", "", "", "")}), 1);
}

TEST(Finding, WhatAProgramSaidCannotDriveTheTerminal) {
  EXPECT_EQ(FirstLine("\x1b[2Jred\nsecond"), "?[2Jred");
}

TEST(Finding, CutsAtAWordWhatNobodyWouldReadToItsEndAndNothingElse) {
  const std::string words = [] {
    std::string text;
    while (text.size() < 1'500) text += "ninebytes ";
    return text;
  }();
  ASSERT_EQ(words.size(), 1'500u);
  EXPECT_EQ(FirstLine(words), words);
  EXPECT_EQ(FirstLine(words + "more"), words.substr(0, 1'499) + " …");
  EXPECT_EQ(FirstLine(std::string(1'600, 'x')), std::string(1'500, 'x') + " …");
}

}  // namespace
}  // namespace skerry::cli::doctor
