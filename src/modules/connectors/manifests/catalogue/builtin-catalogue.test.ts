import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { announcedChanges } from "../../../../../test/harness/changes.ts";
import { freshTenant, testDatabase } from "../../../../../test/harness/context.ts";
import { createEventLoopScheduler } from "../../../../platform/event-loop/index.ts";
import { createLog } from "../../../../platform/log/log.ts";
import { fixedProviders } from "../testing/fixed-providers.ts";
import { createBuiltinProviders } from "./builtin-catalogue.ts";
import { createCatalogue } from "./catalogue.ts";

test("providers of notifications that could not be read are read again", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "providers-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "apns.json");
  writeFileSync(file, '{ "notifications":');
  const providers = createBuiltinProviders(pathToFileURL(`${folder}/`));
  await assert.rejects(providers.withMessages(), SyntaxError);
  copyFileSync(new URL("../../../../../gen/connectors/apns.json", import.meta.url), file);
  assert.deepEqual(
    (await providers.withMessages()).map(({ key }) => key),
    ["apns"],
  );
});

test("a catalogue whose providers could not be read is read again", async () => {
  let isBroken = true;
  const builtin = {
    ...fixedProviders([]),
    all: async () => {
      if (isBroken) throw new Error("Too many open files.");
      return [];
    },
  };
  const parts = { cacheLoadDb: await testDatabase(), changes: announcedChanges().changes };
  const catalogue = createCatalogue({
    ...parts,
    log: createLog("silent"),
    shares: createEventLoopScheduler(),
    builtin,
  });
  const tenantId = freshTenant();
  await assert.rejects(catalogue.snapshot(tenantId), /Too many open files/);
  isBroken = false;
  await catalogue.snapshot(tenantId);
});
