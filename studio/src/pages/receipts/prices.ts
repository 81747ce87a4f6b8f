/** Prices of models in US dollars per million tokens: list prices, and those that were changed in this browser. */
import { useSyncExternalStore } from 'react'
import LIST from './list-prices.json'

export type Price = { readonly input: number; readonly cached: number; readonly output: number }

export type Usage = {
  readonly input: number
  readonly output: number
  readonly cached: number | null
}

export const LIST_PRICES_DATE = LIST.date

const STORAGE_KEY = 'recollect.prices'
const MILLION = 1_000_000
/** Versions of a model share its price, such as `gpt-4o-2024-11-20` and `claude-sonnet-4-5`. */
const VERSION_SEPARATOR = /^[-@:.]/

type Prices = Readonly<Record<string, Price>>

const listeners = new Set<() => void>()
let own: Prices = load()

function load(): Prices {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '{}')
    return typeof stored === 'object' && stored !== null ? (stored as Prices) : {} // written by `setPrice`
  } catch {
    return {}
  }
}

function store(next: Prices): void {
  own = next
  localStorage.setItem(STORAGE_KEY, JSON.stringify(next))
  for (const listener of listeners) listener()
}

export function setPrice(model: string, price: Price): void {
  store({ ...own, [model]: price })
}

export function resetPrices(): void {
  store({})
}

/** Returns a function from a model to its price; null for models without one. */
export function usePrices(): (model: string) => Price | null {
  const changed = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => own,
  )
  return (model) => changed[model] ?? findListPrice(model)
}

function findListPrice(model: string): Price | null {
  const name = model.slice(model.lastIndexOf('/') + 1)
  const [known] = Object.entries(LIST.models)
    .filter(([each]) => {
      const rest = name.slice(each.length)
      return name.startsWith(each) && (rest === '' || VERSION_SEPARATOR.test(rest))
    })
    .sort(([a], [b]) => b.length - a.length)
  if (known === undefined) return null
  const [input = 0, cached = 0, output = 0] = known[1]
  return { input, cached, output }
}

/** Providers count cached tokens as input. */
export function costOf({ input, output, cached }: Usage, price: Price): number {
  const read = Math.min(input, cached ?? 0)
  return ((input - read) * price.input + read * price.cached + output * price.output) / MILLION
}
