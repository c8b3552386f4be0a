import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as yieldLoop } from "node:timers/promises";
import { type OpenApiDocument, toYaml, yamlPieces } from "../openapi/index.ts";
import { describeError, describeErrors, renderError, renderErrors } from "./error-pages.ts";
import { renderOutbox } from "./page.ts";
import { createReference, type Reference } from "./reference.ts";

/** What a request for a document says besides its path. */
export interface DocsRequest {
  readonly accept?: string | undefined;
  readonly ifNoneMatch?: string | undefined;
}

/** A document, ready to be sent. */
export interface DocsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
}

/** The documentation that an instance serves. */
export interface Docs {
  /** Answers a GET of a path without its query; undefined when nothing is there. */
  handle(path: string, request?: DocsRequest): DocsAnswer | undefined;
  /** Writes a document that takes long ahead of its first answer, in pieces; undefined when there is nothing to wait for. */
  prepare(path: string): Promise<void> | undefined;
}

interface Document {
  readonly type: string;
  readonly body: Buffer | string;
  readonly etag: string;
  /** Whether the same path answers in more than one media type. */
  readonly negotiated?: boolean;
}

// Only these names are ever read from disk, so no path can lead anywhere else.
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

// Nothing may come from or go to another origin, and nothing inline may run.
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

// Mails are shown in a frame without permissions, and style themselves.
const outboxSecurityPolicy = contentSecurityPolicy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'");

interface Options {
  readonly openApi: () => OpenApiDocument;
  /** Whether there is an outbox to look into. */
  readonly outbox?: boolean;
}

/** Serves the interactive reference, the OpenAPI document, the pages of the errors and that of the outbox. */
export function createDocs({ openApi, outbox = false }: Options): Docs {
  const kept = new Map<string, Document>();
  let writing: Promise<void> | undefined;
  let described: { readonly document: OpenApiDocument; readonly reference: Reference } | undefined;

  /** The OpenAPI document and the pages over it. Describing the operations takes a while, so it is done once. */
  function description() {
    if (described === undefined) {
      const document = openApi();
      described = { document, reference: createReference(document) };
    }
    return described;
  }

  /** Documents never change while the instance runs: each is made on first use. */
  function keep(key: string, type: string, make: () => Buffer | string, negotiated = false): Document {
    let document = kept.get(key);
    if (document === undefined) {
      const body = make();
      const etag = `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
      document = { type, body, etag, negotiated };
      kept.set(key, document);
    }
    return document;
  }

  /** All of the YAML at once would hold up every other call for most of a second. */
  async function writeYaml(): Promise<void> {
    let text = "";
    for (const piece of yamlPieces(description().document)) {
      text += piece;
      await yieldLoop();
    }
    keep(yamlPath, yaml, () => text);
  }

  function find(path: string, accept: string | undefined): Document | undefined {
    switch (path) {
      case yamlPath:
        return keep(path, yaml, () => toYaml(description().document));
      case "/docs":
        return keep(path, html, () => description().reference.index("./"));
      case "/docs/":
        return keep(path, html, () => description().reference.index("../"));
      case "/outbox":
        return outbox ? keep(path, html, () => renderOutbox("./")) : undefined;
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
    if (kept.has(key)) return kept.get(key);
    const page = description().reference.service(name, "../../");
    return page === undefined ? undefined : keep(key, html, () => page);
  }

  function findAsset(name: string): Document | undefined {
    if (!Object.hasOwn(assets, name)) return undefined;
    return keep(name, assets[name]!, () => readFileSync(join(import.meta.dirname, "assets", name)));
  }

  function findErrors(path: string, accept: string | undefined): Document {
    return wantsHtml(accept)
      ? keep(path, html, () => renderErrors(path === "/errors" ? "./" : "../"), true)
      : keep("errors.json", "application/json", () => JSON.stringify({ data: describeErrors() }), true);
  }

  function findError(code: string, accept: string | undefined): Document | undefined {
    const error = describeError(code);
    if (error === undefined) return undefined;
    return wantsHtml(accept)
      ? keep(`${code}.html`, html, () => renderError(error), true)
      : keep(`${code}.json`, "application/json", () => JSON.stringify({ data: error }), true);
  }

  return {
    handle(path, { accept, ifNoneMatch } = {}) {
      const document = find(path, accept);
      if (document === undefined) return undefined;
      const headers: Record<string, string> = {
        etag: document.etag,
        // Always asked for again: an upgraded instance must not be shown with the old one's files.
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
      if (path !== yamlPath || kept.has(path)) return undefined;
      writing ??= writeYaml();
      return writing;
    },
  };
}

/** Browsers name text/html first; programs that say nothing, or anything, get JSON. */
function wantsHtml(accept = ""): boolean {
  const html = accept.indexOf("text/html");
  const json = accept.search(/application\/(problem\+)?json/);
  return html >= 0 && (json < 0 || html < json);
}
