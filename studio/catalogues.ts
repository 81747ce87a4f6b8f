/**
 * Catalogues as files of data. A language is written in TypeScript, so that the compiler says what is missing from it;
 * a browser gets it as JSON, which it needs no script for and reads faster.
 *
 *   import { address as german } from './de/index.ts?catalogue'   // the address of what that file exports as `messages`
 */
import { basename, dirname } from 'node:path'
import { type Plugin, runnerImport } from 'vite'

const ASKED = '?catalogue'

export function catalogues(): Plugin {
  let isServing = false
  return {
    name: 'catalogues',
    configResolved({ command }) {
      isServing = command === 'serve'
    },
    async load(id) {
      if (!id.endsWith(ASKED)) return null
      const file = id.slice(0, -ASKED.length)
      const { module, dependencies } = await runnerImport<{ messages: object }>(file)
      for (const part of [file, ...dependencies]) this.addWatchFile(part)
      const source = JSON.stringify(module.messages)
      if (isServing) {
        const data = `data:application/json,${encodeURIComponent(source)}`
        return `export const address = ${JSON.stringify(data)}`
      }
      const name = `${basename(dirname(file))}.json`
      const asset = this.emitFile({ type: 'asset', name, source })
      return `export const address = import.meta.ROLLUP_FILE_URL_${asset}`
    },
  }
}
