import { createOperationalHealthService, type OperationalHealthReport } from "@client/gen/operational-health";
import { environmentName } from "../../core/environments";
import { useList, useQuery } from "../../core/query";
import { setQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Card } from "../../ui/card";
import { formatSeconds, parseSeconds, words } from "../../ui/format";
import { JsonView } from "../../ui/json-view";
import { filterOf, Page, Ready } from "../../ui/page";
import { Ago, Facts, Status, type Tone } from "../../ui/text";
import { Signals } from "./signals";

const health = createOperationalHealthService(transport);

/** A report is cached by the service for as long. */
const cachedMs = 15_000;
const periods = ["15m", "1h", "6h", "1d", "7d"];
const defaults = { environment: "production", period: "1h" };

const meanings: Readonly<Record<string, string>> = {
  healthy: "No signal has reached a threshold.",
  degraded: "A signal has reached its first threshold. Work continues, but somebody should look.",
  unhealthy: "A signal has reached its second threshold. Act now.",
  unknown: "The data is missing, stale or contradictory. Do not rely on the other signals.",
};

const tones: Readonly<Record<string, Tone>> = { healthy: "ok", degraded: "warn", unhealthy: "bad", unknown: "info" };

/** Health: does an environment work as it should, and if not, why and what now? Without scripts, the service renders the report. */
export default function Health() {
  const environment = filterOf("environment") ?? defaults.environment;
  const period = filterOf("period") ?? defaults.period;
  const report = useQuery(`health ${environment} ${period}`, () => health.getReport({ environment, period }), {
    everyMs: cachedMs,
  });
  return (
    <Page question="Does this environment work as it should, and if not, why and what now?" title="Health">
      <Filters environment={environment} period={period} />
      <Ready query={report}>{(data) => <Report report={data} />}</Ready>
    </Page>
  );
}

function Filters(current: typeof defaults) {
  const scopes = useList("health scopes", (page) => health.listScopes(page));
  const choices = {
    environment: scopes.rows.map(({ environment }) => environment),
    period: periods,
  };
  return (
    <div class="filters">
      {(["environment", "period"] as const).map((name) => (
        <select
          aria-label={words(name)}
          class="select"
          key={name}
          onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
          value={current[name]}
        >
          {[...new Set([current[name], ...choices[name]])].map((choice) => (
            <option key={choice} selected={choice === current[name]} value={choice}>
              {name === "period" ? `Last ${formatSeconds(parseSeconds(choice))}` : environmentName(choice)}
            </option>
          ))}
        </select>
      ))}
    </div>
  );
}

function Report({ report }: { readonly report: OperationalHealthReport }) {
  const { verdict, confidence, scope, generated_at, next_steps, signals, sources, dependencies } = report;
  return (
    <>
      <section class="health-verdict" data-tone={tones[verdict]}>
        <div role="status">
          <p class="soft">{environmentName(scope?.environment ?? "")}</p>
          <strong>{words(verdict)}</strong>
          <p>{meanings[verdict]}</p>
        </div>
        <p class="soft">
          Confidence: {confidence}. Computed <Ago time={generated_at} />.
        </p>
      </section>
      {next_steps.length > 0 && (
        <Card title="Next steps">
          <ol class="numbered">
            {next_steps.map(({ reason_code, action, runbook }) => (
              <li key={reason_code}>
                {action}
                <br />
                <span class="soft">
                  <code>{reason_code}</code>, runbook{" "}
                  <a class="link" href={`/${runbook}`}>
                    {runbook}
                  </a>
                </span>
              </li>
            ))}
          </ol>
        </Card>
      )}
      <Signals signals={signals} />
      <div class="columns">
        <Card title="Sources">
          <Facts
            of={Object.fromEntries(
              sources.map(({ name, freshness, age_s }) => [
                words(name),
                <State ageS={age_s} key={name} state={freshness} tone={freshness === "current" ? "ok" : "info"} />,
              ]),
            )}
          />
        </Card>
        <Card title="Dependencies">
          <Facts
            of={Object.fromEntries(
              dependencies.map(({ name, state, age_s }) => [
                words(name),
                <State ageS={age_s} key={name} state={state} tone={dependencyTones[state] ?? "info"} />,
              ]),
            )}
          />
        </Card>
      </div>
      <Card title="The report as JSON">
        <JsonView label="The report" value={report} />
      </Card>
    </>
  );
}

const dependencyTones: Readonly<Record<string, Tone>> = { available: "ok", not_configured: "muted" };

function State({ state, tone, ageS }: { readonly state: string; readonly tone: Tone; readonly ageS?: number }) {
  return (
    <>
      <Status of={state} tone={tone} />{" "}
      {ageS !== undefined && <span class="faint number">{formatSeconds(ageS)} ago</span>}
    </>
  );
}
