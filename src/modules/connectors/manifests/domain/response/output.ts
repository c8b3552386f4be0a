import type { Json } from "../../../../../platform/document/index.ts";
import { valueAt } from "../json-pointer.ts";
import type { OutputSpec } from "../response-spec.ts";

/** The parts of an answer that outputs refer to. */
export interface AnswerParts {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
  /** The body as JSON; undefined if there is none. */
  readonly body: Json | undefined;
}

/** Builds an output; undefined if its value is absent. Absent members are left out. */
export function readOutput(spec: OutputSpec, answer: AnswerParts): Json | undefined {
  switch (spec.kind) {
    case "pointer":
      return valueAt(answer.body, spec.pointer);
    case "status":
      return answer.status;
    case "headers":
      return answer.headers;
    case "header":
      return answer.headers[spec.name];
    case "text":
      return answer.bytes.toString("utf8");
    case "base64":
      return answer.bytes.toString("base64");
    case "constant":
      return spec.value;
    case "list": {
      const list = valueAt(answer.body, spec.pointer);
      if (!Array.isArray(list)) return undefined;
      return (list as readonly Json[]).map((body) => readOutput(spec.each, { ...answer, body }) ?? null);
    }
    case "object": {
      const members: Record<string, Json> = {};
      for (const [name, each] of spec.members) {
        const value = readOutput(each, answer);
        if (value !== undefined) members[name] = value;
      }
      return members;
    }
  }
}
