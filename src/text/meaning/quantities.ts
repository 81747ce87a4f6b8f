/** Numbers, times and dates in a text, normalized so that "1,400", "1.400" and "1400" are equal. */

const NUMBER_WORDS: ReadonlyMap<string, number> = new Map(
  [
    'zero null cero zero',
    'one eins uno',
    'two twice zwei zweimal dos deux duas dois',
    'three drei tres trois',
    'four vier cuatro quatre quatro',
    'five fünf cinco cinq',
    'six sechs seis',
    'seven sieben siete sept sete',
    'eight acht ocho huit oito',
    'nine neun nueve neuf nove',
    'ten zehn diez dix dez',
    'eleven elf once onze',
    'twelve zwölf doce douze doze',
  ].flatMap((line, value) => line.split(' ').map((word) => [word, value] as const)),
)
for (const [tens, value] of [
  ['twenty zwanzig veinte vingt vinte', 20],
  ['thirty dreißig treinta trente trinta', 30],
  ['forty vierzig cuarenta quarante quarenta', 40],
  ['fifty fünfzig cincuenta cinquante cinquenta', 50],
  ['hundred hundert cien cent cem', 100],
  ['dozen dutzend docena douzaine dúzia', 12],
  ['thirteen dreizehn trece treize treze', 13],
  ['fourteen vierzehn catorce quatorze', 14],
  ['fifteen fünfzehn quince quinze', 15],
  ['sixteen sechzehn dieciséis seize dezesseis', 16],
  ['seventeen siebzehn diecisiete dezessete', 17],
  ['eighteen achtzehn dieciocho dezoito', 18],
  ['nineteen neunzehn diecinueve dezenove', 19],
  ['sixty sechzig sesenta soixante sessenta', 60],
  ['seventy siebzig setenta', 70],
  ['eighty achtzig ochenta oitenta', 80],
  ['ninety neunzig noventa', 90],
  ['thousand tausend mil mille', 1000],
] as const) {
  for (const word of tens.split(' ')) (NUMBER_WORDS as Map<string, number>).set(word, value) // built here
}
const CJK_DIGITS = '〇一二三四五六七八九十'

const MONTHS = [
  'january jan januar enero janvier janeiro 1月 一月',
  'february feb februar febrero février fevrier fevereiro 2月 二月',
  'march mar märz marz marzo mars março marco 3月 三月',
  'april apr abril avril 4月 四月',
  'may mai mayo maio 5月 五月',
  'june jun juni junio juin junho 6月 六月',
  'july jul juli julio juillet julho 7月 七月',
  'august aug agosto août aout 8月 八月',
  'september sept sep septiembre septembre setembro 9月 九月',
  'october oct oktober octubre octobre outubro 10月 十月',
  'november nov noviembre novembre novembro 11月 十一月',
  'december dec dezember diciembre décembre decembre dezembro 12月 十二月',
]
const WEEKDAYS = [
  'sunday sun sonntag domingo dimanche 星期天 星期日 周日 日曜 日曜日',
  'monday mon montag lunes lundi segunda-feira 星期一 周一 月曜 月曜日',
  'tuesday tue tues dienstag martes mardi terça-feira 星期二 周二 火曜 火曜日',
  'wednesday wed mittwoch miércoles miercoles mercredi quarta-feira 星期三 周三 水曜 水曜日',
  'thursday thu thurs donnerstag jueves jeudi quinta-feira 星期四 周四 木曜 木曜日',
  'friday fri freitag viernes vendredi sexta-feira 星期五 周五 金曜 金曜日',
  'saturday sat samstag sonnabend sábado sabado samedi 星期六 周六 土曜 土曜日',
]
const CALENDAR: ReadonlyMap<string, string> = new Map([
  ...MONTHS.flatMap((line, index) =>
    line.split(' ').map((word) => [word, `m${index + 1}`] as const),
  ),
  ...WEEKDAYS.flatMap((line, index) => line.split(' ').map((word) => [word, `w${index}`] as const)),
])
const CJK_CALENDAR = [...CALENDAR.keys()]
  .filter((word) => /\p{Script=Han}/u.test(word))
  .sort((a, b) => b.length - a.length)

/** Words that are a month as well as something else, and mean the month only with a capital. */
const AMBIGUOUS = new Set([
  'may',
  'march',
  'mar',
  'sun',
  'sat',
  'mon',
  'wed',
  'mars',
  'dec',
  'sept',
  'mai',
  'once',
])

