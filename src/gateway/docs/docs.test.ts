import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { readOperations } from "../../definitions/index.ts";
import { catalogue } from "../../errors/index.ts";
import { buildOpenApi } from "../openapi/index.ts";
import { createDocs, type Docs } from "./docs.ts";

const address = "http://instance";
const input = {
  servers: { production: address, staging: address, local: address },
  errorsUrl: `${address}/errors`,
  version: "1",
};
const operations = readOperations();
const document = buildOpenApi({ ...input, operations });
/** A document of a few operations, for tests of how documents are built: writing the whole one takes most of a second. */
const few = operations.slice(0, 20);
const small = buildOpenApi({ ...input, operations: few });
const eventTypes = {
  "pool.created": ["A pool was created.", "name strategy environment_id"],
  "queue.resumed": ["A queue was resumed. The `reason` says why.", ""],
} as const;

/** Builds a document in a number of steps. */
function* built(made = document, steps = 0) {
  for (let step = 0; step < steps; step++) yield;
  return made;
}

const docs = createDocs({ openApi: () => built(), operations, eventTypes, outbox: true });
const createSmallDocs = (openApi = () => built(small)) => createDocs({ openApi, operations: few, eventTypes });
const smallDocs = createSmallDocs();
const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const guideFiles = readdirSync(join(import.meta.dirname, "../../../docs/guides")).filter((file) =>
  file.endsWith(".md"),
);
const servicePages = document.tags.map(({ name }) => `/docs/services/${name}`);
const ownPages = [
  "/docs",
  "/docs/",
  ...servicePages,
  "/outbox",
  "/docs/events",
  ...Object.keys(eventTypes).map((type) => `/docs/events/${type}`),
  "/docs/guides",
  ...guideFiles.map((file) => `/docs/guides/${file}`),
  "/errors",
  "/errors/",
  ...Object.keys(catalogue).map((code) => `/errors/${code}`),
];

function get(path: string, accept?: string) {
  const page = docs.find(path, accept);
  assert.ok(page, `${path} is not served`);
  const { type, body } = page.document;
  return { type, body, headers: page.headers };
}

function bodyOf(from: Docs, path: string): string {
  const page = from.find(path);
  assert.ok(page, `${path} is not served`);
  return String(page.document.body);
}

/** The targets of a page's links, resolved like in a browser. */
function linksOf(path: string): URL[] {
  const html = get(path, browser).body.toString();
  return [...html.matchAll(/(?:href|src)="([^"]*)"/g)].map((match) => new URL(match[1]!, `http://instance${path}`));
}

test("the reference is served with and without a trailing slash", () => {
  for (const path of ["/docs", "/docs/"]) {
    const { type, body } = get(path);
    assert.equal(type, "text/html; charset=utf-8");
    assert.match(body.toString(), /docs\/reference\.js/);
  }
});

const pathOperation = Object.entries(document.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation })),
);

test("the reference lists every operation, and the page of its service describes it with a form to try it", () => {
  const index = get("/docs").body.toString();
  assert.ok(pathOperation.length > 150);
  const sections = new Map(
    servicePages.map((path) => [path, get(path).body.toString().split('<section class="operation" id="')]),
  );
  for (const { path, verb, operation } of pathOperation) {
    const href = `docs/services/${operation.tags[0]}#${operation.operationId}`;
    assert.ok(index.includes(`"./${href}"`), href);
    const inService = sections.get(`/docs/services/${operation.tags[0]}`)!;
    const section = inService.find((each) => each.startsWith(`${operation.operationId}">`)) ?? "";
    const own = section.slice(0, section.indexOf("</section>"));
    assert.ok(own.includes(`&#34;verb&#34;:&#34;${verb}&#34;,&#34;path&#34;:&#34;${path}&#34;`), operation.operationId);
    for (const parameter of operation.parameters ?? []) {
      if ("name" in parameter && parameter.in !== "header") assert.ok(own.includes(` name="${parameter.name}"`));
    }
    const hasJsonBody = operation.requestBody?.content["application/json"] !== undefined;
    assert.equal(own.includes("<textarea"), hasJsonBody, operation.operationId);
  }
});

