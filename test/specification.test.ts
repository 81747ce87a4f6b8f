/** SPEC.md and the tests must know the same rules. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const RULE = /\b([A-Z]{2}\d+)\b/
const ruleIds = [...readFileSync('SPEC.md', 'utf8').matchAll(/^- \*\*([A-Z]{2}\d+)\*\*/gm)].map(
  (match) => match[1] ?? '',
)
const citations = testFiles().flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(/['`]\[([A-Z]{2}\d+)\] /g)].map(
    (match) => match[1] ?? '',
  ),
)

it('[AR5] every rule of SPEC.md is cited by a test', () => {
  expect(ruleIds.length).toBeGreaterThan(0)
  expect(ruleIds.filter((id) => !citations.includes(id))).toEqual([])
})

it('[AR5] every rule a test cites is in SPEC.md, once', () => {
  expect([...new Set(citations)].filter((id) => !ruleIds.includes(id))).toEqual([])
  expect(ruleIds.filter((id, index) => ruleIds.indexOf(id) !== index)).toEqual([])
  for (const id of ruleIds) expect(id).toMatch(RULE)
})

function testFiles(): readonly string[] {
  return ['src', 'test', 'evals', 'bench'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:test|suite)\.ts$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => !path.includes('node_modules')),
  )
}
