/**
 * Rewrites statements to one plain wording: "by the way, I'm employed by Siemens" becomes "I work at Siemens". The result is
 * compared with other rewritten statements, and never shown or stored.
 *
 * A rewriting may only exchange equivalent wordings: a wrong one equates different statements, and the second is lost. So
 * degree, time and doubt stay: "I might move" is not simplified.
 */

import { mayMatch } from '../../text/regex-prefilter.ts'

type Rewriting = readonly [pattern: RegExp, replacement: string]

/** Longer texts make several statements, and rewriting must be fast on any text. */
export const REWRITTEN_CHARACTERS_MAX = 300

/** The statement in plain wording. Case is kept, because it marks names. */
export function simplifyWording(statement: string): string {
  if (statement.length > REWRITTEN_CHARACTERS_MAX) return statement
  let text = statement
  for (const [pattern, replacement] of REWRITINGS) {
    if (mayMatch(pattern, text)) text = text.replace(pattern, replacement)
  }
  if (EAST_ASIAN_LETTERS.test(text)) {
    for (const [pattern, replacement] of EAST_ASIAN) text = text.replace(pattern, replacement)
  }
  return normalizeNumbers(text).replace(/\s+/g, ' ').trim()
}

/** All patterns, for `pattern-warmup.ts`. */
export function listWordingPatterns(): readonly RegExp[] {
  return [...REWRITINGS, ...EAST_ASIAN].map(([rule]) => rule)
}

const EAST_ASIAN_LETTERS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u

