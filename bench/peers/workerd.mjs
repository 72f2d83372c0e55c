// workerd with its worker loader: one standing worker that loads a new one (an isolate of its own) for every job.
// Its worker loader is experimental; the interface here is that of the version in the lockfile.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const perCore = true;  // one event loop per process

const config = (socket) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "unix:${socket}", http = (), service = "main")],
);
const main :Workerd.Worker = (
  modules = [(name = "main.mjs", esModule = embed "main.mjs")],
  bindings = [
    (name = "LOADER", workerLoader = ()),
    (name = "HOST", service = (name = "main", entrypoint = "Host")),
  ],
  compatibilityDate = "2026-01-01",
  compatibilityFlags = ["experimental"],
);
`;

const jobModule = (code) => `
import { WorkerEntrypoint } from 'cloudflare:workers';
async function job(input, dataProxy) {
${code}
}
export default class extends WorkerEntrypoint {
  async run(inputText) {
    const host = this.env.HOST;
    const dataProxy = { request: async (method, params) =>
      JSON.parse(await host.request(method, JSON.stringify(params))) };
    return JSON.stringify(await job(JSON.parse(inputText), dataProxy)) ?? 'null';
  }
}`;

const mainModule = (workload) => `
import { WorkerEntrypoint } from 'cloudflare:workers';
const answer = ${JSON.stringify(workload.answer ?? 'null')};
const code = ${JSON.stringify(jobModule(workload.code))};
const input = ${JSON.stringify(workload.input)};
export class Host extends WorkerEntrypoint {
  request() { return answer; }
}
let jobs = 0;
export default {
  async fetch(request, env) {
    const worker = env.LOADER.get('job' + ++jobs, () => ({
      compatibilityDate: '2026-01-01',
      mainModule: 'job.js', modules: { 'job.js': code }, env: { HOST: env.HOST }, globalOutbound: null,
    }));
    return new Response(await worker.getEntrypoint().run(input));
  },
};`;

function get(agent, socketPath) {
  return new Promise((resolve, reject) => {
    const request = http.get({ agent, socketPath, path: '/' }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (data) => { text += data; });
      response.on('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))));
    });
    request.on('error', reject);
  });
}

export async function start({ workload, modules }) {
  const require = createRequire(join(modules, 'package.json'));
  const binary = require.resolve('@cloudflare/workerd-linux-64/bin/workerd');
  const folder = mkdtempSync(join(tmpdir(), 'skerry-workerd-'));
  const socket = join(folder, 'http');
  writeFileSync(join(folder, 'main.mjs'), mainModule(workload));
  writeFileSync(join(folder, 'config.capnp'), config(socket));
  const child = spawn(binary, ['serve', '--experimental', join(folder, 'config.capnp')],
    { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  child.stderr.on('data', (data) => { complaint = (complaint + data).slice(-2000); });
  process.on('exit', () => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const agent = new http.Agent({ keepAlive: true });
  for (let tries = 0; ; tries += 1) {
    try {
      await get(agent, socket);
      break;
    } catch (error) {
      if (child.exitCode !== null || tries > 200) throw new Error(`workerd: ${complaint || error.message}`);
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
  }
  return {
    runOne: () => get(agent, socket),
    async stop() { child.kill('SIGKILL'); },
  };
}
