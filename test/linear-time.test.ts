/**
 * Whatever reads the text of users takes time that grows linearly with its length: one message must not hold up the
 * requests of everybody else. Every exported function of the text-reading modules is measured, on texts that are made to
 * be expensive, by CPU time over doubling lengths.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Instant } from '../src/lib/time.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = [
  ...['src/text', 'src/recall', 'src/learning', 'src/memory', 'src/conversations'],
  ...['src/domain', 'src/files/chunking', 'src/files/memory-file', 'src/api/gateway/formats'],
]
const NOW = Date.UTC(2026, 10, 19) as Instant

/** Functions whose first parameter is a text, by file. */
const DECLARATION =
  /^export function (\w+)\(\s*(?:text|fullText|question|message|content|statement|prompt|words|line|source)\b: string\b([^)]*)/gm

type TextReader = { readonly file: string; readonly name: string; readonly rest: string }

function listTextReaders(): readonly TextReader[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .flatMap((path) => {
        const file = relative(ROOT, join(ROOT, folder, path))
        const declarations = readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARATION)
        return [...declarations].map(([, name = '', rest = '']) => ({ file, name, rest }))
      }),
  )
}

/** Further arguments of functions that need them. `text`: the text once more. */
const ARGUMENTS: { readonly [name: string]: (text: string) => readonly unknown[] } = {
  parseTimeSpan: () => [NOW],
  parseQuestion: () => [NOW],
  containsName: () => ['Ada'],
  containsAnyName: () => [['Ada', 'Ben']],
  removeNames: () => [['Ada']],
  redactSensitiveText: () => [{ emailAddresses: true }],
  assessTrust: () => ['user'],
  buildQueryTerms: (text) => [[text]],
  findQueryTerms: () => [[]],
  containsFolded: () => ['tea'],
  isAdjudicable: (text) => [text, true],
  isEntailedBy: (text) => [text],
  sliceLines: () => [1, 1_000_000],
  truncateText: () => [1_000_000],
  isBlank: (text) => [0, text.length],
  skipWhitespace: (text) => [0, text.length],
  skipWhitespaceBackward: (text) => [0, text.length],
  measureText: (text) => [0, text.length],
  findTailStart: () => [100_000],
  parseDistillate: () => [[0]],
  parseAnswerObject: () => [['facts']],
  takeFirstSentences: () => [3],
  classifyMessage: () => [{ names: [], hasNames: false, previous: [] }],
  isModelOfProviders: () => [['openai']],
  replaceMemoryBlock: () => ['- tea'],
  parseBaseUrl: () => ['url'],
  extractPassage: () => [[], 300],
  extractPassageLines: () => [[], 300],
  measureIndent: (text) => [0, text.length],
  addPlainCjkTerms: () => [[]],
  buildIdentityDraft: () => [[], [], '1'],
  parseTurnFacts: () => [[0]],
  findNamedTime: () => [new Date(NOW)],
  parseClauses: () => ['message'],
  isNameGiven: () => [[]],
  tokenize: () => [0],
  listImpliedDates: () => [null],
  rewriteUserNames: () => [['Ada']],
}

/** Not given the text of users at any length: reads a bounded name, or creates an error. */
const EXEMPT: ReadonlySet<string> = new Set([
  ...[
    'createUnreadableAnswerError',
    'buildRepairPrompt',
    'alignToCharacter',
    'splitsSurrogatePair',
    'appendBlock',
  ],
  ...['prependBlock', 'sliceValue', 'replaceValue', 'prependToString', 'appendToString'],
  ...['setMember', 'replaceModel', 'insertElement', 'insertElements', 'wrapValue'],
])

