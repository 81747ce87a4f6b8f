/** `node scripts/release-notes.mjs v1.2.3` prints that version's section of CHANGELOG.md; a wrong tag is an error. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const read = (file) => readFileSync(join(root, file), 'utf8')
const version = (process.argv[2] ?? '').replace(/^v/, '')
const declared = JSON.parse(read('package.json')).version

if (version !== declared) fail(`The tag must be "v${declared}"; got "${process.argv[2] ?? ''}".`)
const [, ...sections] = read('CHANGELOG.md').split(/^## /m)
const section = sections.find((text) => text.startsWith(`[${version}]`))
const notes = section?.slice(section.indexOf('\n')).trim() ?? ''
if (notes === '') fail(`CHANGELOG.md must have a section "## [${version}]" with content.`)
process.stdout.write(`${notes}\n`)

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
