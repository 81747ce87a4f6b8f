/** Matches method and path to a route. The templates come from the operation table. */
import { AppError } from '../../lib/errors.ts'

export type PathFields = { readonly [field: string]: string }

export type RouteMatch<Target> =
  | {
      readonly kind: 'found'
      readonly target: Target
      readonly template: string
      readonly fields: PathFields
    }
  /** The path exists with other methods only. */
  | {
      readonly kind: 'other-method'
      readonly template: string
      readonly allowed: readonly string[]
    }
  | { readonly kind: 'nothing' }

type Template<Target> = {
  readonly path: string
  readonly segments: readonly string[]
  readonly targets: Map<string, Target>
}

export class Router<Target> {
  readonly #fixed = new Map<string, Template<Target>>()
  readonly #open: Template<Target>[] = []

  add(method: string, path: string, target: Target): void {
    const template = this.#templateOf(path)
    if (template.targets.has(method)) throw new Error(`${method} ${path} is registered twice.`)
    template.targets.set(method, target)
  }

  has(method: string, path: string): boolean {
    return this.#templateOf(path).targets.has(method)
  }

  find(method: string, path: string): RouteMatch<Target> {
    const template = this.#fixed.get(path) ?? this.#openFor(path.split('/'))
    if (template === undefined) return { kind: 'nothing' }
    const target = template.targets.get(method === 'HEAD' ? 'GET' : method)
    if (target === undefined) {
      return { kind: 'other-method', template: template.path, allowed: allowedBy(template) }
    }
    const fields = fieldsOf(template, path)
    return { kind: 'found', target, template: template.path, fields }
  }

  #templateOf(path: string): Template<Target> {
    const isOpen = path.includes('{')
    const known = isOpen ? this.#open.find((each) => each.path === path) : this.#fixed.get(path)
    if (known !== undefined) return known
    const template = { path, segments: path.split('/'), targets: new Map<string, Target>() }
    if (isOpen) this.#open.push(template)
    else this.#fixed.set(path, template)
    return template
  }

  /** Static segments win over parameters, from left to right. */
  #openFor(segments: readonly string[]): Template<Target> | undefined {
    let best: Template<Target> | undefined
    for (const template of this.#open) {
      if (
        matchesSegments(template, segments) &&
        (best === undefined || isMoreSpecific(template, best))
      ) {
        best = template
      }
    }
    return best
  }
}

function matchesSegments(
  { segments: wanted }: Template<unknown>,
  segments: readonly string[],
): boolean {
  if (wanted.length !== segments.length) return false
  return wanted.every((segment, index) =>
    isOpenSegment(segment) ? segments[index] !== '' : segments[index] === segment,
  )
}

function isMoreSpecific(a: Template<unknown>, b: Template<unknown>): boolean {
  const index = a.segments.findIndex(
    (segment, at) => isOpenSegment(segment) !== isOpenSegment(b.segments[at] ?? ''),
  )
  return index >= 0 && !isOpenSegment(a.segments[index] ?? '')
}

function isOpenSegment(segment: string): boolean {
  return segment.startsWith('{')
}

function fieldsOf({ segments: wanted }: Template<unknown>, path: string): PathFields {
  const fields: { [field: string]: string } = {}
  const segments = path.split('/')
  wanted.forEach((segment, index) => {
    if (!isOpenSegment(segment)) return
    const field = segment.slice(1, -1)
    fields[field] = decodePathSegment(segments[index] ?? '', field)
  })
  return fields
}

/** Strict decoding: invalid UTF-8 is an error instead of a replacement character. */
export function decodePathSegment(text: string, field: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw new AppError('invalid_input', `\`${field}\` must be percent-encoded UTF-8.`, { field })
  }
}

function allowedBy({ targets }: Template<unknown>): readonly string[] {
  const methods = [...targets.keys()]
  return methods.includes('GET') ? ['GET', 'HEAD', ...methods.filter((m) => m !== 'GET')] : methods
}
