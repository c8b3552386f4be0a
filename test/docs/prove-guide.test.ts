import { test } from "node:test";
import { startService } from "../harness/service.ts";
import { assertGuideWorks } from "./guide-tests.ts";

test("a proof runs, and opens the gate that demands it, as its guide says", async () => {
  await assertGuideWorks("prove.md", await startService());
});
