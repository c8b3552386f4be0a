// The limit of the protocol: Node's own HTTP server with a constant response, called like our service.
import { fork } from "node:child_process";
import { join } from "node:path";
import { connections } from "../http-connection.mjs";
import { nextItem } from "../item.mjs";
import { lanes } from "../lanes.mjs";

const headers = { "content-type": "application/json" };

export async function open() {
  const child = fork(join(import.meta.dirname, "../../peers/bare-http.mjs"));
  process.once("exit", () => child.kill("SIGKILL"));
  const { port } = await new Promise((resolve, reject) => {
    child.once("message", resolve);
    child.once("exit", (code) => reject(new Error(`the bare server ended with ${code}`)));
  });
  const callers = connections(lanes.single.callers, port, { headers });
  const add = (caller) => callers[caller].send("POST", "/", JSON.stringify(nextItem()));

  return {
    accepts: [{ ...lanes.single, name: "constant answer", add }],
    decides: () => lanes.deciders.map((lane) => ({ ...lane, name: "constant answer", add })),
    close: () => child.kill("SIGKILL"),
  };
}
