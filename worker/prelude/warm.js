// Run as a job in a throw-away context of the template, so that what V8 and ICU make lazily exists before the fork
// (DESIGN section 6.5). It is representative code, not a benchmark: each line stands for a kind of program.
const text = 'The quick brown fox jumps over the lazy dog, naïvely — 漢字 and 😀.';

// ICU: collators, number, date, plural, list and relative formats, segmenters, case mapping, normalisation.
const words = text.split(/\s+/u).sort((a, b) => a.localeCompare(b));
new Intl.Collator('en', { numeric: true }).compare('a10', 'a9');
new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(1234.5);
new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 }).format(1e6);
new Intl.NumberFormat('de-DE').format(1234567.891);
new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeStyle: 'long', timeZone: 'UTC' }).format(0);
new Intl.PluralRules('en', { type: 'ordinal' }).select(2);
new Intl.ListFormat('en').format(['a', 'b', 'c']);
new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-1, 'day');
[...new Intl.Segmenter('en', { granularity: 'word' }).segment(text)].length;
(1234567.891).toLocaleString();
const date = new Date(0);
[date.toLocaleString(), date.toLocaleDateString(), date.toLocaleTimeString(), date.toISOString(), String(date)];
new Date('2024-02-29T12:00:00Z').getTimezoneOffset();
Date.parse('Feb 3, 2021 10:00');
Temporal.PlainDate.from('2024-02-29').add({ days: 1 }).toString();
[text.toUpperCase(), text.toLocaleLowerCase('tr'), text.normalize('NFD'), text.toWellFormed()];

// Strings and regular expressions.
/(?<year>\d{4})-(?<month>\d\d)/.exec('on 2024-05').groups.year;
[...text.matchAll(/[a-z]+/giu)].length;
text.replace(/\b(\w)(\w*)/g, (_, first, rest) => first.toUpperCase() + rest).replaceAll('o', '0');
/^\p{Lu}/u.test(text);
`${text.padStart(90, '.').trim().slice(3, 20)}${'ab'.repeat(20).indexOf('ba')}`.charCodeAt(2);
[(255).toString(16), parseInt('ff', 16), Number('1e3'), (0.1).toFixed(3), parseFloat('2.5x'), 10n ** 20n];
encodeURIComponent(decodeURIComponent('%F0%9F%98%80'));

// Collections and iteration.
const numbers = Array.from({ length: 300 }, (_, i) => (i * 7919) % 311);
numbers.map((n) => n * 2).filter((n) => n % 3).reduce((sum, n) => sum + n, 0);
numbers.toSorted((a, b) => a - b).findLast((n) => n < 50);
[...numbers].sort().reverse().concat([1, [2, [3]]].flat(Infinity)).includes(7);
const groups = Object.groupBy(numbers, (n) => (n % 2 ? 'odd' : 'even'));
const map = new Map(numbers.map((n, i) => [`k${n}`, i]));
for (const [key, value] of map) if (value > 250) map.delete(key);
const set = new Set(numbers).union(new Set([1, 2, 3]));
const weak = new WeakMap([[map, set]]);
Object.fromEntries(Object.entries({ a: 1, b: 2 }).map(([key, value]) => [key, value + 1]));
const { a, ...others } = { a: 1, b: [2, { c: 3 }], ...groups };
structure(others);
function structure(value, depth = 0) {
  if (value === null || typeof value !== 'object') return depth;
  return Math.max(depth, ...Object.values(value).map((child) => structure(child, depth + 1)));
}
numbers.values().map((n) => n + 1).take(5).toArray();

// JSON, both ways.
JSON.stringify(JSON.parse(JSON.stringify({ text, numbers, date, nested: { deep: [null, true, 1.5, 'é"\\'] } }), (_, v) => v), null, 2);

// Classes, generators, proxies, symbols, closures.
class Shape {
  #size = 1;
  static made = 0;
  constructor(size) {
    this.#size = size;
    Shape.made++;
  }
  get area() {
    return this.#size ** 2;
  }
}
class Circle extends Shape {
  get area() {
    return super.area * Math.PI;
  }
  *[Symbol.iterator]() {
    yield this.area;
  }
}
[...new Circle(2)].map(Math.round);
const proxy = new Proxy({}, { get: (_, key) => key, has: () => true });
'x' in proxy && proxy.anything;
Reflect.ownKeys(Object.freeze({ [Symbol('s')]: 1 }));
[Math.random(), Math.max(...numbers), Math.hypot(3, 4), Math.sin(1), Math.floor(2.5)];

// Typed arrays.
const floats = new Float64Array(64).fill(1.5);
const bytes = new Uint8Array(floats.buffer, 8, 16);
new DataView(bytes.buffer).setUint32(0, 0xdeadbeef, true);
Uint8Array.from(bytes).subarray(2).sort().join();

// Errors, their stacks, eval.
try {
  null.property;
} catch (error) {
  String(error.stack);
  error instanceof TypeError;
}
try {
  throw new RangeError('warm', { cause: new Error('inner') });
} catch (error) {
  console.log('%s and %d', error, 5, { text, map, set, list: numbers, date, circle: new Circle(1) }, weak, [undefined, null, 1n]);
}
eval('1 + 1') + new Function('x', 'return x * 2')(4);

// A hot loop, so that the tiers of the compiler have run once.
let sum = 0;
for (let i = 0; i < 30000; i++) sum = (sum + i * i) % 65521;
const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
fibonacci(16);

// Promises and everything that crosses the host's boundary.
async function* stream() {
  for (let i = 0; i < 3; i++) yield await i;
}
for await (const item of stream()) sum += item;
await Promise.allSettled([Promise.reject(new Error('warm')), Promise.race([1, 2]), Promise.any([3])]);
reportStatus({ progress: 0.5, words });
const answer = await dataProxy.request('warm', { id: 1, list: [1, 2, 3] });
Promise.reject(new Error('unhandled on purpose'));
return { answer, input, sum, words, groups };
