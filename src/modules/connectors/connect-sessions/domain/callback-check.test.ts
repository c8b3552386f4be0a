import assert from "node:assert/strict";
import { test } from "node:test";
import { isExpectedIssuer, safeCode } from "./callback-check.ts";

const authorizeUrl = "https://login.acme.example/oauth/authorize";

test("a declared issuer must be present and equal by exact string", () => {
  const expected = { declared: "https://acme.example", authorizeUrl };
  assert.ok(isExpectedIssuer(["https://acme.example"], expected));
  const others = ["https://acme.example/", "https://ACME.example", "http://acme.example", "https://evil.example", ""];
  for (const issuer of others) assert.ok(!isExpectedIssuer([issuer], expected), issuer);
  assert.ok(!isExpectedIssuer([], expected), "a missing issuer");
  assert.ok(!isExpectedIssuer(["https://acme.example", "https://acme.example"], expected), "a repeated issuer");
});

test("an issuer that the manifest does not declare must have the origin of the authorization endpoint", () => {
  const expected = { declared: undefined, authorizeUrl };
  assert.ok(isExpectedIssuer([], expected));
  assert.ok(isExpectedIssuer(["https://login.acme.example"], expected));
  assert.ok(isExpectedIssuer(["https://login.acme.example/tenant/1"], expected));
  for (const issuer of ["https://evil.example", "https://login.acme.example.evil.example", "login.acme.example", ""]) {
    assert.ok(!isExpectedIssuer([issuer], expected), issuer);
  }
});

test("only error codes of providers are shown, never their texts", () => {
  assert.equal(safeCode("invalid_client"), "invalid_client");
  assert.equal(safeCode("<script>"), "unknown");
  assert.equal(safeCode("x".repeat(65)), "unknown");
});
