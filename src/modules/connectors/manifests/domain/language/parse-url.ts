import type { Json, Violations } from "../../../../../platform/document/index.ts";
import { createHostList, type HostList, hostSettingOf } from "../host-list.ts";
import type { TextTemplate } from "../template.ts";
import type { TemplateScope } from "./compile-context.ts";
import { parseText } from "./parse-template.ts";

/** Reads an absolute URL with placeholders. Its host must be declared. */
export function parseUrl(
  value: Json | undefined,
  path: string,
  scope: TemplateScope,
  { violations, hosts }: { readonly violations: Violations; readonly hosts: HostList },
): TextTemplate | undefined {
  const template = parseText(value, path, scope, violations);
  if (template === undefined) return undefined;
  const problem = problemOf(template, hosts);
  return problem === undefined ? template : violations.add(path, problem.rule, problem.message);
}

function problemOf({ parts, source }: TextTemplate, hosts: HostList): { rule: string; message: string } | undefined {
  const [first] = parts;
  if (first !== undefined && typeof first !== "string") {
    const setting = first.root === "settings" ? `{settings.${first.path.join(".")}}` : undefined;
    // The host of a captured URL is checked when a request is rendered.
    if (setting === undefined || hosts.patterns.includes(setting)) return undefined;
    return { rule: "host", message: `takes its host from ${setting}: add "${setting}" to hosts` };
  }
  if (source.includes("#")) return { rule: "url", message: "must not have a fragment" };
  const only = /^https:\/\/\{(settings\.[a-z0-9_]+)\}(?=[/?]|$)/.exec(source);
  if (only !== null && hosts.patterns.includes(`{${only[1]}}`)) return undefined;
  const sample = URL.parse(parts.map((part) => (typeof part === "string" ? part : "x")).join(""));
  if (sample === null) return { rule: "url", message: 'must be a URL, for example "https://api.example.com"' };
  const fixed = createHostList(hosts.patterns.filter((each) => hostSettingOf(each) === undefined));
  if (fixed.allows(sample, {})) return undefined;
  if (sample.protocol !== "https:") {
    return { rule: "url", message: "must use https; http is allowed only for localhost, 127.0.0.1 and [::1]" };
  }
  return { rule: "host", message: `has a host that hosts does not list (${sample.host}): add it to hosts` };
}
