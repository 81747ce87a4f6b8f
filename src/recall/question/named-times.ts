/**
 * Times by name: seasons, holidays, ranges of days, and months, years and days in the languages of pattern extraction. Each
 * pattern is anchored at a fixed word and has no nested repetition, so that matching takes linear time.
 */
import { DAY_MS } from '../../lib/time.ts'

export type NamedTime = {
  readonly from: number
  /** Exclusive. */
  readonly until: number
  readonly words: string
  readonly isRelative: boolean
}

const MONTH_NAMES: readonly string[] = [
  'january|januar|enero|janvier|janeiro',
  'february|februar|febrero|février|fevereiro',
  'march|märz|marzo|mars|março',
  'april|abril|avril',
  'may|mai|mayo|maio',
  'june|juni|junio|juin|junho',
  'july|juli|julio|juillet|julho',
  'august|agosto|août',
  'september|septiembre|septembre|setembro',
  'october|oktober|octubre|octobre|outubro',
  'november|noviembre|novembre|novembro',
  'december|dezember|diciembre|décembre|dezembro',
]
const MONTHS: ReadonlyMap<string, number> = new Map(
  MONTH_NAMES.flatMap((names, index) => names.split('|').map((name) => [name, index] as const)),
)
const MONTH = [...MONTHS.keys()].join('|')

/** The first month of each season. */
const SEASONS: ReadonlyMap<string, number> = new Map([
  ...list('spring frühling frühjahr primavera printemps 春天 春', 2),
  ...list('summer sommer verano été verão 夏天 夏', 5),
  ...list('autumn fall herbst otoño automne outono 秋天 秋', 8),
  ...list('winter invierno hiver inverno 冬天 冬', 11),
])
const SEASON = [...SEASONS.keys()].sort((a, b) => b.length - a.length).join('|')

function list(words: string, value: number): readonly (readonly [string, number])[] {
  return words.split(' ').map((word) => [word, value] as const)
}

