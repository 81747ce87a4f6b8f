/** Finds pasted text by its form: mails, chat transcripts, verse, code and logs, and text between rules. */
import { parseSpeakerLabel } from '../../text/speech/speaker-labels.ts'
import type { TextSpan } from './cue-matcher.ts'

type Line = TextSpan & { readonly text: string }

export function findPastedSpans(text: string): readonly TextSpan[] {
  const lines = splitLines(text)
  return [
    ...findLetter(lines),
    ...findTranscript(lines),
    ...findVerse(lines),
    ...findCode(lines),
    ...findRuledText(lines),
  ]
}

function splitLines(text: string): readonly Line[] {
  let start = 0
  return text.split('\n').map((line) => {
    const span = { start, end: start + line.length, text: line.trim() }
    start = span.end + 1
    return span
  })
}

/** Whole lines only, so that the beginning of a sentence is no greeting. */
const FORMAL_GREETING =
  /^(?:dear|liebe[rs]?|sehr geehrte[rs]?|werte[rs]?|estimad[oa]s?|querid[oa]s?|chers?|chères?|prezad[oa]s?|car[oa]s?)\s+\S[^\n]{0,60}$|^(?:尊敬的|亲爱的)[^\n。]{1,20}$|^[^\n、。]{1,15}(?:様|さま|殿|各位)、?$/iu
const GREETING =
  /^(?:hi|hello|hey|good (?:morning|afternoon|evening)|hallo|guten (?:tag|morgen|abend)|moin|hola|buen[oa]s (?:días|tardes|noches)|bonjour|bonsoir|salut|olá|oi|bom dia|boa tarde|ciao)\s+(?!there|claude|chatgpt|gpt|gemini|assistant|bot|ai\b)\p{L}[^\n.?]{0,40}[,:!，：]?$|^[^\n，。]{1,10}(?:你好|您好|さん|先生)[，、：:!！]?$/iu
const CLOSING =
  /^(?:(?:best|kind|warm|kindest|warmest)(?: regards| wishes)?|regards|(?:yours )?(?:sincerely|faithfully|truly)|yours|cheers|love|thanks|thank you|many thanks|see you(?: soon)?|take care|talk soon|xo+|mit (?:freundlichen|besten|lieben|herzlichen) grüßen|(?:viele|liebe|beste|herzliche|schöne) grüße|lg|vg|mfg|gruß|bis bald|(?:un )?(?:cordial )?saludos?(?: cordiale?s?)?|atentamente|un abrazo|besos|(?:bien )?cordialement|bien à vous|amicalement|bises|à bientôt|(?:sincères|meilleures) salutations|atenciosamente|(?:os melhores )?cumprimentos|abraços?|beijos?|um abraço|此致|敬礼|祝好|顺颂.{0,6}|よろしく.{0,12}|敬具|草々)[,.!，。、]?$/iu
const SIGNATURE_WORDS_MAX = 4
const MAIL_HEADER =
  /^(?:from|to|subject|cc|bcc|date|sent|reply-to|von|an|betreff|gesendet|de|para|asunto|assunto|enviado|à|objet|envoyé|发件人|收件人|主题|差出人|宛先|件名)\s*[:：]\s*\S/iu

function findLetter(lines: readonly Line[]): readonly TextSpan[] {
  const header = lines.findIndex(({ text }) => MAIL_HEADER.test(text))
  if (header !== -1 && lines.filter(({ text }) => MAIL_HEADER.test(text)).length >= 2) {
    return [joinLines(lines, header, lines.length - 1)]
  }
  const closing = lines.findIndex(
    ({ text }, at) => at > 0 && CLOSING.test(text) && isSignature(lines, at + 1),
  )
  const formal = lines.findIndex(({ text }) => FORMAL_GREETING.test(text))
  const greeting = formal !== -1 ? formal : lines.findIndex(({ text }) => GREETING.test(text))
  if (closing === -1 && formal === -1 && greeting < 1) return []
  if (greeting === lines.length - 1) return []
  const start = greeting === -1 || (closing !== -1 && greeting > closing) ? 0 : greeting
  const end = closing === -1 ? lines.length - 1 : findSignature(lines, closing + 1)
  return [joinLines(lines, start, end)]
}

function isSignature(lines: readonly Line[], from: number): boolean {
  const name = lines.slice(from).find(({ text }) => text !== '')
  return name === undefined || name.text.split(/\s+/u).length <= SIGNATURE_WORDS_MAX
}

function findSignature(lines: readonly Line[], from: number): number {
  const name = lines.findIndex(({ text }, at) => at >= from && text !== '')
  return name === -1 ? lines.length - 1 : name
}

