import { redactPersonal, redactSecrets } from "./redact-text.ts";

/** Values to redact in addition to secrets, which are always redacted. */
export interface RedactorSettings {
  readonly pii: boolean;
  /** Names of members whose whole values are redacted. */
  readonly fields?: readonly string[];
}

/** Creates a redacted plain-JSON copy of any value. */
export type Redactor = <T>(value: T) => T;

/** Replaces a whole value. */
const redacted = "[redacted]";

const depthMax = 12;

// Members whose name implies that their value is a secret.
const secretName =
  /(?:^|_)(?:password|passwd|passphrase|secret|secrets|token|authorization|cookie|credential|credentials|api_?key|private_?key|signing_?key|encryption_?key|access_?key)$/;

// Members whose name implies personal data.
const personalName =
  /(?:^|_)(?:email|phone|phone_number|mobile|first_name|last_name|full_name|display_name|date_of_birth)$/;

/** Creates a redactor that removes secrets and, if configured, personal data from all strings and member names of a value. */
export function createRedactor(settings: RedactorSettings): Redactor {
  const hidden = new Set((settings.fields ?? []).map(normalName));
  const text = (value: string): string => (settings.pii ? redactPersonal(redactSecrets(value)) : redactSecrets(value));

  const isHidden = (name: string): boolean =>
    hidden.has(name) || secretName.test(name) || (settings.pii && personalName.test(name));

  // The result is plain JSON: a value that JSON cannot represent must not make an entry fail.
  function walk(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
        return text(value);
      case "number":
        return Number.isFinite(value) ? value : null;
      case "bigint":
        return value.toString();
      case "boolean":
        return value;
      case "object":
        break;
      default:
        return undefined;
    }
    if (value === null) return null;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (depth >= depthMax) return "[too deep]";
    if (value instanceof Error) return { name: value.name, message: text(value.message) };
    if (Array.isArray(value)) return value.map((item) => walk(item, depth + 1) ?? null);
    if (value instanceof Map) return walk(Object.fromEntries(value), depth);
    if (value instanceof Set) return walk([...value], depth);
    return Object.fromEntries(
      Object.entries(value)
        .map(([name, member]) => {
          const hide = member !== null && member !== undefined && isHidden(normalName(name));
          return [text(name), hide ? redacted : walk(member, depth + 1)] as const;
        })
        .filter(([, member]) => member !== undefined),
    );
  }
  return <T>(value: T): T => walk(value, 0) as T;
}

// `clientSecret`, `client-secret` and `CLIENT_SECRET` are the same name.
function normalName(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();
}
