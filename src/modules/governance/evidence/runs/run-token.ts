import { createHash, randomBytes } from "node:crypto";

/** Creates the token of a lease. Its number shows which claim of the run it belongs to. */
export function createToken(fence: number): { readonly token: string; readonly tokenDigest: string } {
  const token = `${fence}.${randomBytes(32).toString("base64url")}`;
  return { token, tokenDigest: digestOfToken(token) };
}

/** The stored form of a token. */
export function digestOfToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