export type Quantity = {
  /** Equal for equal quantities: `1400`, `t210` for 3:30, `m6` for June, `w2` for Tuesday. */
  readonly key: string
  readonly at: number
  /** A day, month, year or ISO date, which may be derived from "tomorrow". */
  readonly isDate: boolean
  /** What is counted, where it is a common unit: `year`, `hour`, … */
  readonly unit: string | null
  /** Whether it was written with "k": "45k" is 45,000, or 45 km where somebody runs. */
  readonly isThousands?: boolean
}

const TIME = /(?<!\d)(\d{1,2})[:h.](\d{2})(?!\d)(?:\s*(a\.?m|p\.?m|uhr))?/giu
const HOUR = /(?<![\d.,:])(\d{1,2})\s*(a\.?m\.?|p\.?m\.?)(?!\p{L})/giu
const ISO = /(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)/gu
const NUMBER =
  /(?:(?<=\dx)|(?<![\p{Script=Latin}\d.,]))[$€£¥]?(\d{1,3}(?:[.,\u00a0 ]\d{3})+(?!\d)|\d+(?:[.,]\d+)?)(k(?!\p{L})|\s?(?:mil|tausend|thousand|万|千)(?!\p{Script=Latin}))?(?:st|nd|rd|th|e|er|º|ª|x(?=\d)|kg|g|mg|mcg|km|m|cm|ml|l|h|hrs?|min|lbs?|gb|mb|pm|am|yo?|yrs?)?(?:(?<=x)(?=\d)|(?![\p{Script=Latin}\d]))/giu

/** "Three hours" supports no age of three. */
export function isSameQuantity(a: Quantity, b: Quantity): boolean {
  if (a.key === b.key) return a.unit === null || b.unit === null || a.unit === b.unit
  return isDistance(a, b) || isDistance(b, a)
}

/** "Running 45k a week" is 45 kilometers. */
function isDistance(short: Quantity, long: Quantity): boolean {
  return (
    short.isThousands === true &&
    long.unit === 'kilometer' &&
    Number(short.key) === Number(long.key) * 1000
  )
}

