// quickjs-emscripten: QuickJS, an interpreter, compiled to WebAssembly; a fresh runtime and context per job.
import { createRequire } from 'node:module';
import { join } from 'node:path';

export const perCore = true;

const wrapped = (code) => `
(async function (input, dataProxy) {
${code}
})(JSON.parse(inputText), { request: (method, params) =>
  requestText(method, JSON.stringify(params)).then(JSON.parse) })
  .then((value) => JSON.stringify(value) ?? 'null')`;

export async function start({ workload, modules }) {
  const { getQuickJS } = createRequire(join(modules, 'package.json'))('quickjs-emscripten');
  const quickjs = await getQuickJS();
  const code = wrapped(workload.code);

  function define(context) {
    context.newString(workload.input).consume((text) => context.setProp(context.global, 'inputText', text));
    context.newFunction('requestText', () => {
      const promise = context.newPromise();
      context.newString(workload.answer).consume((text) => promise.resolve(text));
      promise.settled.then(context.runtime.executePendingJobs);
      return promise.handle;
    }).consume((request) => context.setProp(context.global, 'requestText', request));
  }

  return {
    async runOne() {
      const context = quickjs.newContext();
      try {
        define(context);
        const promise = context.unwrapResult(context.evalCode(code));
        const settled = context.resolvePromise(promise);
        promise.dispose();
        context.runtime.executePendingJobs();
        return context.unwrapResult(await settled).consume((value) => context.getString(value));
      } finally {
        context.dispose();
      }
    },
    async stop() {},
  };
}
