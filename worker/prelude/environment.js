// Takes out of a fresh context what a job must not find, and hands the engine the intrinsics it needs later, as they
// were before any user code. The result of this script is that bundle; nothing of it is reachable from a program.
(() => {
  'use strict';
  // Blocking, or waiting on a timer that is never pumped.
  delete Atomics.wait;
  delete Atomics.waitAsync;
  // V8's own console talks to an inspector that is not there; the engine installs its own.
  delete globalThis.console;

  return {
    asyncFunction: (async () => {}).constructor,
    error: Error,
    errorToString: Error.prototype.toString,
    // Resolves exactly as `return value` of an async function does.
    settle: async (value) => value,
  };
})();
