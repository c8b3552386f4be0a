import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type { PathHandler } from "../edge.ts";
import { type Exchange, headerOf, writeHead } from "../exchange.ts";
import { requireRead } from "../health.ts";
import { createDocument, type SharedDocument, sendDocument } from "../shared-document.ts";
import { consolePolicy, ownOnly } from "./console-policy.ts";

/** The tenant of a signed-in browser. */
interface Workspace {
  readonly id: string;
  readonly slug: string;
}

interface Options {
  /** The workspace of the session in a Cookie header; undefined without a valid session. */
  readonly findWorkspace: (cookie: string | undefined) => Promise<Workspace | undefined>;
  /** The folder with the built console. */
  readonly folder?: string;
}

const builtFolder = join(import.meta.dirname, "../../../console/dist");

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".woff2": "font/woff2",
};

/** The frame shows emails, which have inline styles. It runs no script and loads nothing. */
const framePolicy = `${ownOnly}; style-src 'unsafe-inline'; img-src data:; form-action 'none'; frame-ancestors 'self'`;

const notFoundPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Not found</title>
<h1>There is no such workspace</h1><p>It does not exist, or you are not a member of it. <a href="/console">Open your workspace</a>.</p></html>`;

/**
 * Creates the handler of the console: `/console` leads to the workspace of the signed-in person, `/workspaces/{tenant}/…` is the
 * console, and `/console/…` has its files. A workspace that is not the person's own does not exist for them.
 */
export function createConsoleHandler({ findWorkspace, folder = builtFolder }: Options): PathHandler {
  const assets = new Map<string, SharedDocument>();
  // Only these names are read from disk, so that no path can reach other files.
  const names = new Set(readdirSync(folder));

  function assetOf(name: string): SharedDocument | undefined {
    if (!names.has(name)) return undefined;
    let asset = assets.get(name);
    if (asset === undefined) {
      asset = createDocument(types[extname(name)] ?? "application/octet-stream", readFileSync(join(folder, name)));
      assets.set(name, asset);
    }
    return asset;
  }

  return (exchange) => {
    const { path } = exchange;
    if (path === "/console" || path === "/console/") return openConsole(exchange);
    if (path.startsWith("/console/")) return serveFile(exchange, path.slice("/console/".length));
    if (path.startsWith("/workspaces/")) return openWorkspace(exchange);
    return false;
  };

  function serveFile(exchange: Exchange, name: string): boolean | Promise<boolean> {
    const asset = name === "index.html" ? undefined : assetOf(name);
    if (asset === undefined) return false;
    requireRead(exchange);
    const policy: Record<string, string> =
      name === "frame.html" ? { "content-security-policy": framePolicy, "x-frame-options": "SAMEORIGIN" } : {};
    return sendDocument(exchange, asset, policy).then(() => true);
  }

  async function openConsole(exchange: Exchange): Promise<boolean> {
    requireRead(exchange);
    const workspace = await findWorkspace(headerOf(exchange.request, "cookie"));
    redirect(exchange, workspace === undefined ? signInPath("/console") : `/workspaces/${workspace.slug}`);
    return true;
  }

  async function openWorkspace(exchange: Exchange): Promise<boolean> {
    requireRead(exchange);
    const { path, query } = exchange;
    const workspace = await findWorkspace(headerOf(exchange.request, "cookie"));
    if (workspace === undefined) {
      redirect(exchange, signInPath(query === "" ? path : `${path}?${query}`));
      return true;
    }
    const wanted = path.split("/")[2];
    if (wanted === workspace.slug || wanted === workspace.id) {
      await sendDocument(exchange, assetOf("index.html")!, { "content-security-policy": consolePolicy() });
    } else {
      const headers = { "content-type": types[".html"]!, "cache-control": "no-store" };
      writeHead(exchange, 404, { ...headers, "content-security-policy": ownOnly });
      exchange.response.end(exchange.request.method === "HEAD" ? "" : notFoundPage);
    }
    return true;
  }
}

function signInPath(returnTo: string): string {
  return `/auth/sign-in?return_to=${encodeURIComponent(returnTo)}`;
}

function redirect(exchange: Exchange, location: string): void {
  writeHead(exchange, 303, { location, "cache-control": "no-store" });
  exchange.response.end();
}
