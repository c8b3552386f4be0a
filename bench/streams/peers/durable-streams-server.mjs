// The server of durable-streams with files, in a process of its own.
import { DurableStreamTestServer } from "@durable-streams/server";

const server = new DurableStreamTestServer({ port: 0, host: "127.0.0.1", dataDir: process.argv[2] });
const url = await server.start();
process.send(Number(new URL(url).port));
process.once("disconnect", () => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