const TIMESTAMP = String.raw`[[(]?\d{1,4}[:./-]\d{1,2}(?:[:./-]\d{1,4})?(?:[,T]?\s*\d{1,2}:\d{2}(?::\d{2})?)?\s*(?:[ap]m)?[\])]?\s*(?:[-–]\s*)?`
const TURN = new RegExp(
  String.raw`^(?:${TIMESTAMP})?[<*_]{0,2}(\p{L}[\p{L}\p{N}._'’-]{0,20}(?:\s[\p{L}\p{N}._'’-]{1,20}){0,2})[>*_]{0,2}\s?(?:\([^)]{0,20}\))?\s?[:：][*_]{0,2}\s*\S`,
  'iu',
)
const TURNS_MIN = 2

/** At least two lines with a speaker. Headings such as "Diet: vegan" are no speakers. */
function findTranscript(lines: readonly Line[]): readonly TextSpan[] {
  const turns = lines.flatMap(({ text }, at) => {
    const speaker = TURN.exec(text)?.[1]?.toLowerCase()
    if (speaker === undefined || isHeading(text)) return []
    return [{ at, speaker }]
  })
  const [first, last] = [turns[0], turns.at(-1)]
  if (first === undefined || last === undefined || turns.length < TURNS_MIN) return []
  const end = lines.findIndex(({ text }, at) => at > last.at && text === '')
  return [joinLines(lines, first.at, end === -1 ? lines.length - 1 : end)]
}

function isHeading(line: string): boolean {
  const kind = parseSpeakerLabel(line)?.kind
  return kind === 'heading' || kind === 'material' || MAIL_HEADER.test(line)
}

const VERSE_LINES_MIN = 4
const VERSE_CHARACTERS_MAX = 60
/** Of the lines of a verse, so many may end like a sentence. */
const SENTENCE_LINES_SHARE = 0.5

/** Four or more short lines without full stops. A list has marks, and statements have full stops. */
function findVerse(lines: readonly Line[]): readonly TextSpan[] {
  const spans: TextSpan[] = []
  let from = 0
  for (let at = 0; at <= lines.length; at++) {
    const line = lines[at]
    if (line !== undefined && isVerseLine(line.text)) continue
    if (at - from >= VERSE_LINES_MIN && isVerse(lines.slice(from, at))) {
      spans.push(joinLines(lines, from, at - 1))
    }
    from = at + 1
  }
  return spans
}

function isVerseLine(text: string): boolean {
  return (
    text !== '' &&
    text.length <= VERSE_CHARACTERS_MAX &&
    !/^(?:[-*•+#>|]|\d+[.)])/u.test(text) &&
    !/[:：{}=;]/u.test(text)
  )
}

function isVerse(lines: readonly Line[]): boolean {
  const ended = lines.filter(({ text }) => /[.!?。！？]$/u.test(text)).length
  return ended / lines.length < SENTENCE_LINES_SHARE
}

const CODE_LINE =
  /^(?:\/\/|\/\*|\*\/|#!|<\/?[a-z]|@\p{L}+|import |from \S+ import|export |const |let |var |def |class |function |public |private |return |if \(|for \(|while \(|SELECT |INSERT |UPDATE |DELETE |CREATE |\$ |>>> |git |npm |at \S+ \(|Traceback|File "|[\w.]+(?:Error|Exception)\b|console\.|print\(|elif |\{|\}|\[\d|\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}|[A-Z]{4,5}\b[:\]]|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|FATAL|TRACE)\b)|[;{}]\s*$|^\s*["']?\w+["']?\s*[=:]\s*["'{[].*["'}\]],?;?$|\\n|=>|\w\(\w*\);?$/u
const SETTING_LINE = /^#?\s*[\w.-]+\s*[:=]\s*\S/u
const CODE_LINES_MIN = 2

/** Lines of code and logs. Comments begin like headings, so they count only beside other code. */
function findCode(lines: readonly Line[]): readonly TextSpan[] {
  const code = lines.filter(({ text }) => CODE_LINE.test(text))
  const settings = lines.filter(({ text }) => SETTING_LINE.test(text) && !isHeading(text))
  if (code.length === 0 && settings.length < CODE_LINES_MIN) return []
  return [...code, ...settings, ...lines.filter(({ text }) => /^(?:#|--|\/\/|%)\s/u.test(text))]
}

const RULE = /^(?:[-=*_~]\s?){3,}$/u

/** Between two rules or, with a single one, after it. */
function findRuledText(lines: readonly Line[]): readonly TextSpan[] {
  const [first, second] = lines.flatMap(({ text }, at) => (RULE.test(text) ? [at] : []))
  if (first === undefined) return []
  return [joinLines(lines, first, second ?? lines.length - 1)]
}

function joinLines(lines: readonly Line[], from: number, to: number): TextSpan {
  const [first, last] = [lines[from], lines[to]]
  return { start: first?.start ?? 0, end: last?.end ?? first?.end ?? 0 }
}
