/**
 * Masks text that is not the user's own: quotations, code, block quotes and other speakers' turns in a pasted
 * conversation. The result has the same length, so offsets stay valid.
 */
import { parseSpeakerLabel } from './speaker-labels.ts'

/** Replaces each unit of a quotation or of inline code. */
export const QUOTE_MASK = '\u{FFFC}'

type QuoteKind = { readonly opens: RegExp; readonly closes: RegExp }

/**
 * A straight quotation mark opens only where no word precedes it, because of "don't" and 27". The closing patterns are
 * global: each is searched on from its last match, never twice over the same range.
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
const OPENING_QUOTE = /^["'‘“„«»「『`]/u
const LINE_END = /\n/gu
const PARAGRAPH_END = /\n\s*?\n/gu
const LINE = /[^\n]*(?:\n|$)/gu

export function maskQuotedSpeech(text: string): string {
  return maskQuotes(maskLines(text.replace(/\r/gu, ' ').replace(/[’ʼ＇]/gu, straightenApostrophe)))
}

/** Straightens ’ inside words only; elsewhere it closes a quotation opened by ‘. */
function straightenApostrophe(mark: string, at: number, text: string): string {
  return /[\p{L}\p{N}]/u.test(text.charAt(at + 1)) ? "'" : mark
}

/** Replaces other speakers' lines with line breaks and labels with blanks. */
function maskLines(text: string): string {
  const lines = text.match(LINE) ?? []
  const labels = lines.map(parseSpeakerLabel)
  // In a conversation with own labels, an empty line may be part of a turn. In a single paste it ends the paste.
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
      // A quotation is masked by itself, and what follows it is the user's own.
      isMaterial ||= label.kind === 'material' && !OPENING_QUOTE.test(line.slice(label.length))
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
 * Finds where a quotation closes, within its paragraph. Offsets only grow, so the next closing mark of each kind is
 * cached: without it, a text of opening marks only would take quadratic time.
 */
function createCloseFinder(text: string) {
  const cache = new Map<string, number>()
  const findNext = (name: string, pattern: RegExp, from: number): number => {
    const cached = cache.get(name)
    if (cached !== undefined && cached >= from) return cached
    pattern.lastIndex = from
    const position = pattern.exec(text)?.index ?? Number.POSITIVE_INFINITY
    cache.set(name, position)
    return position
  }
  return (mark: string, kind: QuoteKind, from: number): number | null => {
    const close = findNext(mark, kind.closes, from)
    const limit =
      mark === '`' ? findNext('line', LINE_END, from) : findNext('paragraph', PARAGRAPH_END, from)
    return close < limit ? close : null
  }
}
