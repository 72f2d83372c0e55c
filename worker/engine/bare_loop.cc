#include "worker/engine/bare_loop.h"

#include <utility>

#include "worker/engine/job_run.h"
#include "worker/engine/template.h"
#include "worker/engine/v8_start.h"

namespace skerry::engine {
namespace {

class V8BareLoop : public BareLoop {
 public:
  V8BareLoop(const EngineOptions& options, std::unique_ptr<v8::Platform> platform, v8::StartupData snapshot)
      : options_(options), platform_(std::move(platform)), snapshot_(snapshot) {}

  Status KeepOneIdle() {
    auto idle = Template::MakeCold(options_, snapshot_);
    if (!idle) return Fail(idle.error());
    idle_ = std::move(*idle);
    return {};
  }

  Outcome RunOne(const Program& program, JobPort& port) override {
    auto made = Template::MakeCold(options_, snapshot_);
    if (!made) {
      Outcome failed;
      failed.error = MakeError(Code::kLost, made.error().message);
      return failed;
    }
    Outcome outcome = Run(**made, program, port);
    (*made)->Dispose();
    return outcome;
  }

 private:
  static Outcome Run(Template& made, const Program& program, JobPort& port) {
    v8::HandleScope scope(made.isolate());
    const v8::Local<v8::Context> context = made.context();
    v8::Context::Scope entered(context);
    return JobRun(context, made.intrinsics(), program, port).Run();
  }

  const EngineOptions options_;
  const std::unique_ptr<v8::Platform> platform_;
  const v8::StartupData snapshot_;
  std::unique_ptr<Template> idle_;
};

}  // namespace

Result<std::unique_ptr<BareLoop>> BareLoop::Start(const EngineOptions& options) {
  auto platform = StartV8(options.jit);
  if (!platform) return Fail(platform.error());
  const auto snapshot = Template::MakeSnapshot();
  if (!snapshot) return Fail(snapshot.error());
  auto loop = std::make_unique<V8BareLoop>(options, std::move(*platform), *snapshot);
  if (auto status = loop->KeepOneIdle(); !status) return Fail(status.error());
  return loop;
}

}  // namespace skerry::engine
