import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterFile } from "../harness/after-file.ts";
import { findProgram } from "../harness/debian-program.ts";

/** A page under test, and its recorded errors and requests. */
export interface Page {
  /** Opens an address and waits until it has loaded. */
  open(url: string): Promise<void>;
  /** Evaluates an expression in the page; a promise is awaited. */
  evaluate<T>(expression: string): Promise<T>;
  /** Waits until an expression is true in the page. */
  until(expression: string): Promise<void>;
  /** Sets the viewport size. */
  resize(width: number, height: number): Promise<void>;
  /** A screenshot of the page, as PNG. */
  screenshot(): Promise<Buffer>;
  /** The URLs that the page has requested. */
  readonly requested: readonly string[];
  /** Errors of the page: exceptions, console errors and violations of the content security policy. */
  readonly errors: readonly string[];
}

/** A running browser with one page. */
export interface Browser {
  readonly page: Page;
  close(): Promise<void>;
}

/**
 * The installed Chromium, or one that is unpacked from Debian packages; undefined where neither is possible. `CHROMIUM` names
 * another executable.
 */
export async function findChromium(): Promise<string | undefined> {
  const names = [process.env.CHROMIUM, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const installed = names.find((name) => Boolean(name) && spawnSync(name!, ["--version"]).status === 0);
  if (installed !== undefined) return installed;
  try {
    // Debian's own /usr/bin/chromium names absolute paths, so the program itself is started, through a script with its libraries.
    const source = { cache: "chromium-packages", names: ["../lib/chromium/chromium"], packages: ["chromium"] };
    const { path, env } = await findProgram(source);
    const folder = mkdtempSync(join(tmpdir(), "switchyard-chromium-"));
    afterFile(() => rmSync(folder, { recursive: true, force: true }));
    const script = join(folder, "chromium");
    writeFileSync(script, `#!/bin/sh\nexport LD_LIBRARY_PATH='${env.LD_LIBRARY_PATH ?? ""}'\nexec '${path}' "$@"\n`, {
      mode: 0o755,
    });
    return script;
  } catch {
    return undefined;
  }
}

/** Starts a headless browser without its own network services. */
export async function startBrowser(program: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), "switchyard-browser-"));
  const child = spawn(
    program,
    [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
      "--remote-debugging-port=0",
      `--user-data-dir=${profile}`,
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    rmSync(profile, { recursive: true, force: true, maxRetries: 20 });
  };
  try {
    const { page, close } = await openPage(await debuggerAddress(child));
    return {
      page,
      async close() {
        close();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function debuggerAddress(child: ChildProcess): Promise<string> {
  const lines = createInterface({ input: child.stderr! });
  for await (const line of lines) {
    const found = /DevTools listening on ws:\/\/([^/]+)/.exec(line);
    if (found === null) continue;
    // Keep draining the output so that a full pipe cannot block the browser.
    child.stderr!.resume();
    const targets = (await (await fetch(`http://${found[1]}/json`)).json()) as {
      type: string;
      webSocketDebuggerUrl: string;
    }[];
    return targets.find(({ type }) => type === "page")!.webSocketDebuggerUrl;
  }
  throw new Error("Chromium exited before it was ready");
}

type Json = Record<string, unknown>;

async function openPage(address: string): Promise<{ page: Page; close: () => void }> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`${address} does not answer`));
  });
  let lastId = 0;
  const pending = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  const requested: string[] = [];
  const errors: string[] = [];
  let loaded: () => void = () => {};
  socket.onmessage = ({ data }) => {
    const { id, method, params, result, error } = JSON.parse(String(data));
    if (id !== undefined) {
      const call = pending.get(id);
      pending.delete(id);
      if (error) call?.reject(new Error(error.message));
      else call?.resolve(result);
    } else if (method === "Page.loadEventFired") loaded();
    else if (method === "Network.requestWillBeSent") requested.push(params.request.url);
    else if (method === "Runtime.exceptionThrown")
      errors.push(params.exceptionDetails.exception?.description ?? "exception");
    else if (method === "Log.entryAdded" && params.entry.level === "error") errors.push(params.entry.text);
  };
  const call = (method: string, params: Json = {}) =>
    new Promise<Json>((resolve, reject) => {
      const id = ++lastId;
      pending.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params }));
    });
  for (const domain of ["Page", "Network", "Runtime", "Log"]) await call(`${domain}.enable`);

  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await call("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  };
  const page: Page = {
    requested,
    errors,
    evaluate,
    async open(url) {
      const done = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await call("Page.navigate", { url });
      await done;
    },
    async until(expression) {
      await evaluate(`new Promise((resolve) => {
        const look = () => ((${expression}) ? resolve(true) : setTimeout(look, 20));
        look();
      })`);
    },
    async resize(width, height) {
      const mobile = width < 600;
      await call("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
    },
    async screenshot() {
      const { data } = await call("Page.captureScreenshot", { format: "png" });
      return Buffer.from(data as string, "base64");
    },
  };
  return { page, close: () => socket.close() };
}
