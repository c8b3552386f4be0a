import { snakeCase } from "./letter-case.ts";

const keywords = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import
  in is lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

/** Whether a name is a keyword of Python. */
export function isPythonKeyword(name: string): boolean {
  return keywords.has(name);
}

/** A name as an identifier of Python: in snake case, and with an underscore at the end if it is a keyword. */
export function pythonName(name: string): string {
  const plain = snakeCase(name);
  return isPythonKeyword(plain) ? `${plain}_` : plain;
}
