import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OperationalHealthReportSchema } from "../../../../../gen/service/api/operational_health_pb.ts";
import { Html, html } from "../../../../platform/html/index.ts";
import { createJsonEncoder } from "../../../../platform/protojson/index.ts";
import { type HealthPageContent, reportView } from "./report-view.ts";

const consoleFiles = html`<link rel="stylesheet" href="/console/main.css">
<script src="/console/theme.js"></script>
<script type="module" src="/console/main.js"></script>`;

/**
 * Creates the page. Browsers with scripts replace it with the health page of the console; the report that the service rendered is
 * for all others. The style is part of every document, and the policy names its hash.
 */
export function createHealthPage() {
  const style = readFileSync(join(import.meta.dirname, "assets", "health.css"), "utf8");
  const encode = createJsonEncoder(OperationalHealthReportSchema, "proto");

  const documentOf = (title: string, head: Html, body: Html) =>
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="/docs/favicon.svg">
${head}
</head>
<body>
${body}
</body>
</html>
`.text;
  const styleElement = html`<style>${new Html(style)}</style>`;
  const consoleDocument = (title: string, main: Html) =>
    documentOf(
      title,
      html`${consoleFiles}
<noscript>${styleElement}</noscript>`,
      html`<div id="app"></div>
<noscript><main>
${main}
</main></noscript>`,
    );

  return {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    },
    /** The hash of the page's own style, as a source of a content security policy. */
    styleSource: `'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    render({ report, scopes, workspace }: HealthPageContent) {
      const title = `Health of ${report.scope!.environment}: ${report.verdict}`;
      return consoleDocument(title, reportView({ report, scopes, workspace, json: encode(report) }));
    },
    /** The page of a request that was refused. In the caller's own workspace, the console shows the refusal. */
    renderRefusal(title: string, text: string, isOwnWorkspace: boolean) {
      const main = html`<section><h1>${title}</h1><p>${text}</p><p><a href="/console">Open your workspace</a></p></section>`;
      return isOwnWorkspace
        ? consoleDocument(title, main)
        : documentOf(title, styleElement, html`<main>${main}</main>`);
    },
  };
}
