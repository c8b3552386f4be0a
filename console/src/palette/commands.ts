import { href } from "../core/router";
import { can } from "../core/session";
import type { IconName } from "../ui/icon";
import type { Found } from "./found";

interface Command {
  readonly title: string;
  readonly icon: IconName;
  readonly scope: string;
  readonly path: string;
  /** Opens the dialog of the page. */
  readonly query: Readonly<Record<string, string>>;
}

const create = (what: string, icon: IconName, scope: string, path: string, tab?: string): Command => ({
  title: `New ${what}`,
  icon,
  scope,
  path,
  query: { ...(tab !== undefined && { tab }), do: "new" },
});

const commands: readonly Command[] = [
  create("pool", "pools", "pool:write", "pools"),
  create("schedule", "schedules", "schedule:write", "schedules"),
  {
    title: "New workflow",
    icon: "workflows",
    scope: "workflow_definition:write",
    path: "workflows/definitions/new",
    query: {},
  },
  { title: "Start a run", icon: "workflows", scope: "workflow_run:write", path: "workflows", query: { do: "start" } },
  create("subscriber", "notifications", "notification:write", "notifications", "subscribers"),
  create("topic", "notifications", "notification:write", "notifications", "topics"),
  create("notification", "notifications", "notification:write", "notifications", "workflows"),
  {
    title: "Trigger a notification",
    icon: "notifications",
    scope: "notification:write",
    path: "notifications",
    query: { do: "trigger" },
  },
  create("experiment", "experiments", "experiment:write", "experiments"),
  create("promotion", "promotions", "promotion:write", "promotions"),
  { title: "Publish an event", icon: "events", scope: "event:write", path: "events", query: { do: "publish" } },
  create("webhook", "webhooks", "webhook:write", "webhooks"),
  create("API key", "keys", "api_key:write", "keys"),
  create("environment", "settings", "environment:write", "settings", "environments"),
];

const enough = 2;

/** The commands whose titles have every word of a text. */
export function findCommands(text: string): Found[] {
  const words = text.trim().toLowerCase().split(/\s+/);
  if (text.trim().length < enough) return [];
  return commands
    .filter(({ scope, title }) => can(scope) && words.every((word) => title.toLowerCase().includes(word)))
    .map(({ title, icon, path, query }) => ({ title, kind: "Action", icon, href: href(path, query) }));
}
