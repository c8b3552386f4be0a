import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../harness/free-port.ts";
import { assertGuideWorks } from "./guide-tests.ts";

test("processes are replaced, and a stopped service migrates, as the guide says", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-upgrade-"));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  const port = await freePort();
  const env = { DATA: join(folder, "data"), PORT: String(port) };
  await assertGuideWorks("upgrade.md", { baseUrl: `http://127.0.0.1:${port}`, adminKey: "", env });
});
