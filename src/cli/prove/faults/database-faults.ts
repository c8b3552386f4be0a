import { setTimeout as delay } from "node:timers/promises";
import type { Fault } from "../fault.ts";
import { addressOf } from "../nodes/database-proxy.ts";

/** A node that loses all its connections to the database, and gets no new ones for a while. */
export const cutDatabase: Fault = {
  name: "cut database",
  weight: 2,
  async inject({ proxy }, random) {
    proxy.cut();
    await delay(500 + random() * 4000);
    proxy.join();
  },
};

/** A node for which every word to and from the database takes long. */
export const slowDatabase: Fault = {
  name: "slow database",
  weight: 2,
  async inject({ proxy }, random) {
    proxy.slow(50 + random() * 250);
    await delay(2000 + random() * 4000);
    proxy.slow(0);
  },
};

/** A crash of the database server. `restart` ends it, starts it again and returns the URL of the database. */
export function createDatabaseRestart(restart: () => Promise<string>): Fault {
  let restarted: Promise<unknown> = Promise.resolve();
  return {
    name: "restart database",
    weight: 1,
    async inject(_member, _random, members) {
      // Two faults may overlap, but there is only one server.
      const address = restarted.then(restart).then(addressOf);
      restarted = address;
      for (const { proxy } of members) proxy.lead(await address);
    },
  };
}
