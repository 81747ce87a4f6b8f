/** Line icons on a 24 px grid. They are decorative: the element around them has the accessible name. */
const PATHS = {
  memories: 'M5 4h14v16H5zM9 9h6M9 13h6',
  chat: 'M4 5h16v11H9l-5 4z',
  playground: 'M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.5 15h9',
  timeline: 'M4 6h10M4 12h16M4 18h7M18 6h2M15 18h5',
  map: 'M6 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM18 11a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM9 20a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 6.5l8 2M7 8l1.5 8M16.8 10.6 10.5 17',
  sessions: 'M4 5h16v11H9l-5 4zM8 9h8M8 12h5',
  review: 'M12 3 4 6v6c0 4.5 3.4 7.7 8 9 4.6-1.3 8-4.5 8-9V6zM9 12l2 2 4-4.5',
  files: 'M6 3h8l5 5v13H6zM14 3v5h5M9 13h7M9 17h7',
  receipts: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
  engine:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  settings:
    'M4 7h9M17 7h3M4 17h3M11 17h9M15 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM9 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  access: 'M8 15a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 11h9M18 11v4M15 11v3',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5a7.5 7.5 0 0 1 15 0',
  jobs: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.5 2',
  audit: 'M9 5h11M9 12h11M9 19h11M4 5h1M4 12h1M4 19h1',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l5 5',
  add: 'M12 5v14M5 12h14',
  less: 'M5 12h14',
  whole: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  close: 'M6 6l12 12M18 6 6 18',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  pin: 'M9 3h6l-1 6 3 3v2H7v-2l3-3zM12 14v7',
  forget: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  disable: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM6 6l12 12',
  restore: 'M4 12a8 8 0 1 0 3-6.2M4 4v5h5',
  history: 'M4 12a8 8 0 1 0 3-6.2M4 4v5h5M12 8v4l3 2',
  export: 'M12 15V4M8 8l4-4 4 4M5 15v5h14v-5',
  import: 'M12 4v11M8 11l4 4 4-4M5 15v5h14v-5',
  check: 'M5 12.5 10 17 19 7',
  warning: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v5M12 8h.01',
  light:
    'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4',
  dark: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5Z',
  language: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  keyboard: 'M3 7h18v10H3zM7 11h.01M11 11h.01M15 11h.01M8 14h8',
  leave: 'M14 4h5v16h-5M10 8l-4 4 4 4M6 12h9',
  menu: 'M4 7h16M4 12h16M4 17h16',
  up: 'M12 19V5M6 11l6-6 6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  next: 'M9 5l7 7-7 7',
  back: 'M15 5l-7 7 7 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1.5-1.5',
  run: 'M7 4l12 8-12 8z',
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}
