/** The ids of server-sent events, in order. The last line of a stream may not have arrived completely. */
export function readEventIds(text: string): string[] {
  return [...text.matchAll(/^id: (.*)\n/gm)].map(([, id]) => id!);
}
