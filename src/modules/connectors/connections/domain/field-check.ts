import type { Violation } from "../../../../errors/index.ts";
import { secretProblem } from "../../../../platform/text/index.ts";
import type { AuthMode, FieldSpec, Provider } from "../../manifests/index.ts";
import type { Credentials } from "./connection.ts";

/** Settings and credentials that fit a mode of a provider. */
export interface FittingFields {
  readonly mode: AuthMode;
  /** With the defaults of the manifest. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly credentials: Credentials;
}

/** The tokens of an existing grant. */
const grantNames = ["access_token", "refresh_token"];

/**
 * Finds the mode of a provider that settings and credentials fit: the requested one, or the first that accepts them. Returns the
 * violations of the requested or default mode if there is none.
 */
export function fitFields(
  provider: Provider,
  requested: AuthMode | "",
  settings: Readonly<Record<string, unknown>>,
  credentials: Credentials,
): FittingFields | readonly Violation[] {
  const modes = requested === "" ? provider.authModes : [requested];
  let first: readonly Violation[] | undefined;
  for (const mode of modes) {
    const violations = [
      ...checkFields("settings", provider.settings, settings),
      ...checkCredentials(provider, mode, credentials),
    ];
    if (violations.length === 0) {
      return {
        mode,
        settings: withDefaults(provider.settings, settings),
        credentials: withDefaults(provider.auth(mode)?.fields ?? [], credentials),
      };
    }
    first ??= violations;
  }
  return first ?? [{ field: "auth_mode", rule: "unsupported", message: "the provider has no authentication" }];
}

function checkCredentials(provider: Provider, mode: AuthMode, credentials: Credentials): readonly Violation[] {
  const auth = provider.auth(mode);
  if (auth === undefined) {
    const message = `must be a mode of the provider: ${provider.authModes.join(", ")}`;
    return [{ field: "auth_mode", rule: "unsupported", message }];
  }
  if (auth.mode !== "oauth2") return checkFields("credentials", auth.fields, credentials);
  const { access_token: access, refresh_token: refresh, ...fields } = credentials;
  if (access === undefined && refresh === undefined) {
    const message = "must have access_token or refresh_token of an existing grant; use a connect session for a new one";
    return [{ field: "credentials", rule: "required", message }];
  }
  return [
    ...grantNames.flatMap((name) => checkSecret(`credentials.${name}`, credentials[name])),
    ...checkFields("credentials", auth.fields, fields, grantNames),
  ];
}

function checkSecret(field: string, secret: string | undefined): readonly Violation[] {
  const message = secret === undefined ? undefined : secretProblem(secret);
  return message === undefined ? [] : [{ field, rule: "min_length", message }];
}

/** Checks values against the fields of a manifest. Messages never contain values, because they may be secret. */
export function checkFields(
  place: string,
  fields: readonly FieldSpec[],
  values: Readonly<Record<string, unknown>>,
  alsoKnown: readonly string[] = [],
): Violation[] {
  const violations: Violation[] = [];
  const known = new Map(fields.map((field) => [field.name, field]));
  for (const name of Object.keys(values)) {
    if (known.has(name)) continue;
    const names = [...known.keys(), ...alsoKnown].join(", ");
    const message = names === "" ? "is not a field of the provider, which has none" : `is unknown; known are ${names}`;
    violations.push({ field: `${place}.${name}`, rule: "unknown", message });
  }
  for (const field of fields) {
    const value = values[field.name];
    const violation = { field: `${place}.${field.name}` };
    const example = field.example === "" ? "" : ` (for example: ${field.example})`;
    if (value === undefined || value === "") {
      if (!field.required || field.default !== undefined) continue;
      violations.push({ ...violation, rule: "required", message: `is required: ${field.title}${example}` });
    } else if (typeof value !== "string" || !field.accepts(value)) {
      violations.push({ ...violation, rule: "format", message: `must have the format of the provider${example}` });
    } else if (field.secret) violations.push(...checkSecret(violation.field, value));
  }
  return violations;
}

/** Values with the defaults of absent fields. */
export function withDefaults<T>(fields: readonly FieldSpec[], values: Readonly<Record<string, T>>) {
  const defaults = fields.flatMap(({ name, default: value }) => (value === undefined ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(defaults), ...values };
}
