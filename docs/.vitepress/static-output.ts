/** What is done to the built pages: inline scripts become files, and links to missing headings fail the build. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { STYLE_SHEET } from './highlight-classes.ts'

const OUTPUT = fileURLToPath(new URL('../../dist-docs/', import.meta.url))
const INLINE_SCRIPT = /<script(?: id="[^"]*")?>([^<]+)<\/script>/g

/** Replaces each inline script by a file with the same content, which runs at the same point of the page. */
export function externalizeInlineScripts(html: string, base: string): string {
  return html.replace(INLINE_SCRIPT, (_, code: string) => {
    const path = `assets/inline-${createHash('sha256').update(code).digest('hex').slice(0, 8)}.js`
    mkdirSync(join(OUTPUT, 'assets'), { recursive: true })
    writeFileSync(join(OUTPUT, path), code)
    return `<script src="${base}${path}"></script>`
  })
}

/**
 * Removes the style attributes that the theme renders on the server. The browser sets the first again through the
 * style API, which the policy allows; the second is in the style sheet.
 */
export function removeInlineStyles(html: string): string {
  return html.replace(/ style="(?:--vp-vh:0px;|position:relative;)?"/g, '')
}

export function externalizeStyleSheet(html: string, base: string): string {
  return html.replace('</head>', `<link rel="stylesheet" href="${base}${STYLE_SHEET}">\n</head>`)
}

/** VitePress checks links to pages, not their anchors. */
export async function assertAnchorsExist(outDir: string, base: string): Promise<void> {
  const names = (await readdir(outDir, { recursive: true })).filter((name) =>
    name.endsWith('.html'),
  )
  const pages = new Map<string, string>()
  for (const name of names)
    pages.set(posix.join(base, name), await readFile(join(outDir, name), 'utf8'))
  const dead = [...pages].flatMap(([from, html]) =>
    [...html.matchAll(/ href="([^"#]*)#([^"]+)"/g)]
      .filter(([, path = '', anchor]) => {
        if (/^[a-z]+:/.test(path)) return false
        const target = pages.get(path === '' ? from : posix.resolve(posix.dirname(from), path))
        return target === undefined || !target.includes(` id="${decodeURIComponent(anchor ?? '')}"`)
      })
      .map(([, path, anchor]) => `${from} links to ${path}#${anchor}`),
  )
  if (dead.length > 0) throw new Error(`Links to headings that do not exist:\n${dead.join('\n')}`)
}
