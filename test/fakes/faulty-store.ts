/** Stores that misbehave on purpose. */
import type { Store } from '../../src/storage/store.ts'

const CALLS = [
  'get',
  'find',
  'countMemories',
  'searchText',
  'findDocuments',
  'listSessions',
  'findNeighbors',
  'commit',
] as const

export class InjectedFault extends Error {}

export type FaultPlan = {
  /** Which call fails, counted from 1. */
  readonly call: number
  /** A call that fails after its effect is a lost answer: the caller can't tell it from one that failed before. */
  readonly when: 'before' | 'after'
}

/** The same store, except that one call of it fails. `calls()` tells how many there were. */
export function failingAt(store: Store, plan: FaultPlan): Store & { calls(): number } {
  let calls = 0
  const broken = { ...store, calls: () => calls }
  for (const name of CALLS) {
    const original = store[name].bind(store) as (...args: unknown[]) => Promise<unknown>
    const failing = async (...args: unknown[]) => {
      calls++
      const isDue = calls === plan.call
      if (isDue && plan.when === 'before') throw new InjectedFault(`call ${calls}: ${name}`)
      const answer = await original(...args)
      if (isDue) throw new InjectedFault(`call ${calls}: ${name}, after its effect`)
      return answer
    }
    Object.assign(broken, { [name]: failing })
  }
  return broken
}

/** The same store, except that `interfere` runs once, right before the next commit. */
export function interruptedBeforeCommit(store: Store, interfere: () => Promise<void>): Store {
  let isPending = true
  return {
    ...store,
    commit: async (changes) => {
      if (isPending) {
        isPending = false
        await interfere()
      }
      return store.commit(changes)
    },
  }
}
