import { useEffect, useState } from "preact/hooks";

/** The text of an editor after somebody has changed it. */
interface Edited {
  readonly text: string;
  /** The text that is stored, as far as this tab knows. */
  readonly stored: string;
  /** The version of the record with the stored text; undefined for a record that does not exist yet. */
  readonly version: number | undefined;
}

/** Edited texts by what they are about, so that a look at another page does not lose what was not saved. */
const edited = new Map<string, Edited>();

/** Whether the text of something was changed in this tab, so that the stored text must not replace it. */
export function isEdited(key: string): boolean {
  return edited.has(key);
}

/** The text of an editor: the stored one until somebody changes it, and theirs afterwards. */
export function useDraftText(key: string, stored: string, version: number | undefined) {
  const [own, setOwn] = useState(edited.get(key));
  const current = own ?? { text: stored, stored, version };
  const isChanged = current.text !== current.stored;
  const keep = (next: Edited) => {
    edited.set(key, next);
    setOwn(next);
  };
  useEffect(
    () => () => {
      const last = edited.get(key);
      if (last?.text === last?.stored) edited.delete(key);
    },
    [key],
  );
  useEffect(() => {
    if (!isChanged) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", warn);
    return () => removeEventListener("beforeunload", warn);
  }, [isChanged]);
  return {
    text: current.text,
    version: current.version,
    isChanged,
    change: (text: string) => keep({ ...current, text }),
    /** Says that the text was stored with a version of the record. */
    saved: (text: string, storedVersion: number) => keep({ text, stored: text, version: storedVersion }),
  };
}
