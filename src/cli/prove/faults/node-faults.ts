import { setTimeout as delay } from "node:timers/promises";
import type { Fault } from "../fault.ts";

/** A crash: the process ends at once, and another one takes its place. */
export const kill: Fault = {
  name: "kill",
  weight: 8,
  async inject({ node }) {
    await node.kill();
    await node.start();
  },
};

/** A machine that stops for longer than its leases, and goes on as if nothing had happened. */
export const freeze: Fault = {
  name: "freeze",
  weight: 2,
  async inject({ node }, random) {
    node.freeze();
    await delay(6000 + random() * 3000);
    node.thaw();
  },
};

/** A machine whose clock is an hour wrong. */
export const skewClock: Fault = {
  name: "skew clock",
  weight: 1,
  async inject({ node }, random) {
    await node.kill();
    await node.start(random() < 0.5 ? hourMs : -hourMs);
    await delay(3000 + random() * 3000);
    await node.kill();
    await node.start();
  },
};

const hourMs = 3_600_000;
