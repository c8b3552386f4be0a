import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../errors/index.ts";
import { connectTimeoutMs, grpcTimeoutMs } from "./timeout.ts";

test("timeouts are parsed in every unit and never exceed the limit of a timer", () => {
  assert.equal(connectTimeoutMs(undefined), undefined);
  assert.equal(connectTimeoutMs("0"), 0);
  assert.equal(connectTimeoutMs("9999999999"), 2147483647);
  assert.equal(grpcTimeoutMs(undefined), undefined);
  assert.equal(grpcTimeoutMs("2H"), 7_200_000);
  assert.equal(grpcTimeoutMs("3M"), 180_000);
  assert.equal(grpcTimeoutMs("4S"), 4000);
  assert.equal(grpcTimeoutMs("5m"), 5);
  assert.equal(grpcTimeoutMs("1500u"), 2);
  assert.equal(grpcTimeoutMs("1n"), 1);
  assert.equal(grpcTimeoutMs("99999999H"), 2147483647);
});

test("invalid timeouts are failures", () => {
  for (const value of ["", "-1", "1.5", "12345678901", "1s"]) {
    assert.ok(connectTimeoutMs(value) instanceof Failure, value);
  }
  for (const value of ["", "5", "m", "-1m", "123456789m", "1s", "1.5S"]) {
    assert.ok(grpcTimeoutMs(value) instanceof Failure, value);
  }
});
