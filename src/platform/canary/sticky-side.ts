import { bucketOf } from "../hashing/index.ts";
import type { Canary } from "./canary-store.ts";

/** Whether a key is on the side of the canary. An empty key never is, because it would not stay on its side. */
export function isOnCanarySide({ salt, sharePpm }: Pick<Canary, "salt" | "sharePpm">, key: string): boolean {
  return key !== "" && bucketOf(salt, key) < sharePpm;
}
