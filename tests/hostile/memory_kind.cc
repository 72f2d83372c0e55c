#include "tests/hostile/memory_kind.h"

namespace skerry::testing {
namespace {

// Generous: 256 MB of regular expressions take V8 seven seconds on an idle core.
constexpr std::uint64_t kTimeoutMs = 120'000;
constexpr std::uint64_t kHeldPercent = 80;

Job WithLimits(Job job, std::uint64_t memory_mb) {
  return job.Limit("memoryMb", memory_mb).Limit("timeoutMs", kTimeoutMs);
}

}  // namespace

const std::vector<MemoryKind>& MemoryKinds() {
  static const std::vector<MemoryKind> kKinds = {
      {"arrays", "hold.push(new Array(1000).fill(i+0.5))", 8'067},
      {"objects", "hold.push(Array.from({length:500},(_,k)=>({i,next:{k}})))", 40'059},
      {"strings",
       "hold.push(Array.from({length:2000},(_,k)=>String.fromCharCode(97+(k+i)%26)).join('-'+(1e6+i)))",
       18'020},
      {"map", "hold.push(new Map(Array.from({length:500},(_,k)=>[k,{k}])))", 30'419},
      {"set", "hold.push(new Set(Array.from({length:500},(_,k)=>'key'+(1e3+k)+'of'+(1e6+i))))", 26'324},
      {"buffers", "hold.push(new Uint8Array(65536).fill(1))", 65'755},
      {"bigint", "hold.push((1n<<100000n)+BigInt(i))", 12'539},
      {"regexp", "const r=new RegExp(('lit'+(1e6+i)).repeat(500)+'[xy]');r.test('lit'+(1e6+i));hold.push(r)",
       65'293, 1},
      {"intl",
       "const f=new Intl.DateTimeFormat('de',{dateStyle:'full',timeStyle:'long'});f.format(0);hold.push(f)",
       29'972, 1},
      {"eval", "hold.push((0,eval)('(function f'+i+'(){return \"'+('text'+(1e6+i)).repeat(2000)+'\"})'))",
       44'343},
      {"json", "hold.push(JSON.parse(text))", 12'069},
      {"promises",
       "hold.push(Array.from({length:200},()=>{const p=new Promise(()=>{});p.then(x=>x+i);return p}))",
       41'699},
  };
  return kKinds;
}

// What JSON.parse is given.
constexpr const char* kText =
    "const text=JSON.stringify(Array.from({length:100},(_,i)=>({id:i,name:'name '+i,tags:['a','b']})));";

Job BombJob(const MemoryKind& kind, std::uint64_t memory_mb) {
  return WithLimits(Job(kind.name + "-bomb-" + std::to_string(memory_mb),
                        std::string(kText) + "const hold=[];for(let i=0;;i++){" + kind.add + "}"),
                    memory_mb);
}

Job TwinJob(const MemoryKind& kind, std::uint64_t memory_mb) {
  const std::uint64_t units = (memory_mb << 20) * kHeldPercent / 100 / kind.unit_bytes;
  Job job(kind.name + "-twin-" + std::to_string(memory_mb),
          std::string(kText) + "const fill=()=>{const hold=[];for(let i=0;i<input.units;i++){" + kind.add +
              "}return hold.length};"
              "let held=0;for(let round=0;round<input.rounds;round++)held+=fill();return held/input.rounds");
  job.Set("input", {{"units", units}, {"rounds", kind.rounds}});
  return WithLimits(job, memory_mb);
}

}  // namespace skerry::testing
