import { encodePart } from "../../../../../platform/text/index.ts";
import type { Placeholder, TextTemplate } from "../template.ts";
import { nameOf, RenderError, type RequestValues, resolve, scalarText } from "./values.ts";

/** Renders an absolute URL. A placeholder at its start is a whole URL; others are encoded for the host, path or query. */
export function renderUrl(template: TextTemplate, values: RequestValues): string {
  let url = "";
  for (const part of template.parts) {
    if (typeof part === "string") url += part;
    else if (url === "") url += wholeUrl(part, values);
    else if (isInHost(url)) url += hostPart(part, values);
    else if (url.includes("?")) url += encodePart(textOf(part, values));
    else url += pathPart(part, values);
  }
  checkSegments(url, template);
  return url;
}

/** Renders a path. Each placeholder is one segment or a part of one, unless its filter is `path`. */
export function renderPath(template: TextTemplate, values: RequestValues): string {
  let path = "";
  for (const part of template.parts) path += typeof part === "string" ? part : pathPart(part, values);
  checkSegments(path, template);
  return path;
}

export function joinUrl(base: string, path: string): string {
  if (path === "") return base;
  return `${base.replace(/\/+$/, "")}${path.startsWith("/") ? "" : "/"}${path}`;
}

function isInHost(url: string): boolean {
  const start = url.indexOf("://");
  return start >= 0 && !/[/?#]/.test(url.slice(start + 3));
}

function wholeUrl(part: Placeholder, values: RequestValues): string {
  const text = textOf(part, values);
  // A setting can be a bare host name.
  const url = URL.parse(text.includes("://") ? text : `https://${text}`);
  if (url !== null && url.search === "" && url.hash === "" && url.username === "" && url.password === "") {
    return url.href.replace(/\/+$/, "");
  }
  throw new RenderError("invalid_value", nameOf(part), "must be a URL without credentials, query and fragment");
}

function hostPart(part: Placeholder, values: RequestValues): string {
  const text = textOf(part, values);
  if (/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) && !text.includes("..")) return text;
  throw new RenderError(
    "invalid_value",
    nameOf(part),
    "must be letters, digits, hyphens and dots, as part of a host name",
  );
}

function pathPart(part: Placeholder, values: RequestValues): string {
  const text = textOf(part, values);
  if (part.filter !== "path") return encodePart(text);
  return text.replace(/^\//, "").split("/").map(encodePart).join("/");
}

function textOf(part: Placeholder, values: RequestValues): string {
  const value = resolve(part, values);
  if (value === undefined || value === null) throw new RenderError("missing_value", nameOf(part), "has no value");
  const text = scalarText(value, part);
  if (text === "") throw new RenderError("invalid_value", nameOf(part), "must not be empty here");
  return text;
}

/** Refuses `.` and `..`, which would leave the path of the manifest. */
function checkSegments(url: string, { parts, source }: TextTemplate): void {
  const path = url.split(/[?#]/, 1)[0]!;
  if (!path.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) return;
  const placeholder = parts.find((part) => typeof part !== "string");
  const place = placeholder === undefined ? source : nameOf(placeholder as Placeholder);
  throw new RenderError("invalid_value", place, "must not contain the path segments . and ..");
}