/** Phrases before or after a statement that add nothing. */
const FRAMING: readonly Rewriting[] = [
  [
    /^(?:by the way|btw|fyi|also|oh|well|so|okay|ok|hey|actually|honestly|just so you know|for the record|as i said|übrigens|außerdem|wie gesagt|nebenbei|por cierto|además|au fait|d'ailleurs|par ailleurs|aliás|a propósito|à propos|por sinal|além disso|对了|顺便说一下|顺便说一句|另外|ちなみに|そういえば|ところで)[,:，：、] */iu,
    '',
  ],
  [/^(?:please )?(?:remember|note|keep in mind|don't forget)(?: that|:) /i, ''],
  [
    /^(?:(?:bitte )?merk dir,? dass|recuerda que|n'oublie pas que|lembre-se de que|请记住[，,]?|覚えておいて[、,]?) ?/iu,
    '',
  ],
  [/^übrigens (?=\p{L}+ (?:ich|wir|mein) )/iu, ''],
  [/,? (?:too|as well|at the moment)(?=[.!]*$)/gi, ''],
  [/\b(i|we|he|she|they|am|is|are) (?:still|also) (?=\p{L})/giu, '$1 '],
  [/^(?:i want|i would like|i'd like) you to /i, ''],
  [/^(?:moi|a mí|para mim),? (?=je |j'|me )/iu, ''],
  [/^please,? |,? please(?=[.!]*$)/gi, ''],
  [/,? (?:by the way|btw|übrigens|por cierto|au fait|aliás)(?=[.!]*$)/giu, ''],
]

const SHORT_FORMS: readonly Rewriting[] = [
  [/\bi'm\b/gi, 'I am'],
  [/\bi've\b/gi, 'I have'],
  [/\bi'd\b/gi, 'I would'],
  [/\bi'll\b/gi, 'I will'],
  [/\b(we|they|you)'re\b/gi, '$1 are'],
  [/\b(we|they|you)'ve\b/gi, '$1 have'],
  [/\b(he|she|it|that)'s\b/gi, '$1 is'],
  [/\bcan't\b|\bcannot\b/gi, 'can not'],
  [/\bwon't\b/gi, 'will not'],
  [/(\p{L})n't\b/gu, '$1 not'],
]

/** One form for what was given up: "I don't … anymore". */
const ENDINGS: readonly Rewriting[] = [
  [/\bi (?:have )?(?:quit|stopped|gave up|given up) (?=\p{L}+ing\b)/giu, 'I do not '],
  [
    /\b[Ii] (?:have )?(?:left|resigned from|quit my job at|lost my job at) (?=\p{Lu})/gu,
    'I do not work at ',
  ],
  [/\bi (?:have )?(?:cancelled|canceled|sold|gave away|ended) my /gi, 'I do not have '],
  [/\bhab(?:e|en) aufgehört zu /giu, 'nicht '],
  [/\b(?:he dejado|dejé) de /giu, 'no '],
  [/\bj'ai arrêté de /giu, 'je ne pas '],
  [/\b(?:parei|deixei) de /gi, 'não '],
]

const ENGLISH: readonly Rewriting[] = [
  [/\b(ha(?:ve|s)) got\b/gi, '$1'],
  [/\btends? to (?=\p{L})/giu, 'usually '],
  [/\bcome from (\p{Lu})/gu, 'am from $1'],
  [/\bcomes from (\p{Lu})/gu, 'is from $1'],
  [/^the name of ((?:my|our|the) \p{L}+) is /iu, "$1's name is "],
  [/^(.{1,40}) is the name of ((?:my|our|the) \p{L}+)(?=[.!]*$)/iu, "$2's name is $1"],
  [/\b(?:am|is|are) (?:not able|unable) to\b/gi, 'can not'],
  [/\b(?:am|is|are) able to\b/gi, 'can'],
  [/\bwould like to\b/gi, 'want to'],
  [/\b(have|has) to (?=\p{L})/giu, 'must '],
  [/\b(?:a lot|lots) of\b/gi, 'many'],
  [/\b(?:approximately|around|roughly) (?=\d)/gi, 'about '],
  [/\beach (?=day|morning|evening|night|week|month|year)/gi, 'every '],
  [/\bis (?:located|situated) in\b/gi, 'is in'],
  [/\b(?:takes place|happens) (?=on |at |in )/gi, 'is '],
  [/\b(have|has) no (?=\p{L})/giu, 'do not $1 '],
  [/\b(?:have|has) a fear of\b/gi, 'am afraid of'],
  [/^(\p{Lu}[\p{L} ]{1,40}) is where (i \p{L}+(?: up)?)(?=[.!]*$)/iu, '$2 in $1'],
  [/\bi (?:have )?(?:just |recently )?started working (?=at |for )/gi, 'I now work '],
  [/\bi (?:have )?(?:just|recently) moved /gi, 'I moved '],
  [/\b[Ii] am back at (\p{Lu}[\p{L}'-]{1,30}) again\b/gu, 'I now work at $1'],
  [/\b[Ii] (?:am|moved) back (?:in|to) (\p{Lu}[\p{L}'-]{1,30}) again\b/gu, 'I now live in $1'],
  [/\b(?:reside|am based|have my home|make my home) in\b/gi, 'live in'],
  [/\b(?:resides|is based) in\b/gi, 'lives in'],
  [/\b(?:am employed|have a job|have a position) (?:at|by|with)\b/gi, 'work at'],
  [/\b(?:is employed|has a job|has a position) (?:at|by|with)\b/gi, 'works at'],
  [/\bwork(s?) for (?=\p{Lu})/gu, 'work$1 at '],
  [/^my employer is /i, 'I work at '],
  [/\bby profession\b|\bfor a living\b/gi, ''],
  [/\bis (?:a )?(?:\p{L}+ )?fan of\b|\bis (?:really )?(?:into|fond of|keen on)\b/giu, 'likes'],
  [/\bam (?:a )?(?:\p{L}+ )?fan of\b|\bam (?:really |very )?(?:into|fond of|keen on)\b/giu, 'like'],
  [/\bdo(?:es)? not care for\b|\bcan not (?:stand|bear)\b|\bam not a fan of\b/gi, 'hate'],
  [/\b(likes?|loves?|hates?|enjoys?) to (?:be |being )?(?=\p{L})/giu, '$1 '],
  [/\b(likes?|loves?|hates?|enjoys?) being /gi, '$1 '],
  [/\bhave an? (\p{L}+) allergy\b/giu, 'am allergic to $1'],
  [/\b(?:have an allergy|suffer from an allergy) to\b/gi, 'am allergic to'],
  [/\bget(s?) up\b/gi, 'wake$1 up'],
  [/\bown(s?) (?=an? |the |my |two |three |no |\d)/gi, 'have$1 '],
  [/\bdo not own\b/gi, 'do not have'],
  [/\b(ha(?:s|ve)) an? (\d+)[- ]years?[- ]old (\p{L}+)/giu, '$1 a $3 who is $2 years old'],
  [/\bworks as (?=an? )/gi, 'is '],
  [/\byears of age\b/gi, 'years old'],
  [/\bper (?=\p{L})/giu, 'a '],
  [/\bevery (mon|tues|wednes|thurs|fri|satur|sun)day\b/gi, 'on $1days'],
  [
    /\bmother and (?:my )?father\b|\bfather and (?:my )?mother\b|\bmum and dad\b|\bmom and dad\b/gi,
    'parents',
  ],
  [/\bis ((?:my|our) \p{L}+)'s(?=[.!]*$)/giu, 'belongs to $1'],
  [
    /\bi would rather (?:(?:use|have|drink|eat|take|watch|read|play) )?(.{1,60}?) than (.{1,60})$/i,
    'I prefer $1 over $2',
  ],
  [/\bi like (.{1,60}?) (?:more|better) than (.{1,60})$/i, 'I prefer $1 over $2'],
  [/\b(prefers?) (?!to )(.{1,60}?) (?:to|rather than|instead of) (.{1,60})$/i, '$1 $2 over $3'],
  [
    /\b(?:was|were|is|are|has been|have been|got) (?:moved|postponed|rescheduled|shifted|changed|pushed(?: back)?|brought forward) to\b/gi,
    'is now on',
  ],
  [/^(my|our|the) new (\p{L}+(?: \p{L}+)?) is /iu, '$1 $2 is now '],
]

const EUROPEAN: readonly Rewriting[] = [
  [/\b(?:habe|besitze) (?=ein|kein|zwei|drei|\d)/gi, 'habe '],
  [/\b(?:hasse|mag keine?[nms]?) (?=\p{Lu})/gu, 'mag nicht '],
  [/^der name (meine[rs]|unsere[rs]) (\p{L}+?)e?s? ist /iu, '$1 $2 heißt '],
  [/^meine[rs] (\p{L}+) heißt /iu, 'mein $1 heißt '],
  [/^unsere[rs] (\p{L}+) heißt /iu, 'unser $1 heißt '],
  [/\bgustan\b/gi, 'gusta'],
  [/\bencantan\b/gi, 'encanta'],
  [/\b(?:odio|detesto) (?=el |la |los |las )/gi, 'no me gusta '],
  [/\bje déteste /giu, "je n'aime pas "],
  [/\b(?:odeio|detesto) (?=\p{L})/giu, 'não gosto de '],
  [/\bstamme aus\b/gi, 'komme aus'],
  [
    /\bich bin (?:wieder |zurück )?nach (\p{L}[\p{L} -]*?) (?:um)?gezogen\b/giu,
    'Ich wohne jetzt in $1',
  ],
  [/\b(nicht|keine?[nmrs]?)\b(.{0,60}?) mehr\b/gi, '$1$2'],
  [/\bjeden (mon|diens|donners|frei|sams|sonn)tag\b/gi, '$1tags'],
  [/\bjeden mittwoch\b/gi, 'mittwochs'],
  [/\bme (?:mudé|he mudado) a\b/giu, 'Ahora vivo en'],
  [/\bcada (lunes|martes|miércoles|jueves|viernes)\b/giu, 'los $1'],
  [/\bj'ai déménagé (?:à|pour) /giu, "J'habite maintenant à "],
  [/\bchaque (lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b/gi, 'le $1'],
  [/\b(?:me mudei|mudei-me) para\b/gi, 'Agora moro em'],
  [/(não .{1,60}?) mais\b/giu, '$1'],
  [
    /(?<!\p{L})(na|nas|às|toda) (segunda|terça|quarta|quinta|sexta)(?:-feira)?(s?)(?!\p{L})/giu,
    '$1 $2-feira$3',
  ],
]

const EAST_ASIAN: readonly Rewriting[] = [
  [/讨厌/gu, '不喜欢'],
  [/每个(?=星期|周|礼拜|月|天|早|晚)/gu, '每'],
  [/嫌い(?:です)?(?=。|$)/gu, '好きではない'],
  [/(?:很|非常|真的?|特别|十分|挺)(?=喜欢|爱|讨厌|想)/gu, ''],
  [/(不[^，。]{1,20})了(?=[。！]?$)/gu, '$1'],
  [/(?<!\p{L})(?:星期|礼拜)天/gu, '星期日'],
  [/(?:周|礼拜)(?=[一二三四五六日])/gu, '星期'],
  [/大好き/gu, '好き'],
  [/とても|すごく|本当に|もう(?=.*(?:ない|ません))/gu, ''],
  [/我搬(?:到|去|回)了?(.{1,10}?)了?(?=[。！]?$)/gu, '我现在住在$1'],
  [/(.{1,10})に(?:引っ越しました|引っ越した|移りました)/gu, '今は$1に住んでいます'],
  [/(?<!\p{L})(?:私|わたし|僕|俺)は、?/gu, ''],
  [/(て|で)(?:います|る|いる)(?=。|$)/gu, '$1いる'],
  [/(?:だ|である)(?=。|$)/gu, 'です'],
  // Plain verb endings become polite ones.
  ...[...'くきぐぎすしつちぬにぶびむみうい'.matchAll(/(.)(.)/g)].map(
    ([, plain, polite]): Rewriting => [
      new RegExp(`(?<=\\p{Script=Han})${plain}(?=。|$)`, 'gu'),
      `${polite}ます`,
    ],
  ),
  [/(?<=\p{Script=Han})る(?=。|$)/gu, 'ります'],
  [/(?<=[えけせねへめれげべきしちにみり])る(?=。|$)/gu, 'ます'],
]

const SPELLINGS: readonly Rewriting[] = [
  [/\b(col|fav|flav|hon|lab|neighb|hum)our/gi, '$1or'],
  [/\bgrey\b/gi, 'gray'],
  [/\b(cent|theat|met|lit|kilomet)re(s?)\b/gi, '$1er$2'],
  [/\bwi-fi\b/gi, 'wifi'],
  [/\be-mail/gi, 'email'],
  [/\bprogramme\b/gi, 'program'],
]

const SMALL_NUMBERS: ReadonlyMap<string, string> = new Map(
  [
    'two three four five six seven eight nine ten eleven twelve',
    'zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
    'dos tres cuatro cinco seis siete ocho nueve diez',
    'deux trois quatre cinq six sept huit neuf dix onze douze',
    'dois três quatro cinco seis sete oito nove dez onze doze',
  ].flatMap((words) => words.split(' ').map((word, index) => [word, String(index + 2)] as const)),
).set('duas', '2')
const TENS_WORDS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
const TENS = new RegExp(
  `\\b(${TENS_WORDS.join('|')})(?:[- ](one|two|three|four|five|six|seven|eight|nine))?\\b`,
  'giu',
)
const HAN_NUMBERS = '〇一二三四五六七八九'

/** Writes times of day in 24-hour format and small numbers as digits; "one" is too often an article. */
function normalizeNumbers(text: string): string {
  return text
    .replace(
      /(?<![\d:.])(\d{1,2})(:\d\d)? ?(a|p)\.?m\b\.?/gi,
      (_, hour: string, minutes: string | undefined, half: string) =>
        `${(Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)}${minutes ?? ':00'}`,
    )
    .replace(/(?<![\d:.])(\d{1,2}) uhr\b/giu, '$1:00')
    .replace(TENS, (_, tens: string, unit: string | undefined) => {
      const ones = unit === undefined ? 0 : Number(SMALL_NUMBERS.get(unit.toLowerCase()) ?? 1)
      return String(20 + 10 * TENS_WORDS.indexOf(tens.toLowerCase()) + ones)
    })
    .replace(/(?<![\p{L}\p{N}-])\p{L}{3,6}(?![\p{L}\p{N}-])/gu, (word) => {
      return SMALL_NUMBERS.get(word.toLowerCase()) ?? word
    })
    .replace(
      /[两二三四五六七八九](?=[个只匹人岁歳名位次本台辆杯条头口枚冊])|[一二三四五六七八九](?=[楼樓层層階])|(?<=第)[一二三四五六七八九](?!十)/gu,
      (word) => (word === '两' ? '2' : String(HAN_NUMBERS.indexOf(word))),
    )
}

const REWRITINGS: readonly Rewriting[] = [
  ...FRAMING,
  ...SHORT_FORMS,
  ...ENDINGS,
  ...ENGLISH,
  ...EUROPEAN,
  ...SPELLINGS,
]
