import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { freePort } from "../harness/free-port.ts";
import { assertGuideWorks } from "./guide-tests.ts";

test("the embedded database is backed up, restored to a time and verified as its guide says", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "sy-guide-"));
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));
  const port = await freePort();
  const env = { DATA: join(folder, "data"), BACKUPS: join(folder, "backups"), PORT: String(port) };
  await assertGuideWorks("back-up.md", { baseUrl: `http://127.0.0.1:${port}`, adminKey: "", env });
});
