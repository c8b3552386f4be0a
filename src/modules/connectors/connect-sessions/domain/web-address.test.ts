import assert from "node:assert/strict";
import { test } from "node:test";
import { failsWith } from "../../../../../test/harness/context.ts";
import { checkOrigin, checkRedirectUri, withQuery } from "./web-address.ts";

test("an origin is accepted only as browsers write it, and with https except for loopback hosts", () => {
  const valid = [
    "https://app.example.com",
    "https://app.example.com:8443",
    "http://localhost:3000",
    "http://127.0.0.1:1",
  ];
  for (const origin of valid) checkOrigin("o", origin);
  const wrong = [
    ...["https://app.example.com/", "https://APP.example.com", "https://app.example.com:443", "http://app.example.com"],
    ...["*", "https://*.example.com", "null", "https://u@app.example.com", "app.example.com", "data:text/html,x"],
    ...[
      "https://a.example https://b.example",
      "https://a.example; script-src *",
      "https://a.example;script-src",
      "https://'self'",
      "javascript:alert(1)",
    ],
  ];
  for (const origin of wrong) assert.throws(() => checkOrigin("o", origin), failsWith("INVALID_ARGUMENT"), origin);
});

test("a redirect URI is an absolute URL without credentials, fragment and other schemes", () => {
  for (const uri of ["https://app.example.com/done?a=b", "http://127.0.0.1:3000/done"]) checkRedirectUri("r", uri);
  const wrong = [
    ...["/done", "//evil.example", "http://app.example.com/done", "https://app.example.com/#x", "javascript:alert(1)"],
    ...["https://u:p@app.example.com", "https://app.example.com/\\evil", "https://app.example.com/a b", "data:,x"],
  ];
  for (const uri of wrong) assert.throws(() => checkRedirectUri("r", uri), failsWith("INVALID_ARGUMENT"), uri);
});

test("results are added to the query and replace parameters with their names", () => {
  const url = withQuery("https://app.example.com/done?a=b&status=forged", { status: "completed", session_id: "1" });
  assert.equal(url, "https://app.example.com/done?a=b&status=completed&session_id=1");
});
