import { randomFillSync } from "node:crypto";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

const pool = Buffer.alloc(16 * 512);
let poolAt = pool.length;
let lastMs = -1;
const lastRandom = new Uint8Array(16);

/** Makes a ULID: sorts by creation time, and strictly rises within this process. */
export function ulid(nowMs: number): string {
  if (nowMs > lastMs) {
    lastMs = nowMs;
    if (poolAt === pool.length) {
      randomFillSync(pool);
      poolAt = 0;
    }
    // Each of the 16 characters of randomness takes five bits of one byte.
    for (let i = 0; i < 16; i++) lastRandom[i] = pool[poolAt++]! & 31;
  } else {
    let i = 15;
    while (i >= 0 && lastRandom[i] === 31) lastRandom[i--] = 0;
    if (i < 0) lastMs++;
    else lastRandom[i]!++;
  }
  let random = "";
  for (let i = 0; i < 16; i++) random += alphabet[lastRandom[i]!];
  return timePart(lastMs) + random;
}

/** The lowest ULID of a moment: every one that was made before is lower. */
export function lowestUlid(atMs: number): string {
  return timePart(Math.max(atMs, 0)) + "0".repeat(16);
}

function timePart(ms: number): string {
  let time = "";
  for (let i = 0, rest = ms; i < 10; i++) {
    time = alphabet[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  return time;
}

/** Whether a string is a ULID. */
export function isUlid(text: string): boolean {
  return pattern.test(text);
}

/** When a ULID was made, in milliseconds. */
export function ulidMs(id: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i++) ms = ms * 32 + alphabet.indexOf(id[i]!);
  return ms;
}
