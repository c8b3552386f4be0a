import assert from "node:assert/strict";

/** Asserts that a response contains the JSON that a document shows. "…" matches any text. */
export function assertShows(actual: unknown, shown: unknown, message: string): void {
  if (shown === "…") {
    assert.ok(typeof actual === "string" && actual !== "", message);
  } else if (Array.isArray(shown)) {
    assert.ok(Array.isArray(actual), message);
    for (const [i, each] of shown.entries()) assertShows(actual[i], each, message);
  } else if (shown !== null && typeof shown === "object") {
    assert.ok(actual !== null && typeof actual === "object", message);
    for (const [key, each] of Object.entries(shown))
      assertShows((actual as Record<string, unknown>)[key], each, message);
  } else {
    assert.equal(actual, shown, message);
  }
}
