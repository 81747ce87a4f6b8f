/**
 * Stands in for the test runner while the conformance suites declare their tests: collects them as plain functions.
 * `scripts/bundle.mjs` puts this module in the place of `vitest`.
 */
import { format } from 'node:util'

/** @public Of the suites. */
export { expect } from './expectation.ts'

/** A test of a conformance suite. Register it with any test runner. */
export type ConformanceCase = {
  /** Starts with the id of the rule in `spec/`. */
  readonly name: string
  /** Rejects when the implementation breaks the rule. */
  run(): Promise<void>
}

type Body = () => void | Promise<void>
type Options = { readonly timeout?: number } | number

let path: readonly string[] = []
let cases: ConformanceCase[] = []
/** Of the case that runs; cases of one suite run one after another. */
let cleanups: Body[] = []

/** The cases that `declare` declares. */
export function collectCases(declare: () => void): readonly ConformanceCase[] {
  cases = []
  path = []
  declare()
  return cases
}

export function describe(name: string, ...rest: readonly (Options | (() => void))[]): void {
  const outer = path
  path = [...outer, name]
  const declare = rest.find((each) => typeof each === 'function')
  declare?.()
  path = outer
}

describe.each =
  (table: readonly unknown[]) =>
  (name: string, ...rest: readonly unknown[]): void => {
    const declare = rest.find((each) => typeof each === 'function') as (...row: unknown[]) => void // the last argument
    for (const row of table) describe(format(name, ...toRow(row)), () => declare(...toRow(row)))
  }

export function it(name: string, ...rest: readonly (Options | Body)[]): void {
  const body = rest.find((each) => typeof each === 'function')
  if (body === undefined) return
  cases.push({ name: [...path, name].join(' > '), run: () => runCase(body) })
}

it.each =
  (table: readonly unknown[]) =>
  (name: string, ...rest: readonly unknown[]): void => {
    const body = rest.find((each) => typeof each === 'function') as (...row: unknown[]) => void // the last argument
    for (const row of table) it(format(name, ...toRow(row)), () => body(...toRow(row)))
  }

it.skipIf = (isSkipped: boolean) => (isSkipped ? () => {} : it)

/** @public Of the suites. */
export function onTestFinished(cleanup: Body): void {
  cleanups.push(cleanup)
}

/** @public Of the suites. What a suite shares among its cases ends with the process. */
export function afterAll(_cleanup: Body): void {}

async function runCase(body: Body): Promise<void> {
  const own: Body[] = []
  cleanups = own
  try {
    await body()
  } finally {
    for (const cleanup of own.reverse()) await cleanup()
  }
}

function toRow(row: unknown): readonly unknown[] {
  return Array.isArray(row) ? row : [row]
}
