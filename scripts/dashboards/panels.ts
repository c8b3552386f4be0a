/** A panel: its title, the unit of its values, and its queries by their legends. */
export interface Panel {
  readonly title: string;
  readonly unit: Unit;
  readonly queries: Readonly<Record<string, string>>;
  readonly description?: string;
}

export type Unit = "reqps" | "cps" | "s" | "bytes" | "Bps" | "percentunit" | "short";

export interface Dashboard {
  readonly title: string;
  /** Selected by the variable `tenant`. */
  readonly isOfTenant?: boolean;
  readonly panels: readonly Panel[];
}

function panel(title: string, unit: Unit, queries: Panel["queries"], description?: string): Panel {
  return { title, unit, queries, ...(description !== undefined && { description }) };
}

/** The increments of a counter per second, by a label. */
function rates(metric: string, label: string, matchers = ""): Panel["queries"] {
  return { [`{{${label}}}`]: `sum by (${label}) (rate(${metric}{@${matchers}}[@]))` };
}

function quantile(q: number, metric: string, by = "le", matchers = ""): string {
  return `histogram_quantile(${q}, sum by (${by}) (rate(${metric}_bucket{@${matchers}}[@])))`;
}

/** All nodes read the same rows. */
function backlog(title: string, ...names: readonly string[]): Panel[] {
  const matchers = `,backlog=~"${names.join("|")}"`;
  const by = (metric: string) => ({ "{{backlog}}": `max by (backlog) (${metric}{@${matchers}})` });
  return [
    panel(title, "short", by("backlog_rows"), "Counted up to 10,000."),
    panel(`${title}: oldest`, "s", by("backlog_oldest_seconds"), "How long the oldest has waited."),
  ];
}

const calls = "rpc_server_call_duration_seconds";
/** Other operations wait on request, for work or for an end. */
const answeredAtOnce = ',operation=~".+/(Get|List|Create|Update|Delete|Publish).*"';
const serverErrors = ',code=~"INTERNAL|UNAVAILABLE|TIMEOUT"';
const ofTenant = ',tenant_id=~"$tenant"';

/**
 * The dashboards by the names of their files. In a query, `@` between braces stands for the selected job, and between brackets for
 * the interval that Grafana chooses.
 */
