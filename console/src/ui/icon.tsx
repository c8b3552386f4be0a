const paths = {
  overview: "M3 3h7v8H3zM14 3h7v5h-7zM14 12h7v9h-7zM3 15h7v6H3z",
  pools: "M5 12h5M14 5h5M14 12h5M14 19h5M10 12c3 0 1-7 4-7M10 12c3 0 1 7 4 7M10 12h4",
  decisions: "M6 3v12M6 15a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM18 3a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM18 9c0 5-6 4-11 7",
  queues: "M4 6h16M4 12h16M4 18h10",
  schedules: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
  dead: "M12 8v5M12 16.5v.01M10.3 3.9 2.4 17.5A2 2 0 0 0 4.1 20.5h15.8a2 2 0 0 0 1.7-3L13.7 3.9a2 2 0 0 0-3.4 0z",
  events: "M3 12h4l3-8 4 16 3-8h4",
  webhooks: "M4 12h12M12 6l6 6-6 6M20 4v16",
  notifications: "M6 9a6 6 0 1 1 12 0c0 6 2 7 2 7H4s2-1 2-7M10 20a2 2 0 0 0 4 0",
  workflows: "M4 4h6v6H4zM14 14h6v6h-6zM7 10v4a3 3 0 0 0 3 3h4",
  streams: "M3 7c4-4 5 4 9 0s5 4 9 0M3 13c4-4 5 4 9 0s5 4 9 0M3 19c4-4 5 4 9 0s5 4 9 0",
  connectors: "M9 3v5M15 3v5M6 8h12v4a6 6 0 0 1-12 0zM12 18v3",
  marketplace: "M4 9h16l-1 11H5zM8 9V7a4 4 0 0 1 8 0v2",
  experiments: "M9 3h6M10 3v6l-6 10a1.5 1.5 0 0 0 1.3 2h13.4a1.5 1.5 0 0 0 1.3-2L14 9V3M7 15h10",
  members: "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21c0-4 3-6 7-6s7 2 7 6M17 4a4 4 0 0 1 0 7M19 15c2 1 3 3 3 6",
  keys: "M15 9a5 5 0 1 0-4.6 5L12 12.5l2 2 2-2 2 2 3-3-6-2.5zM8 9h.01",
  secrets: "M6 11h12v10H6zM8 11V7a4 4 0 0 1 8 0v4M12 15v2",
  sessions: "M3 5h18v12H3zM8 21h8M12 17v4",
  sso: "M12 3 4 6v6c0 5 3.5 8 8 9 4.5-1 8-4 8-9V6zM9 12l2 2 4-4",
  plan: "M3 6h18v12H3zM3 10h18M7 15h3",
  audit: "M6 3h9l4 4v14H6zM9 12h6M9 16h6M9 8h3",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M14 4v6M8 14v6",
  reference: "M5 4h13v16H6.500A1.5 1.5 0 0 1 5 18.500zM5 18.500A1.500 1.500 0 0 1 6.500 17H18M9 8h5",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12l5 5 9-10",
  close: "M6 6l12 12M18 6 6 18",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M4.9 4.900l1.4 1.400M17.7 17.700l1.4 1.400M2 12h2M20 12h2M4.9 19.100l1.4-1.400M17.7 6.300l1.4-1.4",
  moon: "M20 14.500A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.500z",
  plus: "M12 5v14M5 12h14",
  exit: "M10 4H4v16h6M15 8l4 4-4 4M19 12H9",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  terminal: "M4 6l5 6-5 6M12 18h8",
  menu: "M4 7h16M4 12h16M4 17h16",
  health: "M20.8 8.600a5.3 5.3 0 0 0-8.8-2.5 5.3 5.3 0 0 0-8.8 2.500C2.3 13 7 16.5 12 20c5-3.5 9.7-7 8.8-11.400z",
  promotions: "M12 20V5M6 11l6-6 6 6M5 20h14",
  analytics: "M4 20V10M10 20V4M16 20v-7M21 20H3",
} as const;

export type IconName = keyof typeof paths;

/** A line icon in the colour of its text. */
export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      fill="none"
      height={size}
      stroke="currentColor"
      stroke-linecap="round"
      stroke-linejoin="round"
      stroke-width="1.75"
      viewBox="0 0 24 24"
      width={size}
    >
      <path d={paths[name]} />
    </svg>
  );
}
