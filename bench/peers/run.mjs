// node run.mjs PEER WORKLOAD.json MILLISECONDS CONCURRENCY MODULES_DIR
//
// Runs a workload in a peer for a while and prints one line:
//   {"jobsPerSecond":412.3,"valueSha256":"…"}     of JSON.stringify of the last job's value, as text
//   {"skip":"why this peer cannot run it"}
//
// A peer is a module of this folder that exports
//   start({workload, concurrency, modules}) -> {runOne(): Promise<string>, stop(): Promise<void>}
//     runOne runs one job in something fresh and gives its value as JSON text; as many run at once as `concurrency`
//   perCore = true      where one process of it uses one core: run.mjs then starts as many as `concurrency`
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const files = {
  'isolated-vm': './isolated_vm.mjs', worker_threads: './worker_threads.mjs', node: './node_process.mjs',
  workerd: './workerd.mjs', quickjs: './quickjs.mjs',
};

async function measure(peer, { workload, milliseconds, concurrency, modules }) {
  const started = await peer.start({ workload, concurrency, modules });
  let value = await started.runOne();  // warm, and sure that it works at all
  let jobs = 0;
  const begin = performance.now();
  const loop = async () => {
    while (performance.now() - begin < milliseconds) {
      value = await started.runOne();
      jobs += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  const seconds = (performance.now() - begin) / 1000;
  await started.stop();
  return { jobsPerSecond: jobs / seconds, valueSha256: createHash('sha256').update(value).digest('hex') };
}

function measureInChild(args) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    let output = '';
    child.stdout.on('data', (data) => { output += data; });
    child.on('exit', (code) => (code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`exited with ${code}`))));
  });
}

async function main([name, path, milliseconds, concurrency, modules]) {
  const peer = await import(files[name]);
  const count = Number(concurrency);
  if (peer.perCore && count > 1) {
    const args = [name, path, milliseconds, '1', modules];
    const all = await Promise.all(Array.from({ length: count }, () => measureInChild(args)));
    const skipped = all.find((one) => one.skip);
    return skipped ?? { ...all[0], jobsPerSecond: all.reduce((sum, one) => sum + one.jobsPerSecond, 0) };
  }
  const { code, input, answer } = JSON.parse(readFileSync(path, 'utf8'));
  const workload = {
    code, input: JSON.stringify(input), answer: answer === undefined ? undefined : JSON.stringify(answer),
  };
  return measure(peer, { workload, milliseconds: Number(milliseconds), concurrency: count, modules });
}

try {
  console.log(JSON.stringify(await main(process.argv.slice(2))));
} catch (error) {
  console.log(JSON.stringify({ skip: String(error?.message ?? error).split('\n')[0] }));
}
process.exit(0);
