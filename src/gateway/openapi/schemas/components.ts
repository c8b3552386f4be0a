import type { Reference } from "../document.ts";

type Section = "schemas" | "parameters" | "responses" | "headers";

/** The components of a document. Only referenced components are added, so that none is unused. */
export interface Components {
  readonly sections: Readonly<Record<Section, Record<string, unknown>>>;
  /** Returns a reference to a component and creates the component on first use. */
  ref(section: Section, name: string, make: () => unknown): Reference;
}

export function createComponents(): Components {
  const sections: Components["sections"] = { schemas: {}, parameters: {}, responses: {}, headers: {} };
  return {
    sections,
    ref(section, name, make) {
      if (!(name in sections[section])) {
        // Reserved before it is built, because a message may be recursive.
        sections[section][name] = {};
        sections[section][name] = make();
      }
      return { $ref: `#/components/${section}/${name}` };
    },
  };
}
