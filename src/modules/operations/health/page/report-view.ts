import { timestampDate } from "@bufbuild/protobuf/wkt";
import type {
  OperationalHealthDependency,
  OperationalHealthEvidence,
  OperationalHealthNextStep,
  OperationalHealthReport,
  OperationalHealthScope,
  OperationalHealthSignal,
  OperationalHealthSource,
} from "../../../../../gen/service/api/operational_health_pb.ts";
import { type Html, html } from "../../../../platform/html/index.ts";
import { formatDuration, formatQuantity } from "../../../../platform/text/index.ts";

export interface HealthPageContent {
  readonly report: OperationalHealthReport;
  /** The environments that the person can choose. */
  readonly scopes: readonly OperationalHealthScope[];
  /** The name of the tenant. */
  readonly workspace: string;
}

const periods = ["15m", "1h", "6h", "1d", "7d"];

const meanings: Readonly<Record<string, string>> = {
  healthy: "No signal has reached a threshold.",
  degraded: "A signal has reached its first threshold. Work continues, but somebody should look.",
  unhealthy: "A signal has reached its second threshold. Act now.",
  unknown: "The data is missing, stale or contradictory. Do not rely on the other signals.",
};

/** The main part of the page. */
export function reportView({ report, scopes, workspace, json }: HealthPageContent & { readonly json: string }): Html {
  const { scope, window, verdict, confidence, signals, sources, dependencies, nextSteps, generatedAt } = report;
  const period = formatDuration(window!.periodS * 1000);
  const time = (stamp: typeof generatedAt) => {
    const iso = timestampDate(stamp!).toISOString().replace(/\.\d+/, "");
    return html`<time datetime="${iso}">${iso.replace("T", " ").replace("Z", " UTC")}</time>`;
  };
  return html`<header>
<div><h1>Operational health</h1><p class="quiet"><a href="/workspaces/${scope!.tenantId}">${workspace}</a></p></div>
<form method="get">
<label>Environment<select name="environment">${scopes.map(({ environment }) => option(environment, environment === scope!.environment))}</select></label>
<label>Period<select name="period">${[...new Set([period, ...periods])].map((each) => option(each, each === period))}</select></label>
<button>Show</button>
</form>
</header>
<section class="verdict ${verdict}" role="status">
<p class="quiet">${scope!.environment}</p>
<strong>${capitalized(verdict)}</strong>
<p>${meanings[verdict]}</p>
<p class="quiet">Confidence: ${confidence}. Computed at ${time(generatedAt)} for ${time(window!.start)} to ${time(window!.end)}.</p>
</section>
${nextSteps.length > 0 && html`<section><h2>Next steps</h2><ol>${nextSteps.map(stepItem)}</ol></section>`}
<section><h2>Signals</h2><div class="scroll"><table>
<thead><tr><th scope="col">Signal</th><th scope="col">Level</th><th scope="col">Value</th><th scope="col">Thresholds</th><th scope="col">Evidence</th></tr></thead>
<tbody>${signals.map(signalRow)}</tbody></table></div></section>
<div class="pair">
<section><h2>Sources</h2><table><thead><tr><th scope="col">Source</th><th scope="col">Freshness</th><th scope="col">Age</th></tr></thead>
<tbody>${sources.map(sourceRow)}</tbody></table></section>
<section><h2>Dependencies</h2><table><thead><tr><th scope="col">Dependency</th><th scope="col">State</th><th scope="col">Age</th></tr></thead>
<tbody>${dependencies.map(dependencyRow)}</tbody></table></section>
</div>
<details><summary>The report as JSON</summary><pre id="report">${json}</pre></details>`;
}

function option(value: string, isSelected: boolean): Html {
  return isSelected ? html`<option selected>${value}</option>` : html`<option>${value}</option>`;
}

function stepItem({ reasonCode, action, runbook }: OperationalHealthNextStep): Html {
  return html`<li>${action}<br><span class="quiet"><code>${reasonCode}</code>, runbook <a href="/${runbook}">${runbook}</a></span></li>`;
}

function signalRow(signal: OperationalHealthSignal): Html {
  const { title, level, unit, value, evidence } = signal;
  const parts = evidence.map(evidenceText).join(", ");
  return html`<tr><th scope="row">${title}</th><td>${levelTag(level)}</td>
<td class="number">${value === undefined ? "–" : formatQuantity(value, unit)}</td><td class="number">${thresholds(signal)}</td>
<td class="evidence">${parts}</td></tr>`;
}

/** The name of a duration ends with its unit. */
function evidenceText({ name, value }: OperationalHealthEvidence): string {
  const isDuration = name.endsWith("_s");
  return `${words(isDuration ? name.slice(0, -2) : name)} ${formatQuantity(value, isDuration ? "seconds" : "count")}`;
}

function thresholds({ degradedAt, unhealthyAt, unknownAbove, unit }: OperationalHealthSignal): Html {
  const lines = [
    ["degraded from", degradedAt],
    ["unhealthy from", unhealthyAt],
    ["unknown above", unknownAbove],
  ] as const;
  const shown = lines.flatMap(([text, at]) => (at === undefined ? [] : [`${text} ${formatQuantity(at, unit)}`]));
  return html`${shown.map((line, index) => (index === 0 ? html`${line}` : html`<br>${line}`))}`;
}

function sourceRow({ name, freshness, ageS }: OperationalHealthSource): Html {
  const level = freshness === "current" ? "healthy" : "unknown";
  return html`<tr><th scope="row">${words(name)}</th><td>${levelTag(level, freshness)}</td><td class="number">${age(ageS)}</td></tr>`;
}

function dependencyRow({ name, state, ageS }: OperationalHealthDependency): Html {
  const isUsable = state === "available" || state === "not_configured";
  const level = state === "not_configured" ? "not_evaluated" : isUsable ? "healthy" : "unknown";
  return html`<tr><th scope="row">${words(name)}</th><td>${levelTag(level, state)}</td><td class="number">${age(ageS)}</td></tr>`;
}

/** The text repeats the meaning of the colour, for people who do not see it. */
function levelTag(level: string, text = level): Html {
  return html`<span class="level ${level}">${words(text)}</span>`;
}

function age(seconds: number | undefined): string {
  return seconds === undefined ? "–" : formatQuantity(seconds, "seconds");
}

function words(name: string): string {
  return name.replaceAll("_", " ");
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
