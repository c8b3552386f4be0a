import { fail, invalid } from "../../errors/index.ts";
import { createSigner } from "../crypto/index.ts";

/** The scope of a cursor: one list of one tenant with one filter. */
export interface CursorScope {
  readonly tenantId: string;
  readonly operation: string;
  /** The result of `filterHash`. */
  readonly filter: string;
}

/** The number of rows in a list. */
export interface Total {
  readonly count: number;
  /** Whether counting stopped at its limit, so that there may be more rows. */
  readonly capped: boolean;
}

/** The content of a cursor token. */
export interface CursorPosition {
  /** The sort key of the last row of the previous page. */
  readonly position: readonly (string | number)[];
  /** The number of rows, if the first page counted them. */
  readonly total?: Total;
}

/** A cursor's position together with its scope. */
export interface CursorContent extends CursorScope, CursorPosition {}

/** Encodes and decodes page cursors. */
export interface Cursors {
  encode(content: CursorContent): string;
  /** Throws INVALID_ARGUMENT for `page_token` unless this service created the token for exactly this scope. */
  decode(token: string, scope: CursorScope): CursorPosition;
}

const tokenCharsMax = 2048;
const base64url = /^[A-Za-z0-9_-]+$/;

/**
 * Creates cursors that are signed with a secret of 32 bytes or more. All nodes must have the same secret.
 *
 * A token is base64url of `signature (16 bytes) ‖ JSON [total or null, ...position]`; a capped total is written as a
 * negative number. The scope is signed but not part of the token, because the decoder knows it. A token is not encrypted:
 * a position contains the id and time of the last row that was scanned, and that row belongs to the caller's tenant.
 */
export function createCursors(secret: Buffer): Cursors {
  const signer = createSigner(secret);
  // JSON separates the parts unambiguously. The leading 1 is the version of the format.
  const signed = (scope: CursorScope, body: string): string =>
    JSON.stringify([1, scope.tenantId, scope.operation, scope.filter, body]);

  return {
    encode(content) {
      const body = JSON.stringify([
        content.total === undefined ? null : totalNumber(content.total),
        ...content.position,
      ]);
      if (parseBody(body) === undefined) {
        throw fail("INTERNAL", {
          cause: new Error(`${content.operation}: a cursor's position must consist of strings and finite numbers.`),
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
      if (token.length > tokenCharsMax || !base64url.test(token)) throw invalidCursor();
      const bytes = Buffer.from(token, "base64url");
      // Base64 decoding ignores stray bits. Only the canonical encoding is accepted.
      if (bytes.toString("base64url") !== token) throw invalidCursor();
      const body = bytes.toString("utf8", signer.signatureBytes);
      if (!signer.verify(signed(scope, body), bytes.subarray(0, signer.signatureBytes))) throw invalidCursor();
      const position = parseBody(body);
      if (position === undefined) throw invalidCursor();
      return position;
    },
  };
}

function parseBody(body: string): CursorPosition | undefined {
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

// All causes share one message, so that an attacker learns nothing from the difference.
function invalidCursor(): Error {
  return invalid(
    "page_token",
    "cursor",
    "must come from the previous page of this list, with the same filter; leave it empty to start from the first page.",
  );
}
