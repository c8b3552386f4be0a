import { invalid } from "../../../../errors/index.ts";
import { channels } from "./settings.ts";
import type { ChannelContent, Engine, WorkflowContent } from "./workflow.ts";

/** What is wrong with a template, for its author. */
export interface TemplateProblem {
  /** A word for programs, such as syntax_error. */
  readonly code: string;
  readonly message: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
}

/** Says what is wrong with a template; undefined when it can be rendered. */
export type CheckTemplate = (engine: Engine, source: string) => TemplateProblem | undefined;

/** The parts of a content that are templates, by the names that they have in messages. */
const templates = { subject: "subject", title: "title", body: "body", textBody: "text_body" } as const;

const dataBytesMax = 16 * 1024;

/** Refuses contents with a template that is none, or with more data than a message takes along. Fields stand below a path. */
export function checkContents(path: string, contents: WorkflowContent["channels"], checkTemplate: CheckTemplate): void {
  for (const channel of channels) {
    const content = contents[channel];
    if (content !== undefined) checkContent(`${path}.${channel}`, content, checkTemplate);
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
  if (Buffer.byteLength(JSON.stringify(content.data)) > dataBytesMax) {
    throw invalid(`${path}.data`, "max_bytes", `must have at most ${dataBytesMax} bytes as JSON`);
  }
  checkData(`${path}.data`, content.data, check);
}

/** Checks every text within a value as a template. */
function checkData(path: string, value: unknown, check: (field: string, source: string) => void): void {
  if (typeof value === "string") {
    if (value.includes("{")) check(path, value);
  } else if (Array.isArray(value)) {
    for (const [at, each] of value.entries()) checkData(`${path}[${at}]`, each, check);
  } else if (typeof value === "object" && value !== null) {
    for (const [name, each] of Object.entries(value)) checkData(`${path}.${name}`, each, check);
  }
}
