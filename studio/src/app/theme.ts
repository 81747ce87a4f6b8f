export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const STORAGE_KEY = 'recollect.theme'

export function storedTheme(): Theme {
  const stored = localStorage.getItem(STORAGE_KEY)
  return THEMES.find((theme) => theme === stored) ?? 'system'
}

export function selectTheme(theme: Theme): void {
  localStorage.setItem(STORAGE_KEY, theme)
  applyTheme()
}

/** Called before the first render to avoid a flash of the wrong theme. */
export function applyTheme(): void {
  const theme = storedTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
