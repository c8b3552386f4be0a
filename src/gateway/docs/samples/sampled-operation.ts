/** What samples and forms need to know about an operation. The browser gets it with the page. */
export interface SampledOperation {
  readonly verb: string;
  /** The path with its variables: `/api/pools/{pool_id}`. */
  readonly path: string;
  /** The field of the request that is the body; "*" for all fields that are not in the path. Absent without a body. */
  readonly body?: string;
  /** Whether the body is raw bytes instead of JSON. */
  readonly isRaw?: boolean;
  /** The command line: `pool create`. Absent if there is none. */
  readonly command?: string;
  /** The method of the TypeScript client: `queues.listItems`. Python has it in snake case. Absent if there is none. */
  readonly call?: string;
  /** What the response is. */
  readonly result: "json" | "list" | "stream" | "raw";
}

/** The values of a request, by the names of their fields. */
export interface SampleValues {
  readonly path: Readonly<Record<string, unknown>>;
  /** Nested fields have dots in their names. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The JSON body; undefined without one. */
  readonly body?: unknown;
}

/** The path and the query of a request. */
export function targetOf({ path }: SampledOperation, values: SampleValues): string {
  const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(String(values.path[name] ?? "")));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values.query)) {
    for (const each of [value].flat()) query.append(name, String(each));
  }
  return query.size === 0 ? filled : `${filled}?${query}`;
}

/** The request as one message, as the command line and the clients have it. */
export function messageOf({ body }: SampledOperation, values: SampleValues): Record<string, unknown> {
  const message: Record<string, unknown> = { ...values.path };
  for (const [name, value] of Object.entries(values.query)) {
    const steps = name.split(".");
    let place = message;
    for (const step of steps.slice(0, -1)) {
      place[step] ??= {};
      place = place[step] as Record<string, unknown>;
    }
    place[steps.at(-1)!] = value;
  }
  if (body === undefined) return message;
  return body === "*" ? { ...message, ...(values.body as object) } : { ...message, [body]: values.body };
}
