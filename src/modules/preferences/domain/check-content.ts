import { invalid } from "../../../errors/index.ts";
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
  for (const [name, field] of Object.entries(templates) as [keyof typeof templates, string][]) {
    const problem = content[name] === "" ? undefined : checkTemplate(content.engine, content[name]);
    if (problem === undefined) continue;
    const { code, message, line, column } = problem;
    const place = line === undefined ? "" : `line ${line}${column === undefined ? "" : `, column ${column}`}: `;
    throw invalid(`${path}.${field}`, `template.${code}`, `${place}${message}`);
  }
  if (Buffer.byteLength(JSON.stringify(content.data)) > dataBytesMax) {
    throw invalid(`${path}.data`, "max_bytes", `must have at most ${dataBytesMax} bytes as JSON`);
  }
}
