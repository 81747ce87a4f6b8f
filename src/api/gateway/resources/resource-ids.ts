/** Ids of what a provider stores, in requests and answers. Pure. */
import { isObject } from '../../../lib/json.ts'

/** Fields that refer to something that the provider stores. `custom_id` is the client's own, and metadata is free text. */
const REFERENCE = /^(?:id|ids|.*_ids?|.*_files?|container|conversation)$/
const NO_REFERENCE: ReadonlySet<string> = new Set([
  'custom_id',
  'metadata',
  'model',
  'organization_id',
])
/** Names of models, endpoints and the like stand in such fields as well, and differ in form. */
const ID = /^[a-z]{2,20}[-_][\w-]{6,200}$/i
const DEPTH_MAX = 8
const IDS_MAX = 2_000

/** The ids in a body with the fields that hold them. */
export function listResourceIds(
  body: unknown,
): readonly { readonly id: string; readonly field: string }[] {
  const found: { readonly id: string; readonly field: string }[] = []
  const visit = (value: unknown, path: string, isReference: boolean, depth: number): void => {
    if (depth > DEPTH_MAX || found.length >= IDS_MAX) return
    if (typeof value === 'string') {
      if (isReference && ID.test(value)) found.push({ id: value, field: path })
    } else if (Array.isArray(value)) {
      for (const [index, each] of value.entries())
        visit(each, `${path}[${index}]`, isReference, depth + 1)
    } else if (isObject(value)) {
      for (const [name, each] of Object.entries(value)) {
        if (NO_REFERENCE.has(name)) continue
        visit(each, path === '' ? name : `${path}.${name}`, REFERENCE.test(name), depth + 1)
      }
    }
  }
  visit(body, '', false, 0)
  return found
}
