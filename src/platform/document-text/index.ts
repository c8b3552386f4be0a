/** Document texts: documents as YAML or JSON. YAML is read in threads, because a hostile text takes seconds. */
export { createTextReader, formatText, type ReadText, type TextFormat, type TextReader } from "./document-text.ts";
export { readYaml } from "./yaml-document.ts";
