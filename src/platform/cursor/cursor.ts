import { fail, invalid } from "../../errors/index.ts";
import { createSigner } from "../crypto/index.ts";

/** What a cursor is good for: one list of one tenant under one filter. */
export interface CursorScope {
  readonly tenantId: string;
  readonly operation: string;
  /** From `filterHash`. */
  readonly filter: string;
}

/** How many rows a list has. */
export interface Total {
  readonly count: number;
  /** Whether the count stopped there, so that there may be more. */
  readonly capped: boolean;
}

/** What a cursor carries. */
export interface CursorPosition {
  /** The sort key of the last row of the page before. */
  readonly position: readonly (string | number)[];
  /** The number of rows, when the first page counted them. */
  readonly total?: Total;
}

/** What `encode` takes. */
export interface CursorContent extends CursorScope, CursorPosition {}

/** Makes and reads page cursors. */
export interface Cursors {
  encode(content: CursorContent): string;
  /** Throws INVALID_ARGUMENT about `page_token` unless this service made the token for this very scope. */
  decode(token: string, scope: CursorScope): CursorPosition;
}

const tokenCharsMax = 2048;
const base64url = /^[A-Za-z0-9_-]+$/;

/**
 * Cursors signed with a secret of 32 bytes or more; every node that serves the same lists needs the same one.
 *
 * A token is base64url of `signature (16 bytes) ‖ JSON [total or null, ...position]`; a capped total is written as a
 * negative number. The scope is signed but not sent: whoever decodes knows it already. A token is signed, not
 * encrypted: a position holds the id and time of the last row that was looked at in the caller's own tenant.
 */
export function createCursors(secret: Buffer): Cursors {
  const signer = createSigner(secret);
  // JSON keeps the parts apart whatever they hold; the leading 1 is the format's version.
  const signed = (scope: CursorScope, body: string): string =>
    JSON.stringify([1, scope.tenantId, scope.operation, scope.filter, body]);

  return {
    encode(content) {
      const body = JSON.stringify([
        content.total === undefined ? null : totalNumber(content.total),
        ...content.position,
      ]);
      if (read(body) === undefined) {
        throw fail("INTERNAL", {
          cause: new Error(`${content.operation}: a cursor's position must be texts and finite numbers.`),
        });
      }
      const token = Buffer.concat([signer.sign(signed(content, body)), Buffer.from(body, "utf8")]).toString(
        "base64url",
      );
      if (token.length > tokenCharsMax) {
        throw fail("INTERNAL", {
          cause: new Error(`${content.operation}: a cursor of ${token.length} characters; sort by shorter keys.`),
        });
      }
      return token;
    },
    decode(token, scope) {
      if (token.length > tokenCharsMax || !base64url.test(token)) throw refuse();
      const bytes = Buffer.from(token, "base64url");
      // Decoding passes over stray characters and bits: only the very text that was given out is taken.
      if (bytes.toString("base64url") !== token) throw refuse();
      const body = bytes.toString("utf8", signer.signatureBytes);
      if (!signer.verify(signed(scope, body), bytes.subarray(0, signer.signatureBytes))) throw refuse();
      const position = read(body);
      if (position === undefined) throw refuse();
      return position;
    },
  };
}

function read(body: string): CursorPosition | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length < 2) return undefined;
  const [total, ...position] = parts;
  if (position.some((part) => typeof part !== "string" && typeof part !== "number")) return undefined;
  if (total === null) return { position };
  if (typeof total !== "number") return undefined;
  return { position, total: total < 0 ? { count: -1 - total, capped: true } : { count: total, capped: false } };
}

function totalNumber({ count, capped }: Total): number {
  return capped ? -1 - count : count;
}

// One message for every reason: a forger, or a caller of another tenant, learns nothing from the difference.
function refuse(): Error {
  return invalid(
    "page_token",
    "cursor",
    "not a cursor that this list gave out for this filter; start again without one.",
  );
}
