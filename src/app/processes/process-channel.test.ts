import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { failsWith } from "../../../test/harness/context.ts";
import { fail } from "../../errors/index.ts";
import { openChannel } from "./process-channel.ts";

test("a failed call keeps the code of its error, and no call outlives the other process", async () => {
  const [here, there] = [new EventEmitter(), new EventEmitter()];
  const end = (own: EventEmitter, other: EventEmitter) => ({
    send: (message: object) => other.emit("message", JSON.parse(JSON.stringify(message))),
    on: own.on.bind(own),
  });
  const calls = {
    refuse: () => Promise.reject(fail("UNAVAILABLE", { public: "The audit log cannot be written." })),
    crash: () => Promise.reject(new Error("a defect")),
    hang: () => new Promise(() => {}),
  };
  openChannel(end(there, here), calls);
  const channel = openChannel<typeof calls>(end(here, there), {});
  await assert.rejects(channel.call("refuse"), failsWith("UNAVAILABLE", /cannot be written/));
  await assert.rejects(channel.call("crash"), { name: "Error", message: "a defect" });
  const hanging = channel.call("hang");
  channel.close("the process has ended");
  await assert.rejects(hanging, /has ended/);
  await assert.rejects(channel.call("hang"), /has ended/);
});
