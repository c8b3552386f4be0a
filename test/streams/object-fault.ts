// Loaded into a node before it starts. It kills the node at one boundary of the object path, as a power failure would.
import fs from "node:fs";
import { ServerResponse } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";

const point = process.env.OBJECT_FAULT ?? "";

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal arrives before anything else can happen.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
}

// biome-ignore lint/suspicious/noExplicitAny: functions of every signature are replaced.
type Any = any;

/** Replaces a method of an object by one that dies before or after it. */
function replace(owner: Any, name: string, isTarget: (self: Any, args: Any[]) => boolean, when: "before" | "after") {
  const original = owner[name];
  owner[name] = function (this: Any, ...args: Any[]) {
    if (!isTarget(this, args)) return original.apply(this, args);
    if (when === "before") die();
    return Promise.resolve(original.apply(this, args)).then(die);
  };
}

/** Dies before a statement with this text is sent. */
function dieBeforeSql(text: string): void {
  replace(Socket.prototype, "write", (_socket, [data]) => Buffer.isBuffer(data) && data.includes(text), "before");
}

function dieBeforeResponse(suffix: RegExp, method: string): void {
  replace(
    ServerResponse.prototype,
    "writeHead",
    (response) => response.req.method === method && suffix.test(response.req.url),
    "before",
  );
}

function replaceFileMethod(name: string, isTarget: (args: Any[]) => boolean): void {
  const { open } = fs.promises;
  fs.promises.open = async function (this: Any, path: Any, ...rest: Any[]) {
    const handle = await open.call(this, path, ...rest);
    if (String(path).includes("/incoming/")) replace(handle, name, (_self, args) => isTarget(args), "before");
    return handle;
  } as typeof open;
}

let writes = 0;
const isIncoming = ([path]: Any[]) => String(path).includes("/incoming/");
const isStored = ([path]: Any[]) => String(path).includes("/stored/");
const points: Readonly<Record<string, () => void>> = {
  "upload: before the region is noted": () => dieBeforeSql("set regions = case when"),
  "upload: before the first byte": () => replace(fs.promises, "open", (_self, args) => isIncoming(args), "before"),
  "upload: between two parts": () => replaceFileMethod("write", () => ++writes === 3),
  "upload: before the file is synchronized": () => replaceFileMethod("sync", () => true),
  "upload: before the rename": () => replace(fs.promises, "rename", (_self, args) => isIncoming(args), "before"),
  "upload: after the rename": () => replace(fs.promises, "rename", (_self, args) => isIncoming(args), "after"),
  "upload: before it is recorded": () => dieBeforeSql("set status = 'uploaded'"),
  "upload: before the response": () => dieBeforeResponse(/\/objects\/\w+$/, "PUT"),
  "commit: before the evidence": () => replace(fs.promises, "stat", (_self, args) => isStored(args), "before"),
  "commit: before the record": () => dieBeforeSql("insert into workflow_stream_records"),
  "commit: between the record and the intent": () => dieBeforeSql("set status = 'committed'"),
  "commit: before the response": () => dieBeforeResponse(/:commit$/, "POST"),
  "abort: before it is recorded": () => dieBeforeSql("set status = 'aborted'"),
  "abort: before the response": () => dieBeforeResponse(/:abort$/, "POST"),
  "removal: before the bytes": () => replace(fs.promises, "rm", (_self, args) => isStored(args), "before"),
  "removal: between the bytes and the row": () => dieBeforeSql("set regions = array_remove"),
};

const arm = points[point];
if (arm === undefined) throw new Error(`There is no boundary ${point}.`);
arm();
syncBuiltinESMExports();
