/** Writes a whole number with its unit as people read it: `1,200`, `12 %`, `15 min`. Durations are rounded down. */
export function formatQuantity(value: number, unit: string): string {
  switch (unit) {
    case "percent":
      return `${value} %`;
    case "seconds":
      return formatSeconds(value);
    case "milliseconds":
      return value > 0 && value % 1000 === 0 ? formatSeconds(value / 1000) : `${value.toLocaleString("en-US")} ms`;
    default:
      return value.toLocaleString("en-US");
  }
}

function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200 && seconds % 3600 !== 0) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`;
}
