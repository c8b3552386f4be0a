import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import test, { after } from "node:test";
import { parse } from "yaml";
import { type Document, deploy, readDeploy } from "../harness/deployment.ts";
import { findPrometheus, whyNoPrometheus } from "../harness/prometheus.ts";

const file = join(deploy, "prometheus/switchyard.rules.yaml");
const rules: Document[] = parse(await readDeploy("prometheus/switchyard.rules.yaml")).groups[0].rules;
const work = await mkdtemp(join(tmpdir(), "alerts-"));
after(() => rm(work, { recursive: true, force: true }));

interface Example {
  /** Series by their labels, one value per minute, with which the alert fires after this many minutes. */
  readonly fires: Readonly<Record<string, string>>;
  readonly afterM: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  /** Series with which it does not. */
  readonly quiet: Readonly<Record<string, string>>;
}

const calls = (code: string) =>
  `rpc_server_call_duration_seconds_count{job="switchyard",instance="a",operation="x/GetA",code="${code}"}`;
const bucket = (operation: string, le: string) =>
  `rpc_server_call_duration_seconds_bucket{job="switchyard",instance="a",operation="${operation}",code="OK",le="${le}"}`;
const of = (metric: string, labels = "") => `${metric}{job="switchyard",instance="a"${labels && `,${labels}`}}`;
const instance = { instance: "a" };

/** A copy of a configuration with fixed addresses: Debian's promtool does not know how to ask Kubernetes. */
async function withoutDiscovery(name: string): Promise<string> {
  const config = parse(await readDeploy(`prometheus/${name}`));
  for (const job of config.scrape_configs) {
    assert.deepEqual(job.kubernetes_sd_configs, [{ role: "pod" }]);
    delete job.kubernetes_sd_configs;
  }
  const path = join(work, name);
  await writeFile(path, JSON.stringify({ ...config, rule_files: [file] }));
  return path;
}

