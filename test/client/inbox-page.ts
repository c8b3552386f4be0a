import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import type { AddressInfo } from "node:net";
import { afterFile } from "../harness/after-file.ts";

/** A site of a tenant, with the page and the script of the README. Its origin is not that of the service. */
export interface InboxSite {
  readonly origin: string;
  /** What the page needs, once the service is known. */
  serve(options: SiteOptions): void;
  /** How often the page asked for a token. */
  readonly tokenCount: () => number;
}

interface SiteOptions {
  readonly baseUrl: string;
  /** The subscriber of the page, by its path. */
  readonly subscriberOf: (path: string) => string;
  /** Creates a token, as the backend of the tenant does. */
  readonly createToken: (subscriberId: string) => Promise<object>;
}

const client = new URL("../../clients/typescript/", import.meta.url);
const readme = readFileSync(new URL("README.md", client), "utf8");
const [, page] = /```html\n(.*?)```/s.exec(readme)!;
const [, script] = /```js\n(.*?)```/s.exec(readme)!;
const importMap = JSON.stringify({ imports: { "@switchyard/client/inbox": "/client/inbox.ts" } });

/** Starts the site. */
export async function startInboxSite(): Promise<InboxSite> {
  let options: SiteOptions | undefined;
  let tokenCount = 0;
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, "http://site");
    const { baseUrl, subscriberOf, createToken } = options!;
    if (pathname === "/inbox-token") {
      tokenCount++;
      const subscriberId = subscriberOf(new URL(request.headers.referer!).pathname);
      send(response, "application/json", JSON.stringify(await createToken(subscriberId)));
    } else if (pathname === "/app.js") send(response, "text/javascript", script!);
    else if (pathname.startsWith("/client/")) {
      const source = readFileSync(new URL(`src/${pathname.slice("/client/".length)}`, client), "utf8");
      send(response, "text/javascript", stripTypeScriptTypes(source));
    } else if (pathname === "/favicon.ico") response.writeHead(204).end();
    else sendPage(response, baseUrl, subscriberOf(pathname));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: (given) => {
      options = given;
    },
    tokenCount: () => tokenCount,
  };
}

function send(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { "content-type": type }).end(text);
}

/** The page of the README, under a policy without any exception for the element. */
function sendPage(response: ServerResponse, baseUrl: string, subscriberId: string): void {
  const hash = createHash("sha256").update(importMap).digest("base64");
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    `connect-src 'self' ${baseUrl}`,
    "style-src 'self'",
    "require-trusted-types-for 'script'",
  ];
  const body = page!
    .replace(/base-url="[^"]*"/, `base-url="${baseUrl}"`)
    .replace(/subscriber="[^"]*"/, `subscriber="${subscriberId}"`);
  response.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": policy.join("; ") });
  response.end(`<!doctype html><html lang="en"><head><title>Shop</title>
<script type="importmap">${importMap}</script></head><body><main><h1>Shop</h1>${body}</main></body></html>`);
}
