#include "common/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "common/log_limiter.h"

namespace skerry {
namespace {

std::atomic<bool> json_lines{false};

spdlog::level::level_enum ToSpdlog(log::Level level) {
  switch (level) {
    case log::Level::kDebug:
      return spdlog::level::debug;
    case log::Level::kInfo:
      return spdlog::level::info;
    case log::Level::kWarn:
      return spdlog::level::warn;
    case log::Level::kError:
      break;
  }
  return spdlog::level::err;
}

/// The level by the word that --log-level takes: spdlog's own for warn is another.
class LevelWord : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    const spdlog::string_view_t word =
        message.level == spdlog::level::warn ? "warn" : spdlog::level::to_string_view(message.level);
    line.append(word.data(), word.data() + word.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelWord>(); }
};

struct Limits {
  std::mutex mutex;
  LogLimiter limiter;
};
Limits& TheLimits() {
  static Limits limits;
  return limits;
}

std::optional<std::uint64_t> Admit(log::Level level, LogText message) {
  if (level == log::Level::kDebug) return 0;
  const std::lock_guard lock(TheLimits().mutex);
  return TheLimits().limiter.Admit(message.c_str(), SteadyClock::now());
}

}  // namespace

Status InitLogging(const std::string& name, const std::string& level, const std::string& format) {
  const spdlog::level::level_enum parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    return Fail(ErrorKind::kInvalid,
                "unknown log level '" + level + "'; use trace, debug, info, warn, error or off");
  }
  if (format != "text" && format != "json") {
    return Fail(ErrorKind::kInvalid, "unknown log format '" + format + "'; use text or json");
  }
  auto logger =
      std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  json_lines = format == "json";
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelWord>('l');
  formatter->set_pattern(json_lines ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l","process":"%n",%v})"
                                    : "%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %n %v");
  logger->set_formatter(std::move(formatter));
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::warn);
  {
    const std::lock_guard lock(TheLimits().mutex);
    TheLimits().limiter = {};
  }
  spdlog::set_default_logger(std::move(logger));
  return {};
}

namespace log {

bool On(Level level) {
  return spdlog::should_log(ToSpdlog(level));
}

void Write(Level level, LogText message, LogFields fields) {
  if (!On(level)) return;
  const auto held_back = Admit(level, message);
  if (!held_back) return;
  std::string line = json_lines ? LogLineJson(message, fields) : LogLineText(message, fields);
  if (*held_back > 0) {
    line += json_lines ? ",\"heldBack\":" : " heldBack=";
    line += std::to_string(*held_back);
  }
  spdlog::default_logger_raw()->log(ToSpdlog(level), spdlog::string_view_t(line));
}

}  // namespace log
}  // namespace skerry
