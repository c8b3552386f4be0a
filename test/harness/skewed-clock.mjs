// Preloaded into a node process: its system clock is SKEW_MS ahead.
const skewMs = Number(process.env.SKEW_MS);
const { now } = Date;
globalThis.Date = class extends Date {
  constructor(...values) {
    super(...(values.length === 0 ? [now() + skewMs] : values));
  }
  static now() {
    return now() + skewMs;
  }
};