export function listQuantities(text: string): readonly Quantity[] {
  const found: Quantity[] = []
  let rest = text
  const take = (
    pattern: RegExp,
    read: (match: RegExpExecArray) => readonly Omit<Quantity, 'at' | 'unit'>[],
  ) => {
    const pieces: string[] = []
    let end = 0
    for (const match of rest.matchAll(pattern)) {
      const quantities = read(match)
      const unit = readUnit(text.slice(match.index, match.index + match[0].length + 20))
      for (const quantity of quantities) found.push({ ...quantity, at: match.index, unit })
      if (quantities.length > 0) {
        pieces.push(rest.slice(end, match.index), ' '.repeat(match[0].length))
        end = match.index + match[0].length
      }
    }
    rest = pieces.join('') + rest.slice(end)
  }
  take(ISO, ([, year, month, day]) => [
    { key: `${Number(year)}`, isDate: true },
    { key: `m${Number(month)}`, isDate: true },
    { key: `${Number(day)}`, isDate: true },
  ])
  take(TIME, ([, hour, minute, half]) =>
    Number(hour) < 25 && Number(minute) < 60 && (half !== undefined || Number(hour) < 25)
      ? [{ key: toTimeKey(Number(hour), Number(minute)), isDate: false }]
      : [],
  )
  take(HOUR, ([, hour]) => [{ key: `${Number(hour) % 12}`, isDate: false }])
  for (const word of CJK_CALENDAR) {
    take(new RegExp(word.replace(/^(?=\d)/u, '(?<!\\d)'), 'gu'), () => [
      { key: CALENDAR.get(word) ?? word, isDate: true },
    ])
  }
  take(NUMBER, ([, digits = '', unit]) => {
    const value = toNumber(digits) * (unit === undefined ? 1 : unit.trim() === '万' ? 10_000 : 1000)
    const isThousands = unit?.toLowerCase() === 'k'
    return [
      {
        key: `${value}`,
        isDate: value >= 1900 && value < 2100 && digits.length === 4,
        ...(isThousands ? { isThousands } : {}),
      },
    ]
  })
  take(
    /(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-\p{Script=Latin}+|(?:\p{Script=Latin}+-feira|\p{Script=Latin}+)/giu,
    ({ 0: word = '', index: at }) => {
      const folded = word
        .toLowerCase()
        .replace(/s$/u, (end) => (CALENDAR.has(word.toLowerCase()) ? end : ''))
      const isPlain =
        AMBIGUOUS.has(folded) && word === word.toLowerCase() && !isMonthPlace(text, at, word)
      const calendar = isPlain ? undefined : CALENDAR.get(folded)
      if (calendar !== undefined) return [{ key: calendar, isDate: true }]
      const number = readNumberWord(word.toLowerCase())
      return number === undefined || isPlain ? [] : [{ key: `${number}`, isDate: false }]
    },
  )
  take(/[一二三四五六七八九十两](?=[个年岁天次月周只位名点歳人匹])/gu, ([digit = '']) => [
    { key: `${digit === '两' ? 2 : CJK_DIGITS.indexOf(digit)}`, isDate: false },
  ])
  const months = listNear(found.filter(({ key }) => key.startsWith('m')))
  return found.map((quantity) => {
    const isDay = /^(?:[1-9]|[12]\d|3[01])$/u.test(quantity.key)
    const isDate = quantity.isDate || (isDay && months(quantity.at))
    return { ...quantity, isDate }
  })
}

/** Whether one of the quantities stands beside a position. */
function listNear(quantities: readonly Quantity[]): (at: number) => boolean {
  const places = new Map<number, number[]>()
  for (const { at } of quantities) {
    const part = Math.floor(at / DATE_CHARACTERS_MAX)
    places.set(part, [...(places.get(part) ?? []), at])
  }
  return (at) => {
    const part = Math.floor(at / DATE_CHARACTERS_MAX)
    return [part - 1, part, part + 1].some((each) =>
      places.get(each)?.some((place) => Math.abs(place - at) <= DATE_CHARACTERS_MAX),
    )
  }
}

/** A day and its month are this close: "15 September". */
const DATE_CHARACTERS_MAX = 12

/** "In may", "17 may" and "may 3" are months whatever their case. */
function isMonthPlace(text: string, at: number, word: string): boolean {
  const [before, after] = [
    text.slice(Math.max(0, at - 8), at),
    text.slice(at + word.length, at + word.length + 4),
  ]
  return (
    /(?:^|\s)(?:in|since|until|till|by|from|last|next|this|early|late|mid|\d{1,2}(?:st|nd|rd|th)?)[ -]$/iu.test(
      before,
    ) || /^ \d{1,2}(?!\d)/u.test(after)
  )
}

/** "Twenty-five" and "third", but not "one", which is mostly a pronoun or an article. */
function readNumberWord(word: string): number | undefined {
  if (word === 'one' || word === 'eins' || word === 'uno') return undefined
  const [tens = '', ones = ''] = word.split('-')
  const [high, low] = [NUMBER_WORDS.get(tens), NUMBER_WORDS.get(ones)]
  if (high !== undefined && high >= 20 && low !== undefined) return high + low
  return NUMBER_WORDS.get(word) ?? ORDINAL_WORDS.get(word)
}

const ORDINAL_WORDS: ReadonlyMap<string, number> = new Map(
  'first second third fourth fifth sixth seventh eighth ninth tenth'
    .split(' ')
    .map((word, index) => [word, index + 1] as const)
    .filter(([word]) => word !== 'second' && word !== 'first'),
)

const UNITS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['year', /^[\p{L}\d.,-]*?[ -]*(?:years?|yrs?|y\/?o|jahren?|años?|ans|anos?|岁|歳|年)(?!\p{L})/iu],
  ['month', /^[\p{L}\d.,-]*?[ -]*(?:months?|monaten?|mes(?:es)?|mois|个月|か月|ヶ月)(?!\p{L})/iu],
  ['week', /^[\p{L}\d.,-]*?[ -]*(?:weeks?|wks?|wochen?|semanas?|semaines?|周|週間?)(?!\p{L})/iu],
  ['day', /^[\p{L}\d.,-]*?[ -]*(?:days?|tagen?|tage|días?|jours?|dias?|天|日間)(?!\p{L})/iu],
  ['hour', /^[\p{L}\d.,-]*?[ -]*(?:hours?|hrs?|h|stunden?|horas?|heures?|小时|時間)(?!\p{L})/iu],
  ['minute', /^[\p{L}\d.,-]*?[ -]*(?:minutes?|mins?|minuten?|minutos?|分钟|分)(?!\p{L})/iu],
  ['percent', /^[\p{L}\d.,-]*? ?(?:%|percent|prozent|por ciento|por cento|pour cent)/iu],
  ['kilometer', /^[\p{L}\d.,-]*? ?(?:km|kilomet(?:er|re)s?|kilómetros?|公里)(?!\p{L})/iu],
  ['kilogram', /^[\p{L}\d.,-]*? ?(?:kg|kilos?|kilograms?)(?!\p{L})/iu],
]

function readUnit(text: string): string | null {
  return UNITS.find(([, pattern]) => pattern.test(text))?.[0] ?? null
}

/** Times on a clock of twelve hours, because "3:30" may mean 15:30. */
function toTimeKey(hour: number, minute: number): string {
  return minute === 0 ? `${hour % 12}` : `t${(hour % 12) * 60 + minute}`
}

