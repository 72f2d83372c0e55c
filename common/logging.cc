#include "common/logging.h"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <memory>

namespace skerry {

Status InitLogging(const std::string& name, const std::string& level) {
  const spdlog::level::level_enum parsed = spdlog::level::from_str(level);
  if (parsed == spdlog::level::off && level != "off") {
    return Fail(ErrorKind::kInvalid,
                "unknown log level '" + level + "'; use trace, debug, info, warn, error or off");
  }
  auto logger =
      std::make_shared<spdlog::logger>(name, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %n %v");
  logger->set_level(parsed);
  logger->flush_on(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace skerry
