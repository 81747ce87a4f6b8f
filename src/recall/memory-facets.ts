/** Facets: how many memories of a result have each value of a field, and how many more each filter excludes. */

import { hasEnded, type Memory } from '../domain/memory.ts'
import type { Scope } from '../domain/scope.ts'
import { DAY_MS, type Instant } from '../lib/time.ts'
import type { ReadFilter } from '../memory/memory-reader.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { pages } from '../storage/access/row-pages.ts'

/** The newest memories that are counted. A full count of a larger owner would hold the store for seconds. */
const FACET_MEMORIES_MAX = 20_000

/** Values per facet, most frequent first. */
const FACET_VALUES_MAX = 50

/** Memories created in the last days are counted for each of these numbers of days. */
const AGE_DAYS = [7, 30, 90, 365] as const

export type FacetQuery = Omit<ReadFilter, 'ids' | 'key'> & {
  readonly users?: readonly string[]
  readonly sessions?: readonly string[]
  /** Counts these memories, such as the results of a search, instead of all memories of the scope. */
  readonly among?: readonly Memory[]
}

export const FACETS = [
  'category',
  'type',
  'status',
  'trust',
  'source',
  'user',
  'session',
  'age',
] as const

export type Facet = (typeof FACETS)[number]

export type FacetValue = { readonly value: string; readonly count: number }

export type MemoryFacets = {
  /** Memories that pass every filter. */
  readonly total: number
  /**
   * The values of each facet with the memories that have them and pass all filters on other fields. `age` counts the last
   * 7, 30, 90 and 365 days.
   */
  readonly facets: Readonly<Record<Facet, readonly FacetValue[]>>
  /** For each filter, the memories that only this filter excludes. */
  readonly excluded: Readonly<Record<string, number>>
  /** Whether all memories were counted. */
  readonly isComplete: boolean
}

type Test = { readonly name: string; readonly passes: (memory: Memory) => boolean }

export async function countFacets(
  { store, clock }: MemoryDependencies,
  scope: Scope,
  { among, contains, ...query }: FacetQuery,
): Promise<MemoryFacets> {
  const now = clock.now()
  const counter = new FacetCounter(createTests(query, now), now)
  if (among !== undefined) {
    for (const memory of among) counter.add(memory)
    return counter.finish(true)
  }
  const where = contains === undefined || contains === '' ? {} : { contains }
  let counted = 0
  for await (const page of pages(store, 'memory', scope, { where })) {
    const rows = page.slice(0, FACET_MEMORIES_MAX - counted)
    for (const memory of rows) counter.add(memory)
    counted += rows.length
    if (rows.length < page.length) return counter.finish(false)
  }
  return counter.finish(true)
}

function createTests(query: Omit<FacetQuery, 'among' | 'contains'>, now: Instant): readonly Test[] {
  const { types, categories, trusts, sources, users, sessions, pinned } = query
  const { importanceMin, createdFrom, createdBefore } = query
  const statuses = query.statuses ?? ['active']
  const isAnyAge = query.includeExpired === true || statuses.some((status) => status !== 'active')
  const test = <Value>(
    name: string,
    value: Value | undefined,
    passes: (value: Value, memory: Memory) => boolean,
  ): readonly Test[] =>
    value === undefined ? [] : [{ name, passes: (memory) => passes(value, memory) }]
  const isOneOf = <Value>(read: (memory: Memory) => Value) => {
    return (values: readonly Value[], memory: Memory) => values.includes(read(memory))
  }
  return [
    ...test(
      'status',
      statuses,
      isOneOf(({ status }) => status),
    ),
    ...test(
      'category',
      categories,
      isOneOf(({ category }) => category),
    ),
    ...test(
      'type',
      types,
      isOneOf(({ type }) => type),
    ),
    ...test(
      'trust',
      trusts,
      isOneOf(({ trust }) => trust),
    ),
    ...test(
      'source',
      sources,
      isOneOf(({ provenance }) => provenance.source),
    ),
    ...test(
      'user',
      users,
      isOneOf<string>(({ place }) => place.user ?? ''),
    ),
    ...test(
      'session',
      sessions,
      isOneOf<string>(({ place }) => place.session ?? ''),
    ),
    ...test('pinned', pinned, (value, memory) => memory.pinned === value),
    ...test('importanceMin', importanceMin, (min, { importance }) => importance >= min),
    ...test('createdFrom', createdFrom, (from, { createdAt }) => createdAt >= from),
    ...test('createdBefore', createdBefore, (before, { createdAt }) => createdAt < before),
    ...(isAnyAge ? [] : [{ name: 'expired', passes: (memory: Memory) => !hasEnded(memory, now) }]),
  ]
}

/** Counts a memory that passes all tests in every facet, and one that fails a single test in the facet of that test. */
class FacetCounter {
  readonly #tests: readonly Test[]
  readonly #now: Instant
  readonly #counts = new Map<Facet, Map<string, number>>()
  readonly #excluded = new Map<string, number>()
  #total = 0

  constructor(tests: readonly Test[], now: Instant) {
    this.#tests = tests
    this.#now = now
  }

  add(memory: Memory): void {
    const failed: string[] = []
    for (const { name, passes } of this.#tests) {
      if (!passes(memory)) failed.push(name)
      if (failed.length > 1) return
    }
    const [only] = failed
    if (only === undefined) this.#total++
    else this.#excluded.set(only, (this.#excluded.get(only) ?? 0) + 1)
    for (const facet of FACETS) {
      const isOwnFilter = only === facet || (facet === 'age' && only === 'createdFrom')
      if (only === undefined || isOwnFilter) this.#count(facet, memory)
    }
  }

  finish(isComplete: boolean): MemoryFacets {
    const facets = Object.fromEntries(
      FACETS.map((facet) => [facet, this.#valuesOf(facet)]),
    ) as Record<Facet, readonly FacetValue[]> // one entry per facet
    const excluded = Object.fromEntries(
      this.#tests.map(({ name }) => [name, this.#excluded.get(name) ?? 0]),
    )
    return { total: this.#total, facets, excluded, isComplete }
  }

  #count(facet: Facet, memory: Memory): void {
    const counts = this.#counts.get(facet) ?? new Map<string, number>()
    this.#counts.set(facet, counts)
    for (const value of readFacet(facet, memory, this.#now)) {
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
  }

  #valuesOf(facet: Facet): readonly FacetValue[] {
    const values = [...(this.#counts.get(facet) ?? [])].map(([value, count]) => ({ value, count }))
    if (facet === 'age') return values.sort((a, b) => Number(a.value) - Number(b.value))
    return values
      .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
      .slice(0, FACET_VALUES_MAX)
  }
}

function readFacet(facet: Facet, memory: Memory, now: Instant): readonly string[] {
  const { category, type, status, trust, provenance, place, createdAt } = memory
  switch (facet) {
    case 'category':
      return [category]
    case 'type':
      return [type]
    case 'status':
      return [status]
    case 'trust':
      return [trust]
    case 'source':
      return [provenance.source]
    case 'user':
      return place.user === null ? [] : [place.user]
    case 'session':
      return place.session === null ? [] : [place.session]
    case 'age':
      return AGE_DAYS.filter((days) => createdAt >= now - days * DAY_MS).map(String)
  }
}
