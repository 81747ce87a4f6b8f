#!/usr/bin/env node
/**
 * Speaks the command line of `qmd` as far as it is used, on files in its home. What it does wrong stands in the file that
 * QMD_SCRIPT names; every call is noted beside its index.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, sep } from 'node:path'
import picomatch from 'picomatch'

const { XDG_CONFIG_HOME, XDG_CACHE_HOME, QMD_SCRIPT } = process.env
const script =
  QMD_SCRIPT && existsSync(QMD_SCRIPT) ? JSON.parse(readFileSync(QMD_SCRIPT, 'utf8')) : {}
const config = file(XDG_CONFIG_HOME, 'collections.json', [])
const index = file(XDG_CACHE_HOME, 'documents.json', [])
const given = process.argv.slice(2)

appendFileSync(
  join(XDG_CACHE_HOME, 'qmd', 'calls.jsonl'),
  `${JSON.stringify({ args: given, cwd: process.cwd(), env: process.env })}\n`,
)

const { words, flags } = parse(given)
const [command] = words
if (script.slow?.includes(command)) {
  // What it has started must end with it.
  const helper = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
    stdio: 'inherit',
  })
  writeFileSync(script.pids, JSON.stringify([process.pid, helper.pid]))
  setInterval(() => {}, 1_000)
} else {
  main()
}

function main() {
  if (script.crash?.includes(command)) {
    process.stderr.write('Segmentation fault in the index\n')
    process.exit(139)
  }
  if (script.unknown?.includes(command)) {
    process.stderr.write(`error: unknown option '--json' of ${command}\n`)
    process.exit(2)
  }
  if (command === 'collection') collection(words[1], words[2])
  else if (command === 'update') update(config.read().map(({ name }) => name))
  else if (command === 'embed') say('Embedded.')
  else if (['search', 'vsearch', 'query'].includes(command)) search(words[1])
  else process.exit(1)
}

function collection(verb, name) {
  const all = config.read()
  if (verb === 'list') {
    if (script.list === 'json') return say(JSON.stringify(all))
    if (all.length === 0)
      return say("No collections found. Run 'qmd collection add .' to create one.")
    say(`Collections (${all.length}):\n`)
    for (const { name, pattern } of all) say(`${name} (qmd://${name}/)\n  Pattern:  ${pattern}\n`)
  } else if (verb === 'add') {
    if (all.some((one) => one.name === flags.name)) process.exit(1)
    config.write([...all, { name: flags.name, path: name, pattern: flags.mask }])
    update([flags.name])
  } else if (verb === 'remove') {
    if (!all.some((one) => one.name === name)) process.exit(1)
    config.write(all.filter((one) => one.name !== name))
    index.write(index.read().filter((document) => document.collection !== name))
  }
}

function update(names) {
  const before = index.read()
  const kept = before.filter((document) => !names.includes(document.collection))
  const wanted = config.read().filter(({ name }) => names.includes(name))
  wanted.forEach(({ name, path, pattern }, at) => {
    const known = before.filter(({ collection }) => collection === name)
    const documents = readAll(name, path, pattern)
    const added = documents.filter((one) => !known.some(({ path }) => path === one.path)).length
    const same = documents.filter((one) =>
      known.some(({ path, hash }) => path === one.path && hash === one.hash),
    )
    const changed = documents.length - added - same.length
    const removed = known.filter((one) => !documents.some(({ path }) => path === one.path)).length
    say(`[${at + 1}/${wanted.length}] ${name} (${pattern})`)
    say(`Indexed: ${added} new, ${changed} updated, ${same.length} unchanged, ${removed} removed\n`)
    kept.push(...documents)
  })
  index.write(kept)
}

function readAll(collection, folder, pattern) {
  if (!existsSync(folder)) return []
  const matches = picomatch(pattern)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(folder, path).split(sep).join('/'),
      text: readFileSync(path, 'utf8'),
    }))
    .filter(({ path, text }) => matches(path) && text.trim() !== '')
    .map(({ path, text }) => ({
      ...{ collection, path, text },
      hash: createHash('sha256').update(text).digest('hex'),
    }))
}

function search(query) {
  if (script.says !== undefined) return say(script.says)
  if (script.huge) return say('x'.repeat(script.huge))
  const terms = query.toLowerCase().split(/\s+/)
  const among = [flags.c ?? []].flat()
  const unknown = among.find((name) => !config.read().some((one) => one.name === name))
  if (unknown !== undefined) {
    process.stderr.write(`Collection not found: ${unknown}\n`)
    process.exit(1)
  }
  const hits = index
    .read()
    .filter(({ collection }) => among.includes(collection))
    .filter(({ text }) => terms.every((term) => text.toLowerCase().includes(term)))
    .slice(0, Number(flags.n))
    .map((document) => toHit(document, terms))
  const noise = script.noise ? ['[1/3] warming up [models]', 'Loading… {"not": "this"}'] : []
  for (const line of noise) say(line)
  if (hits.length === 0 && script.wordless) return say('No results found.')
  say(JSON.stringify(hits, null, 2))
  for (const line of noise) say(line)
}

function toHit({ collection, path, text, hash }, terms) {
  const lines = text.split('\n')
  const count = (line) => terms.filter((term) => line.toLowerCase().includes(term)).length
  const best = lines.reduce(
    (found, line, at) => (count(line) > count(lines[found]) ? at : found),
    0,
  )
  const start = Math.max(0, best - 1)
  const shown = lines.slice(start, best + 3)
  return {
    docid: `#${hash.slice(0, 6)}`,
    score: script.score ?? 0.5,
    file: `qmd://${collection}/${path}`,
    snippet: `@@ -${start + 1},${shown.length} @@ (${start} before)\n${shown.join('\n')}`.slice(
      0,
      300,
    ),
  }
}

function parse(args) {
  const words = []
  const flags = {}
  for (let at = 0; at < args.length; at++) {
    if (args[at] === '--') return { words: [...words, ...args.slice(at + 1)], flags }
    if (!args[at].startsWith('-')) words.push(args[at])
    else if (args[at] === '--json') flags.json = true
    else {
      const name = args[at].replace(/^-+/, '')
      const value = args[++at]
      flags[name] = flags[name] === undefined ? value : [flags[name], value].flat()
    }
  }
  return { words, flags }
}

function file(folder, name, otherwise) {
  mkdirSync(join(folder, 'qmd'), { recursive: true })
  const path = join(folder, 'qmd', name)
  return {
    read: () => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : otherwise),
    write: (value) => writeFileSync(path, JSON.stringify(value)),
  }
}

function say(text) {
  process.stdout.write(`${text}\n`)
}