/** Repeated to any length. Each has cost somebody's regular expression quadratic time once, or looks as if it could. */
const UNITS = [
  ...[
    'a',
    ' ',
    '\n',
    '.',
    ',',
    '|a',
    '"',
    "'",
    '`',
    '<',
    '<a ',
    '[',
    '(',
    '{',
    '#',
    '- ',
    '* ',
    '_',
  ],
  ...['1', '1 ', '0.', '-', '—', '\u200b', '\u0301', 'é', '漢', 'あ', '🫖', '\ud83e', '\t', '\r\n'],
  ...[
    'A',
    'Aa ',
    'A. ',
    'said ',
    'today ',
    'said today ',
    'in may ',
    '1 may ',
    'the ',
    'before the ',
  ],
  ...[
    'I live in ',
    'my name is ',
    'and ',
    'not ',
    'remember ',
    'ignore ',
    'ignore all ',
    'you must ',
  ],
  ...['when the user asks ', 'system: ', '<|', '<system', 'http://a', 'a@b.', 'a@', '+1 2', 'sk-a'],
  ...[
    '<recollect-memory',
    '</recollect-memory>',
    '```\n',
    '> ',
    '“',
    '„',
    '»',
    "I'm ",
    'user: ',
    '?',
  ],
  ...[
    'I love cats, but ',
    'a, b and c, ',
    'is the ',
    'what is ',
    'of my ',
    'actually ',
    'no longer ',
  ],
]

const START_CHARACTERS = 2_000
const DOUBLINGS = 4
/** Of the exponent: 1 is linear, 2 is quadratic. */
const EXPONENT_MAX = 1.5
/** Below this much CPU time, growth is noise, and harmless. */
const NOTABLE_MS = 25
const SAMPLE_CHARACTERS = 8_000
const SAMPLE_MS = 2
/** Longer texts need not be tried. */
const ENOUGH_MS = 200
const TRIES = 3

function cpuMs(run: () => unknown): number {
  const before = process.cpuUsage()
  try {
    run()
  } catch {
    // Many refuse such texts, which costs time as well.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function textOf(unit: string, characters: number, ending: string): string {
  return unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters) + ending
}

/** The exponent of the growth over doubling lengths; 0 when the longest text takes no notable time. */
function measureExponent(read: (text: string) => unknown, unit: string, ending: string): number {
  // Most functions are done at once, and would be with the longest text even if they took quadratic time.
  const sample = textOf(unit, SAMPLE_CHARACTERS, ending)
  if (cpuMs(() => read(sample)) < SAMPLE_MS) return 0
  let [firstMs, lastMs, doublings] = [0, 0, 0]
  for (; doublings <= DOUBLINGS; doublings++) {
    const text = textOf(unit, START_CHARACTERS * 2 ** doublings, ending)
    lastMs = cpuMs(() => read(text))
    if (doublings === 0) firstMs = Math.max(lastMs, 0.5)
    if (lastMs > ENOUGH_MS) break
  }
  if (lastMs < NOTABLE_MS) return 0
  return Math.log2(lastMs / firstMs) / Math.max(1, Math.min(doublings, DOUBLINGS))
}

const READERS = listTextReaders()

it('[AR16] finds the functions that read text, and knows the arguments of all', () => {
  expect(READERS.length).toBeGreaterThan(60)
  const needing = READERS.filter(
    ({ rest }) => /,\s*\w+(?!\?)\s*:/.test(rest) && !rest.includes('='),
  )
  const unknown = needing.filter(({ name }) => !(name in ARGUMENTS) && !EXEMPT.has(name))
  expect(unknown.map(({ name, rest }) => `${name}${rest}`)).toEqual([])
})

describe('the time of', () => {
  it.each(
    READERS.filter(({ name }) => !EXEMPT.has(name)).map((reader) => [reader.name, reader] as const),
  )(
    '[AR16] %s grows linearly with the text',
    async (name, { file }) => {
      const module = (await import(join(ROOT, file))) as { [name: string]: unknown }
      const call = module[name] as (text: string, ...rest: readonly unknown[]) => unknown // as declared
      const read = (text: string) => call(text, ...(ARGUMENTS[name]?.(text) ?? []))
      const slow = UNITS.flatMap((unit) => ['', '!'].map((ending) => ({ unit, ending }))).filter(
        ({ unit, ending }) => {
          for (let attempt = 1; attempt <= TRIES; attempt++) {
            if (measureExponent(read, unit, ending) <= EXPONENT_MAX) return false
          }
          return true
        },
      )
      expect(slow.map(({ unit, ending }) => `${JSON.stringify(unit)}… ${ending}`)).toEqual([])
    },
    120_000,
  )
})
