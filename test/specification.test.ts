/** The specification in `spec/` must be well formed, and it and the tests must contain the same ids. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const FOLDER = 'spec'
const INDEX = 'README.md'
const RULE = /^- \*\*([A-Z]{2})(\d+)\*\* (.+)$/
const ASSERTION = /^ {2}- \*\*([A-Z]{2}\d+)\.(\d+)\*\* (.+)$/
const INDEX_ROW = /^\| `([A-Z]{2})` \| .+ \| .+ \| \[(.+)\]\((.+)\) \|$/
/** One or several ids at the start of a test name. */
const CITATIONS = /['"`]((?:\[[A-Z]{2}\d+(?:\.\d+)?\] )+)/g
const TEST_FOLDERS = ['src', 'test', 'evals', 'bench']
const SUBJECT_CHARACTERS_MAX = 120

type Assertion = { readonly id: string; readonly text: string }

type Rule = {
  readonly id: string
  readonly prefix: string
  readonly number: number
  readonly file: string
  /** The assertion itself, or the subject of the assertions below it. */
  readonly text: string
  readonly assertions: Assertion[]
}

type IndexRow = {
  readonly prefix: string
  readonly title: string
  readonly file: string
}

const files = readdirSync(FOLDER).filter((name) => name !== INDEX)
const misplacedLines: string[] = []
const rules = files.flatMap(readRules)
const index = readIndex()
const cited = new Set(testFiles().flatMap(readCitations))

it('[AR5] every id occurs once, in ascending order, in the file of its prefix', () => {
  expect(rules.length).toBeGreaterThan(0)
  expect(misplacedLines).toEqual([])
  expect(repeated(allIds())).toEqual([])
  expect(repeated(index.map(({ prefix }) => prefix))).toEqual([])
  expect(index.filter(({ file, title }) => file !== title)).toEqual([])
  expect([...new Set(index.map(({ file }) => file))].sort()).toEqual([...files].sort())
  const fileOf = new Map(index.map(({ prefix, file }) => [prefix, file]))
  expect(rules.filter(({ prefix, file }) => fileOf.get(prefix) !== file).map(idOf)).toEqual([])
  for (const { prefix } of index) {
    const numbers = rules.filter((rule) => rule.prefix === prefix).map(({ number }) => number)
    expect(numbers, prefix).toEqual([...numbers].sort((a, b) => a - b))
  }
  for (const { id, assertions } of rules) {
    const numbers = assertions.map((assertion) => Number(assertion.id.slice(id.length + 1)))
    expect(numbers, id).toEqual([...numbers].sort((a, b) => a - b))
  }
})

it('[AR5] every rule is cited by a test', () => {
  const isCited = ({ id, assertions }: Rule) =>
    cited.has(id) || assertions.some((assertion) => cited.has(assertion.id))
  expect(rules.filter((rule) => !isCited(rule)).map(idOf)).toEqual([])
})

it('[AR5] every assertion is covered by a citation of itself or of its rule', () => {
  const uncovered = rules
    .filter(({ id }) => !cited.has(id))
    .flatMap(assertionsOf)
    .filter(({ id }) => !cited.has(id))
  expect(uncovered.map(idOf)).toEqual([])
})

it('[AR5] every id that a test cites is in the specification', () => {
  const known = new Set(allIds())
  expect([...cited].filter((id) => !known.has(id))).toEqual([])
})

it('[AR5] every assertion is one sentence, and every subject none', () => {
  expect(rules.flatMap(assertionsOf).filter(({ text }) => !isOneSentence(text))).toEqual([])
  const subjects = rules.filter(({ assertions }) => assertions.length > 0)
  const isSubject = ({ text }: Rule) => !text.endsWith('.') && text.length <= SUBJECT_CHARACTERS_MAX
  expect(subjects.filter((rule) => !isSubject(rule)).map(idOf)).toEqual([])
  expect(subjects.filter(({ assertions }) => assertions.length === 1).map(idOf)).toEqual([])
})

/** Everything below a heading that starts like a list item must be a rule, or an assertion of the rule above it. */
function readRules(file: string): readonly Rule[] {
  const found: Rule[] = []
  for (const line of readFileSync(join(FOLDER, file), 'utf8').split('\n')) {
    const [, prefix, number, text] = RULE.exec(line) ?? []
    const [, ruleId, assertionNumber, assertion] = ASSERTION.exec(line) ?? []
    const last = found.at(-1)
    if (prefix !== undefined && number !== undefined && text !== undefined) {
      const id = `${prefix}${number}`
      found.push({ id, prefix, number: Number(number), file, text, assertions: [] })
    } else if (assertion !== undefined && last !== undefined && last.id === ruleId) {
      last.assertions.push({ id: `${ruleId}.${assertionNumber}`, text: assertion })
    } else if (/^\s*[-*+] |^ {2}/.test(line)) {
      misplacedLines.push(`${file}: ${line}`)
    }
  }
  return found
}

function readIndex(): readonly IndexRow[] {
  return readFileSync(join(FOLDER, INDEX), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, prefix, title, file] = INDEX_ROW.exec(line) ?? []
      if (prefix === undefined || title === undefined || file === undefined) return []
      return [{ prefix, title, file }]
    })
}

function readCitations(path: string): readonly string[] {
  return [...readFileSync(path, 'utf8').matchAll(CITATIONS)].flatMap(([, ids = '']) =>
    [...ids.matchAll(/\[(.+?)\]/g)].map(([, id = '']) => id),
  )
}

/** A rule without assertions below it is an assertion itself. */
function assertionsOf({ id, text, assertions }: Rule): readonly Assertion[] {
  return assertions.length > 0 ? assertions : [{ id, text }]
}

/** Code, quotations and parentheses may contain any punctuation; what is left ends with its only full stop. */
function isOneSentence(text: string): boolean {
  const bare = text.replace(/`[^`]*`|"[^"]*"|\([^)]*\)/g, '')
  return bare.endsWith('.') && !/[.!?;](?=\s)/.test(bare)
}

function allIds(): readonly string[] {
  return rules.flatMap(({ id, assertions }) => [id, ...assertions.map(idOf)])
}

function idOf({ id }: { readonly id: string }): string {
  return id
}

function repeated(values: readonly string[]): readonly string[] {
  return values.filter((value, position) => values.indexOf(value) !== position)
}

function testFiles(): readonly string[] {
  return TEST_FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:test|suite)\.ts$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.includes('node_modules')),
  )
}
