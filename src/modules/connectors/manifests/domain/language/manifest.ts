import type { ObjectReader } from "../../../../../platform/document/index.ts";
import {
  choice,
  constant,
  described,
  type Member,
  object,
  objectOrEmpty,
  optional,
  optionalText,
  prose,
  required,
  text,
  type ValueOf,
} from "../../../../../platform/json-schema/index.ts";
import { hostSettingOf } from "../host-list.ts";
import { authModes } from "./auth/modes.ts";
import { formats, limits } from "./limits.ts";
import { define, header, mapSchema, named, oneOf, raw, ref, requiredTexts, url } from "./members.ts";
import { suggest } from "./parse-template.ts";
import { headers } from "./request.ts";
import { errorRules, hint } from "./response.ts";

const categories = [
  "crm",
  "communication",
  "developer_tools",
  "productivity",
  "payments",
  "accounting",
  "support",
  "marketing",
  "storage",
  "analytics",
  "incident",
  "ai",
  "commerce",
  "calendar",
  "email",
  "data",
  "generic",
] as const;
export type Category = (typeof categories)[number];

const hostList = requiredTexts(
  "hosts",
  formats.host,
  { min: 1, max: limits.hosts },
  '["api.github.com"]',
  "the hosts that requests may reach",
);

/** Reads the hosts that requests may reach. */
export function readHosts(reader: ObjectReader, settings: ReadonlySet<string>): readonly string[] {
  const hosts = hostList.read(reader, reader);
  for (const [at, host] of hosts.entries()) {
    const problem = hostProblem(host, settings);
    if (problem !== undefined) reader.violations.add(`hosts[${at}]`, "host", problem);
  }
  return hosts;
}

function hostProblem(host: string, settings: ReadonlySet<string>): string | undefined {
  const setting = hostSettingOf(host);
  if (setting !== undefined) {
    return settings.has(setting) ? undefined : suggest(setting, [...settings], "settings");
  }
  const labels = host.replace(/:\d+$/, "").split(".");
  if (labels.some((label) => label === "" || (label.includes("*") && label !== "*"))) {
    return "must have a wildcard only as a whole label, for example *.zendesk.com";
  }
  const wildcards = labels.filter((label) => label === "*").length;
  if (wildcards > 1) return "must have at most one wildcard label";
  if (wildcards === 1 && labels.slice(labels.indexOf("*") + 1).length < 2) {
    return "must have at least two labels after the wildcard, for example *.zendesk.com";
  }
  return undefined;
}

const category = required(
  optional(oneOf("category", categories, "categories")) as Member<Category>,
  '"developer_tools"',
);

const untilExample = '{"header": "x-ratelimit-reset", "unit": "epoch_s"}';
const rateLimit = define("a rate limit", `{"remaining": "x-ratelimit-remaining", "until": ${untilExample}}`, {
  remaining: header("remaining"),
  until: named(required(objectOrEmpty("until", hint), untilExample), "hint"),
});

export const manifest = define(
  "a manifest",
  '{"manifest": 1, "key": "github", "version": "1.0.0", "name": "GitHub", "hosts": ["api.github.com"], …}',
  {
    manifest: described(
      constant("manifest", 1, "must be the number 1, the version of the language"),
      "The version of the language.",
    ),
    key: described(text("key", formats.key), "The provider's key."),
    version: described(text("version", formats.version), "The semantic version of the manifest."),
    name: text("name", formats.name),
    category,
    description: prose("description", limits.descriptionLength),
    docsUrl: optionalText("docs_url", formats.url),
    hosts: {
      ...raw("hosts", { ...hostList.schema, description: "The hosts that requests may reach." }),
      isRequired: true,
    },
    baseUrl: required(url("base_url"), '"https://api.example.com"'),
    httpVersion: choice("http_version", ["1.1", "2"], "1.1"),
    settings: raw("settings", ref("fields")),
    auth: {
      ...raw("auth", {
        ...{ type: "object", minProperties: 1 },
        properties: Object.fromEntries(authModes.map((mode) => [mode, ref(`auth_${mode}`)])),
        additionalProperties: false,
      }),
      isRequired: true,
    },
    defaultAuth: raw("default_auth", { enum: authModes }),
    /** Headers of every request. */
    headers: headers({ type: "object" }),
    /** How successful answers announce that no calls are left. */
    rateLimit: optional(object("rate_limit", rateLimit)),
    errors: errorRules,
    actions: raw("actions", mapSchema(formats.operation, ref("action"), limits.actions)),
    triggers: raw("triggers", mapSchema(formats.operation, ref("trigger"), limits.triggers)),
    notifications: raw("notifications", ref("notifications")),
    schemas: raw("schemas", mapSchema(formats.schemaName, ref("schema"), limits.schemas)),
  },
  ({ key, version, name, category, description, docsUrl, baseUrl, httpVersion, headers, rateLimit }, reader) => {
    if (/[?]/.test(baseUrl.source)) reader.refuse("base_url", "url", "must not have a query");
    return { key, version, name, category, description, docsUrl, baseUrl, httpVersion, headers, rateLimit };
  },
);

/** The members of a manifest that do not depend on others. */
export type ManifestValues = ValueOf<typeof manifest>;
