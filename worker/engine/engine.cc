#include "worker/engine/engine.h"

#include <unistd.h>
#include <v8-initialization.h>

#include <utility>

#include "worker/engine/clock_platform.h"
#include "worker/engine/host/hot_pages.h"
#include "worker/engine/host/huge_text.h"
#include "worker/engine/host/job_heap.h"
#include "worker/engine/host/memory_guard.h"
#include "worker/engine/host/read_only_runs.h"
#include "worker/engine/job_run.h"
#include "worker/engine/prelude.h"
#include "worker/engine/template.h"
#include "worker/engine/v8_start.h"
#include "worker/engine/warming_port.h"

namespace skerry::engine {
namespace {

// V8's default stack (--stack-size): what programs written for Node can recurse. A job must have it wherever
// on the 8 MiB of the main thread it is started.
constexpr std::uintptr_t kStackBytes = 984u << 10;

class V8Engine : public Engine {
 public:
  V8Engine(std::unique_ptr<ClockPlatform> platform, std::unique_ptr<Template> made)
      : platform_(std::move(platform)), template_(std::move(made)) {}

  void Rehearse() override {
    Program program;
    program.code = prelude::kRehearsal;
    program.input = R"({"a":19,"b":23})";
    WarmingPort port;
    MergeReadOnlyRuns();
    hot_ = HotPages::Learn([&] {
      OpenJobHeap();
      Run(program, port);
    });
    hot_.MoveConstants();
  }

  void Prepare() override {
    OpenJobHeap();
    hot_.Populate();
  }

  Outcome Run(const Program& program, JobPort& port) override {
    v8::Isolate* const isolate = template_->isolate();
    char here = 0;
    isolate->SetStackLimit(reinterpret_cast<std::uintptr_t>(&here) - kStackBytes);
    template_->budget().Arm(Bytes::MiB(program.limits.memory_mb()));
    MemoryGuard::Arm();
    if (program.clock_ms) platform_->Freeze(*program.clock_ms);

    v8::HandleScope scope(isolate);
    const v8::Local<v8::Context> context = template_->context();
    v8::Context::Scope entered(context);
    Outcome outcome = JobRun(context, template_->intrinsics(), program, port).Run();
    outcome.usage.heap_peak_bytes = template_->budget().HeapPeakBytes();
    return outcome;
  }

 private:
  static void OpenJobHeap() { process_job_heap.Open(sbrk(0)); }

  std::unique_ptr<ClockPlatform> platform_;
  std::unique_ptr<Template> template_;
  HotPages hot_;
};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::Start(const EngineOptions& options) {
  if (options.text == TextPages::kHuge) MoveTextToHugePages();
  auto platform = StartV8(options.jit);
  if (!platform) return Fail(platform.error());
  auto made = Template::Make(options);
  if (!made) return Fail(made.error());
  process_job_heap.Reserve();
  return std::make_unique<V8Engine>(std::move(*platform), std::move(*made));
}

std::string_view V8Version() {
  return v8::V8::GetVersion();
}

}  // namespace skerry::engine
