/** An item in few words: its type and its key. */
export function itemText({ type, key }: { readonly type: string; readonly key: string }): string {
  return key === "" ? type : `${type} · ${key}`;
}
