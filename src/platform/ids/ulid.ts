import { randomFillSync } from "node:crypto";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const pattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const codes = Buffer.from(alphabet, "latin1");
const timeLength = 10;

const pool = Buffer.alloc(16 * 512);
let poolAt = pool.length;
let lastMs = -1;
/** The 16 five-bit groups of the last id's random part. */
const lastRandom = new Uint8Array(16);
/** The characters of the last id. Most of them are reused by the next id. */
const lastText = Buffer.alloc(timeLength + lastRandom.length);

/** Creates a ULID. ULIDs sort by creation time and increase strictly within a process. */
export function ulid(nowMs: number): string {
  if (nowMs > lastMs) {
    setTime(nowMs);
    if (poolAt === pool.length) {
      randomFillSync(pool);
      poolAt = 0;
    }
    for (let i = 0; i < 16; i++) setRandom(i, pool[poolAt++]! & 31);
  } else {
    let i = 15;
    while (i >= 0 && lastRandom[i] === 31) setRandom(i--, 0);
    if (i < 0) setTime(lastMs + 1);
    else setRandom(i, lastRandom[i]! + 1);
  }
  return lastText.toString("latin1");
}

/** Forgets the last id, so that the next one may have an earlier time: after tests with a clock that is ahead. */
export function forgetLastUlid(): void {
  lastMs = -1;
}

function setTime(ms: number): void {
  lastMs = ms;
  lastText.write(timePart(ms), "latin1");
}

function setRandom(at: number, bits: number): void {
  lastRandom[at] = bits;
  lastText[timeLength + at] = codes[bits]!;
}

/** The lowest ULID of a time. Every ULID created before that time is lower. */
export function lowestUlid(atMs: number): string {
  return timePart(Math.max(atMs, 0)) + "0".repeat(16);
}

/** The ULID of a time and at least 16 bytes: equal for equal arguments. */
export function ulidFrom(atMs: number, bytes: Uint8Array): string {
  return timePart(Math.max(atMs, 0)) + Array.from(bytes.subarray(0, 16), (byte) => alphabet[byte % 32]).join("");
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

/** The creation time of a ULID in milliseconds. */
export function ulidMs(id: string): number {
  let ms = 0;
  for (let i = 0; i < 10; i++) ms = ms * 32 + alphabet.indexOf(id[i]!);
  return ms;
}
