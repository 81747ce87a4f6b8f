/** Whether a point passes a filter, as Qdrant decides it. What isn't used by Recollect is refused, never guessed. */
import { type Payload, QdrantFault, type StoredPoint } from './points.ts'

export type Filter = {
  readonly must?: Condition | readonly Condition[] | null
  readonly must_not?: Condition | readonly Condition[] | null
  readonly should?: Condition | readonly Condition[] | null
  readonly [other: string]: unknown
}
type Condition = { readonly [name: string]: unknown }
type Range = { readonly [bound in 'lt' | 'lte' | 'gt' | 'gte']?: number | null }

/** `indexed` are the fields with an index. As hosted servers do, a filter by any other is refused. */
export function passes(
  point: StoredPoint,
  filter: Filter | null | undefined,
  indexed: ReadonlySet<string>,
): boolean {
  if (filter === undefined || filter === null) return true
  const known = ['must', 'must_not', 'should']
  const other = Object.keys(filter).find((name) => !known.includes(name))
  if (other !== undefined) throw notPlayed(`a filter with ${other}`)
  const holds = (condition: Condition) => meets(point, condition, indexed)
  const should = listOf(filter.should)
  // Evaluated in full, so that an index that is missing shows whatever the points are.
  const outcomes = [
    ...listOf(filter.must).map(holds),
    ...listOf(filter.must_not).map((condition) => !holds(condition)),
    ...(should.length === 0 ? [] : [should.map(holds).includes(true)]),
  ]
  return !outcomes.includes(false)
}

function meets(point: StoredPoint, condition: Condition, indexed: ReadonlySet<string>): boolean {
  if ('has_id' in condition) return (condition.has_id as readonly unknown[]).includes(point.id) // checked
  if ('has_vector' in condition) return Object.hasOwn(point.vectors, String(condition.has_vector))
  if ('is_empty' in condition && !('key' in condition)) {
    return isEmpty(fieldOf(point.payload, keyOf(condition.is_empty), indexed))
  }
  if ('is_null' in condition && !('key' in condition)) {
    return fieldOf(point.payload, keyOf(condition.is_null), indexed) === null
  }
  if ('key' in condition) return meetsField(point, condition, indexed)
  return passes(point, condition, indexed)
}

function meetsField(
  { payload }: StoredPoint,
  condition: Condition,
  indexed: ReadonlySet<string>,
): boolean {
  const value = fieldOf(payload, String(condition.key), indexed)
  const { match, range } = condition
  const other = Object.keys(condition).find((name) => !['key', 'match', 'range'].includes(name))
  if (other !== undefined) throw notPlayed(`a condition with ${other}`)
  const isMatch = match === undefined || matches(value, match as Condition) // checked before
  return isMatch && (range === undefined || isWithin(value, range as Range)) // checked before
}

function matches(value: unknown, match: Condition): boolean {
  if ('value' in match) return value === match.value
  if ('any' in match) return (match.any as readonly unknown[]).includes(value) // checked before
  throw notPlayed(`a match by ${Object.keys(match).join(', ')}`)
}

function isWithin(value: unknown, { lt, lte, gt, gte }: Range): boolean {
  if (typeof value !== 'number') return false
  const holds = (bound: number | null | undefined, compare: (bound: number) => boolean) =>
    bound === undefined || bound === null || compare(bound)
  return (
    holds(lt, (bound) => value < bound) &&
    holds(lte, (bound) => value <= bound) &&
    holds(gt, (bound) => value > bound) &&
    holds(gte, (bound) => value >= bound)
  )
}

function fieldOf(payload: Payload, key: string, indexed: ReadonlySet<string>): unknown {
  if (!indexed.has(key)) {
    throw new QdrantFault(400, `Bad request: Index required but not found for "${key}"`)
  }
  return payload[key]
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function keyOf(field: unknown): string {
  return String((field as Condition).key) // checked before
}

function listOf(conditions: Condition | readonly Condition[] | null | undefined) {
  if (conditions === undefined || conditions === null) return []
  return (Array.isArray(conditions) ? conditions : [conditions]) as readonly Condition[] // either way
}

function notPlayed(what: string): QdrantFault {
  return new QdrantFault(500, `The stand-in does not know ${what}`)
}
