const paths = {
  view: "M3 20h18M6 16V10M12 16V4M18 16v-8",
  decisions: "M4 6h10M4 12h7M4 18h10M16 12l2.500 2.500L22 10",
  peers: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  health: "M3 12h4l3-7 4 14 3-7h4",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  theme: "M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9z",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M4.900 4.900l1.400 1.400M17.700 17.700l1.400 1.400M2 12h2M20 12h2M4.900 19.100l1.400-1.400M17.700 6.300l1.400-1.400",
  system: "M3 5h18v11H3zM8 20h8M12 16v4",
  chevron: "M9 6l6 6-6 6",
  key: "M15 9a4 4 0 1 0-3.500 4L9.500 15H7v2.500H4.500V20H8",
} as const;

export type IconName = keyof typeof paths;

/** A decoration next to a label; screen readers skip it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** The project's logo: a level hull. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M5 14.500h22M7.500 18.500c1 4 4.500 6 8.500 6s7.500-2 8.500-6zM16 10.500v-4" />
    </svg>
  );
}
