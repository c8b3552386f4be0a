import assert from "node:assert/strict";
import { test } from "node:test";
import { ConfigError } from "../../src/config/index.ts";
import { startService } from "../harness/service.ts";

test("an audit log in a missing folder fails the start, with the folder and the setting", async () => {
  for (const [settings, setting] of [
    [{ "data.dir": "/nowhere/data" }, "data.dir"],
    [{ "audit.path": "/nowhere/logs/audit.log" }, "audit.path"],
  ] as const) {
    await assert.rejects(startService({ "audit.sink": "file", ...settings }), (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.ok(error.message.startsWith(`${setting}: the directory /nowhere/`), error.message);
      assert.match(error.message, /does not exist\. Create it, or set audit\.path/);
      return true;
    });
  }
});
