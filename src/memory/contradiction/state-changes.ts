/**
 * Whether a new statement ends the state that an older one describes, also where it repeats none of its words: "I'm single"
 * and "got married", "I drive a Polo" and "sold the Polo", "the deadline is 12 May" and "they pushed the deadline".
 *
 * Three kinds of rules, each for statements about the same person or thing:
 *
 *   1. an event with its argument: what was sold, left, cancelled, renamed, or has died or ended
 *   2. a slot with a new value: "the landlord is now …", "my rent is 980 euros"
 *   3. a state with alternatives, or an event that ends it (`life-states.ts`)
 *
 * A wrong answer loses a true statement. So wishes, visits, additions and other people's affairs end nothing.
 */

import { execPattern, mayMatch, testPattern } from '../../text/regex-prefilter.ts'
import {
  type ChatStatement,
  type Clause,
  listContentStems,
  readChatStatement,
  type Subject,
  toStem,
} from './chat-statement.ts'
import { ALTERNATIVES, OPEN_STATES } from './life-states.ts'
import { getPlaceSize } from './places.ts'

const CACHED_STATEMENTS_MAX = 1_000
const cache = new Map<string, ChatStatement | null>()

export function readStatement(content: string): ChatStatement | null {
  const cached = cache.get(content)
  if (cached !== undefined) return cached
  if (cache.size >= CACHED_STATEMENTS_MAX) cache.clear()
  const statement = readChatStatement(content)
  cache.set(content, statement)
  return statement
}

/** All patterns, for `pattern-warmup.ts`. */
export function listStatePatterns(): readonly RegExp[] {
  return [
    ...EVENTS.map(({ pattern }) => pattern),
    ...EAST_ASIAN_EVENTS,
    ...ALTERNATIVES.flatMap((each) =>
      'names' in each ? [each.names] : each.values.map(([, pattern]) => pattern),
    ),
    ...OPEN_STATES.flatMap(({ holds, ends }) => [holds, ends]),
    ...[SLOT, REVERSED_SLOT, ...VERB_SLOTS, ...EAST_ASIAN_SLOTS],
  ]
}

let rules = 0

/** Remembers in a statement what a rule derives from it. */
function memoize<Value extends object | string | number | boolean | null>(
  derive: (statement: ChatStatement) => Value,
): (statement: ChatStatement) => Value {
  const rule = rules++
  return (statement) => {
    const known = statement.derived[rule]
    if (known !== undefined) return known as Value // only this rule writes there
    const value = derive(statement)
    statement.derived[rule] = value
    return value
  }
}

/** Whether the newer statement ends what the older one says. */
export function endsState(newer: string, older: string): boolean {
  const [after, before] = [readStatement(newer), readStatement(older)]
  return after !== null && before !== null && endsStateOf(after, before)
}

/** The same for statements that were read before. */
export function endsStateOf(after: ChatStatement, before: ChatStatement): boolean {
  if (after.isEastAsian !== before.isEastAsian) return false
  if ((listMeans(after) & listWeaknesses(before)) === 0) return false
  if (after.isQuestion || before.isQuestion || before.isPast || before.isHedged) return false
  if (after.isHedged || after.isTemporary || after.isPast) return false
  if (isIndefinite(after) || isIndefinite(before)) return false
  return (
    endsNamedThing(after, before) ||
    (!after.isAdditive &&
      (setsSlotAnew(after, before) ||
        changesNumber(after, before) ||
        changesAlternative(after, before) ||
        endsOpenState(after, before)))
  )
}

/** Whether two statements are about the same state of the same person or thing, whatever they say about it. */
export function concernSameState(newer: string, older: string): boolean {
  const [after, before] = [readStatement(newer), readStatement(older)]
  if (after === null || before === null || after.isEastAsian !== before.isEastAsian) return false
  if (after.isHedged || after.isPast || after.isTemporary) return false
  if (!after.clauses.some((clause) => isAboutSame(clause, before))) return false
  const slot = readOwnSlot(before)?.of
  if (slot !== undefined && readSlots(after).some((other) => other.slot.of === slot)) return true
  const held = listHeldStates(before)
  const [values, knownValues] = [listValues(after), listValues(before)]
  return (
    [...listHeldStates(after)].some((name) => name !== 'task' && held.has(name)) ||
    values.some((some, index) => some.length > 0 && (knownValues[index]?.length ?? 0) > 0) ||
    hasSameAmountWords(after, before)
  )
}

function hasSameAmountWords(after: ChatStatement, before: ChatStatement): boolean {
  const known = readOwnAmount(before)?.words ?? []
  return (
    known.length > 0 &&
    readAmounts(after).some(({ amount: { words } }) => {
      const shared = words.filter((word) => known.includes(word)).length
      return shared > 0 && shared * 2 >= Math.min(words.length, known.length)
    })
  )
}

