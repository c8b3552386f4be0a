import assert from "node:assert/strict";
import { test } from "node:test";
import { scopesOf, standardAnswer, type TokenPointers } from "./token-answer.ts";

const nowMs = 1_800_000_000_000;
const standard: TokenPointers = {
  errorIn2xx: undefined,
  pointers: {
    accessToken: "/access_token",
    refreshToken: "/refresh_token",
    expiresIn: "/expires_in",
    scope: "/scope",
  },
};

function read(
  status: number,
  body: object | string,
  { headers = {}, pointers = standard, unit = "s" as "s" | "ms" } = {},
) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = { status, headers: { "content-type": "application/json", ...headers }, body: Buffer.from(text) };
  const { original: _, ...result } = { original: undefined, ...standardAnswer(answer, pointers, { unit }, nowMs) };
  return result;
}

test("a standard answer stays as it is", () => {
  const body = { access_token: "a", token_type: "Bearer", expires_in: 3600, refresh_token: "r", scope: "x y" };
  assert.deepEqual(read(200, body), {
    kind: "standard",
    status: 200,
    body: { access_token: "a", token_type: "bearer", refresh_token: "r", expires_in: 3600, scope: "x y" },
  });
});

test("GitHub's answers: errors with status 200, and forms", () => {
  const pointers = { ...standard, errorIn2xx: "/error" };
  assert.deepEqual(read(200, { error: "bad_refresh_token", error_description: "…" }, { pointers }), {
    ...{ kind: "standard", status: 400, body: { error: "invalid_grant" } },
  });
  assert.deepEqual(read(200, { error: "incorrect_client_credentials" }, { pointers }), {
    ...{ kind: "standard", status: 400, body: { error: "invalid_client" } },
  });
  const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
  assert.deepEqual(read(200, "access_token=gho_1&scope=repo%2Cgist&token_type=bearer", { headers, pointers }), {
    kind: "standard",
    status: 200,
    body: { access_token: "gho_1", token_type: "bearer", scope: "repo,gist" },
  });
});

test("Slack's answers: ok false with status 200, and other token types", () => {
  const pointers = { ...standard, errorIn2xx: "/error" };
  assert.deepEqual(read(200, { ok: false, error: "invalid_refresh_token" }, { pointers }), {
    ...{ kind: "standard", status: 400, body: { error: "invalid_grant" } },
  });
  assert.deepEqual(read(200, { ok: false }, { pointers }), {
    ...{ kind: "standard", status: 400, body: { error: "failed" } },
  });
  const granted = { ok: true, access_token: "xoxe.xoxb-1", token_type: "bot", expires_in: 43200, scope: "a,b" };
  assert.deepEqual(read(200, granted, { pointers }), {
    kind: "standard",
    status: 200,
    body: { access_token: "xoxe.xoxb-1", token_type: "bearer", expires_in: 43200, scope: "a,b" },
  });
});

test("lifetimes as texts, in milliseconds, as zero, and scopes as lists", () => {
  const bodyOf = (more: object, unit: "s" | "ms" = "s") =>
    (read(200, { access_token: "a", ...more }, { unit }) as unknown as { body: Record<string, unknown> }).body;
  assert.equal(bodyOf({ expires_in: "7200" }).expires_in, 7200);
  assert.equal(bodyOf({ expires_in: 7_200_000 }, "ms").expires_in, 7200);
  assert.equal("expires_in" in bodyOf({ expires_in: 0 }), false);
  assert.equal("expires_in" in bodyOf({ expires_in: "never" }), false);
  assert.equal("refresh_token" in bodyOf({ refresh_token: "" }), false);
  assert.equal(bodyOf({ scope: ["a", "b"] }).scope, "a b");
  assert.deepEqual(scopesOf("a, b c"), ["a", "b", "c"]);
  assert.equal(scopesOf(undefined), undefined);
});

test("values at other places are found", () => {
  const pointers = { ...standard, pointers: { ...standard.pointers, accessToken: "/authed_user/access_token" } };
  const result = read(200, { ok: true, authed_user: { access_token: "xoxp-1" } }, { pointers });
  assert.deepEqual(result, { kind: "standard", status: 200, body: { access_token: "xoxp-1", token_type: "bearer" } });
});

test("a provider that cannot answer now is unavailable, and what is no token answer is malformed", () => {
  assert.deepEqual(read(429, "slow down", { headers: { "retry-after": "7" } }), {
    ...{ kind: "unavailable", code: "rate_limited", retryAfterMs: 7000 },
  });
  const waits: [string, number | undefined][] = [
    [new Date(nowMs + 90_000).toUTCString(), 90_000],
    [new Date(nowMs - 90_000).toUTCString(), 0],
    ["999999999", 3_600_000],
    ["soon", undefined],
  ];
  for (const [text, retryAfterMs] of waits) {
    assert.deepEqual(read(503, "<html>", { headers: { "retry-after": text } }), {
      ...{ kind: "unavailable", code: "http_503", retryAfterMs },
    });
  }
  assert.deepEqual(read(503, "<html>"), { kind: "unavailable", code: "http_503", retryAfterMs: undefined });
  assert.deepEqual(read(403, "<html>"), { kind: "malformed", code: "http_403" });
  assert.deepEqual(read(302, ""), { kind: "malformed", code: "http_302" });
  assert.deepEqual(read(200, ""), { kind: "malformed", code: "empty_answer" });
  assert.deepEqual(read(200, "<html>"), { kind: "malformed", code: "not_json" });
  assert.deepEqual(read(200, '"text"'), { kind: "malformed", code: "not_json" });
  assert.deepEqual(read(200, { token: "a" }), { kind: "malformed", code: "token_missing" });
  assert.deepEqual(read(200, { access_token: 7 }), { kind: "malformed", code: "token_not_text" });
});

test("error codes are kept only if they are codes, because texts may contain tokens", () => {
  const errorOf = (body: object) => (read(400, body) as unknown as { body: { error: string } }).body.error;
  assert.equal(errorOf({ error: "invalid_scope" }), "invalid_scope");
  assert.equal(errorOf({ error: { code: "INVALID_GRANT" } }), "invalid_grant");
  assert.equal(errorOf({ status: "BAD_REFRESH_TOKEN", message: "…" }), "invalid_grant");
  assert.equal(errorOf({ error: "The token rt-1234 is unknown" }), "failed");
  assert.equal(errorOf({ message: "no code" }), "http_400");
});
