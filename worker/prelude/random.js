// A seeded Math.random: every fork of a cell would otherwise continue the same sequence (DESIGN section 6.2).
//
// sfc32 (Chris Doty-Humphrey, PractRand), two outputs for 53 bits. Not for secrets, as ever with Math.random.
// The result of this script is the function that seeds it, and one that tells whether it has been drawn from since.
(() => {
  'use strict';
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 1;
  let seeded = [a, b, c, d];

  const next = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + t) | 0;
    return t >>> 0;
  };

  // A method, so that it has no prototype and cannot be constructed, like the built-in.
  const { random } = {
    random() {
      return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992;
    },
  };
  Object.defineProperty(Math, 'random', { value: random, writable: true, enumerable: false, configurable: true });

  return {
    seed(s0, s1, s2) {
      a = s0;
      b = s1;
      c = s2;
      d = 1;
      for (let i = 0; i < 12; i++) next();
      seeded = [a, b, c, d];
    },
    drawn: () => a !== seeded[0] || b !== seeded[1] || c !== seeded[2] || d !== seeded[3],
  };
})();
