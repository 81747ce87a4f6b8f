/**
 * Locates a JSON syntax error. The platform's message may quote the surrounding text, which in a
 * file with keys must not be shown, and names the position only sometimes.
 */
const SPACE = /[ \t\r\n]*/y
const MARK = /[{}[\],:]/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** The expected token. `name?` and `value?` also allow the end of an empty object or array. */
type Expected = 'value' | 'value?' | 'name' | 'name?' | ':' | ', or end' | 'nothing'

/** The line number, from 1; null for valid JSON. */
export function findJsonErrorLine(text: string): number | null {
  const open: ('{' | '[')[] = []
  let expected: Expected = 'value'
  let at = skip(SPACE, text, 0)
  while (at < text.length) {
    const next = step(text, at, expected, open)
    if (next === null) return lineAt(text, at)
    expected = next.expected
    at = skip(SPACE, text, next.at)
  }
  return expected === 'nothing' ? null : lineAt(text, at)
}

type Step = { readonly at: number; readonly expected: Expected }

function step(text: string, at: number, expected: Expected, open: ('{' | '[')[]): Step | null {
  const after = (): Expected => (open.length === 0 ? 'nothing' : ', or end')
  const string = skip(STRING, text, at)
  if (expected === 'name' || expected === 'name?') {
    if (string > at) return { at: string, expected: ':' }
  } else if (expected === 'value' || expected === 'value?') {
    const end = Math.max(string, skip(SCALAR, text, at))
    if (end > at) return { at: end, expected: after() }
  }
  if (skip(MARK, text, at) === at) return null
  const mark = text[at]
  const isValue = expected === 'value' || expected === 'value?'
  if (isValue && (mark === '{' || mark === '[')) {
    open.push(mark)
    return { at: at + 1, expected: mark === '{' ? 'name?' : 'value?' }
  }
  if (expected === ':' && mark === ':') return { at: at + 1, expected: 'value' }
  const inside = open.at(-1)
  const mayEnd = expected === ', or end' || expected === (inside === '{' ? 'name?' : 'value?')
  if (mayEnd && mark === (inside === '{' ? '}' : ']') && inside !== undefined) {
    open.pop()
    return { at: at + 1, expected: after() }
  }
  if (expected === ', or end' && mark === ',') {
    return { at: at + 1, expected: inside === '{' ? 'name' : 'value' }
  }
  return null
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}
