/** Sidebar entries of the decision records, by number, titled by their first heading. */
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../internals/decisions/', import.meta.url)

export function decisionItems(): { readonly text: string; readonly link: string }[] {
  return readdirSync(FOLDER)
    .filter((name) => /^\d{4}-.*\.md$/.test(name))
    .sort()
    .map((name) => {
      const [, title = name] = /^# (.*)$/m.exec(readFileSync(new URL(name, FOLDER), 'utf8')) ?? []
      return { text: title, link: `/internals/decisions/${name.replace(/\.md$/, '')}` }
    })
}
