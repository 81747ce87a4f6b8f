/**
 * Edits one value of a JSON file that a person maintains, and leaves every other byte unchanged:
 * comments, order, trailing commas, line ends.
 */
import { AppError } from '../../../lib/errors.ts'
import { isJsonEqual } from '../../../lib/json.ts'

type Node = {
  readonly start: number
  readonly end: number
  /** Null unless it is an object. */
  readonly members: readonly Member[] | null
  readonly value: unknown
}
type Member = { readonly name: string; readonly start: number; readonly node: Node }

const DEPTH_MAX = 200

/**
 * The text with `value` at `path`; missing parent objects are created. Returns the same text when
 * it holds the value already.
 */
export function setJsoncValue(text: string, path: readonly string[], value: unknown): string {
  if (text.replace(/^\uFEFF/, '').trim() === '') {
    return `${text.startsWith('\uFEFF') ? '\uFEFF' : ''}${JSON.stringify(nested(path, value), null, 2)}\n`
  }
  const layout = layoutOf(text)
  let node = new Reader(text).read()
  for (const [depth, name] of path.entries()) {
    if (node.members === null) {
      throw refusal(depth === 0 ? 'It is no JSON object.' : `"${path[depth - 1]}" is no object.`)
    }
    // Of duplicate keys, parsers use the last.
    const member = node.members.findLast((each) => each.name === name)
    if (member === undefined) {
      const rest = nested(path.slice(depth + 1), value)
      return insertMember(text, node, name, rest, depth + 1, layout)
    }
    node = member.node
  }
  if (isJsonEqual(node.value, value)) return text
  const written = render(value, path.length, layout)
  return text.slice(0, node.start) + written + text.slice(node.end)
}

/** What the text says; an empty object for an empty text. */
export function readJsonc(text: string): unknown {
  return text.replace(/^\uFEFF/, '').trim() === '' ? {} : new Reader(text).read().value
}

/** The text without the value at `path`; the same text when there is none. */
export function removeJsoncValue(text: string, path: readonly string[]): string {
  if (text.replace(/^\uFEFF/, '').trim() === '') return text
  let node = new Reader(text).read()
  for (const [depth, name] of path.entries()) {
    const at = node.members?.findLastIndex((each) => each.name === name) ?? -1
    const member = node.members?.[at]
    if (member === undefined) return text
    if (depth === path.length - 1) return cutMember(text, node, at)
    node = member.node
  }
  return text
}

/**
 * Removes a member with its comma: the one after it or, for the last member, the one before it.
 */
function cutMember(text: string, { members, end }: Node, at: number): string {
  const [before, member, after] = [members?.[at - 1], members?.[at], members?.[at + 1]]
  if (member === undefined) return text
  const rest = text.slice(member.node.end, after?.start ?? end - 1)
  const comma = commaIn(rest)
  const behind = member.node.end + (comma < 0 ? 0 : comma + 1)
  const line = /[ \t]*(?:\r?\n)?[ \t]*$/.exec(text.slice(0, member.start))?.[0] ?? ''
  const start = member.start - line.length
  if (comma >= 0 || before === undefined) return text.slice(0, start) + text.slice(behind)
  // For the last member, the comma before it would be left over.
  const gap = text.slice(before.node.end, start)
  const left = commaIn(gap)
  return `${text.slice(0, before.node.end)}${gap.slice(0, left)}${gap.slice(left + 1)}${text.slice(behind)}`
}

type Layout = { readonly indent: string; readonly lineEnd: string }

