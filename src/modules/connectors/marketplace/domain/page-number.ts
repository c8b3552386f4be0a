/** A page of a numbered list. */
export type PageNumber = ReturnType<typeof toPageNumber>;

/** Reads the page of a request: the first one, with 20 items, by default. */
export function toPageNumber({ page = 1, perPage = 20 }: { page?: number | undefined; perPage?: number | undefined }) {
  return { page, perPage, offset: (page - 1) * perPage, limit: perPage };
}
