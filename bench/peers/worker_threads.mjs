// A worker_threads Worker per job: an isolate and a whole Node environment in a thread of this process.
import { Worker } from 'node:worker_threads';

const program = `
const { parentPort, workerData } = require('node:worker_threads');
const AsyncFunction = (async () => {}).constructor;
const waiting = new Map();
let calls = 0;
const dataProxy = { request: (method, params) => new Promise((resolve) => {
  waiting.set(++calls, resolve);
  parentPort.postMessage({ call: calls, method, params: JSON.stringify(params) });
}) };
parentPort.on('message', ({ call, answer }) => waiting.get(call)(JSON.parse(answer)));
new AsyncFunction('input', 'dataProxy', workerData.code)(JSON.parse(workerData.input), dataProxy).then((value) => {
  parentPort.postMessage({ value: JSON.stringify(value) ?? 'null' });
  parentPort.close();
});`;

export async function start({ workload }) {
  return {
    runOne: () => new Promise((resolve, reject) => {
      const worker = new Worker(program, { eval: true, workerData: { code: workload.code, input: workload.input } });
      let value;
      worker.on('message', (message) => {
        if (message.call) worker.postMessage({ call: message.call, answer: workload.answer });
        else value = message.value;
      });
      worker.on('error', reject);
      worker.on('exit', () => (value === undefined ? reject(new Error('no value')) : resolve(value)));
    }),
    async stop() {},
  };
}