function layoutOf(text: string): Layout {
  const margins = [...text.matchAll(/\n([ \t]+)["\]}]/g)].map((match) => match[1] ?? '')
  const indent = margins.reduce(
    (one, other) => (other.length < one.length ? other : one),
    margins[0] ?? '  ',
  )
  return { indent, lineEnd: text.includes('\r\n') ? '\r\n' : '\n' }
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
}

function render(value: unknown, depth: number, { indent, lineEnd }: Layout): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', lineEnd + indent.repeat(depth))
}

function insertMember(
  text: string,
  { start, end, members }: Node,
  name: string,
  value: unknown,
  depth: number,
  layout: Layout,
): string {
  const margin = layout.lineEnd + layout.indent.repeat(depth)
  const member = `${margin}${JSON.stringify(name)}: ${render(value, depth, layout)}`
  const last = members?.at(-1)
  if (last === undefined) {
    const inner = text.slice(start + 1, end - 1)
    const closing = layout.lineEnd + layout.indent.repeat(depth - 1)
    // An empty object can hold comments only; they stay before the new member.
    const kept = inner.trim() === '' ? '' : inner.trimEnd()
    return `${text.slice(0, start + 1)}${kept}${member}${closing}${text.slice(end - 1)}`
  }
  const after = text.slice(last.node.end, end - 1)
  const comma = commaIn(after)
  // After the comma and comments of the last member, on a new line.
  const tail = after.trimEnd()
  const gap = after.slice(tail.length)
  const closing = gap.includes('\n') ? gap : layout.lineEnd + layout.indent.repeat(depth - 1)
  const separated = comma < 0 ? `,${tail}` : tail
  const ending = comma < 0 ? '' : ','
  return `${text.slice(0, last.node.end)}${separated}${member}${ending}${closing}${text.slice(end - 1)}`
}

/** The position of a trailing comma in the rest of an object. Comments may contain commas too. */
function commaIn(rest: string): number {
  return rest.replaceAll(COMMENT, (comment) => ' '.repeat(comment.length)).indexOf(',')
}
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//g

/** Parses JSON with comments and trailing commas, and keeps the position of each value. */
class Reader {
  readonly #text: string
  #at = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
  }

  read(): Node {
    this.#skip()
    const node = this.#value()
    this.#skip()
    if (this.#at < this.#text.length) this.#fail('the end')
    return node
  }

  #value(): Node {
    if (++this.#depth > DEPTH_MAX) throw refusal('It is nested too deeply.')
    const start = this.#at
    const first = this.#text[start]
    const node =
      first === '{' ? this.#object(start) : first === '[' ? this.#array(start) : this.#scalar(start)
    this.#depth--
    return node
  }

  #object(start: number): Node {
    const members: Member[] = []
    this.#items('}', () => {
      const at = this.#at
      const name = this.#scalar(at).value
      if (typeof name !== 'string') this.#fail('a name in quotes')
      this.#skip()
      this.#expect(':')
      this.#skip()
      members.push({ name: name as string, start: at, node: this.#value() }) // checked above
    })
    const entries = members.map(({ name, node }) => [name, node.value] as const)
    return { start, end: this.#at, members, value: Object.fromEntries(entries) }
  }

  #array(start: number): Node {
    const items: unknown[] = []
    this.#items(']', () => items.push(this.#value().value))
    return { start, end: this.#at, members: null, value: items }
  }

  #items(closing: string, readOne: () => void): void {
    this.#at++
    for (;;) {
      this.#skip()
      if (this.#text[this.#at] === closing) break
      readOne()
      this.#skip()
      if (this.#text[this.#at] === closing) break
      this.#expect(',')
    }
    this.#at++
  }

  #scalar(start: number): Node {
    SCALAR.lastIndex = start
    const found = SCALAR.exec(this.#text)?.[0]
    if (found === undefined) return this.#fail('a value')
    this.#at = start + found.length
    try {
      return { start, end: this.#at, members: null, value: JSON.parse(found) }
    } catch {
      this.#at = start
      return this.#fail('a value')
    }
  }

  #skip(): void {
    SPACE.lastIndex = this.#at
    this.#at += SPACE.exec(this.#text)?.[0].length ?? 0
  }

  #expect(character: string): void {
    if (this.#text[this.#at] !== character) this.#fail(`"${character}"`)
    this.#at++
  }

  #fail(expected: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length
    throw refusal(`In line ${line}, ${expected} was expected.`)
  }
}

const SPACE = /(?:\s|\uFEFF|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y
const SCALAR = /"(?:[^"\\\n]|\\.)*"|-?[\d.eE+-]+|true|false|null/y

function refusal(message: string): AppError {
  return new AppError('invalid_input', `The file can't be changed safely. ${message}`)
}
