/** A page of a numbered list. */
export interface PageNumber {
  readonly page: number;
  readonly perPage: number;
  readonly offset: number;
  readonly limit: number;
}

const perPageDefault = 20;

/** Reads the page of a request: the first one, with 20 items, by default. */
export function toPageNumber({ page = 1, perPage = perPageDefault }: PageFields): PageNumber {
  return { page, perPage, offset: (page - 1) * perPage, limit: perPage };
}

interface PageFields {
  readonly page?: number | undefined;
  readonly perPage?: number | undefined;
}
