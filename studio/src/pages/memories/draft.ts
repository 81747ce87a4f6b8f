/** The form state of a memory, and the fields that are sent to the server. */
import type { Memory } from '../../api/client.ts'

export type Draft = {
  readonly content: string
  readonly key: string
  readonly category: Memory['category']
  readonly type: Memory['type']
  readonly importance: number
  readonly pinned: boolean
  /** An ISO date, or empty. */
  readonly expires: string
}

export function draftOf(memory: Memory | null): Draft {
  return {
    content: memory?.content ?? '',
    key: memory?.key ?? '',
    category: memory?.category ?? 'general',
    type: memory?.type ?? 'factual',
    importance: memory?.importance ?? 5,
    pinned: memory?.pinned ?? false,
    expires: memory?.expiresAt?.slice(0, 10) ?? '',
  }
}

function toFields(draft: Partial<Draft>) {
  const { key, expires, ...rest } = draft
  return {
    ...rest,
    ...(key === undefined ? {} : { key: key === '' ? null : key }),
    ...(expires === undefined ? {} : { expiresAt: expires === '' ? null : `${expires}T00:00:00Z` }),
  }
}

/** Only the changed fields, so that concurrent changes to other fields are kept. */
export function changesOf(draft: Draft, base: Memory) {
  return toFields(differences(draft, draftOf(base)))
}

/** Applies the changes of a draft to a newer version. */
export function rebaseDraft(draft: Draft, base: Memory, target: Memory): Draft {
  return { ...draftOf(target), ...differences(draft, draftOf(base)) }
}

function differences(draft: Draft, before: Draft): Partial<Draft> {
  const names = Object.keys(draft) as (keyof Draft)[] // a Draft has no other keys
  return Object.fromEntries(
    names.filter((name) => draft[name] !== before[name]).map((name) => [name, draft[name]]),
  )
}

/** The filled-in fields of a new memory: a duplicate keeps its other values. */
export function newFieldsOf(draft: Draft) {
  const { key, expiresAt, ...rest } = toFields(differences(draft, draftOf(null)))
  return {
    ...rest,
    content: draft.content,
    ...(key == null ? {} : { key }),
    ...(expiresAt == null ? {} : { expiresAt }),
  }
}
