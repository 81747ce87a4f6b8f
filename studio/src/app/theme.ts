export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const KEPT_AS = 'recollect.theme'

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEPT_AS)
  return THEMES.find((theme) => theme === kept) ?? 'system'
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEPT_AS, theme)
  applyTheme()
}

/** Before anything is drawn, so that nobody is blinded. */
export function applyTheme(): void {
  const theme = chosenTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
