/** Moves the inline colors of highlighted code into one style sheet: a strict content security policy blocks `style="…"`. */
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export const STYLE_SHEET = 'assets/code.css'

export function createStyleSheet() {
  const rules = new Map<string, string>()
  const classFor = (style: string) => {
    const name = `hl-${createHash('sha256').update(style).digest('hex').slice(0, 6)}`
    rules.set(name, style)
    return name
  }
  return {
    replaceStyles(html: string): string {
      return html
        .replace(
          / class="([^"]*)" style="([^"]*)"/g,
          (_, names, style) => ` class="${names} ${classFor(style)}"`,
        )
        .replace(/ style="([^"]*)"/g, (_, style) => ` class="${classFor(style)}"`)
    },
    /** Selectors are as specific as those of the theme and come later, so they win as the inline styles did. */
    async write(outDir: string): Promise<void> {
      const css = [...rules]
        .sort()
        .map(([name, style]) => `.vp-code .${name},.${name}.vp-code{${style}}`)
      await writeFile(join(outDir, STYLE_SHEET), ['.vp-doc{position:relative}', ...css].join('\n'))
    },
  }
}
