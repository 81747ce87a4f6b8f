/**
 * Whatever reads the text of users takes time that grows linearly with its length: one message must not hold up the
 * requests of everybody else. Every exported function of the text-reading modules is measured, on texts that are made to
 * be expensive, by CPU time over doubling lengths.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Instant } from '../src/lib/time.ts'
import { isThorough } from './support/thoroughness.ts'

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
  compareFrames: () => ['I like tea'],
  sharesTopic: () => ['I like tea', true],
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

/** A text that no pattern accepts to its end makes it try every other way; thorough runs try the other one as well. */
const ENDINGS = isThorough ? ['!', ''] : ['!']

const SAMPLE_CHARACTERS = 8_000
/** Most functions are done at once, and would be with a long text even if they took quadratic time. */
const SAMPLE_MS = 2
/** Of the exponent: 1 is linear, 2 is quadratic. */
const EXPONENT_MAX = 1.5
/** Longer texts confirm what the sample suggests. Below this much CPU time, growth is noise, and harmless. */
const CONFIRMING_CHARACTERS = [16_000, 32_000, 64_000]
const NOTABLE_MS = 25
/** A longer text than one that takes this long need not be tried. */
const ENOUGH_MS = 1_000
const CONFIRMATIONS = 3

/**
 * The least CPU time of several runs: collecting garbage, compiling and other threads of the process only ever add to it.
 */
function measureCpuMs(run: () => unknown, runs: number): number {
  let leastMs = Number.POSITIVE_INFINITY
  for (let n = 0; n < runs && (n === 0 || leastMs < ENOUGH_MS); n++) {
    leastMs = Math.min(leastMs, measureOnce(run))
  }
  return leastMs
}

function measureOnce(run: () => unknown): number {
  const before = process.cpuUsage()
  try {
    run()
  } catch {
    // Many refuse such texts, which costs time as well.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function buildText(unit: string, characters: number, ending: string): string {
  return unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters) + ending
}

/** Whether reading takes more than linear time: only what a sample suggests and every confirmation repeats counts. */
function isSuperlinear(read: (text: string) => unknown, unit: string, ending: string): boolean {
  const measure = (characters: number, runs: number) => {
    const text = buildText(unit, characters, ending)
    return measureCpuMs(() => read(text), runs)
  }
  const firstMs = measure(SAMPLE_CHARACTERS, 1)
  if (firstMs < SAMPLE_MS) return false
  const sampleMs = Math.min(firstMs, measure(SAMPLE_CHARACTERS, 1))
  const doubledMs = measure(2 * SAMPLE_CHARACTERS, 1)
  if (Math.log2(doubledMs / sampleMs) <= EXPONENT_MAX) return false
  for (let n = 1; n <= CONFIRMATIONS; n++) {
    if (measureExponent(measure, 2 * n + 1) <= EXPONENT_MAX) return false
  }
  return true
}

/** The exponent of the growth over doubling lengths; 0 when the longest text takes no notable time. */
function measureExponent(
  measure: (characters: number, runs: number) => number,
  runs: number,
): number {
  const timesMs: number[] = []
  for (const characters of CONFIRMING_CHARACTERS) {
    timesMs.push(measure(characters, runs))
    if ((timesMs.at(-1) ?? 0) > ENOUGH_MS) break
  }
  const lastMs = timesMs.at(-1) ?? 0
  if (lastMs < NOTABLE_MS) return 0
  // A text that takes too long by itself leaves nothing to compare with.
  if (timesMs.length === 1) return Number.POSITIVE_INFINITY
  return Math.log2(lastMs / Math.max(timesMs[0] ?? 0, 0.5)) / (timesMs.length - 1)
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

it('[AR16] tells quadratic from linear time', () => {
  const isLettersOnly = (text: string) => /^[a-z]*$/.test(text)
  expect(isSuperlinear(isLettersOnly, 'a', '!')).toBe(false)
  expect(isSuperlinear((text) => text.split('').map((letter) => ({ letter })), 'a', '!')).toBe(
    false,
  )
  // Starts again at every space, and each time reads to the end.
  expect(isSuperlinear((text) => text.replace(/\s+$/, ''), ' ', '!')).toBe(true)
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
      const slow = UNITS.flatMap((unit) => ENDINGS.map((ending) => ({ unit, ending }))).filter(
        ({ unit, ending }) => isSuperlinear(read, unit, ending),
      )
      expect(slow.map(({ unit, ending }) => `${JSON.stringify(unit)}… ${ending}`)).toEqual([])
    },
    120_000,
  )
})
