import { Worker } from "node:worker_threads";
import { stringify } from "yaml";
import { fail, invalid } from "../../errors/index.ts";
import type { DocumentViolation, JsonObject, TextPosition } from "../document/index.ts";
import { describeSyntaxError } from "../protojson/index.ts";
import type { YamlResult } from "./yaml-document.ts";

export type TextFormat = "yaml" | "json";

/** Reads a YAML or JSON text. Throws INVALID_ARGUMENT with the position of a syntax error. */
export type ReadText = (text: string, format: TextFormat) => Promise<unknown>;

const threadsMax = 2;
const timeoutMsDefault = 10_000;
const heapMb = 128;

/** Reads texts, and finds the places of what is wrong with their documents. */
export interface TextReader {
  readonly readText: ReadText;
  /** Gives the violations of the document of a text their positions in the text. */
  locate(text: string, violations: readonly DocumentViolation[]): Promise<readonly DocumentViolation[]>;
}

/**
 * Creates a reader of texts. YAML is read in threads: a hostile text of the allowed size keeps the library busy for seconds,
 * which the event loop must not wait for.
 */
export function createTextReader({ timeoutMs = timeoutMsDefault } = {}): TextReader {
  let running = 0;
  const waiting: (() => void)[] = [];

  async function inThread<T>(work: ThreadWork): Promise<T | ThreadFailure> {
    if (running >= threadsMax) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      return await runThread<T>(work, timeoutMs);
    } finally {
      running--;
      waiting.shift()?.();
    }
  }

  async function readYamlText(text: string): Promise<unknown> {
    const result = await inThread<YamlResult>({ text });
    if ("value" in result) return result.value;
    throw yamlFailure(result.problem, "position" in result ? result.position : undefined);
  }

  return {
    readText: (text, format) => (format === "json" ? readJsonText(text) : readYamlText(text)),

    async locate(text, violations) {
      const found = await inThread<readonly TextPosition[]>({ text, paths: violations.map(({ path }) => path) });
      if ("problem" in found) return violations;
      return violations.map((violation, at) => ({ ...violation, position: found[at] }));
    },
  };
}

interface ThreadWork {
  readonly text: string;
  /** The members to find; undefined to read the text. */
  readonly paths?: readonly string[];
}

interface ThreadFailure {
  readonly problem: string;
}

function runThread<T>(work: ThreadWork, timeoutMs: number): Promise<T | ThreadFailure> {
  return new Promise((resolve) => {
    const worker = new Worker(new URL("./yaml-worker.ts", import.meta.url), {
      workerData: work,
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    const end = (result: T | ThreadFailure) => {
      clearTimeout(timer);
      resolve(result);
      void worker.terminate();
    };
    const timer = setTimeout(end, timeoutMs, { problem: "takes too long to read: split it, or send it as JSON" });
    worker.once("message", end);
    worker.once("error", () => end({ problem: "is too complex to read: split it, or send it as JSON" }));
  });
}

async function readJsonText(text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("text", "json", describeSyntaxError(text));
  }
}

function yamlFailure(problem: string, position: TextPosition | undefined) {
  const message = position === undefined ? problem : `line ${position.line}, column ${position.column}: ${problem}`;
  return fail("INVALID_ARGUMENT", {
    public: `text: ${message}`,
    violations: [{ field: "text", rule: "yaml", message }],
    ...(position !== undefined && { extra: { position } }),
  });
}

/** Writes a document as YAML or JSON, with its members in their order. */
export function formatText(document: JsonObject, format: TextFormat): string {
  if (format === "json") return `${JSON.stringify(document, null, 2)}\n`;
  return stringify(document, { lineWidth: 120, aliasDuplicateObjects: false });
}