const INDEFINITE =
  /^(?:everyone|everybody|someone|somebody|no one|nobody|anyone|people|some|many|most|jemand|niemand|alle|alguien|nadie|todos|quelqu'un|personne|alguém|ninguém)(?!\p{L})/u

/** The rules by which a statement can end others, and by which it can be ended, one bit each. */
const EVENT = 1
const SLOT_VALUE = 2
const AMOUNT = 4
const ALTERNATIVE = 8
const OPEN_STATE = 16

const listMeans = memoize(
  (statement) =>
    (listEvents(statement).length > 0 ? EVENT : 0) |
    (readSlots(statement).length > 0 || listNewHolders(statement).length > 0 ? SLOT_VALUE : 0) |
    (readAmounts(statement).length > 0 ? AMOUNT : 0) |
    (hasValues(statement) ? ALTERNATIVE : 0) |
    (listEndedStates(statement).length > 0 ? OPEN_STATE : 0),
)

const listWeaknesses = memoize(
  (statement) =>
    EVENT |
    (readOwnSlot(statement) === null ? 0 : SLOT_VALUE) |
    (readOwnAmount(statement) === null ? 0 : AMOUNT) |
    (hasValues(statement) ? ALTERNATIVE : 0) |
    (listHeldStates(statement).size > 0 ? OPEN_STATE : 0),
)

const isIndefinite = memoize(({ text }) => INDEFINITE.test(text))

/** Whether a statement can end anything: it reports an event, or gives a value. */
export function mayEndStates(statement: ChatStatement): boolean {
  return (
    statement.isChange ||
    (listMeans(statement) & ~SLOT_VALUE) !== 0 ||
    readSlots(statement).length > 0
  )
}

/** Search terms for the states that a statement may end. */
export function listStateTerms(content: string): readonly string[] {
  const statement = readStatement(content)
  if (statement === null || statement.isHedged || statement.isQuestion) return []
  const values = listValues(statement)
  const alternatives = ALTERNATIVES.filter((_, index) => (values[index]?.length ?? 0) > 0)
  const ended = new Set(listEndedStates(statement).map(({ name }) => name))
  const states = OPEN_STATES.filter(({ name }) => ended.has(name))
  return [...alternatives, ...states].map(({ terms }) => terms)
}

/* 1. Events with an argument */

/** What a statement must be about for an event to end it. */
type Scope = 'any' | 'unfinished' | 'slot' | 'role' | 'amount'

type EventRule = {
  readonly pattern: RegExp
  readonly scope: Scope
  /** Whether the argument is the subject of the event: then anybody may be the actor. */
  readonly isSubject?: true
}

const OBJECT = String.raw`\s+(?<arg>[^,.;!?]{2,60})`
const AUXILIARIES =
  '(?:(?:is|was|has|have|had|got|gets|are|were|just|finally|been|now|unfortunately|sadly|will be|being|ist|wurde|wird|hat|ha|ha sido|fue|se|est|a été|a|foi|já) )*'

const EVENTS: readonly EventRule[] = [
  {
    scope: 'any',
    pattern: new RegExp(
      String.raw`(?<!\p{L})(?:sold|sell|selling|quit|quitting|left|leaving|cancell?(?:ed|ing)|dropped(?: out of| off of)?|gave up(?: on)?|given up(?: on)?|giving up(?: on)?|gave away|stopped|ditched|returned|trad(?:ed|ing)(?: in)?|got rid of|getting rid of|(?:switch(?:ed|ing)|migrat(?:ed|ing)|mov(?:ed|ing)|chang(?:ed|ing)|went)(?: \p{L}+)?(?: away| over)? from|mov(?:ed|ing) (?:out of|away from|off)|lost|crashed|totall?ed|wrecked|shut down|closed|ended|broke up with|split (?:up )?with|separated from|divorc(?:ed|ing)|resigned from|retired from|done with|delet(?:ed|ing)|uninstalled|replac(?:ed|ing)|unsubscribed from|(?:got )?fired from|laid off from|graduated from|over|scrapped|abandoned|called off|paid off|no longer (?:use|using|have|own|do|play|go to|take|drive|work at|work for|need|with|at|in|on|eat|drink|like|live in|want|run|attend|study|learn\p{L}*|see)|(?:do|does) not (?:use|have|own|do|play|go to|take|drive|work at|work for|need|eat|drink|like|run|attend|study|want)(?= .{1,40}anymore)|not (?:using|having|doing|playing|going to|taking|driving|working at|at|in|on|eating|drinking|running|learning)(?= .{1,40}anymore)|no more|dropped support for|off|put down|rehomed|buried|outgrew|outgrown|stepped down as|resigned as|took down|tore down|deprecated|swapp(?:ed|ing)(?: out)?|instead of)${OBJECT}`,
      'u',
    ),
  },
  {
    scope: 'unfinished',
    pattern: new RegExp(
      String.raw`(?<!\p{L})(?:finished(?: with| reading| writing| watching| building)?|handed in|submitted|shipped|launched|published|released|complet(?:ed|ing)|fixed|repaired|passed|won|merged|resolved|solved|paid|found|bought|signed|ran|filled|done with|wrapped up)${OBJECT}`,
      'u',
    ),
  },
  {
    scope: 'slot',
    pattern: new RegExp(
      String.raw`(?<!\p{L})(?:renam(?:ed|ing)|chang(?:ed|ing)|postponed?|postponing|push(?:ed|ing)(?: back)?|resched\p{L}+|extended|shortened|raised|upped|increased|reduced|lowered|doubled|halved|cut(?: down)?|moved|moving|shifted|bumped|hiked|upgraded|updated|rotated|reset|refinanced|delayed|brought forward)${OBJECT}`,
      'u',
    ),
  },
  {
    scope: 'any',
    pattern: new RegExp(
      String.raw`(?<!\p{L})(?:vendí|vendimos|vende|dejé|dejamos|cancelé|cancelamos|abandoné|perdí|cambié (?:de)?|cambiamos (?:de)?|he dejado|he vendido|rompí con|terminé|renuncié a|aplacé|me fui de|salí de|quité|acabé|vendu|quitté|arrêté|annulé|abandonné|perdu|passée?s? de|changé de|lâché|résilié|fini|terminé|rompu avec|remplacé|vendi|vendemos|larguei|parei(?: de| com)?|deixei(?: de)?|cancelei|abandonei|perdi|troquei(?: de)?|trocamos|mudei de|saí d[aeo]|terminei(?: com)?|acabei|adiei|desisti d[aeo])${OBJECT}`,
      'u',
    ),
  },
  {
    // German participles follow their object.
    scope: 'any',
    pattern:
      /(?<!\p{L})(?:ich |wir )?(?:hab(?:e|en)?|bin|sind)? ?(?:(?:ich|wir|jetzt|heute|gestern|endlich) )*(?:(?:den|die|das|mein(?:e|en)?|unser(?:e|en)?|mit|bei|aus|von|vom|de[mn]) )*(?<arg>[\p{L}\p{N}'.+-]+(?: [\p{L}\p{N}'.+-]+)?)(?: .{1,30}?)? (?:verkauft|verschenkt|gekündigt|aufgegeben|abgesagt|abgeschafft|beendet|verlassen|verloren|gewechselt|umgestiegen|verschoben|ersetzt|aufgehört|fertig|gelöscht|abgegeben|bestanden|repariert)(?!\p{L})/u,
  },
  {
    scope: 'any',
    isSubject: true,
    pattern: subjectEvent(
      'died|dies|dead|passed away|expired|ended|over|closed(?: down)?|shut down|died on me|gone|cancell?ed|called off|stolen|sold|fell through|demolished|disbanded|dissolved|discontinued|ran out|no longer .{1,40}|gestorben|verstorben|abgesagt|vorbei|verkauft|gekündigt|murió|falleció|canceló|cancelad[oa]|terminó|mort[e]?|décédée?|annulée?|terminée?|finie?|morreu|faleceu|terminou|acabou',
    ),
  },
  {
    scope: 'role',
    isSubject: true,
    pattern: subjectEvent(
      'left|leaving|quit|resigned|retired|stepped down|fired|laid off|moved (?:to|into|over)|moved on|transferred|gekündigt|aufgehört|se fue|renunció|partie?|saiu',
    ),
  },
  {
    scope: 'slot',
    isSubject: true,
    pattern: subjectEvent(
      'moved|moving|changed|changing|postponed|rescheduled|pushed(?: back)?|delayed|brought forward|extended|shortened|renamed|replaced|switched|rebooked|shifted|off|verschoben|umbenannt|gewechselt|aplazó|aplazad[oa]|pospuso|pospuest[oa]|reportée?|adiad[oa]|mudou',
    ),
  },
  {
    scope: 'amount',
    isSubject: true,
    pattern: subjectEvent(
      'going up|going down|went up|went down|gone up|gone down|rose|dropped|increased|decreased|raised|lowered|cut|doubled|halved|down to|up to|gestiegen|gesunken|subió|bajó|augmenté|baissé|subiu|aumentou|baixou',
    ),
  },
]

