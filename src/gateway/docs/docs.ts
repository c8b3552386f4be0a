import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as yieldLoop } from "node:timers/promises";
import { type OpenApiDocument, toYaml, yamlChunks } from "../openapi/index.ts";
import { describeError, describeErrors, renderError, renderErrors } from "./error-pages.ts";
import { renderOutbox } from "./page.ts";
import { createReference, type Reference } from "./reference.ts";

/** The headers of a request for a document. */
export interface DocsRequest {
  readonly accept?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** The response with a document. */
export interface DocsResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

/** The documentation served by an instance. */
export interface Docs {
  /** Returns the response to a GET of a path without its query; undefined if the path is unknown. */
  handle(path: string, request?: DocsRequest): DocsResponse | undefined;
  /** Builds a slow document in chunks before its first response; undefined if there is nothing to wait for. */
  prepare(path: string): Promise<void> | undefined;
}

interface Document {
  readonly type: string;
  readonly body: Buffer | string;
  readonly etag: string;
  /** Whether the path is available in more than one media type. */
  readonly negotiated?: boolean;
}

// Only these files are read from disk, so that no path can reach others.
const assets: Readonly<Record<string, string>> = {
  "favicon.svg": "image/svg+xml",
  "outbox.js": "text/javascript; charset=utf-8",
  "reference.js": "text/javascript; charset=utf-8",
  "style.css": "text/css; charset=utf-8",
};

const html = "text/html; charset=utf-8";
const yaml = "application/yaml; charset=utf-8";
const yamlPath = "/openapi.yaml";
const servicesPath = "/docs/services/";
const indexPaths: readonly string[] = ["/docs", "/docs/"];

// Forbids other origins and inline scripts.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

// Emails are shown in a frame without permissions and may have inline styles.
const outboxSecurityPolicy = contentSecurityPolicy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

interface Options {
  /** Builds the OpenAPI document in steps. */
  readonly openApi: () => Generator<void, OpenApiDocument>;
  /** Whether the outbox is enabled. */
  readonly outbox?: boolean;
}

/** Serves the interactive reference, the OpenAPI document, the error pages and the outbox page. */
export function createDocs({ openApi, outbox = false }: Options): Docs {
  const cache = new Map<string, Document>();
  let describing: Promise<void> | undefined;
  let writing: Promise<void> | undefined;
  let described: { readonly document: OpenApiDocument; readonly reference: Reference } | undefined;

  /** The OpenAPI document and its pages. Building them is slow, so it is done once. */
  function description() {
    const steps = described === undefined ? openApi() : undefined;
    while (described === undefined) finishDescription(steps!.next());
    return described;
  }

  function finishDescription(step: IteratorResult<void, OpenApiDocument>): boolean {
    if (step.done === true) described = { document: step.value, reference: createReference(step.value) };
    return step.done === true;
  }

  /** Building the document in one go would block every other call for most of a second. */
  async function describe(): Promise<void> {
    const steps = openApi();
    while (!finishDescription(steps.next())) await yieldLoop();
  }

  /** Returns a document from the cache and creates it on first use. Documents never change while the instance runs. */
  function cached(key: string, type: string, make: () => Buffer | string, negotiated = false): Document {
    let document = cache.get(key);
    if (document === undefined) {
      const body = make();
      const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
      document = { type, body, etag, negotiated };
      cache.set(key, document);
    }
    return document;
  }

  function prepareDescription(): Promise<void> | undefined {
    if (described !== undefined) return undefined;
    describing ??= describe();
    return describing;
  }

  /** Writing the YAML in one go would block every other call for most of a second. */
  async function writeYaml(): Promise<void> {
    await prepareDescription();
    let text = "";
    for (const chunk of yamlChunks(description().document)) {
      text += chunk;
      await yieldLoop();
    }
    cached(yamlPath, yaml, () => text);
  }

  function find(path: string, accept: string | undefined): Document | undefined {
    switch (path) {
      case yamlPath:
        return cached(path, yaml, () => toYaml(description().document));
      case "/docs":
        return cached(path, html, () => description().reference.index("./"));
      case "/docs/":
        return cached(path, html, () => description().reference.index("../"));
      case "/outbox":
        return outbox ? cached(path, html, () => renderOutbox("./")) : undefined;
      case "/errors":
      case "/errors/":
        return findErrors(path, accept);
      default:
        if (path.startsWith(servicesPath)) return findService(path.slice(servicesPath.length));
        if (path.startsWith("/docs/")) return findAsset(path.slice("/docs/".length));
        if (path.startsWith("/errors/")) return findError(path.slice("/errors/".length), accept);
        return undefined;
    }
  }

  function findService(name: string): Document | undefined {
    const key = servicesPath + name;
    if (cache.has(key)) return cache.get(key);
    const page = description().reference.service(name, "../../");
    return page === undefined ? undefined : cached(key, html, () => page);
  }

  function findAsset(name: string): Document | undefined {
    if (!Object.hasOwn(assets, name)) return undefined;
    return cached(name, assets[name]!, () => readFileSync(join(import.meta.dirname, "assets", name)));
  }

  function findErrors(path: string, accept: string | undefined): Document {
    return wantsHtml(accept)
      ? cached(path, html, () => renderErrors(path === "/errors" ? "./" : "../"), true)
      : cached("errors.json", "application/json", () => JSON.stringify({ data: describeErrors() }), true);
  }

  function findError(code: string, accept: string | undefined): Document | undefined {
    const error = describeError(code);
    if (error === undefined) return undefined;
    return wantsHtml(accept)
      ? cached(`${code}.html`, html, () => renderError(error), true)
      : cached(`${code}.json`, "application/json", () => JSON.stringify({ data: error }), true);
  }

  return {
    handle(path, { accept, ifNoneMatch } = {}) {
      const document = find(path, accept);
      if (document === undefined) return undefined;
      const headers: Record<string, string> = {
        etag: document.etag,
        // Always revalidated, so that an upgraded instance is not shown with old files.
        "cache-control": "no-cache",
        ...(document.negotiated ? { vary: "Accept" } : {}),
      };
      if (ifNoneMatch?.includes(document.etag)) return { status: 304, headers, body: "" };
      headers["content-type"] = document.type;
      headers["x-content-type-options"] = "nosniff";
      if (document.type === html) {
        headers["content-security-policy"] = path === "/outbox" ? outboxSecurityPolicy : contentSecurityPolicy;
        headers["referrer-policy"] = "no-referrer";
      }
      return { status: 200, headers, body: document.body };
    },
    prepare(path) {
      if (cache.has(path)) return undefined;
      if (path === yamlPath) {
        writing ??= writeYaml();
        return writing;
      }
      return indexPaths.includes(path) || path.startsWith(servicesPath) ? prepareDescription() : undefined;
    },
  };
}

/** Browsers list text/html first. Programs without an Accept header, or with any other, get JSON. */
function wantsHtml(accept = ""): boolean {
  const html = accept.indexOf("text/html");
  const json = accept.search(/application\/(problem\+)?json/);
  return html >= 0 && (json < 0 || html < json);
}
