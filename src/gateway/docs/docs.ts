import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as yieldLoop } from "node:timers/promises";
import type { Operation } from "../../definitions/index.ts";
import { type OpenApiDocument, operationalTag, toYaml, yamlChunks } from "../openapi/index.ts";
import { createDocument, type SharedDocument } from "../shared-document.ts";
import { describeError, describeErrors, renderError, renderErrors } from "./error-pages.ts";
import { type EventTypes, renderEvents } from "./event-pages.ts";
import { createPageRenderer, renderOutbox } from "./page.ts";
import { createReference, type Reference } from "./reference.ts";
import { listSearchEntries } from "./search-index.ts";
import { listGuides, readTexts, renderGuides, renderText } from "./text-pages.ts";

/** A document and the headers of its responses. */
export interface DocsPage {
  readonly document: SharedDocument;
  readonly headers: Readonly<Record<string, string>>;
}

/** The documentation served by an instance. */
export type Docs = ReturnType<typeof createDocs>;

const script = "text/javascript; charset=utf-8";
const ownFolder = join(import.meta.dirname, "assets");
/** The reference is built with the console, whose look it has. */
const builtFolder = join(import.meta.dirname, "../../../console/dist");

// Only these files are read from disk, so that no path can reach others.
const assets: Readonly<Record<string, readonly [folder: string, type: string]>> = {
  "favicon.svg": [ownFolder, "image/svg+xml"],
  "outbox.js": [ownFolder, script],
  "reference.css": [builtFolder, "text/css; charset=utf-8"],
  "reference.js": [builtFolder, script],
  "theme.js": [builtFolder, script],
};

const html = "text/html; charset=utf-8";
const json = "application/json";
const yaml = "application/yaml; charset=utf-8";
const yamlPath = "/openapi.yaml";
const servicesPath = "/docs/services/";
const eventsPath = "/docs/events/";
const searchPath = "/docs/search.json";
/** Pages whose content comes from the OpenAPI document, besides those of services and events. */
const describedPaths: readonly string[] = ["/docs", "/docs/", searchPath];

// Forbids other origins and inline scripts.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

// Emails are shown in a frame without permissions and may have inline styles.
const outboxSecurityPolicy = contentSecurityPolicy
  .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
  .replace("; require-trusted-types-for 'script'", "");

interface Options {
  /** Builds the OpenAPI document in steps. */
  readonly openApi: () => Generator<void, OpenApiDocument>;
  /** The operations of the document. */
  readonly operations: readonly Operation[];
  readonly eventTypes: EventTypes;
  /** Whether the outbox is enabled. */
  readonly outbox?: boolean;
}

/** Serves the interactive reference, the OpenAPI document, the pages of errors, events, guides and runbooks, and the outbox page. */
export function createDocs({ openApi, operations, eventTypes, outbox = false }: Options) {
  const external = operations.filter(({ governance }) => !governance.internalOnly);
  const renderPage = createPageRenderer([...new Set(external.map(({ service }) => service.name)), operationalTag.name]);
  const cache = new Map<string, SharedDocument>();
  const texts = readTexts();
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
    if (step.done === true) {
      described = { document: step.value, reference: createReference(step.value, external, renderPage) };
    }
    return step.done === true;
  }

  /** Building the document in one go would block every other call for most of a second. */
  async function describe(): Promise<void> {
    const steps = openApi();
    while (!finishDescription(steps.next())) await yieldLoop();
  }

  /** Returns a document from the cache and creates it on first use. Documents never change while the instance runs. */
  function cached(key: string, type: string, make: () => Buffer | string): SharedDocument {
    let document = cache.get(key);
    if (document === undefined) {
      document = createDocument(type, make());
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

  function find(path: string, accept: string | undefined): SharedDocument | undefined {
    switch (path) {
      case yamlPath:
        return cached(path, yaml, () => toYaml(description().document));
      case "/docs":
        return cached(path, html, () => description().reference.index("./"));
      case "/docs/":
        return cached(path, html, () => description().reference.index("../"));
      case "/outbox":
        return outbox ? cached(path, html, () => renderOutbox(renderPage, "./")) : undefined;
      case "/docs/events":
        return cached(path, html, () => renderEvents(renderPage, eventTypes, "../"));
      case "/docs/guides":
        return cached(path, html, () => renderGuides(renderPage, texts));
      case searchPath:
        return cached(path, json, () =>
          JSON.stringify(listSearchEntries(description().reference.described, eventTypes, listGuides(texts))),
        );
      case "/errors":
      case "/errors/":
        return findErrors(path, accept);
      default:
        if (texts.has(path)) return cached(path, html, () => renderText(renderPage, texts, path));
        if (path.startsWith(servicesPath)) return findDescribed(path, "service");
        if (path.startsWith(eventsPath)) return findDescribed(path, "event");
        if (path.startsWith("/docs/")) return findAsset(path.slice("/docs/".length));
        if (path.startsWith("/errors/")) return findError(path.slice("/errors/".length), accept);
        return undefined;
    }
  }

  /** The page of a service or of an event type. */
  function findDescribed(path: string, kind: "service" | "event"): SharedDocument | undefined {
    if (cache.has(path)) return cache.get(path);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const { reference } = description();
    const page = kind === "service" ? reference.service(name, "../../") : reference.event(name, eventTypes);
    return page === undefined || path !== `/docs/${kind}s/${name}` ? undefined : cached(path, html, () => page);
  }

  function findAsset(name: string): SharedDocument | undefined {
    if (!Object.hasOwn(assets, name)) return undefined;
    const [folder, type] = assets[name]!;
    return cached(name, type, () => readFileSync(join(folder, name)));
  }

  function findErrors(path: string, accept: string | undefined): SharedDocument {
    return wantsHtml(accept)
      ? cached(path, html, () => renderErrors(renderPage, path === "/errors" ? "./" : "../"))
      : cached("errors.json", json, () => JSON.stringify({ data: describeErrors() }));
  }

  function findError(code: string, accept: string | undefined): SharedDocument | undefined {
    const error = describeError(code);
    if (error === undefined) return undefined;
    return wantsHtml(accept)
      ? cached(`${code}.html`, html, () => renderError(renderPage, error))
      : cached(`${code}.json`, json, () => JSON.stringify({ data: error }));
  }

  return {
    /** Finds the document of a path, in the media type that an Accept header prefers; undefined if the path is unknown. */
    find(path: string, accept?: string): DocsPage | undefined {
      const document = find(path, accept);
      if (document === undefined) return undefined;
      // The errors are available in two media types.
      const headers: Record<string, string> = path.startsWith("/errors") ? { vary: "Accept" } : {};
      if (document.type === html) {
        headers["content-security-policy"] = path === "/outbox" ? outboxSecurityPolicy : contentSecurityPolicy;
      }
      return { document, headers };
    },
    /** Builds a slow document in chunks before its first response; undefined if there is nothing to wait for. */
    prepare(path: string): Promise<void> | undefined {
      if (cache.has(path)) return undefined;
      if (path === yamlPath) {
        writing ??= writeYaml();
        return writing;
      }
      const isDescribed = [servicesPath, eventsPath].some((folder) => path.startsWith(folder));
      return isDescribed || describedPaths.includes(path) ? prepareDescription() : undefined;
    },
  };
}

/** Browsers list text/html first. Programs without an Accept header, or with any other, get JSON. */
function wantsHtml(accept = ""): boolean {
  const html = accept.indexOf("text/html");
  const json = accept.search(/application\/(problem\+)?json/);
  return html >= 0 && (json < 0 || html < json);
}
