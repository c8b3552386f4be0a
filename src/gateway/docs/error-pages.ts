import { catalogue, type ErrorEntry, grpcCodes } from "../../errors/index.ts";
import { type PageRenderer, prose } from "./page.ts";

const entries: ReadonlyMap<string, ErrorEntry> = new Map(Object.entries<ErrorEntry>(catalogue));

/** The JSON description of an error code. */
export interface ErrorDescription {
  readonly code: string;
  readonly title: string;
  readonly status: number;
  readonly connect_code: string;
  readonly grpc_code: number;
  readonly retryable: boolean;
  readonly meaning: string;
  readonly remedy: string;
}

/** Describes an error code; undefined if it does not exist. */
export function describeError(code: string): ErrorDescription | undefined {
  const entry = entries.get(code);
  if (entry === undefined) return undefined;
  return {
    code,
    title: entry.title,
    status: entry.http,
    connect_code: entry.connect,
    grpc_code: grpcCodes[entry.connect],
    retryable: entry.retryable,
    meaning: entry.meaning,
    remedy: entry.remedy,
  };
}

/** Describes every error code. */
export function describeErrors(): ErrorDescription[] {
  return [...entries.keys()].map((code) => describeError(code)!);
}

/** Renders the page that the `type` of a problem links to. */
export function renderError(renderPage: PageRenderer, error: ErrorDescription): string {
  return renderPage({
    title: error.code,
    root: "../",
    path: "errors",
    main: `<p class="crumbs"><a href="../errors">Errors</a></p>
<h1>${error.code}</h1>
<p class="lead">${prose(error.title)}</p>
<h2>What it means</h2>
<p>${prose(error.meaning)}</p>
<h2>How to mend it</h2>
<p>${prose(error.remedy)}</p>
<h2>On the wire</h2>
<dl class="facts">
<dt>HTTP status</dt><dd>${error.status}</dd>
<dt>Connect</dt><dd><code>${error.connect_code}</code></dd>
<dt>gRPC</dt><dd>${error.grpc_code} <code>${error.connect_code.toUpperCase()}</code></dd>
<dt>Retryable</dt><dd>${error.retryable ? "Yes, the same request may succeed later." : "No, not without a change."}</dd>
</dl>`,
  });
}

/** Renders the page that lists every error code. */
export function renderErrors(renderPage: PageRenderer, root: string): string {
  const rows = describeErrors().map(
    ({ code, status, retryable, meaning }) =>
      `<tr><td><a href="${root}errors/${code}"><code>${code}</code></a></td><td>${status}${retryable ? " retry" : ""}</td><td>${prose(meaning)}</td></tr>`,
  );
  return renderPage({
    title: "Errors",
    root,
    path: "errors",
    main: `<h1>Errors</h1>
<p class="lead">Every error that a caller can see. Branch on the code: titles and details may change. “retry” means that the same request may succeed later.</p>
<table class="table">
<thead><tr><th>Code</th><th>HTTP</th><th>Meaning</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>`,
  });
}
