/**
 * The `expect` of the conformance cases: the few matchers that they use, on Node's assertions, so that the cases run
 * under any test runner.
 */
import { AssertionError } from 'node:assert'
import { inspect } from 'node:util'

type Matchers = { readonly [name: string]: (...expected: readonly unknown[]) => void }
type Promised = { readonly [name: string]: (...expected: readonly unknown[]) => Promise<void> }

/** Matches a class of values inside of an expected value. */
class Asymmetric {
  readonly matches: (actual: unknown) => boolean
  readonly name: string

  constructor(name: string, matches: (actual: unknown) => boolean) {
    this.name = name
    this.matches = matches
  }
}

export function expect(actual: unknown): Matchers & {
  readonly not: Matchers
  readonly rejects: Promised
  readonly resolves: Promised
} {
  return {
    ...createMatchers(actual, false),
    not: createMatchers(actual, true),
    rejects: createPromised(() => rejectionOf(actual)),
    resolves: createPromised(async () => actual),
  } as ReturnType<typeof expect> // the matchers by name, and three words in front of them
}

expect.any = (type: new (...given: never[]) => unknown): unknown =>
  new Asymmetric(
    `any ${type.name}`,
    (actual) => Object(actual) instanceof type && actual !== null && actual !== undefined,
  )
expect.closeTo = (near: number, digits = 2): unknown =>
  new Asymmetric(`close to ${near}`, (actual) => isClose(actual, near, digits))
expect.unreachable = (message = 'must not be reached'): never => fail(message, undefined, undefined)

const CHECKS: { readonly [name: string]: (actual: unknown, ...expected: unknown[]) => boolean } = {
  toBe: (actual, expected) => Object.is(actual, expected),
  toEqual: (actual, expected) => isEqual(actual, expected),
  toMatchObject: (actual, expected) => isSubset(actual, expected),
  toBeNull: (actual) => actual === null,
  toBeDefined: (actual) => actual !== undefined,
  toBeInstanceOf: (actual, type) => actual instanceof (type as new () => unknown), // a class
  toHaveLength: (actual, length) => Object(actual).length === length,
  toContain: (actual, item) =>
    typeof actual === 'string' ? actual.includes(String(item)) : listOf(actual).includes(item),
  toContainEqual: (actual, item) => listOf(actual).some((each) => isEqual(each, item)),
  toBeCloseTo: (actual, near, digits = 2) => isClose(actual, Number(near), Number(digits)),
  toBeGreaterThan: (actual, bound) => Number(actual) > Number(bound),
  toBeGreaterThanOrEqual: (actual, bound) => Number(actual) >= Number(bound),
  toBeLessThan: (actual, bound) => Number(actual) < Number(bound),
  toBeLessThanOrEqual: (actual, bound) => Number(actual) <= Number(bound),
  toThrow: (actual, text = '') =>
    String(Object(typeof actual === 'function' ? errorOf(actual) : actual).message).includes(
      String(text),
    ),
}

function createMatchers(actual: unknown, isNegated: boolean): Matchers {
  const matchers = Object.entries(CHECKS).map(([name, check]) => [
    name,
    (...expected: readonly unknown[]) => {
      if (check(actual, ...expected) !== isNegated) return
      fail(`expected value ${isNegated ? 'not ' : ''}${name}`, actual, expected[0])
    },
  ])
  return Object.fromEntries(matchers)
}

function createPromised(settle: () => Promise<unknown>): Promised {
  const names = Object.keys(CHECKS)
  const matchers = names.map((name) => [
    name,
    async (...expected: readonly unknown[]) =>
      createMatchers(await settle(), false)[name]?.(...expected),
  ])
  return Object.fromEntries(matchers)
}

function fail(what: string, actual: unknown, expected: unknown): never {
  const message = `${what}\nactual: ${inspect(actual, { depth: 6 })}\nexpected: ${inspect(expected, { depth: 6 })}`
  throw new AssertionError({ message, actual, expected })
}

async function rejectionOf(given: unknown): Promise<unknown> {
  try {
    await (typeof given === 'function' ? given() : given)
  } catch (error) {
    return error
  }
  return fail('expected a rejection', undefined, undefined)
}

function errorOf(call: unknown): unknown {
  try {
    ;(call as () => unknown)() // only functions are passed
  } catch (error) {
    return error
  }
  return undefined
}

function listOf(value: unknown): readonly unknown[] {
  return [...(value as Iterable<unknown>)] // matchers of lists are for lists
}

function isClose(actual: unknown, near: number, digits: number): boolean {
  return typeof actual === 'number' && Math.abs(actual - near) < 10 ** -digits / 2
}

/** Deep equality in which a field that is `undefined` equals a missing one. */
function isEqual(actual: unknown, expected: unknown): boolean {
  if (expected instanceof Asymmetric) return expected.matches(actual)
  if (Object.is(actual, expected)) return true
  if (!isComposite(actual) || !isComposite(expected)) return false
  if (Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return false
  if (actual instanceof Date) return actual.getTime() === Number(expected)
  if (actual instanceof Map || actual instanceof Set) {
    const [items, wanted] = [[...actual], [...(expected as typeof actual)]] // the same class
    return (
      items.length === wanted.length &&
      wanted.every((item) => items.some((each) => isEqual(each, item)))
    )
  }
  if (actual instanceof Error) return actual.message === Reflect.get(expected, 'message')
  const [first, second] = [definedKeys(actual), definedKeys(expected)]
  return (
    Reflect.get(actual, 'length') === Reflect.get(expected, 'length') &&
    first.length === second.length &&
    second.every((key) => isEqual(Reflect.get(actual, key), Reflect.get(expected, key)))
  )
}

/** Whether the expected fields are there; others may be as well. Lists match item by item. */
function isSubset(actual: unknown, expected: unknown): boolean {
  if (expected instanceof Asymmetric || !isComposite(expected)) return isEqual(actual, expected)
  if (!isComposite(actual)) return false
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((item, index) => isSubset(actual[index], item))
    )
  }
  return definedKeys(expected).every((key) =>
    isSubset(Reflect.get(actual, key), Reflect.get(expected, key)),
  )
}

function isComposite(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function definedKeys(value: object): readonly string[] {
  return Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined)
}
