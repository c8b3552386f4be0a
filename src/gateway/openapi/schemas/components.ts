import type { Reference } from "../document.ts";

type Section = "schemas" | "parameters" | "responses" | "headers";

/** The shared parts of a document. Only what is referred to gets in, so nothing in it is unused. */
export interface Components {
  readonly sections: Readonly<Record<Section, Record<string, unknown>>>;
  /** Refers to a component and makes it on first use. */
  ref(section: Section, name: string, make: () => unknown): Reference;
}

/** Starts an empty set of components. */
export function createComponents(): Components {
  const sections: Components["sections"] = { schemas: {}, parameters: {}, responses: {}, headers: {} };
  return {
    sections,
    ref(section, name, make) {
      if (!(name in sections[section])) {
        // Taken before it is made: a message may hold itself.
        sections[section][name] = {};
        sections[section][name] = make();
      }
      return { $ref: `#/components/${section}/${name}` };
    },
  };
}
