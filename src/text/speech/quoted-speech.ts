/**
 * Blanks out everything that the person did not say themself: quotations, code, block quotes and the turns
 * of others in a pasted conversation. The result has the length of the text, so offsets stay true.
 */
import { parseSpeakerLabel } from './speaker-labels.ts'

/** Stands for each unit of a quotation or of inline code: something that is there but says nothing. */
export const QUOTE_MASK = '\u{FFFC}'

type QuoteKind = { readonly opens: RegExp; readonly closes: RegExp }

/**
 * A straight or raised quote opens only where no word precedes it, or "don't" and 27" would open one.
 * The closing expressions are searched with a remembered position, never twice over the same stretch.
 */
const QUOTES: Readonly<Record<string, QuoteKind>> = {
  '"': { opens: /(?<![\p{Script=Latin}\p{N}])$/u, closes: /"/gu },
  "'": { opens: /(?<![\p{L}\p{N}])$/u, closes: /(?<=\S)'(?![\p{L}\p{N}])/gu },
  '‘': { opens: /$/u, closes: /’(?![\p{L}\p{N}])/gu },
  '“': { opens: /$/u, closes: /[”"]/gu },
  '„': { opens: /$/u, closes: /[“”"]/gu },
  '«': { opens: /$/u, closes: /»/gu },
  '»': { opens: /$/u, closes: /«/gu },
  '「': { opens: /$/u, closes: /」/gu },
  '『': { opens: /$/u, closes: /』/gu },
  '`': { opens: /$/u, closes: /`/gu },
}

const FENCE = /^\s{0,3}(?:```|~~~)/u
const BLOCK_QUOTE = /^\s{0,3}[>|＞]/u
const LINE_END = /\n/gu
const PARAGRAPH_END = /\n\s*?\n/gu
const LINE = /[^\n]*(?:\n|$)/gu

export function maskQuotedSpeech(text: string): string {
  return maskQuotes(maskLines(text.replace(/\r/gu, ' ').replace(/[’ʼ＇]/gu, straightenApostrophe)))
}

/** ’ closes a quotation opened by ‘ and is an apostrophe inside a word; only there it may be made straight. */
function straightenApostrophe(mark: string, at: number, text: string): string {
  return /[\p{L}\p{N}]/u.test(text.charAt(at + 1)) ? "'" : mark
}

/** Lines of others become empty lines; labels become blanks. */
function maskLines(text: string): string {
  const lines = text.match(LINE) ?? []
  const labels = lines.map(parseSpeakerLabel)
  // Between labelled turns an empty line is just an empty line. In a lone paste it ends what was pasted.
  const isConversation = labels.some((label) => label?.kind === 'own')
  let isFenced = false
  let isForeign = false
  let isMaterial = false
  const masked = lines.map((line, index) => {
    const isFence = FENCE.test(line)
    if (isFence) isFenced = !isFenced
    if (isFence || isFenced || BLOCK_QUOTE.test(line)) return '\n'.repeat(line.length)
    const label = labels[index] ?? null
    if (label !== null) {
      isMaterial ||= label.kind === 'material'
      isForeign = label.kind === 'other'
    } else if (!isConversation && line.trim() === '') {
      isForeign = false
    }
    if (isForeign || isMaterial) return '\n'.repeat(line.length)
    return label === null ? line : ' '.repeat(label.length) + line.slice(label.length)
  })
  return masked.join('')
}

function maskQuotes(text: string): string {
  const pieces: string[] = []
  const findClose = createCloseFinder(text)
  let copied = 0
  for (let at = 0; at < text.length; at++) {
    const mark = text.charAt(at)
    const kind = QUOTES[mark]
    if (kind === undefined || !kind.opens.test(text.slice(Math.max(0, at - 2), at))) continue
    const close = findClose(mark, kind, at + 1)
    if (close === null) continue
    pieces.push(text.slice(copied, at), QUOTE_MASK.repeat(close + 1 - at))
    copied = close + 1
    at = close
  }
  pieces.push(text.slice(copied))
  return pieces.join('')
}

/**
 * Finds where a quotation closes, within its paragraph. Positions only grow, so the next closing mark of each
 * kind is remembered: a text of nothing but opening marks would otherwise be searched to its end for each.
 */
function createCloseFinder(text: string) {
  const known = new Map<string, number>()
  const next = (name: string, expression: RegExp, from: number): number => {
    const last = known.get(name)
    if (last !== undefined && last >= from) return last
    expression.lastIndex = from
    const position = expression.exec(text)?.index ?? Number.POSITIVE_INFINITY
    known.set(name, position)
    return position
  }
  return (mark: string, kind: QuoteKind, from: number): number | null => {
    const close = next(mark, kind.closes, from)
    const limit =
      mark === '`' ? next('line', LINE_END, from) : next('paragraph', PARAGRAPH_END, from)
    return close < limit ? close : null
  }
}
