/** The stored form of file problems: databases of earlier versions hold them under these names. */
import type { JsonObject } from '../../lib/json.ts'
import type { FileProblem } from '../file.ts'

type Reason = FileProblem['reason']

const STORED_REASONS: ReadonlyMap<Reason, string> = new Map([
  ['outside_root', 'outside'],
  ['modified_during_read', 'changing'],
])
const REASONS: ReadonlyMap<string, Reason> = new Map(
  [...STORED_REASONS].map(([reason, stored]) => [stored, reason]),
)

export type StoredProblem = {
  readonly path: string
  readonly because: string
  readonly message: string
}

export function encodeProblem({ path, reason, message }: FileProblem): StoredProblem {
  return { path, because: STORED_REASONS.get(reason) ?? reason, message } satisfies JsonObject
}

export function decodeProblem({ path, because, message }: StoredProblem): FileProblem {
  const reason = REASONS.get(because) ?? (because as Reason) // `encodeProblem` wrote one of them
  return { path, reason, message }
}
