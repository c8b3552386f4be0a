import { type AnalyticsResult, createAnalyticsService } from "@client/gen/analytics";
import { createDiscoveryService } from "@client/gen/discovery";
import { useState } from "preact/hooks";
import { useQuery } from "../../core/query";
import { setQuery } from "../../core/router";
import { transport } from "../../core/transport";
import { Button } from "../../ui/button";
import { Card } from "../../ui/card";
import { Chart } from "../../ui/chart";
import { formatClock } from "../../ui/format";
import { filterOf, Page, Ready } from "../../ui/page";
import { Table } from "../../ui/table";
import { Notice } from "../../ui/text";
import { AllEnvironments } from "../shared/environment";

const analytics = createAnalyticsService(transport);
const discovery = createDiscoveryService(transport);
const seriesMax = 4;

/** Analytics: how did the workspace do over time? */
export default function Analytics() {
  const capability = useQuery("analytics capability", () => discovery.getCapability({ id: "analytics" }));
  return (
    <Page question="How did this workspace do over time?" title="Analytics">
      <AllEnvironments of="Metrics" />
      <Ready query={capability}>
        {({ mode }) =>
          mode === "disabled" ? (
            <Notice tone="info">
              Analytics is off. The operator can connect a Prometheus with analytics.enabled and
              analytics.prometheus_url.
            </Notice>
          ) : (
            <Queries />
          )
        }
      </Ready>
    </Page>
  );
}

function Queries() {
  const catalog = useQuery("analytics catalog", () => analytics.getCatalog());
  const query = filterOf("query");
  return (
    <>
      <QueryForm initial={query ?? ""} key={query} />
      {query !== undefined && <Result query={query} />}
      <Ready query={catalog}>
        {({ metrics }) => (
          <Table
            columns={[
              { title: "Metric", value: ({ name }) => name, render: ({ name }) => <code>{name}</code> },
              { title: "Type", width: "110px", value: ({ type }) => type },
              { title: "Description", value: ({ description }) => description },
              { title: "Labels", width: "200px", value: ({ labels }) => labels.join(", ") },
            ]}
            keyOf={({ name }) => name}
            label="Metrics"
            rows={metrics}
          />
        )}
      </Ready>
    </>
  );
}

function QueryForm({ initial }: { readonly initial: string }) {
  const [text, setText] = useState(initial);
  const submit = (event: Event) => {
    event.preventDefault();
    setQuery({ query: text.trim() });
  };
  return (
    <form class="filters" onSubmit={submit}>
      <input
        aria-label="Query, in PromQL"
        class="input wide"
        onInput={(event) => setText(event.currentTarget.value)}
        placeholder="sum(rate(routing_decisions_total[5m]))"
        spellcheck={false}
        value={text}
      />
      <Button tone="primary" type="submit">
        Query
      </Button>
    </form>
  );
}

function Result({ query }: { readonly query: string }) {
  const result = useQuery(`analytics ${query}`, () => analytics.query({ query }), { everyMs: 30_000 });
  return <Ready query={result}>{(data) => <ResultChart result={data} />}</Ready>;
}

function ResultChart({ result: { series, executed_query } }: { readonly result: AnalyticsResult }) {
  if (series.length === 0) return <Notice tone="info">No series matches the query in the last hour.</Notice>;
  const times = [...new Set(series.flatMap(({ points }) => points.map(({ at }) => at ?? "")))].toSorted();
  const lines = series.slice(0, seriesMax).map(({ metric, labels, points }) => {
    const byTime = new Map(points.map(({ at, value }) => [at, value]));
    const name = Object.entries(labels).map(([label, value]) => `${label}=${value}`);
    return { name: name.join(", ") || metric || "result", values: times.map((at) => byTime.get(at)) };
  });
  return (
    <Card title="Result">
      <Chart label="Result of the query" positions={times.map(formatClock)} series={lines} />
      {series.length > seriesMax && (
        <p class="soft">
          The chart shows {seriesMax} of {series.length} series.
        </p>
      )}
      <p class="soft">
        <code>{executed_query}</code>
      </p>
    </Card>
  );
}
