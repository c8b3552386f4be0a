/** The ids of server-sent events, in order. */
export function readEventIds(text: string): string[] {
  return [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);
}
