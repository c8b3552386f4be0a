import type { ComponentType } from "preact";
import type { IconName } from "./ui/icon";

/** A page of the console. Its code is loaded when it is opened. */
export interface PageEntry {
  /** The first part of its path. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** The scope that its main call needs, or one of several; without it the page is not shown. */
  readonly scope: string;
  /** The component gets the parts of the path after the first one. */
  readonly load: () => Promise<{ readonly default: ComponentType<{ readonly path: readonly string[] }> }>;
}

/** Pages under a common title. */
export interface PageGroup {
  readonly title: string;
  readonly pages: readonly PageEntry[];
}

const page = (path: string, title: string, icon: IconName, scope: string, load: PageEntry["load"]): PageEntry => ({
  path,
  title,
  icon,
  scope,
  load,
});

/** Every page, in the order of the menu. A new page is a folder under pages/ and a line here. */
export const pageGroups: readonly PageGroup[] = [
  {
    title: "",
    pages: [page("", "Overview", "overview", "queue:read", () => import("./pages/overview"))],
  },
  {
    title: "Routing",
    pages: [
      page("pools", "Pools", "pools", "pool:read", () => import("./pages/pools")),
      page("decisions", "Decisions", "decisions", "decision:read", () => import("./pages/decisions")),
      page("queues", "Queues", "queues", "queue:read", () => import("./pages/queues")),
      page("schedules", "Schedules", "schedules", "schedule:read", () => import("./pages/schedules")),
      page(
        "dead-letters",
        "Dead letters",
        "dead",
        "dlq:read workflow_dlq:read notification:read",
        () => import("./pages/dead-letters"),
      ),
    ],
  },
  {
    title: "Automation",
    pages: [
      page("workflows", "Workflows", "workflows", "workflow_run:read", () => import("./pages/workflows")),
      page("streams", "Streams", "streams", "workflow_stream:read", () => import("./pages/streams")),
      page("connectors", "Connectors", "connectors", "connector:read", () => import("./pages/connectors")),
      page("marketplace", "Marketplace", "marketplace", "marketplace:read", () => import("./pages/marketplace")),
    ],
  },
  {
    title: "Reach",
    pages: [
      page(
        "notifications",
        "Notifications",
        "notifications",
        "notification:read",
        () => import("./pages/notifications"),
      ),
      page("experiments", "Experiments", "experiments", "experiment:read", () => import("./pages/experiments")),
      page("promotions", "Promotions", "promotions", "promotion:read", () => import("./pages/promotions")),
    ],
  },
  {
    title: "Observe",
    pages: [
      page("health", "Health", "health", "operational_health:read", () => import("./pages/health")),
      page("analytics", "Analytics", "analytics", "analytics:read", () => import("./pages/analytics")),
      page("events", "Events", "events", "event:read", () => import("./pages/events")),
      page("webhooks", "Webhooks", "webhooks", "webhook:read", () => import("./pages/webhooks")),
      page("audit", "Audit", "audit", "event:read", () => import("./pages/audit")),
    ],
  },
  {
    title: "Workspace",
    pages: [
      page("members", "Members", "members", "member:read", () => import("./pages/members")),
      page("keys", "API keys", "keys", "api_key:read", () => import("./pages/keys")),
      page("secrets", "Secrets", "secrets", "secret:read", () => import("./pages/secrets")),
      page("sessions", "Sessions", "sessions", "browser_session:read", () => import("./pages/sessions")),
      page("sso", "Single sign-on", "sso", "sso:read", () => import("./pages/sso")),
      page("plan", "Plan and usage", "plan", "billing:read", () => import("./pages/plan")),
      page("settings", "Settings", "settings", "config:read", () => import("./pages/settings")),
    ],
  },
];

/** Every page. */
export const allPages: readonly PageEntry[] = pageGroups.flatMap(({ pages }) => pages);