function subjectEvent(verbs: string): RegExp {
  return new RegExp(`^(?<arg>[^,.;!?]{2,60}?)(?:'s)? ${AUXILIARIES}(?:${verbs})(?:\\s|$)`, 'u')
}

/** Statements of a name hold on when the thing is moved, changed or finished. */
const NAMING =
  /(?<!\p{L})(?:called|named|name|codename|heißt|se llama|s'appelle|se chama)(?!\p{L})/u
const RENAMING = /renam|chang\p{L}+ .{0,20}name|umbenannt|renommé|renombr|renomea/u
const ROLE =
  /(?<!\p{L})(?:work|works|working|job|employed|boss|manager|lead|leads|leader|ceo|cto|cfo|tutor|teacher|coach|nanny|cleaner|assistant|landlord|landlady|team|plays|member|supervisor|mentor|trainer|therapist|doctor|head|in charge|intern|responsible|arbeitet|chef\p{L}*|jefe|jefa|trabaja|travaille|trabalha)(?!\p{L})/u

function isInScope(scope: Scope, before: ChatStatement): boolean {
  const { text } = before
  switch (scope) {
    case 'any':
      return true
    case 'unfinished':
      return listHeldStates(before).has('task')
    case 'role':
      return ROLE.test(text)
    case 'amount':
      return /\d/.test(text)
    case 'slot':
      return (
        (/\d|(?<!\p{L})(?:in|at|on|im|am|en|à|em|na|no|lundi|mardi|mercredi|jeudi|vendredi|lunes|martes|segunda|terça|montag|dienstag)(?!\p{L})/u.test(
          text,
        ) ||
          (readOwnSlot(before) !== null && !NAMING.test(text))) &&
        !/(?<!\p{L})(?:makes?|sells?|likes?|loves?|has|have)(?!\p{L})/u.test(text)
      )
  }
}

const EAST_ASIAN_EVENTS: readonly RegExp[] = [
  /(?:把|将)?(?<arg>[\p{L}\p{N}]{1,12}?)(?:上周|昨天|最近|已经|被|今天|上个月|刚刚?)*(?:去世|死了|过世|走了|卖了|卖掉|取消|推迟|延期|改到|改成|改为|搬到|辞职|离职|退休|结束|涨|降|换成|换了|完成|坏了|停了|关了|丢了)/u,
  /(?:卖了|卖掉了?|取消了?|退出了?|放弃了?|不再用|不用|停用|戒了?|换掉了?|辞掉了?|弄丢了?|看完了?|读完了?|和|跟)(?<arg>[\p{L}\p{N}]{1,12}?)(?:了|分手了?|离婚了?|吵架)?$/u,
  /从(?<arg>[\p{L}\p{N} ]{1,14}?)(?:换成|换到|转到|改用|跳槽|离职|搬|辞职|毕业|退学)/u,
  /(?:^|、|,)(?:先週|昨日|最近|今日|先月|やっと|ついに)?(?<arg>[\p{L}\p{N}ー ]{1,16}?)(?:は|が|を|から|と|の)(?:先週|昨日|最近|今日|先月|もう|ついに)?.{0,12}?(?:亡くな|死ん|死に|売り|売っ|やめ|辞め|キャンセル|中止|延期|変更|変わ|乗り換|切り替|引退|退職|卒業|別れ|離婚|終わ|上が|下が|壊れ|なくし|解約|退会|手放)/u,
]

/** Words of an argument that identify nothing. */
const GENERIC = new Set(
  (
    'trip plan visit holiday vacation test old car bike job flat apartment house place subscription membership account thing stuff project contract plan date time class course app company team ' +
    'damn whole entire trip current former ex altes alte alten coche carro voiture antiguo vieux velho trabajo trabalho emploi ' +
    'dear beloved poor sweet lovely little big eating drinking taking using playing doing having reading working going studying learning driving riding smoking watching writing support'
  ).split(' '),
)

/** Words that end an argument. */
const ARGUMENT_END =
  /\s(?:to|for|at|in|on|into|with|from|and|but|because|since|after|before|last|this|next|today|yesterday|now|again|when|as|so|by|anymore|finally|until|till|is|was|are|were|per|para|por|en|a|pour|à|chez|y|e|und|nach|auf|für|desde|depuis|instead|im|am|la semana|pelo|pela)(?=\s|$).*$/u

/** "I stopped drinking coffee after four" still drinks coffee. */
const RESTRICTION =
  /(?<!\p{L})(?:after|before|with (?:salt|sugar|milk)|without|during|at (?:night|work|home)|in the (?:morning|evening|afternoon)|on (?:weekdays|weekends|\p{L}+days?)|when|while|so much|too much|as much|for a (?:day|week|while|month)|early|late|keys|bag|umbrella)(?!\p{L})/u

type StateEvent = {
  readonly clause: Clause
  readonly argument: string
  readonly scope: Scope
  readonly isSubject: boolean
  /** The words that tell what the argument names; none where it names nothing that could end. */
  readonly words: readonly string[]
}

const listEvents = memoize(({ clauses, isEastAsian }): readonly StateEvent[] => {
  const rules: readonly EventRule[] = isEastAsian
    ? EAST_ASIAN_EVENTS.map((pattern) => ({ pattern, scope: 'any' }))
    : EVENTS
  return clauses.flatMap((clause) =>
    rules.flatMap(({ pattern, scope, isSubject = false }) => {
      const argument = execPattern(pattern, clause.text)?.groups?.arg
      if (argument === undefined) return []
      const words = isEastAsian ? [] : listNamingWords(argument, clause, isSubject)
      return [{ clause, argument, scope, isSubject, words }]
    }),
  )
})

function endsNamedThing(after: ChatStatement, before: ChatStatement): boolean {
  return listEvents(after).some((event) => {
    const { clause, argument, scope, isSubject } = event
    if (!namesThing(event, before) || !(isSubject || isSameActor(clause, before))) return false
    if (scope === 'any') return true
    if (NAMING.test(before.text)) return RENAMING.test(clause.text)
    return isInScope(scope, before) && isNamedBySlot(argument, before)
  })
}

/** Whether what changes is the slot of the older statement, and not its value: "Clara changed jobs" leaves my wife Clara. */
function isNamedBySlot(argument: string, before: ChatStatement): boolean {
  if (/\d/.test(before.text) || isInScope('unfinished', before) || isInScope('role', before))
    return true
  const owner = ownerOf(before)
  const names = owner.kind === 'other' && !owner.isPerson ? owner.names : []
  return listContentStems(argument).some((word) => names.includes(word))
}

/** Whether the argument of an event names what the older statement is about. */
function namesThing({ argument, words }: StateEvent, before: ChatStatement): boolean {
  if (before.isEastAsian) {
    const name = argument
      .replace(/^(?:我们?)?(?:把|将)?(?:我们?的?|那辆|这辆|那个|私の|うちの)?/u, '')
      .replace(/的$/u, '')
    return name.length >= 2 && before.text.includes(name)
  }
  return words.length > 0 && words.every((word) => hasStem(before.words, word))
}

const NAMING_WORDS_MAX = 3

function listNamingWords(argument: string, clause: Clause, isSubject: boolean): readonly string[] {
  const end = clause.text.indexOf(argument)
  if (RESTRICTION.test(clause.text.slice(end))) return []
  const named = listContentStems(isSubject ? argument : argument.replace(ARGUMENT_END, ''))
  const specific = named.filter((word) => !GENERIC.has(word))
  const known = specific.length > 0 ? specific : named
  return known.length <= NAMING_WORDS_MAX ? known : []
}

function hasStem(words: ReadonlySet<string>, word: string): boolean {
  if (words.has(word)) return true
  for (const other of words) if (isInflection(word, other)) return true
  return false
}

/** "smoking" is a form of "smoke", "studies" one of "study". */
function isInflection(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a]
  if (short.length < 3) return false
  const stem = short.replace(/e$/u, '')
  return long.startsWith(stem) && /^(?:.?ing|e?d|e?n|e?s|er|in)$/u.test(long.slice(stem.length))
}

