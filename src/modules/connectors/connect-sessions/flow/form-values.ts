import type { Violation } from "../../../../errors/index.ts";
import { checkFields, withDefaults } from "../../connections/index.ts";
import type { AuthSpec, FieldSpec, Provider } from "../../manifests/index.ts";

/** The values that an end user has entered. */
export interface FormValues {
  readonly settings: Readonly<Record<string, string>>;
  readonly credentials: Readonly<Record<string, string>>;
  /** Problems by the name of the input; empty if the values fit. */
  readonly problems: ReadonlyMap<string, string>;
}

const valueLengthMax = 16_384;

/** Reads the values of a form. Inputs that the manifest does not name are ignored. */
export function readFormValues(form: URLSearchParams, provider: Provider, auth: AuthSpec): FormValues {
  const settings = valuesOf(form, "settings", provider.settings);
  const credentials = valuesOf(form, "credentials", auth.fields);
  const violations = [
    ...checkFields("settings", provider.settings, settings),
    ...checkFields("credentials", auth.fields, credentials),
  ];
  return {
    settings: withDefaults(provider.settings, settings),
    credentials: withDefaults(auth.fields, credentials),
    problems: new Map(violations.map(({ field, rule, message }: Violation) => [field, problemText(rule, message)])),
  };
}

function valuesOf(form: URLSearchParams, group: string, fields: readonly FieldSpec[]): Record<string, string> {
  const values: Record<string, string> = {};
  for (const { name, multiline } of fields) {
    const text = form.get(`${group}.${name}`) ?? "";
    // Values are pasted, often with blanks around them. Browsers send line breaks as CR LF.
    const value = multiline ? text.replaceAll("\r\n", "\n").trim() : text.trim();
    if (value !== "") values[name] = value.slice(0, valueLengthMax);
  }
  return values;
}

function problemText(rule: string, message: string): string {
  if (rule === "required") return "Enter a value.";
  return `The value ${message}.`;
}