export const dashboards: Readonly<Record<string, Dashboard>> = {
  service: {
    title: "Switchyard: service",
    panels: [
      panel("Calls by code", "reqps", rates(`${calls}_count`, "code")),
      panel(
        "Share of calls that fail because of the service",
        "percentunit",
        {
          failed: `(sum(rate(${calls}_count{@${serverErrors}}[@])) or vector(0)) / sum(rate(${calls}_count{@}[@]))`,
        },
        "INTERNAL, UNAVAILABLE and TIMEOUT.",
      ),
      panel(
        "Latency",
        "s",
        Object.fromEntries([0.5, 0.95, 0.99].map((q) => [`p${q * 100}`, quantile(q, calls, "le", answeredAtOnce)])),
        "Of operations that answer at once. Others wait on request, for work or for an end.",
      ),
      panel("Slowest operations (p99)", "s", {
        "{{operation}}": `topk(8, ${quantile(0.99, calls, "le, operation", answeredAtOnce)})`,
      }),
      panel("Calls in progress", "short", { "{{protocol}}": "sum by (protocol) (rpc_server_active_calls{@})" }),
      panel(
        "Unhealthy components",
        "short",
        { "{{component}}": "sum by (component) (unhealthy_components{@})" },
        "The number of processes for which a component of /ready does not work.",
      ),
      panel(
        "Event loop delay (p99.9)",
        "s",
        { "{{instance}} {{process}}": 'nodejs_eventloop_delay_seconds{@,quantile="0.999"}' },
        "Above 50 ms, a process has too little CPU.",
      ),
      panel("CPU", "percentunit", { "{{instance}} {{process}}": "rate(process_cpu_seconds_total{@}[@])" }),
      panel("Memory", "bytes", { "{{instance}} {{process}}": "process_resident_memory_bytes{@}" }),
      panel("Connections", "short", {
        "open: {{plane}}": "sum by (plane) (open_connections{@})",
        "refused per second: {{limit}}": "sum by (limit) (rate(connections_refused_total{@}[@]))",
      }),
      panel("Telemetry that could not be sent", "cps", rates("telemetry_export_failures_total", "signal")),
      panel("Sign-ins that were refused", "cps", rates("sign_ins_refused_total", "reason")),
    ],
  },
  tenant: {
    title: "Switchyard: tenant",
    isOfTenant: true,
    panels: [
      panel("Busiest tenants", "reqps", {
        "{{tenant_id}}": "topk(10, sum by (tenant_id) (rate(api_calls_total{@}[@])))",
      }),
      panel("Calls by code", "reqps", rates("api_calls_total", "code", ofTenant)),
      panel("Routing decisions", "cps", rates("routing_decisions_total", "outcome", ofTenant)),
      panel("Items that ended", "cps", rates("routing_outcomes_total", "status", ofTenant)),
      panel("Workflow runs", "cps", {
        started: `sum(rate(workflow_runs_started_total{@${ofTenant}}[@]))`,
        ...rates("workflow_runs_ended_total", "status", ofTenant),
      }),
      panel("Notifications", "cps", rates("notification_deliveries_total", "outcome", ofTenant)),
      panel("Webhook attempts", "cps", rates("webhook_attempts_total", "outcome", ofTenant)),
      panel("Connector actions", "cps", rates("connector_executions_total", "status", ofTenant)),
    ],
  },
  queue: {
    title: "Switchyard: queue",
    panels: [
      ...backlog("Items that wait for a worker", "queue_items"),
      panel("Decisions", "cps", rates("routing_decisions_total", "outcome")),
      panel("Items that ended", "cps", rates("routing_outcomes_total", "status")),
      panel("Offers that ended", "cps", rates("routing_offers_total", "outcome")),
      panel("Schedules that ran", "cps", rates("schedule_runs_total", "state")),
      ...backlog("Dead letters", "queue_dead_letters"),
    ],
  },
  workflows: {
    title: "Switchyard: workflows",
    panels: [
      panel("Runs", "cps", {
        started: "sum(rate(workflow_runs_started_total{@}[@]))",
        ...rates("workflow_runs_ended_total", "status"),
      }),
      panel("Lateness of timers (p99)", "s", { p99: quantile(0.99, "workflow_wake_lateness_seconds") }),
      ...backlog("Overdue runs, and tasks that wait for a worker", "workflow_runs", "workflow_tasks"),
      panel("Tasks", "cps", rates("workflow_task_changes_total", "change")),
      panel("Heartbeats of tasks", "cps", rates("workflow_task_heartbeats_total", "status")),
      ...backlog("Open dead letters", "workflow_dead_letters"),
      panel("Stream records", "cps", {
        ...rates("workflow_stream_appends_total", "outcome"),
        sent: "sum(rate(workflow_stream_sent_records_total{@}[@]))",
      }),
      panel("Large objects", "Bps", {
        stored: "sum(rate(workflow_object_uploaded_bytes_total{@}[@]))",
        sent: "sum(rate(workflow_object_downloaded_bytes_total{@}[@]))",
      }),
    ],
  },
  connectors: {
    title: "Switchyard: connectors and deliveries",
    panels: [
      panel("Actions", "cps", rates("connector_executions_total", "status")),
      panel("Requests to providers (p95)", "s", {
        "{{class}}": quantile(0.95, "connector_request_seconds", "le, class"),
      }),
      panel("Refreshes of connections", "cps", rates("connector_refreshes_total", "outcome")),
      panel("Limits of providers", "cps", rates("connector_rate_limits_total", "outcome")),
      panel("Events of triggers", "cps", rates("connector_trigger_events_total", "result")),
      panel("Deliveries of trigger events", "cps", rates("connector_trigger_deliveries_total", "result")),
      panel("Notifications", "cps", {
        "{{channel}} {{outcome}}": "sum by (channel, outcome) (rate(notification_deliveries_total{@}[@]))",
      }),
      panel("Webhook attempts", "cps", rates("webhook_attempts_total", "outcome")),
      ...backlog(
        "Deliveries that are due",
        ...["notification_deliveries", "webhook_deliveries", "connector_trigger_deliveries"],
      ),
      panel("Connections that the egress policy refuses", "cps", rates("egress_objections_total", "reason")),
      ...backlog("Open dead letters of notifications", "notification_dead_letters"),
    ],
  },
  database: {
    title: "Switchyard: database",
    panels: [
      panel("Processes that cannot reach the database", "short", {
        processes: 'sum(unhealthy_components{@,component="database"})',
      }),
      panel("Connections", "short", {
        "{{state}}": "sum by (state) (database_connections{@})",
        max: "sum(database_connections_max{@})",
      }),
      panel("Busy connections", "percentunit", {
        "{{instance}}":
          'sum by (instance) (database_connections{@,state="busy"}) / sum by (instance) (database_connections_max{@})',
      }),
      panel("Waiting for a connection", "short", { "{{instance}}": "sum by (instance) (database_waiting{@})" }),
      panel("Lists by the server that answered", "cps", rates("replicable_reads_total", "server")),
      panel("Calls that failed for want of a dependency", "reqps", {
        "{{code}}": `sum by (code) (rate(${calls}_count{@,code=~"UNAVAILABLE|TIMEOUT"}[@]))`,
      }),
      ...backlog("Jobs that are due", "jobs"),
      panel("Used storage", "percentunit", {
        "{{instance}} {{volume}}":
          "max by (instance, volume) (storage_used_bytes{@} / (storage_used_bytes{@} + storage_free_bytes{@}))",
      }),
      panel("Changes that are not backed up: oldest", "s", {
        "{{instance}}": "max by (instance) (backup_unarchived_seconds{@})",
      }),
    ],
  },
};
