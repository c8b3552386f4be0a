/** The limits of a query. */
export const limits = {
  queryBytesMax: 4096,
  selectorsMax: 10,
  depthMax: 20,
  windowMsMax: 24 * 3_600_000,
  rangeSMax: 31 * 86_400,
  pointsMax: 11_000,
  seriesMax: 1000,
  resultPointsMax: 100_000,
  responseBytesMax: 16 * 1024 * 1024,
  timeoutMs: 10_000,
} as const;
