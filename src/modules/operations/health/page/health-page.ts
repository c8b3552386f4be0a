import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { OperationalHealthReportSchema } from "../../../../../gen/service/api/operational_health_pb.ts";
import { Html, html } from "../../../../platform/html/index.ts";
import { createJsonEncoder } from "../../../../platform/protojson/index.ts";
import { type HealthPageContent, reportView } from "./report-view.ts";

/** Renders the page. It needs no script. */
export interface HealthPage {
  /** Headers that allow nothing but the page's own style and form. */
  readonly headers: Readonly<Record<string, string>>;
  render(content: HealthPageContent): string;
  /** The page of a request that was refused. */
  renderRefusal(title: string, text: string): string;
}

/** Creates the page. The style is part of every document, and the policy names its hash. */
export function createHealthPage(): HealthPage {
  const style = readFileSync(join(import.meta.dirname, "assets", "health.css"), "utf8");
  const encode = createJsonEncoder(OperationalHealthReportSchema, "proto");
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

  const documentOf = (title: string, main: Html) =>
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(style)}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`.text;

  return {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-store",
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    },
    render({ report, scopes, workspace }) {
      const title = `Health of ${report.scope!.environment}: ${report.verdict}`;
      return documentOf(title, reportView({ report, scopes, workspace, json: encode(report) }));
    },
    renderRefusal(title, text) {
      const main = html`<section><h1>${title}</h1><p>${text}</p></section>`;
      return documentOf(title, main);
    },
  };
}
