// isolated-vm: a fresh isolate and context per job, many in one process, run on its own threads.
import { createRequire } from 'node:module';
import { join } from 'node:path';

// What the job's code runs in: values cross as JSON text, as everywhere here.
const wrapped = (code) => `
  const dataProxy = { request: (method, params) =>
    $0.apply(undefined, [method, JSON.stringify(params)], { result: { promise: true } }).then(JSON.parse) };
  return (async function (input, dataProxy) {
${code}
  })(JSON.parse($1), dataProxy).then((value) => JSON.stringify(value) ?? 'null');`;

export async function start({ workload, modules }) {
  const ivm = createRequire(join(modules, 'package.json'))('isolated-vm');
  const code = wrapped(workload.code);
  const request = async () => workload.answer;
  return {
    async runOne() {
      const isolate = new ivm.Isolate({ memoryLimit: 256 });
      try {
        const context = await isolate.createContext();
        return await context.evalClosure(code, [new ivm.Reference(request), workload.input],
          { result: { promise: true, copy: true } });
      } finally {
        isolate.dispose();
      }
    },
    async stop() {},
  };
}
