/** Parts that fail, hang and recover on command. */
import { AppError } from '../../../../src/lib/errors.ts'
import type { Embedder } from '../../../../src/models/embedder.ts'
import type { Store } from '../../../../src/storage/store.ts'
import { scriptedEmbedder, untilAborted } from '../../../fakes/embedder.ts'

export type Health = 'well' | 'fails' | 'hangs'

export type Patient<P> = {
  readonly part: P
  become(health: Health): void
  /** How often it was called so far. */
  calls(): number
}

const STORE_CALLS = [
  'get',
  'find',
  'countMemories',
  'searchText',
  'findDocuments',
  'listSessions',
  'findNeighbors',
  'commit',
] as const

/** A store whose every call does what its health says. Calls that hang end when it gets well. */
export function patientStore<S extends Store>(store: S): Patient<S> {
  const { check, ...patient } = createPatient()
  const part = { ...store }
  for (const name of STORE_CALLS) {
    const original = store[name].bind(store) as (...args: unknown[]) => Promise<unknown>
    const checked = async (...args: unknown[]) => {
      await check()
      return original(...args)
    }
    Object.assign(part, { [name]: checked })
  }
  return { part, ...patient }
}

export function patientEmbedder(): Patient<Embedder> {
  const { check, ...patient } = createPatient()
  const part = scriptedEmbedder(({ signal }) =>
    Promise.race([check(), ...(signal === undefined ? [] : [untilAborted(signal)])]),
  )
  return { part, ...patient }
}

function createPatient(): Omit<Patient<never>, 'part'> & { check(): Promise<void> } {
  let calls = 0
  let health: Health = 'well'
  let wait = Promise.resolve()
  let recover = () => {}
  return {
    calls: () => calls,
    check: async () => {
      calls++
      if (health === 'fails')
        throw new AppError('busy', 'Another process keeps the database locked.')
      await wait
    },
    become: (next) => {
      health = next
      recover()
      if (next !== 'hangs') return
      wait = new Promise((resolve) => {
        recover = resolve
      })
    },
  }
}