type Unit = 'day' | 'week' | 'month' | 'year'
/** The last whole unit before the question. */
const LAST: readonly (readonly [Unit, RegExp])[] = [
  [
    'month',
    /(?:letzten|vergangenen|vorigen) monat|(?:el )?mes pasado|(?:le )?mois dernier|(?:no )?mês passado|上个?月|先月/u,
  ],
  [
    'week',
    /(?:letzte|vergangene|vorige) woche|(?:la )?semana pasada|(?:la )?semaine dernière|(?:na )?semana passada|上个?(?:周|星期)|先週/u,
  ],
  [
    'year',
    /(?:letztes|vergangenes|voriges) jahr|(?:el )?año pasado|(?:l')?(?:an dernier|année dernière)|(?:no )?ano passado|去年|昨年/u,
  ],
  ['day', /(?<!\p{L})(?:gestern|ayer|hier soir|ontem)(?!\p{L})|昨天|昨日/u],
]

const HOLIDAYS: readonly (readonly [RegExp, (year: number) => number])[] = [
  [
    /(?<!\p{L})(?:christmas|xmas|weihnachten|navidad|noël|natal)(?!\p{L})|圣诞节?|クリスマス/u,
    (year) => Date.UTC(year, 11, 25),
  ],
  [
    /(?<!\p{L})(?:valentine['’]?s(?: day)?|valentinstag|san valentín|saint-valentin)(?!\p{L})|情人节|バレンタイン/u,
    (year) => Date.UTC(year, 1, 14),
  ],
  [/(?<!\p{L})halloween(?!\p{L})|万圣节|ハロウィン/u, (year) => Date.UTC(year, 9, 31)],
  [
    /(?<!\p{L})(?:new year['’]?s(?: day)?|neujahr|año nuevo|nouvel an|ano novo)(?!\p{L})|元旦|元日/u,
    (year) => Date.UTC(year, 0, 1),
  ],
  [/(?<!\p{L})(?:easter|ostern|pascua|pâques|páscoa)(?!\p{L})|复活节|イースター/u, computeEaster],
]
const HOLIDAY_SLACK_MS = 3 * DAY_MS
/** A holiday soon to come is this year's. */
const AHEAD_MS = 60 * DAY_MS

const COUNTS = 'one two three four five six seven eight nine ten'.split(' ')

/** `text` is in lower case. */
export function findNamedTime(text: string, now: Date): NamedTime | null {
  return (
    findRange(text, now) ??
    findHoliday(text, now) ??
    findSeason(text, now) ??
    findForeign(text, now)
  )
}

/** "Between 10 and 20 March", "from June to August". */
function findRange(text: string, now: Date): NamedTime | null {
  const days = RANGE_OF_DAYS.exec(text)
  if (days !== null) {
    const [words, first, month1, second, month2 = month1, year] = days
    const end = MONTHS.get(month2 ?? '')
    const start = MONTHS.get(month1 ?? '') ?? end
    if (start === undefined || end === undefined) return null
    const inYear = year === undefined ? latestYear(start, now) : Number(year)
    const from = Date.UTC(inYear, start, Number(first))
    return span(from, Date.UTC(inYear + (end < start ? 1 : 0), end, Number(second)) + DAY_MS, words)
  }
  const months = RANGE_OF_MONTHS.exec(text)
  if (months === null) return null
  const [words, first, second, year] = months
  const [start, end] = [MONTHS.get(first ?? ''), MONTHS.get(second ?? '')]
  if (start === undefined || end === undefined) return null
  const inYear = year === undefined ? latestYear(start, now) : Number(year)
  return span(Date.UTC(inYear, start), Date.UTC(inYear + (end < start ? 1 : 0), end + 1), words)
}

const RANGE_OF_DAYS = new RegExp(
  `\\b(?:between|from) (?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?: (${MONTH}))? (?:and|to|until) (?:the )?(\\d{1,2})(?:st|nd|rd|th)?(?: (?:of )?(${MONTH}))(?:,? ((?:19|20)\\d\\d))?`,
  'u',
)
const RANGE_OF_MONTHS = new RegExp(
  `\\b(?:between|from) (${MONTH}) (?:and|to|until|through) (${MONTH})(?:,? ((?:19|20)\\d\\d))?`,
  'u',
)

/** A holiday with the days around it, or weeks before or after it. */
function findHoliday(text: string, now: Date): NamedTime | null {
  for (const [pattern, dayOf] of HOLIDAYS) {
    const match = pattern.exec(text)
    if (match === null) continue
    const year = /(?:19|20)\d\d/.exec(text.slice(match.index, match.index + 30))?.[0]
    const day = year === undefined ? latestHoliday(dayOf, now) : dayOf(Number(year))
    const lead = text.slice(Math.max(0, match.index - 40), match.index)
    const offset =
      /(?:(\d{1,2}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (day|week|month)s? )?(before|after) $/.exec(
        lead,
      )
    const words = `${offset?.[0] ?? ''}${match[0]}`
    if (offset === null) return span(day - HOLIDAY_SLACK_MS, day + HOLIDAY_SLACK_MS + DAY_MS, words)
    const sign = offset[3] === 'before' ? -1 : 1
    if (offset[1] === undefined) {
      const [near, far] = [day + sign * DAY_MS, day + sign * 14 * DAY_MS]
      return span(Math.min(near, far), Math.max(near, far) + DAY_MS, words)
    }
    const unit = { day: 1, week: 7, month: 30 }[offset[2] ?? 'day'] ?? 1
    const center = day + sign * readCount(offset[1]) * unit * DAY_MS
    const slack = Math.floor(unit / 2) * DAY_MS
    return span(center - slack, center + slack + DAY_MS, words)
  }
  return null
}

function readCount(words: string): number {
  const index = COUNTS.indexOf(words)
  return index >= 0 ? index + 1 : Number(words) || 1
}

function latestHoliday(dayOf: (year: number) => number, now: Date): number {
  const year = now.getUTCFullYear()
  const [coming, latest] = [dayOf(year), dayOf(year - 1)]
  if (coming <= now.getTime()) return coming
  return coming - now.getTime() < AHEAD_MS && now.getTime() - latest > 2 * AHEAD_MS
    ? coming
    : latest
}

/** The Gregorian computus. */
function computeEaster(year: number): number {
  const a = year % 19
  const b = Math.floor(year / 100)
  const c = year % 100
  const d =
    (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30
  const e = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - d - (c % 4)) % 7
  const f = d + e - 7 * Math.floor((a + 11 * d + 22 * e) / 451) + 114
  return Date.UTC(year, Math.floor(f / 31) - 1, (f % 31) + 1)
}

/** A season after a word that makes it a time: "last summer", "in winter 2024", "en verano de 2024". */
function findSeason(text: string, now: Date): NamedTime | null {
  const match = SEASON_PHRASE.exec(text)
  const [words, lead = '', name = '', year] = match ?? []
  const month = SEASONS.get(name)
  if (words === undefined || month === undefined) return null
  if (lead === '' && year === undefined) return null
  if (year !== undefined)
    return span(Date.UTC(Number(year), month), Date.UTC(Number(year), month + 3), words)
  const isOver = Date.UTC(now.getUTCFullYear(), month + 3) <= now.getTime()
  const hasBegun = Date.UTC(now.getUTCFullYear(), month) <= now.getTime()
  const isLast = /last|letzte|pasad|dernier|passad|去/u.test(lead)
  const inYear = now.getUTCFullYear() - (isLast ? (isOver ? 0 : 1) : hasBegun ? 0 : 1)
  return {
    ...span(Date.UTC(inYear, month), Date.UTC(inYear, month + 3), words),
    isRelative: isLast,
  }
}

const SEASON_PHRASE = new RegExp(
  `((?<!\\p{L})(?:last|in(?: the)?|during(?: the)?|this(?: past)?|since|early|late|letzten|letztes|im|en(?: el)?|en la|au|l'|no|na|去年|今年) ?)?(?<!\\p{L})(${SEASON})(?!\\p{L})(?: (?:of |de |von )?((?:19|20)\\d\\d))?`,
  'u',
)

/** Months, years and the last unit in languages other than English. */
function findForeign(text: string, now: Date): NamedTime | null {
  const east = /((?:19|20)\d\d) ?年(?: ?(\d{1,2}) ?月)?/u.exec(text)
  if (east !== null) {
    const [words, year, month] = east
    return month === undefined
      ? span(Date.UTC(Number(year), 0), Date.UTC(Number(year) + 1, 0), words)
      : span(
          Date.UTC(Number(year), Number(month) - 1),
          Date.UTC(Number(year), Number(month)),
          words,
        )
  }
  const dated = FOREIGN_MONTH.exec(text)
  const month = MONTHS.get(dated?.[1] ?? '')
  if (dated !== null && month !== undefined) {
    const year = dated[2] === undefined ? latestYear(month, now) : Number(dated[2])
    return span(Date.UTC(year, month), Date.UTC(year, month + 1), dated[0])
  }
  for (const [unit, pattern] of LAST) {
    const words = pattern.exec(text)?.[0]
    if (words !== undefined) return { ...lastUnit(unit, now), words, isRelative: true }
  }
  const year = /(?<!\p{L})(?:en|im jahr|im jahre|em|ich|wir|man) ((?:19|20)\d\d)(?![\d-])/u.exec(
    text,
  )
  const value = Number(year?.[1])
  return year === null ? null : span(Date.UTC(value, 0), Date.UTC(value + 1, 0), String(value))
}

const FOREIGN_MONTH = new RegExp(
  `(?<!\\p{L})(?:im|en|em|de|d'|au mois de) ?(${MONTH})(?!\\p{L})(?: (?:de |del )?((?:19|20)\\d\\d))?`,
  'u',
)

function lastUnit(unit: Unit, now: Date): { readonly from: number; readonly until: number } {
  const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
  const today = Date.UTC(year, month, now.getUTCDate())
  const monday = today - ((now.getUTCDay() + 6) % 7) * DAY_MS
  switch (unit) {
    case 'year':
      return { from: Date.UTC(year - 1, 0), until: Date.UTC(year, 0) }
    case 'month':
      return { from: Date.UTC(year, month - 1), until: Date.UTC(year, month) }
    case 'week':
      return { from: monday - 7 * DAY_MS, until: monday }
    case 'day':
      return { from: today - DAY_MS, until: today }
  }
}

/** A month without a year is the latest one that has begun. */
function latestYear(month: number, now: Date): number {
  return now.getUTCFullYear() - (month > now.getUTCMonth() ? 1 : 0)
}

function span(from: number, until: number, words: string): NamedTime {
  return { from, until, words, isRelative: false }
}