/** An example for each alert. */
const examples: Readonly<Record<string, Example>> = {
  SwitchyardNodeDown: {
    fires: { [of("up")]: "1x5 0x20" },
    ...{ afterM: 10, labels: { ...instance, job: "switchyard" }, summary: "The node a does not respond." },
    quiet: { [of("up")]: "1x25", 'up{job="other",instance="b"}': "0x25" },
  },
  SwitchyardProcessRestarts: {
    fires: { [of("process_start_time_seconds")]: "100x3 200x3 300x3 400x10" },
    ...{ afterM: 15, labels: { ...instance, job: "switchyard" } },
    summary: "The node a restarted 3 times within 30 minutes.",
    quiet: { [of("process_start_time_seconds")]: "100x3 200x3 300x10" },
  },
  SwitchyardDatabaseUnreachable: {
    fires: { [of("unhealthy_components", 'component="database"')]: "0x5 2x20" },
    ...{ afterM: 10, labels: instance, summary: "The node a cannot reach the database." },
    quiet: { [of("unhealthy_components", 'component="database"')]: "0x9 1x0 0x10" },
  },
  SwitchyardComponentUnhealthy: {
    fires: { [of("unhealthy_components", 'component="queue"')]: "0x5 1x20" },
    ...{ afterM: 10, labels: { ...instance, component: "queue" } },
    summary: "The component queue of the node a does not work.",
    quiet: {
      [of("unhealthy_components", 'component="database"')]: "1x20",
      [of("unhealthy_components", 'component="storage"')]: "1x20",
    },
  },
  SwitchyardStorageFillsUp: {
    fires: {
      [of("storage_used_bytes", 'volume="data"')]: "50x5 85x30",
      [of("storage_free_bytes", 'volume="data"')]: "50x5 15x30",
    },
    ...{ afterM: 15, labels: { ...instance, volume: "data" } },
    summary: "The volume data of the node a is 85% full.",
    quiet: {
      [of("storage_used_bytes", 'volume="data"')]: "79x30",
      [of("storage_free_bytes", 'volume="data"')]: "21x30",
    },
  },
  SwitchyardBackupsLate: {
    fires: { [of("unhealthy_components", 'component="backup"')]: "0x5 1x30" },
    ...{ afterM: 20, labels: instance },
    summary: "The backups of the node a are late or fail.",
    quiet: {
      [of("unhealthy_components", 'component="backup"')]: "1x8 0x22",
      [of("backup_last_backup_timestamp_seconds")]: "0x30",
    },
  },
  SwitchyardDatabaseConnectionsExhausted: {
    fires: { [of("database_waiting")]: "0x5 7x30" },
    ...{ afterM: 25, labels: { ...instance, job: "switchyard" } },
    summary: "Calls of the node a wait for a connection to the database all the time.",
    quiet: { [of("database_waiting")]: "9x3 0x0 9x3 0x0 9x3 0x0 9x3 0x0 9x3 0x0 9x3 0x0 9x3" },
  },
  SwitchyardReplicaLeftOut: {
    fires: {
      [of("replicable_reads_total", 'server="primary"')]: "0+60x60",
      [of("replicable_reads_total", 'server="replica"')]: "500x60",
    },
    ...{ afterM: 45, summary: "All lists are read from the primary, because the replica fails or lags." },
    quiet: {
      [of("replicable_reads_total", 'server="primary"')]: "0+60x60",
      [of("replicable_reads_total", 'server="replica"')]: "0+1x60",
    },
  },
  SwitchyardErrors: {
    fires: { [calls("OK")]: "0+95x30", [calls("INTERNAL")]: "0+3x30", [calls("UNAVAILABLE")]: "0+2x30" },
    ...{ afterM: 20, summary: "5% of the calls fail because of the service." },
    quiet: { [calls("OK")]: "0+95x30", [calls("NOT_FOUND")]: "0+50x30", [calls("INTERNAL")]: "0x5 1x25" },
  },
  SwitchyardSlowCalls: {
    fires: {
      [bucket("x/GetA", "1")]: "0+50x40",
      [bucket("x/GetA", "5")]: "0+100x40",
      [bucket("x/GetA", "+Inf")]: "0+100x40",
    },
    ...{ afterM: 30, summary: "One call in a hundred takes longer than 4.92s." },
    quiet: {
      [bucket("x/PollTasks", "1")]: "0x40",
      [bucket("x/PollTasks", "5")]: "0+100x40",
      [bucket("x/PollTasks", "+Inf")]: "0+100x40",
    },
  },
  SwitchyardEventLoopLate: {
    fires: { [of("nodejs_eventloop_delay_seconds", 'quantile="0.999"')]: "0.2x40" },
    ...{ afterM: 20, labels: { ...instance, job: "switchyard", quantile: "0.999" } },
    summary: "The event loop of the node a is 200ms late.",
    quiet: {
      [of("nodejs_eventloop_delay_seconds", 'quantile="0.999"')]: "0.01x40",
      [of("nodejs_eventloop_delay_seconds", 'quantile="1"')]: "0.9x40",
    },
  },
  SwitchyardWorkWaits: {
    fires: { [of("backlog_oldest_seconds", 'backlog="queue_items"')]: "0+60x60" },
    ...{ afterM: 30, labels: { backlog: "queue_items" } },
    summary: "In queue_items, work has waited for a worker for 30m 0s.",
    quiet: { [of("backlog_oldest_seconds", 'backlog="queue_items"')]: "800x60" },
  },
  SwitchyardWorkLate: {
    fires: { [of("backlog_oldest_seconds", 'backlog="webhook_deliveries"')]: "0+60x60" },
    ...{ afterM: 20, labels: { backlog: "webhook_deliveries" } },
    summary: "In webhook_deliveries, work of the service itself is 20m 0s late.",
    quiet: { [of("backlog_oldest_seconds", 'backlog="jobs"')]: "250x60" },
  },
  SwitchyardDeadLettersRise: {
    fires: { [of("backlog_rows", 'backlog="queue_dead_letters"')]: "100x60 150x60" },
    ...{ afterM: 70, labels: { backlog: "queue_dead_letters" } },
    summary: "In queue_dead_letters, 50 more letters are open than an hour ago.",
    quiet: {
      [of("backlog_rows", 'backlog="queue_dead_letters"')]: "100x60 105x60",
      [of("backlog_rows", 'backlog="jobs"')]: "0x60 500x60",
    },
  },
  SwitchyardWebhooksFail: {
    fires: {
      [of("webhook_attempts_total", 'outcome="succeeded"')]: "0+10x60",
      [of("webhook_attempts_total", 'outcome="timeout",tenant_id="t"')]: "0+30x60",
    },
    ...{ afterM: 40, summary: "75% of the attempts to send webhooks fail." },
    quiet: {
      [of("webhook_attempts_total", 'outcome="succeeded"')]: "0+30x60",
      [of("webhook_attempts_total", 'outcome="timeout"')]: "0+10x60",
    },
  },
  SwitchyardNotificationsFail: {
    fires: {
      [of("notification_deliveries_total", 'channel="email",outcome="sent"')]: "0+10x60",
      [of("notification_deliveries_total", 'channel="email",outcome="failed"')]: "0+10x60",
      [of("notification_deliveries_total", 'channel="sms",outcome="sent"')]: "0+10x60",
    },
    ...{ afterM: 40, labels: { channel: "email" }, summary: "50% of the notifications over email fail." },
    quiet: {
      [of("notification_deliveries_total", 'channel="email",outcome="sent"')]: "0+10x60",
      [of("notification_deliveries_total", 'channel="email",outcome="failed"')]: "0+1x60",
    },
  },
  SwitchyardActionsFail: {
    fires: {
      [of("connector_executions_total", 'status="succeeded",origin="api"')]: "0+10x60",
      [of("connector_executions_total", 'status="failed",origin="api"')]: "0+40x60",
    },
    ...{ afterM: 40, summary: "80% of the connector actions fail." },
    quiet: { [of("connector_executions_total", 'status="succeeded",origin="api"')]: "0+10x60" },
  },
  SwitchyardConnectionsRefused: {
    fires: { [of("connections_refused_total", 'limit="total"')]: "0+5x40" },
    ...{ afterM: 20, labels: { limit: "total" } },
    summary: "Callers are refused, because the limit of connections (total) is reached.",
    quiet: { [of("connections_refused_total", 'limit="total"')]: "0x5 5x40" },
  },
  SwitchyardRecordsDropped: {
    fires: { [of("telemetry_export_failures_total", 'signal="logs"')]: "0+1x60" },
    ...{ afterM: 40, summary: "Telemetry or evidence of entitlements is lost." },
    quiet: {
      [of("telemetry_export_failures_total", 'signal="logs"')]: "7x60",
      [of("entitlement_evidence_dropped_total")]: "0x60",
    },
  },
};

