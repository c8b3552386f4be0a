import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConnectionSettings, clientOptions } from "./connection-settings.ts";

const clientConfig = (url: string, settings: ConnectionSettings = {}) => clientOptions(url, settings).config;

test("a URL names host, port, user, password and database, percent-encoded", () => {
  const { host, port, user, password, database, ssl } = clientConfig("postgres://me:p%40ss@db.example:6432/my%20db");
  assert.deepEqual([host, port, user, password, database, ssl], ["db.example", 6432, "me", "p@ss", "my db", false]);
  assert.equal(clientConfig("postgres://me@%2Frun%2Fpg/db").host, "/run/pg");
  assert.equal(clientConfig("postgres://me@[::1]:5432/db").host, "::1");
});

test("session settings come from the pool and from the URL; the name of the application is no session setting", () => {
  const { config, session } = clientOptions("postgres://h/db?search_path=a, b&jit=on&sslmode=require", {
    applicationName: "under test",
    session: { statement_timeout: 0, role: "it's me" },
  });
  assert.equal(
    session.begin,
    `begin; set local "datestyle" to 'ISO'; set local "intervalstyle" to 'postgres'; set local "bytea_output" to 'hex'; set local "jit" to 'on'; set local "client_min_messages" to 'warning'; set local "search_path" to 'a', 'b'; set local "statement_timeout" to '0'; set local "role" to 'it''s me'`,
  );
  assert.deepEqual([config.application_name, config.options], ["under test", undefined]);
});

test("only the verifying modes check the server's certificate", () => {
  const rejects = (mode: string) => {
    const { ssl } = clientConfig(`postgres://h/db?sslmode=${mode}`);
    return typeof ssl === "object" ? ssl.rejectUnauthorized : ssl;
  };
  assert.deepEqual(["disable", "allow", "prefer", "require", "verify-ca", "verify-full"].map(rejects), [
    false,
    false,
    false,
    false,
    true,
    true,
  ]);
});

test("an unknown mode or parameter is refused and never lowers security", () => {
  for (const query of ["sslmode=verify_full", "sslmode=VERIFY-FULL", "ssl=1", "sslkey=a", "target_session_attrs=b"]) {
    assert.throws(() => clientConfig(`postgres://h/db?${query}`), /The database URL has/, query);
  }
});

test("the connection timeout and the channel binding come from the URL, and else from the pool and the default", () => {
  const configs = [
    clientConfig("postgres://h/db?connect_timeout=7&channel_binding=require", { connectMs: 1000 }),
    clientConfig("postgres://h/db?channel_binding=disable", { connectMs: 1000 }),
    clientConfig("postgres://h/db"),
  ];
  const chosen = configs.map((config) => [config.connectionTimeoutMillis, config.enableChannelBinding]);
  assert.deepEqual(chosen, [
    [7000, true],
    [1000, undefined],
    [5000, undefined],
  ]);
  const { session } = clientOptions("postgres://h/db?connect_timeout=7&channel_binding=require", {});
  assert.doesNotMatch(session.begin, /connect_timeout|channel_binding/);
});
