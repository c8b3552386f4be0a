/** Converts `fieldName` or `TypeName` to `field_name` or `type_name`. */
export function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, "_$&").toLowerCase();
}

/** Converts `field_name` to `fieldName`. A leading underscore stays. */
export function camelCase(name: string): string {
  return name.replaceAll(/(?!^)_(.)/g, (_, letter: string) => letter.toUpperCase());
}