function toNumber(digits: string): number {
  const grouped = /^\d{1,3}(?:[.,\u00a0 ]\d{3})+$/u.test(digits)
  return Number(grouped ? digits.replace(/\D/gu, '') : digits.replace(',', '.'))
}

/** Relative times, and the days from when they were said that they may stand for. */
const RELATIVE_TIMES: readonly (readonly [pattern: RegExp, fromDays: number, toDays: number])[] = [
  [
    /(?<!\p{L})(?:today|tonight|this (?:morning|evening|afternoon)|heute|hoy|aujourd'hui|hoje)(?!\p{L})|今天|今日|今晚/iu,
    0,
    0,
  ],
  [/(?<!\p{L})(?:tomorrow|morgen|mañana|demain|amanhã)(?!\p{L})|明天|明日/iu, 1, 1],
  [/(?<!\p{L})(?:yesterday|last night|gestern|ayer|hier|ontem)(?!\p{L})|昨天|昨日/iu, -1, -1],
  [
    /(?<!\p{L})(?:(?:this|on|next|coming) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|lunes|martes|miércoles|jueves|viernes|sábado|domingo|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|segunda|terça|quarta|quinta|sexta)(?!\p{L})|星期|周[一二三四五六日]|曜日/iu,
    -7,
    7,
  ],
  [
    /(?<!\p{L})(?:next week|in a week|nächste woche|la próxima semana|semaine prochaine|próxima semana|semana que vem)(?!\p{L})|下周|下个星期|来週/iu,
    1,
    14,
  ],
  [
    /(?<!\p{L})(?:last week|a week ago|letzte woche|la semana pasada|semaine dernière|semana passada)(?!\p{L})|上周|先週/iu,
    -14,
    -1,
  ],
  [
    /(?<!\p{L})(?:next month|nächsten monat|el próximo mes|le mois prochain|mês que vem|próximo mês)(?!\p{L})|下个月|来月/iu,
    17,
    61,
  ],
  [
    /(?<!\p{L})(?:last month|letzten monat|el mes pasado|le mois dernier|mês passado)(?!\p{L})|上个月|先月/iu,
    -61,
    -1,
  ],
  [
    /(?<!\p{L})(?:next year|nächstes jahr|el próximo año|l'année prochaine|ano que vem|próximo ano)(?!\p{L})|明年|来年/iu,
    1,
    730,
  ],
  [
    /(?<!\p{L})(?:last (?:year|summer|spring|autumn|fall|winter)|letztes jahr|el año pasado|l'année dernière|ano passado)(?!\p{L})|去年|昨年/iu,
    -730,
    -1,
  ],
]
const SPAN =
  /(?<!\p{L})(?:in|vor|hace|il y a|há|dans|dentro de|en|em)? ?(\d{1,3}|a|an|two|three|four|five|six) (day|week|month|year)s?(?: ago)?(?!\p{L})/giu
const DAYS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30.4, year: 365.25 }
const DAY_MS = 86_400_000

/** The keys of the days, months and years that relative times in a text may stand for. */
export function listImpliedDates(text: string, saidAt: number | null): ReadonlySet<string> {
  const implied = new Set<string>()
  if (saidAt === null) return implied
  const year = new Date(saidAt).getUTCFullYear()
  implied.add(`${year}`)
  // A month without a year is of this year or of one beside it.
  if (listQuantities(text).some(({ isDate }) => isDate)) {
    implied.add(`${year - 1}`)
    implied.add(`${year + 1}`)
  }
  const add = (from: number, to: number) => {
    for (let offset = from; offset <= to; offset++) {
      const day = new Date(saidAt + offset * DAY_MS)
      // A span of years implies no day.
      if (to - from <= 70) implied.add(`${day.getUTCDate()}`)
      if (to - from <= 14) implied.add(`w${day.getUTCDay()}`)
      if (to - from <= 370) implied.add(`m${day.getUTCMonth() + 1}`)
      implied.add(`${day.getUTCFullYear()}`)
    }
  }
  for (const [pattern, from, to] of RELATIVE_TIMES) if (pattern.test(text)) add(from, to)
  for (const [, count = '', unit = ''] of text.matchAll(SPAN)) {
    const number = /^an?$/iu.test(count) ? 1 : (NUMBER_WORDS.get(count) ?? Number(count))
    const days = Math.round(number * (DAYS[unit.toLowerCase()] ?? 1))
    const slack = unit === 'day' ? 0 : Math.round((DAYS[unit.toLowerCase()] ?? 1) / 2)
    add(-days - slack, -days + slack)
    add(days - slack, days + slack)
  }
  return implied
}
