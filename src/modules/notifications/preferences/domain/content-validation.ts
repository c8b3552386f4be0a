import { invalid } from "../../../../errors/index.ts";
import { requireJsonBytes } from "../../../../platform/document/index.ts";
import { isFileType } from "./mail-attachments.ts";
import { mailHeadersProblem } from "./mail-headers.ts";
import { channels } from "./settings.ts";
import type { ChannelContent, Engine, WorkflowContent } from "./workflow.ts";

/** A problem in a template, reported to its author. */
export interface TemplateFailure {
  /** Machine-readable code, such as syntax_error. */
  readonly code: string;
  readonly message: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Returns the problem of a template; undefined when it is valid. */
export type CheckTemplate = (engine: Engine, source: string) => TemplateFailure | undefined;

/** The template fields of a channel's content and their API names. */
const templates = { subject: "subject", title: "title", body: "body", textBody: "text_body" } as const;

const dataBytesMax = 16 * 1024;
/** The maximum size of all attachments, and of the texts in all other languages. */
const partBytesMax = 512 * 1024;

/** Throws when a template is invalid or the data is too large. Field names in errors start with the path. */
export function checkContents(path: string, contents: WorkflowContent["channels"], checkTemplate: CheckTemplate): void {
  for (const channel of channels) {
    const content = contents[channel];
    if (content === undefined) continue;
    checkContent(`${path}.${channel}`, content, checkTemplate);
    if (channel === "email") checkMailHeaders(`${path}.${channel}.data.headers`, content.data.headers);
    else if (content.attachments.length > 0)
      throw invalid(`${path}.${channel}.attachments`, "channel", "must be empty: only mails have attachments");
  }
}

function checkContent(path: string, content: ChannelContent, checkTemplate: CheckTemplate): void {
  function check(field: string, source: string): void {
    const problem = source === "" ? undefined : checkTemplate(content.engine, source);
    if (problem === undefined) return;
    const { code, message, line, column } = problem;
    const place = line === undefined ? "" : `line ${line}${column === undefined ? "" : `, column ${column}`}: `;
    throw invalid(field, `template.${code}`, `${place}${message}`);
  }
  for (const [name, field] of Object.entries(templates) as [keyof typeof templates, string][]) {
    check(`${path}.${field}`, content[name]);
  }
  for (const [at, { filename, contentType, content: source }] of content.attachments.entries()) {
    if (!isFileType(contentType))
      throw invalid(
        `${path}.attachments[${at}].content_type`,
        "file",
        "must be the type of a file, not multipart or message: attach a mail as application/octet-stream",
      );
    check(`${path}.attachments[${at}].filename`, filename);
    check(`${path}.attachments[${at}].content`, source);
  }
  for (const [tag, localized] of Object.entries(content.locales)) {
    for (const [name, field] of Object.entries(templates) as [keyof typeof templates, string][]) {
      check(`${path}.locales.${tag}.${field}`, localized[name]);
    }
  }
  requireJsonBytes(`${path}.attachments`, content.attachments, partBytesMax);
  requireJsonBytes(`${path}.locales`, content.locales, partBytesMax);
  requireJsonBytes(`${path}.data`, content.data, dataBytesMax);
  checkData(`${path}.data`, content.data, check);
}

function checkMailHeaders(path: string, headers: unknown): void {
  const problem = headers === undefined ? undefined : mailHeadersProblem(headers);
  if (problem === undefined) return;
  throw invalid(problem.path === "" ? path : `${path}.${problem.path}`, "mail_header", problem.message);
}

/** Every text of a channel that is a template. */
export function templatesIn(content: ChannelContent): string[] {
  const found = (Object.keys(templates) as (keyof typeof templates)[]).map((name) => content[name]);
  for (const localized of Object.values(content.locales)) found.push(...Object.values(localized));
  for (const { filename, content: source } of content.attachments) found.push(filename, source);
  checkData("", content.data, (_field, source) => found.push(source));
  return found.filter((source) => source !== "");
}

/** Checks every text inside a value as a template. */
function checkData(path: string, value: unknown, check: (field: string, source: string) => void): void {
  if (typeof value === "string") {
    if (value.includes("{")) check(path, value);
  } else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) checkData(`${path}[${at}]`, each, check);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, each] of Object.entries(value)) checkData(`${path}.${name}`, each, check);
  }
}