const SELF: Subject = { kind: 'self' }

function ownerOf({ clauses: [first] }: ChatStatement): Subject {
  return first?.subject ?? SELF
}

/** Whether whoever acts can end the state: the same person, or anybody for a thing. */
function isSameActor({ subject, isShared }: Clause, before: ChatStatement): boolean {
  const owner = ownerOf(before)
  if (owner.kind === 'self') return subject.kind === 'self'
  if (owner.kind === 'unknown' || subject.kind === 'unknown') return true
  if (subject.kind === 'self') return !owner.isPerson || isShared || before.text.startsWith('my ')
  return sharesName(subject, owner)
}

/** Whether a clause is about the person or thing that the older statement is about. */
function isAboutSame({ subject }: Clause, before: ChatStatement): boolean {
  const owner = ownerOf(before)
  if (subject.kind === 'unknown') return owner.kind !== 'self'
  if (owner.kind === 'unknown') return subject.kind === 'other'
  if (owner.kind === 'self') {
    return (
      subject.kind === 'self' ||
      (!subject.isPerson && subject.names.some((name) => before.words.has(name)))
    )
  }
  return subject.kind === 'self' ? !owner.isPerson : sharesName(subject, owner)
}

/** "My sister Eva" and "Eva" share a name; "my other sister" is another person, "my sister's boss" as well. */
function sharesName(
  one: Extract<Subject, { kind: 'other' }>,
  other: Extract<Subject, { kind: 'other' }>,
): boolean {
  const contains = (a: typeof one, b: typeof one) => b.names.every((name) => a.names.includes(name))
  // "Lena's sister" is not Lena.
  if (one.isPossessive !== other.isPossessive || one.names.length === 0) return false
  if (one.isPossessive) return contains(one, other) && contains(other, one)
  const isDistinct = one.names.some((name) => DISTINCTION.test(name) && !other.names.includes(name))
  return !isDistinct && (contains(one, other) || contains(other, one))
}

