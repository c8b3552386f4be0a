import { openWork } from "./work-reader.ts";

// A worker in a process of its own, for tests that kill it: prints every item as a line and reports nothing.
const [baseUrl, key, poolId, leaseS] = process.argv.slice(2);
const work = await openWork({ baseUrl: baseUrl!, key: key! }, poolId!, { lease_s: Number(leaseS) });
for (;;) for (const item of await work.next()) console.log(JSON.stringify(item));
