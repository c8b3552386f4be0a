import { randomBytes } from "node:crypto";
import { tokenSuffix } from "../domain/lease-token.ts";

const randomLength = 12;

/** Creates the unguessable ends of lease tokens. The random bytes are fetched together, because small reads are slow. */
export function newTokenSuffixes(inProduction: boolean, count: number): string[] {
  const bytes = randomBytes(randomLength * count);
  return Array.from({ length: count }, (_, i) =>
    tokenSuffix(inProduction, bytes.toString("base64url", i * randomLength, (i + 1) * randomLength)),
  );
}