test("every type on a page is described on that page", () => {
  for (const path of servicePages) {
    const page = get(path).body.toString();
    const mentioned = new Set([...page.matchAll(/href="#([^"]+)"/g)].map(([, anchor]) => anchor!));
    for (const anchor of mentioned) assert.ok(page.includes(`id="${anchor}"`), `${path} #${anchor}`);
  }
});

test("no page of the reference is too large for a browser", () => {
  for (const path of ["/docs", ...servicePages]) {
    const bytes = Buffer.byteLength(get(path).body);
    assert.ok(bytes < 400_000, `${path} has ${bytes} bytes`);
  }
  // A page shows its first text when it has these. A slow line carries 30 kB in a second.
  const first = ["/docs/reference.css", "/docs/theme.js"].map((path) => gzipSync(get(path).body).length);
  assert.ok(first[0]! + first[1]! < 8_000, String(first));
  assert.ok(gzipSync(get("/docs/reference.js").body).length < 12_000);
});

test("the outbox page is served only if the outbox is enabled", () => {
  assert.match(get("/outbox").body.toString(), /docs\/outbox\.js/);
  assert.match(get("/outbox").body.toString(), /<noscript>.*service outbox list/);
  assert.equal(smallDocs.find("/outbox"), undefined);
});

test("every link on every page has a target that the instance serves", () => {
  // All pages have the same navigation.
  const seen = new Set<string>();
  for (const path of ownPages) {
    const links = linksOf(path);
    assert.ok(links.length > 3);
    for (const { href, pathname, hash } of links) {
      if (seen.has(href)) continue;
      seen.add(href);
      // Another handler serves the console.
      if (pathname === "/console") continue;
      const page = docs.find(pathname, browser);
      assert.ok(page, `${path} links to ${pathname}`);
      if (hash !== "") assert.ok(anchorsOf(pathname).has(hash.slice(1)), `${path} links to ${pathname}${hash}`);
    }
  }
});

const anchors = new Map<string, ReadonlySet<string>>();

/** The places in a page that links can lead to. */
function anchorsOf(path: string): ReadonlySet<string> {
  const known =
    anchors.get(path) ?? new Set([...String(get(path, browser).body).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));
  anchors.set(path, known);
  return known;
}

test("the search finds every operation, error code and event type, each with its page", () => {
  const entries = JSON.parse(get("/docs/search.json").body.toString()) as [string, string, string, string][];
  const titles = new Set(entries.map(([, title]) => title));
  for (const { operation } of pathOperation) assert.ok(titles.has(operation.summary), operation.summary);
  for (const name of [...Object.keys(catalogue), ...Object.keys(eventTypes)]) assert.ok(titles.has(name), name);
  for (const [, title, , href] of entries) {
    const { pathname, hash } = new URL(href, `${address}/`);
    assert.ok(hash === "" ? docs.find(pathname, browser) : anchorsOf(pathname).has(hash.slice(1)), title);
  }
});

test("an event type has a page with its meaning, its fields, and a request for the caller's own events", () => {
  const page = get("/docs/events/pool.created").body.toString();
  assert.match(textOf(page), /A pool was created\.[\s\S]*name[\s\S]*strategy[\s\S]*environment_id/);
  assert.match(page, /<code>strategy<\/code><\/td><td>string<\/td><td>How it chooses among/);
  assert.match(textOf(page), /curl .*\/api\/events\?types=pool\.created&limit=5/);
  assert.match(textOf(get("/docs/events/queue.resumed").body.toString()), /None\. The subject says/);
  for (const path of ["/docs/events/pool", "/docs/events/constructor", "/docs/events/x/pool.created"]) {
    assert.equal(docs.find(path), undefined, path);
  }
});

test("an example names the lists that have the caller's own records, and leaves out ids that are optional", () => {
  const [, section = ""] = /id="RecipientService_CreateRecipient"([\s\S]*?)<\/section>/.exec(
    get("/docs/services/RecipientService").body.toString(),
  )!;
  const exchange = JSON.parse(textOf(/data-exchange="([^"]+)"/.exec(section)![1]!));
  assert.deepEqual(exchange.slots, { pool_id: "/api/pools#id" });
  assert.ok(section.includes('data-returns="/api/pools/{pool_id}/recipients#id"'));
  const [, leased = ""] = /id="WorkService_LeaseItems"([\s\S]*?)<\/section>/.exec(
    get("/docs/services/WorkService").body.toString(),
  )!;
  assert.doesNotMatch(/<textarea[\s\S]*<\/textarea>/.exec(leased)![0], /recipient_id/);
});

test("pages work below a proxy's path prefix: no link is absolute", () => {
  for (const path of ownPages) assert.doesNotMatch(get(path, browser).body.toString(), /(?:href|src)="\//);
});

test("no served document refers to another origin", () => {
  for (const path of ["/docs/reference.js", "/docs/outbox.js", "/docs/reference.css", "/docs/theme.js"]) {
    assert.doesNotMatch(get(path).body.toString(), /(?:https?:)?\/\/[a-z0-9-]+\./i, path);
  }
  for (const path of ownPages) for (const { host } of linksOf(path)) assert.equal(host, "instance");
});

test("pages run no inline script and connect only to their own origin", () => {
  for (const path of ownPages) {
    const { headers, body } = get(path, browser);
    // Emails in the outbox may have inline styles. They are shown in a frame without permissions.
    const styles = path === "/outbox" ? "style-src 'self' 'unsafe-inline'" : "style-src 'self'";
    const policy = headers["content-security-policy"]!.replace(styles, "style-src 'self'");
    if (path !== "/outbox") assert.match(policy, /require-trusted-types-for 'script'/);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|http|\*/);
    assert.doesNotMatch(body.toString(), /<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/i, path);
  }
});

test("assets have the content types that browsers require", () => {
  assert.match(get("/docs/reference.js").type, /^text\/javascript/);
  assert.match(get("/docs/reference.css").type, /^text\/css/);
  assert.equal(get("/docs/favicon.svg").type, "image/svg+xml");
});

test("only the listed assets can be read", () => {
  const hostile = [
    "/docs/../package.json",
    "/docs/..%2fpackage.json",
    "/docs//etc/passwd",
    "/docs/assets/reference.js",
    "/docs/package.json",
    "/docs/docs.ts",
    "/docs/__proto__",
    "/docs/constructor",
    "/docs/services/",
    "/docs/services/constructor",
    "/docs/services/../reference.js",
    "/docs/reference.js/",
    "/docs/reference.js\0",
    "/errors/__proto__",
    "/errors/constructor",
    "/errors/../docs",
    "/docsx",
    "/",
  ];
  for (const path of hostile) assert.equal(docs.find(path, browser), undefined, path);
});

test("the OpenAPI document is written in chunks, with other work in between", async () => {
  const slow = createSmallDocs();
  const prepared = slow.prepare("/openapi.yaml");
  assert.equal(slow.prepare("/openapi.yaml"), prepared, "concurrent requests share one promise");
  const turns = await turnsUntil(prepared!);
  assert.ok(turns > Object.keys(small.paths).length, `${turns} turns`);
  assert.equal(bodyOf(slow, "/openapi.yaml"), bodyOf(smallDocs, "/openapi.yaml"));
  assert.equal(slow.prepare("/openapi.yaml"), undefined);
  assert.equal(slow.prepare("/docs"), undefined);
});

test("the reference is built in steps, with other work in between, whichever page is requested first", async () => {
  for (const path of ["/docs", "/docs/", `/docs/services/${small.tags[0]!.name}`]) {
    let made = 0;
    const slow = createSmallDocs(() => {
      made++;
      return built(small, 100);
    });
    const prepared = slow.prepare(path);
    assert.equal(slow.prepare("/docs"), prepared, "concurrent requests share one promise");
    const yaml = slow.prepare("/openapi.yaml");
    assert.ok((await turnsUntil(prepared!)) >= 100, path);
    assert.equal(slow.prepare(path), undefined);
    assert.equal(bodyOf(slow, path), bodyOf(smallDocs, path));
    await yaml;
    assert.equal(made, 1, "all documents share one description");
  }
  assert.equal(createSmallDocs().prepare("/docs/reference.css"), undefined);
});

/** The turns of the event loop until a promise resolves. */
async function turnsUntil(promise: Promise<void>): Promise<number> {
  let turns = 0;
  let done = false;
  promise.then(() => {
    done = true;
  });
  for (; !done; turns++) await nextTurn();
  return turns;
}

test("the OpenAPI document is served as YAML and built once", () => {
  let made = 0;
  const counted = createSmallDocs(() => {
    made++;
    return built(small);
  });
  for (let i = 0; i < 3; i++) assert.match(bodyOf(counted, "/openapi.yaml"), /^openapi: 3\.1\.1\n/);
  counted.find("/docs");
  assert.equal(made, 1);
  assert.equal(get("/openapi.yaml").type, "application/yaml; charset=utf-8");
});

test("every error code has an HTML page with its meaning and remedy", () => {
  for (const [code, entry] of Object.entries(catalogue)) {
    const { type, body } = get(`/errors/${code}`, browser);
    assert.equal(type, "text/html; charset=utf-8");
    const text = textOf(body.toString());
    assert.ok(text.includes(entry.meaning.replaceAll("`", "")), code);
    assert.ok(text.includes(entry.remedy.replaceAll("`", "")), code);
  }
});

test("every error code is described as JSON for programs", () => {
  for (const [code, entry] of Object.entries(catalogue)) {
    for (const accept of [undefined, "*/*", "application/json"]) {
      const { type, headers, body } = get(`/errors/${code}`, accept);
      assert.equal(type, "application/json");
      assert.equal(headers.vary, "Accept");
      const { data } = JSON.parse(body.toString());
      assert.deepEqual([data.code, data.status, data.retryable], [code, entry.http, entry.retryable]);
    }
  }
});

test("the list contains every error code, in HTML and in JSON", () => {
  const codes = Object.keys(catalogue);
  const { data } = JSON.parse(get("/errors").body.toString());
  assert.deepEqual(
    data.map(({ code }: { code: string }) => code),
    codes,
  );
  const page = get("/errors", browser).body.toString();
  for (const code of codes) assert.ok(page.includes(`errors/${code}"`), code);
});

function textOf(html: string): string {
  return html.replace(/<[^>]+>/g, "").replace(/&#(\d+);/g, (_, char) => String.fromCharCode(Number(char)));
}

test("the reference leads to every guide, and its code is shown as it is", () => {
  assert.match(get("/docs").body.toString(), /href="\.\/docs\/guides"/);
  const list = get("/docs/guides").body.toString();
  const found = new Set(JSON.parse(get("/docs/search.json").body.toString()).map(([, title]: string[]) => title));
  for (const file of guideFiles) {
    const page = get(`/docs/guides/${file}`).body.toString();
    const title = textOf(/<h1>(.+)<\/h1>/.exec(page)![1]!);
    assert.ok(list.includes(`"../docs/guides/${file}"`), file);
    assert.ok(found.has(title), title);
    assert.doesNotMatch(page.replace(/<pre[\s\S]*?<\/pre>|<code>.*?<\/code>/g, ""), /```|\*\*|\]\(/, file);
  }
  assert.match(
    get("/docs/guides/admission.md").body.toString(),
    /<pre tabindex="0">\. docs\/guides\/session\.sh<\/pre>/,
  );
});

test("every runbook is a page, and those that it names are pages too", () => {
  const index = get("/docs/runbooks/README.md").body.toString();
  const names = [...index.matchAll(/href="([a-z-]+\.md)"/g)].map(([, name]) => name!);
  assert.ok(names.length > 20);
  for (const name of new Set(names)) {
    const text = get(`/docs/runbooks/${name}`).body.toString();
    assert.match(text, /<h1>[A-Z][^<]+<\/h1>\n<(p|ol|table)>/, name);
    assert.doesNotMatch(text, /\*\*|\]\(|`/, name);
    for (const [, other] of text.matchAll(/href="([a-z-]+\.md)"/g))
      assert.ok(names.includes(other!), `${name}: ${other}`);
  }
  assert.equal(docs.find("/docs/runbooks/../guides/session.sh"), undefined);
});
