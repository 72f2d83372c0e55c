// skerry exec examples/hello.js --input '{"name": "Ada"}'
//
// The body of an async function: `await` works, `return` gives the value, `input` is what --input says.
console.log('running in an isolate of its own; process is', typeof process);
for (let step = 1; step <= 3; step++) reportStatus({ step, of: 3 });

const name = input?.name ?? 'world';
return { greeting: `Hello, ${name}!`, letters: [...name].length };
