import { randomFillSync } from "node:crypto";
import { tokenSuffix } from "../domain/lease-token.ts";

const randomLength = 12;
/** Random bytes that no token has used yet. They are fetched together, because small reads are slow. */
const pool = Buffer.alloc(randomLength * 512);
let used = pool.length;

function nextRandom(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += randomLength;
  return pool.toString("base64url", used - randomLength, used);
}

/** Creates the unguessable ends of lease tokens. */
export function newTokenSuffixes(inProduction: boolean, count: number): string[] {
  return Array.from({ length: count }, () => tokenSuffix(inProduction, nextRandom()));
}
