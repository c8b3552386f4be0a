import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { assertGuideWorks } from "./guide-tests.ts";

let service: TestService;
before(async () => {
  service = await startService({ "notification.outbox.enabled": "true" });
});
test("guide", async () => {
  await assertGuideWorks("notification-providers.md", service);
  await assertGuideWorks("notification-providers.md", service);
});