const DISTINCTION =
  /^(?:other|second|first|third|older|younger|elder|big|little|late|ex|best|work|step|half|andere|zweite|otra|otro|autre|outra|outro)$/u

/* 2. Slots with a new value */

type Slot = { readonly of: string; readonly value: ReadonlySet<string>; readonly text: string }

const BE =
  "is|are|'s|was (?:moved|changed|pushed|postponed|extended|raised|cut|rescheduled|renamed|set|bumped|lowered|increased|reduced) (?:back )?to|(?:has been|was|were|got|been) (?:rebooked|shifted|swapped|moved|changed|pushed|postponed|extended|raised|cut|rescheduled|renamed|bumped|lowered|increased|reduced) (?:back )?to|(?:went|gone) (?:up|down) to|(?:has )?(?:rose|increased|dropped|changed|moved|grew|fell|risen|grown) to|became|will be|lives? (?:in|at)|works? (?:at|for)|costs?|ist|sind|heißt|beträgt|kostet|(?:wurde|wird) auf|es(?: de)?|son|se llama|cuesta|(?:pasó|subió|bajó) a|est(?: de)?|sont|s'appelle|coûte|(?:passe|passé) à|é(?: de)?|são|se chama|custa|(?:passou|subiu|mudou) para"
const SLOT = new RegExp(
  `^(?:(?:as of|since|from|seit|desde|depuis) [\\p{L}\\d]+ )?(?:(?:my|our|the|his|her|their|mein|meine|unser|unsere|der|die|das|el|la|mi|nuestro|nuestra|le|ma|mon|notre|o|a|meu|minha|nosso|nossa) |l')?(?<of>[\\p{L}\\d'’-]+(?: [\\p{L}\\d'’-]+){0,3}?) (?:now |jetzt |ahora |maintenant |agora )?(?:${BE}) (?:now |currently |jetzt |ahora |maintenant |agora |called |named )*(?<value>.{1,60})$`,
  'u',
)
/** "Ms Ong is my tutor now." */
const REVERSED_SLOT =
  /^(?<value>[\p{L}\d'. -]{2,40}?) (?:is|are) (?:now )?(?:my|our|the) (?<of>(?!new |favou?rite thing)\p{L}+(?: \p{L}+)??)(?: now| these days)?$/u
/** Verbs with one object at a time. A second one has to be announced. */
const VERB_SLOTS: readonly RegExp[] = [
  /^(?:i |we |they |he |she |\p{L}+ |the \p{L}+ )?(?:now |currently )?(?<of>reports? to|commutes? (?:by|to|from)|goe?s? to work by|wears? size|needs? size|pays?|earns?|sleeps? (?:on|in)|drives?|rides?|wakes? up at|gets? up at|opens? at|closes? at|starts? at|ends? at|ships? on|releases? on|deploys? (?:on|to|with)|meets? (?:in|on|at)|runs? on|sits? (?:in|at|on|next to)|stud(?:y|ies)|majors? in|trains? (?:at|with)|weighs?|costs?|rents?|reads?|am reading|is reading|leads?|plays? for|banks? with|works? (?:as|at|for)|study at|go by|goes by|am called|lives? (?:in|with|on)|am on|is on|arbeite (?:bei|als)|fahre|studiere|lese) (?<value>[^,.;!?]{2,40}?)(?: now| these days| nowadays| from .{3,12}| since .{3,12})?$/u,
]
const SLOT_LEADS =
  /^(?:(?:now|these days|nowadays|currently|from now on|since \p{L}+|as of \p{L}+|today|ahora|maintenant|agora|jetzt|seit \p{L}+),? )+/u

const EAST_ASIAN_SLOTS: readonly RegExp[] = [
  /^(?:我们?的?|公司的?)?新?(?<of>[\p{Script=Han}A-Za-z]{1,8}?)(?:现在|目前|已经)?(?:是|叫|改成|改为|改到|涨到|降到|换成|变成)了?(?<value>[^，。]{1,16}?)了?$/u,
  /^(?:私の|うちの|今の)?(?:新しい)?(?<of>[^はがをに、]{1,12}?)(?:の名前)?は(?:今|現在|今は)?(?<value>[^、。]{1,16}?)(?:です|だ|になりました|に変更になりました|に変わりました|に上がりました|に下がりました|といいます)?$/u,
]

function readSlot(text: string, isEastAsian: boolean): Slot | null {
  const patterns = isEastAsian ? EAST_ASIAN_SLOTS : [REVERSED_SLOT, ...VERB_SLOTS, SLOT]
  for (const pattern of patterns) {
    const groups = pattern.exec(text.replace(/[.!。！]+$/u, '').replace(SLOT_LEADS, ''))?.groups
    if (groups?.of === undefined || groups.value === undefined) continue
    if (isEastAsian) {
      const of = groups.of.replace(/^(?:今の?|现在|目前|新)/u, '')
      return { of, value: new Set([groups.value]), text: groups.value }
    }
    const of = toSlotName(groups.of)
    const value = new Set(listContentStems(groups.value))
    // "I am" and "she is" have no slot.
    return /^(?:i|we|he|she|it|they|you|that|this|there|here|what)$/.test(of) || value.size === 0
      ? null
      : { of, value, text: groups.value }
  }
  return null
}

/** "The new landlord" and "my landlord" name one slot, "the flight to Rome" and "the flight from Rome" two. */
function toSlotName(phrase: string): string {
  const words = phrase.split(' ').map((word) => toStem(word.replace(/'s?$/u, '')))
  return words
    .filter((word) => !QUALIFIERS.has(word))
    .sort()
    .join(' ')
}

const QUALIFIERS = new Set(
  'the my our a an new old current latest actual neue neuer neues neuen nueva nuevo nouvelle nouveau nova novo mein meine mi mon ma meu minha'.split(
    ' ',
  ),
)

/** Slots of which there is one: a second value replaces the first without any word for a change. */
const SINGLE =
  /(?:^| )(?:deadline|due date|rent|salary|wage|dose|dosage|price|fee|budget|address|email|mail|password|passcode|pin|wifi|wi-fi|ssid|network|name|nickname|codename|number|weight|height|size|age|birthday|version|release|port|room|floor|desk|start date|end date|launch|appointment|meeting|standup|kickoff|flight|exam|wedding|party|interview|color|colour|employer|favou?rite|limit|quota|timezone|locale|language|theme|pace|goal|target|miete|gehalt|passwort|termin|frist|adresse|lieblings\p{L}+|alquiler|sueldo|salario|contraseña|plazo|dirección|favorit[oa]|loyer|salaire|mot passe|délai|adresse|préférée?|aluguel|salário|senha|prazo|endereço|房租|工资|密码|截止|地址|会议|家賃|給料|締め切り|住所|会議|パスワード)(?:$| )/u

/** People of whom there is usually one, and things that are replaced. A second one has to be announced. */
const HOLDERS =
  /(?:^| )(?:landlord|landlady|boss|manager|supervisor|lead|ceo|cto|cfo|principal|headmaster|doctor|gp|dentist|therapist|coach|trainer|teacher|tutor|accountant|lawyer|roommate|flatmate|neighbou?r|laptop|phone|car|bike|computer|mouse|keyboard|monitor|camera|gym|bank|office|chef|chefin|vermieter|jefe|jefa|cheffe|chefe|老板|上司)(?:$| )/u

/** Values that say what something is like, not which one it is. */
const DESCRIPTION =
  /^(?:a|an|very|really|so|too|quite|pretty|not|great|good|bad|nice|terrible|awful|amazing|expensive|cheap|hard|easy|long|short|strict|annoying|friendly|important|on (?:leave|holiday|vacation)|in (?:the|a)|broken|late|from|about|like|because|that|ein|eine|un|una|une|um|uma|sehr|muy|très|muito|for|at work|at home|online|busy|sick|ill|tired|happy|sad)(?![\p{L}])/u

/** "Scottish", "on holiday": nothing that could name a person. */
const NO_PERSON =
  /(?:ish|ese|ian|ean|ful|less|able|ing)$|^(?:on|in|off|out|at|strict|nice|kind|funny|cool|old|young|tall|new|back|away|holiday|vacation|leave|sick)(?![\p{L}])/u

function isDescription({ of, text }: Slot): boolean {
  return DESCRIPTION.test(text) || (HOLDERS.test(of) && NO_PERSON.test(text))
}

const readOwnSlot = memoize(({ text, isEastAsian }) => readSlot(text, isEastAsian))
const readSlots = memoize(({ clauses, isEastAsian }) =>
  clauses.flatMap((clause) => {
    const slot = readSlot(clause.text, isEastAsian)
    return slot === null ? [] : [{ slot, subject: clause.subject }]
  }),
)

function setsSlotAnew(after: ChatStatement, before: ChatStatement): boolean {
  const known = readOwnSlot(before)
  if (known === null || before.clauses.length > 2) return false
  const isReplaced = readSlots(after).some(
    ({ slot, subject }) => isSameSlotOwner(subject, before) && replacesValue(slot, known, after),
  )
  return isReplaced || replacesHolder(after, known)
}

/** "Katrin Lange" after "Katrin Weber", but not after "Katrin". */
function isOtherName(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const contains = (a: ReadonlySet<string>, b: ReadonlySet<string>) =>
    [...b].every((word) => a.has(word))
  return !contains(one, other) && !contains(other, one)
}

/** "Tom drives a Skoda now" says nothing about what I drive. */
function isSameSlotOwner(subject: Subject, before: ChatStatement): boolean {
  const owner = ownerOf(before)
  if (subject.kind === 'self' || owner.kind === 'self')
    return subject.kind === owner.kind || !VERB_SLOTS[0]?.test(before.text)
  return true
}

function replacesValue(slot: Slot, known: Slot, after: ChatStatement): boolean {
  if (slot.of !== known.of) return false
  if ([...slot.value].some((word) => known.value.has(word) && !/^\d/.test(word))) {
    // "980 euros" and "900 euros" share the unit.
    const [one, other] = [firstNumber(slot.text), firstNumber(known.text)]
    if (/(?:^| )name(?:$| )/u.test(slot.of)) return isOtherName(slot.value, known.value)
    return (
      one !== null && other !== null && one !== other && (after.isChange || SINGLE.test(slot.of))
    )
  }
  if (isDescription(slot) !== isDescription(known)) return false
  if (isDescription(slot)) return false
  const haveNumbers = (firstNumber(slot.text) === null) === (firstNumber(known.text) === null)
  return haveNumbers && (SINGLE.test(slot.of) || after.isChange)
}

/** "We have a new landlord", "changed the wifi name", "switched dentists". */
function replacesHolder(after: ChatStatement, { of }: Slot): boolean {
  const holders = listNewHolders(after)
  return (
    holders.length > 0 &&
    (SINGLE.test(of) || HOLDERS.test(of)) &&
    holders.some(([one = '', two]) => {
      return of === one || (two !== undefined && of === [one, two].sort().join(' '))
    })
  )
}

/** The words for what is new in each clause. */
const listNewHolders = memoize(({ clauses }) =>
  clauses.flatMap(({ text, subject }): readonly (readonly string[])[] => {
    if (subject.kind === 'other' && subject.isPerson && !/^(?:my|our|the|a) new /u.test(text))
      return []
    const named =
      /(?<!\p{L})(?:(?:got|have|has|is|there is|with|hired|found|my|our|the|a|meet|met|chose|set) (?:a |an |my |our |the )?(?:brand )?new|(?:changed|switched|swapped|replaced)(?: (?:my|our|the))?|neue[rnms]?|nuev[oa]|nouvelle|nouveau|nov[oa]) (?<thing>[\p{L}]+(?: \p{L}+)?)/u.exec(
        text,
      )?.groups?.thing
    return named === undefined ? [] : [listContentStems(named)]
  }),
)

function firstNumber(text: string): string | null {
  return /(?<![\p{L}\d])\d+(?:[.,:]\d+)*/u.exec(text)?.[0] ?? null
}

/** The same claim with another amount, of which a person has one at a time: "I run 45 km a week now". */
const readOwnAmount = memoize(({ text, isEastAsian }) => (isEastAsian ? null : readAmount(text)))
const readAmounts = memoize(({ clauses }) =>
  clauses.flatMap((clause) => {
    const amount = readAmount(clause.text)
    return amount === null ? [] : [{ amount, clause }]
  }),
)

function changesNumber(after: ChatStatement, before: ChatStatement): boolean {
  const known = readOwnAmount(before)
  if (known === null) return false
  return readAmounts(after).some(({ amount, clause }) => {
    if (amount.number === known.number || !isAboutSame(clause, before)) return false
    if (amount.isAge && known.isAge) return true
    const [fewer, more] =
      amount.words.length < known.words.length ? [amount, known] : [known, amount]
    const isSame =
      fewer.words.length > 0 &&
      fewer.words.every((word) =>
        more.words.some((other) => other === word || isInflection(word, other)),
      )
    return isSame && more.words.length <= fewer.words.length + 2 && after.isChange
  })
}

const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  [
    'one two three four five six seven eight nine ten eleven twelve',
    'eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
    'uno dos tres cuatro cinco seis siete ocho nueve diez once doce',
    'un deux trois quatre cinq six sept huit neuf dix onze douze',
    'um dois três quatro cinco seis sete oito nove dez onze doze',
  ].flatMap((line) => line.split(' ').map((word, index) => [word, String(index + 1)] as const)),
)
const AMOUNT_VERBS = new Set(
  'turn turned went go goe raised cut increase increased decrease decreased dropped drop rose bump bumped upped doubled raise became become grew grown joined change changed take takes taking lowered pay earn earns has have run total since per january february march april may june july august september october november december doctor boss says said weigh'.split(
    ' ',
  ),
)

function readAmount(text: string) {
  const digits = text.replace(
    /(?<![\p{L}\d])\p{L}{2,6}(?![\p{L}\d])/gu,
    (word) => NUMBER_WORDS.get(word) ?? word,
  )
  const numbers = digits.match(/(?<![\p{L}\d])\d+(?:[.,:]\d+)*/gu) ?? []
  const [number] = numbers
  if (number === undefined || numbers.length > 1) return null
  const isAge =
    /(?:^|(?<!\p{L})(?:am|is|turned|turn|are|be|bin|ist|tengo|tiene|ai|a|tenho|tem|cumplí|cumplió|eu|fiz|fez|wurde|geworden) (?:gestern |now |jetzt )?)(?:\d{1,2})(?:(?:-year-old| years? old| jahre alt| años| ans| anos|)(?: now| today| yesterday| geworden| last week| in \p{L}+)*)?$/u.test(
      digits,
    )
  const words = listContentStems(digits).filter(
    (word) => !/\d/.test(word) && !AMOUNT_VERBS.has(word),
  )
  return { number, words, isAge }
}

/* 3. States with alternatives, and events that end them */

/** The values of each state that a statement mentions, the most specific first. */
const listValues = memoize(({ text }) =>
  ALTERNATIVES.map((alternatives) =>
    'names' in alternatives
      ? listNames(alternatives.names, text)
      : alternatives.values.flatMap(([value, pattern]) =>
          testPattern(pattern, text) ? [value] : [],
        ),
  ),
)

function listNames(names: RegExp, text: string): readonly string[] {
  return mayMatch(names, text) ? [...text.matchAll(names)].map(([name]) => name) : []
}

const hasValues = memoize((statement) => listValues(statement).some(({ length }) => length > 0))

function changesAlternative(after: ChatStatement, before: ChatStatement): boolean {
  if (!hasValues(after) || !hasValues(before)) return false
  const [values, knownValues] = [listValues(after), listValues(before)]
  return ALTERNATIVES.some(({ name, compatible = [], needsChange, inUse }, index) => {
    const [known] = knownValues[index] ?? []
    const stated = values[index] ?? []
    const value = stated.find((each) => each !== known)
    if (known === undefined || value === undefined) return false
    if (inUse !== undefined && !inUse.test(before.text)) return false
    if (needsChange ? !after.isChange || before.isAdditive : stated[0] === known) return false
    if ([`${known} ${value}`, `${value} ${known}`].some((pair) => compatible.includes(pair))) {
      return false
    }
    return after.clauses.some(
      (clause) =>
        isAboutSame(clause, before) ||
        (name === 'relationship' && isAboutPartner(clause, before)) ||
        (name === 'pregnancy' && OWNED.test(clause.text)),
    )
  })
}

const OWNED = /^(?:my|our|the|mein|unser|mi|nuestr|mon|ma|notre|meu|minha|noss)/u

const PARTNER =
  /^(?:my|our|mein\p{L}*|mi|mon|ma|meu|minha) (?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|spouse|frau|mann|freundin|freund|verlobte[rn]?|esposa|esposo|mujer|marido|novi[oa]|femme|mari|copine?|copain|namorad[oa]|mulher)(?!\p{L})/u

/** "My girlfriend is Lena" is about the speaker's relationship, too, and "Lena and I" about hers. */
function isAboutPartner({ subject, isShared }: Clause, before: ChatStatement): boolean {
  if (subject.kind !== 'self') return false
  return (
    PARTNER.test(before.text) ||
    isShared ||
    /(?:^| )(?:is|are) my (?:wife|husband|partner|girlfriend|boyfriend|fianc)/u.test(before.text)
  )
}

const listHeldStates = memoize(
  ({ text }) =>
    new Set(OPEN_STATES.filter(({ holds }) => testPattern(holds, text)).map(({ name }) => name)),
)

/** The states that a statement ends, each with the clause that says so. */
const listEndedStates = memoize(({ text, clauses }) => {
  const [first] = clauses
  const whole = first === undefined || clauses.length === 1 ? [] : [{ ...first, text }]
  return OPEN_STATES.flatMap(({ name, ends, sharesWord }) =>
    [...clauses, ...whole].flatMap((clause) =>
      testPattern(ends, clause.text) ? [{ name, clause, sharesWord }] : [],
    ),
  )
})

function endsOpenState(after: ChatStatement, before: ChatStatement): boolean {
  const held = listHeldStates(before)
  if (held.size === 0) return false
  const owner = ownerOf(before)
  const isOther = owner.kind === 'other' && owner.isPerson
  return listEndedStates(after).some(({ name, clause, sharesWord }) => {
    if (!held.has(name) || !isAboutSame(clause, before)) return false
    // One of several sisters may live elsewhere.
    if (isOther && STATIVE.test(clause.text) && !after.isChange) return false
    if (sharesWord) return sharesContent(after, before)
    // The same place or employer again.
    if (saysSameValue(after, before)) return false
    if (name !== 'home') return true
    const isMove = !STATIVE.test(clause.text) || MOVE.test(clause.text)
    const isNewPlace = isMove || (after.isChange && isPlace(readPlace(clause.text)))
    return isNewPlace && hasSamePlaceSize(after, before)
  })
}

const MOVE = /mov|relocat|gezogen|umgezogen|mud|déménag|emménag|搬|引っ越|移/u

function isPlace(place: string | null): boolean {
  return (
    place !== null &&
    !/(?:ung|heit|keit|schaft|angst|frieden|armut|peace|fear|love|miete)(?: \p{L}+)?$/u.test(place)
  )
}

const STATIVE =
  /(?<!\p{L})(?:lives?|works?|is|are|wohnt|arbeitet|vive|trabaja|habite|vit|travaille|mora|trabalha)(?!\p{L})|住|工作|働/u

/** Words of states and events themselves. */
const STATE_WORDS = new Set(
  'moved team afraid scared terrified frightened fear learn learned learnt finished finish done complete looking searching waiting find found working writing building reading watching training preparing planning saving applied applying trying hoping half way can drive test'.split(
    ' ',
  ),
)

function sharesContent(after: ChatStatement, before: ChatStatement): boolean {
  if (after.isEastAsian) return hasCommonSubstring(after.text, before.text)
  return [...after.words].some((word) => !STATE_WORDS.has(word) && hasStem(before.words, word))
}

function hasCommonSubstring(a: string, b: string): boolean {
  const letters = [...a.matchAll(/[\p{Script=Han}\p{Script=Katakana}]{2}/gu)].map(([pair]) => pair)
  return letters.some((pair) => b.includes(pair))
}

function saysSameValue(after: ChatStatement, before: ChatStatement): boolean {
  const [one, other] = [readPlace(after.text), readPlace(before.text)]
  return one !== null && one === other
}

const PLACE =
  /(?<!\p{L})(?:in|to|at|for|near|nach|bei|en|a|à|chez|em|para|no|na) (?<place>(?!a |an |the |my |our )\p{L}[\p{L}'.-]+(?: \p{L}[\p{L}'.-]+)?)/u
const EAST_ASIAN_PLACE =
  /(?:住在|搬到|搬回|在|到)了?(?<place>\p{Script=Han}{2,4}?)(?:了|工作|上班|$)|(?<place2>[^、。は]{1,8}?)(?:に住|に引っ越|で働)/u

function readPlace(text: string): string | null {
  const groups = (EAST_ASIAN_PLACE.exec(text) ?? PLACE.exec(text))?.groups
  return groups?.place ?? groups?.place2 ?? null
}

function hasSamePlaceSize(after: ChatStatement, before: ChatStatement): boolean {
  const [one, other] = [readPlace(after.text), readPlace(before.text)]
  return one === null || other === null || getPlaceSize(one) === getPlaceSize(other)
}
