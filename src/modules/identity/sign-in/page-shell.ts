import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Html, html } from "../../../platform/html/index.ts";

export interface PageDocument {
  readonly title: string;
  /** Where the browser goes at once; undefined to stay. */
  readonly refresh?: string | undefined;
  readonly main: Html;
}

/** Renders documents, with headers that allow nothing but the pages' own style and script. */
export type PageShell = ReturnType<typeof createPageShell>;

/** Creates the shell. The style and the script are part of every document, and the policy names their hashes. */
export function createPageShell() {
  const style = readFileSync(join(import.meta.dirname, "assets", "sign-in.css"), "utf8");
  const script = readFileSync(join(import.meta.dirname, "assets", "sign-in.js"), "utf8");
  const source = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `style-src ${source(style)}`,
    `script-src ${source(script)}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    },
    render({ title, refresh, main }: PageDocument): string {
      return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
${refresh !== undefined && html`<meta http-equiv="refresh" content="0;url=${refresh}">`}
</head>
<body>
<main>
${main}
</main>
<script>${new Html(script)}</script>
</body>
</html>
`.text;
    },
  };
}