test("every alert has a severity, a summary and a runbook that says what to do", async () => {
  const index = await readFile(join(deploy, "../docs/runbooks/README.md"), "utf8");
  assert.deepEqual(Object.keys(examples).sort(), rules.map(({ alert }) => alert).sort());
  for (const { alert, labels, annotations } of rules) {
    assert.ok(["critical", "warning"].includes(labels.severity), alert);
    assert.ok(annotations.summary.endsWith("."), alert);
    const runbook = await readFile(join(deploy, "..", annotations.runbook_url), "utf8");
    assert.ok(runbook.includes(`\`${alert}\``), `${annotations.runbook_url} does not name ${alert}`);
    assert.match(index, new RegExp(`\`${alert}\`.*\\(${basename(annotations.runbook_url)}\\)`));
  }
});

test("promtool accepts the rules and the configuration, and every alert fires when it should and only then", async (t) => {
  const prometheus = await findPrometheus();
  if (prometheus === undefined) return t.skip(whyNoPrometheus());
  t.after(() => prometheus.stop());
  for (const args of [
    ["check", "rules", file],
    ["check", "config", join(deploy, "prometheus/prometheus.yaml")],
    ["check", "config", await withoutDiscovery("kubernetes.yaml")],
  ]) {
    const { ok, output } = await prometheus.promtool(...args);
    assert.ok(ok, output);
  }
  const run = async (fire: (example: Example) => Example["fires"]) => {
    const tests = Object.entries(examples).map(([alertname, example]) => {
      const { labels, annotations } = rules.find(({ alert }) => alert === alertname)!;
      const exp_annotations = { summary: example.summary, runbook_url: annotations.runbook_url };
      const alert = { exp_labels: { severity: labels.severity, ...example.labels }, exp_annotations };
      return {
        interval: "1m",
        input_series: Object.entries(fire(example)).map(([series, values]) => ({ series, values })),
        alert_rule_test: [
          { eval_time: `${example.afterM}m`, alertname, exp_alerts: fire(example) === example.fires ? [alert] : [] },
        ],
      };
    });
    const path = join(work, "tests.json");
    await writeFile(path, JSON.stringify({ rule_files: [file], evaluation_interval: "1m", tests }));
    return prometheus.promtool("test", "rules", path);
  };
  for (const fire of [(example: Example) => example.fires, (example: Example) => example.quiet]) {
    const { ok, output } = await run(fire);
    assert.ok(ok, output);
  }
});
