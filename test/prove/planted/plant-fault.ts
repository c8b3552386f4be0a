import { registerHooks } from "node:module";

/** Changes a part of a source file when the process loads it. A part that is not there ends the process. */
export function plantFault(file: string, part: string, replacement: string): void {
  registerHooks({
    load(url, context, nextLoad) {
      const module = nextLoad(url, context);
      if (!url.endsWith(file)) return module;
      const source = String(module.source);
      if (source.split(part).length !== 2) throw new Error(`The part to change is not in ${file} once: ${part}`);
      return { ...module, source: source.replace(part, () => replacement) };
    },
  });
}
