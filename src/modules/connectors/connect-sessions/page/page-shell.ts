import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Html, html } from "../../../../platform/html/index.ts";

/** A document of the hosted page. */
export interface PageDocument {
  readonly title: string;
  /** Data for the script, without secrets. */
  readonly data: Readonly<Record<string, string>>;
  /** Where the browser goes at once; undefined to stay. */
  readonly refresh?: { readonly url: string; readonly onlyWithoutScript: boolean } | undefined;
  readonly main: Html;
}

/** Renders documents, with headers that allow nothing but the page's own style and script. */
export type PageShell = ReturnType<typeof createPageShell>;

/** Creates the shell. The style and the script are part of every document, and the policy names their hashes. */
export function createPageShell() {
  const style = readAsset("connect.css");
  const script = readAsset("connect.js");
  const policy = [
    "default-src 'none'",
    `style-src '${hashSource(style)}'`,
    `script-src '${hashSource(script)}'`,
    "form-action 'self'",
    "base-uri 'none'",
  ].join("; ");

  return {
    render({ title, data, refresh, main }: PageDocument): string {
      const attributes = Object.entries(data).map(([name, value]) => html` data-${name}="${value}"`);
      const meta = refresh && html`<meta http-equiv="refresh" content="0;url=${refresh.url}">`;
      return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
${refresh?.onlyWithoutScript ? html`<noscript>${meta}</noscript>` : meta}
</head>
<body${attributes}>
<main>
${main}
</main>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
    },

    /** The headers of a document that only pages of these origins may embed. */
    headers(allowedOrigins: readonly string[]): Record<string, string> {
      const ancestors = allowedOrigins.length === 0 ? "'none'" : allowedOrigins.join(" ");
      return {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": `${policy}; frame-ancestors ${ancestors}`,
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
      };
    },
  };
}

function readAsset(name: string): string {
  return readFileSync(join(import.meta.dirname, "assets", name), "utf8");
}

function hashSource(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
