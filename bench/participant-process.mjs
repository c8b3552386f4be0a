// The process of a participant, as the bench sees it.
import { fork } from "node:child_process";

/** Starts a participant's process; `call` sends it a call, `end` stops it. */
export function startParticipant(processFile, name, settings, env = {}) {
  const child = fork(processFile, [JSON.stringify({ name, settings })], { env: { ...process.env, ...env } });
  const waiting = new Map();
  let asked = 0;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.on("message", ({ id, result, failure }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (failure === undefined) return resolve(result);
    const text = failure.unavailable ? failure.message.split("\n")[0] : `${name}: ${failure.message}`;
    reject(Object.assign(new Error(text.replace(/^Unavailable: /, "")), { unavailable: failure.unavailable }));
  });
  exited.then((code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${name} ended with ${code}`));
  });
  return {
    call: (call, args) =>
      new Promise((resolve, reject) => {
        const id = asked++;
        waiting.set(id, { resolve, reject });
        child.send({ id, call, args });
      }),
    async end() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}

/** Answers the calls of the bench in a participant's process; `close` runs when the bench ends. */
export function serveCalls(calls, close) {
  process.on("message", async ({ id, call, args }) => {
    const answer = await outcome(() => calls[call](args));
    if (process.connected) process.send({ id, ...answer });
  });
  // The bench ends a participant by closing the channel, which also happens when the bench is killed.
  process.once("disconnect", async () => {
    setTimeout(() => process.exit(1), 10_000).unref();
    await close();
    process.exit(0);
  });
  // An interrupt reaches every process of the group; only the bench handles it.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => {});
}

async function outcome(work) {
  try {
    return { result: (await work()) ?? null };
  } catch (error) {
    return { failure: { unavailable: error.name === "Unavailable", message: error.stack } };
  }
}
