/**
 * Measures the gate on hand-labeled messages: whether it opens when memories would help, and for the right section.
 *
 * Every third message of a language is held out: rules are tuned on the others, and misses are listed for those only. A
 * message may have several right sections. Of the unseen messages, which name no section, only totals are reported.
 */
import { join } from 'node:path'
import { classifyMessage } from '../src/conversations/gate/gate.ts'
import {
  GATE_LANGUAGES,
  type GateLanguage,
  type GateSection,
} from '../src/conversations/gate/types.ts'
import { ratio, readLabels, UNSEEN } from './labels.ts'
import { atLeast, type EvalOptions, type EvalReport, type Table } from './report.ts'

const FOLDER = join('evals', 'gate')
const HELD_OUT_EVERY = 3
const PRECISION_MIN = 0.95
const RECALL_MIN = 0.9

type Line = {
  readonly text: string
  readonly entities?: readonly string[]
  readonly expected: GateSection | readonly GateSection[]
}
export type LabelledMessage = {
  readonly text: string
  readonly language: GateLanguage
  readonly entities: readonly string[]
  readonly expected: readonly GateSection[]
  readonly isHeldOut: boolean
}
type Judged = LabelledMessage & { readonly section: GateSection }

type UnseenMessage = {
  readonly text: string
  readonly lang: GateLanguage
  readonly expected: 'memory' | 'none'
}

type Score = {
  readonly messages: number
  readonly precision: number
  readonly recall: number
  readonly sectionAccuracy: number
}

export async function evaluateGate(options: EvalOptions): Promise<EvalReport> {
  const judged = (await readMessages()).map(judge)
  const developed = judged.filter(({ isHeldOut }) => !isHeldOut)
  const heldOut = judged.filter(({ isHeldOut }) => isHeldOut)
  const all = scoreGate(judged)
  const unseen = await readLabels<UnseenMessage>(UNSEEN, 'gate.jsonl')
  return {
    eval: 'gate',
    metrics: {
      ...all,
      ...named('development', scoreGate(developed)),
      ...named('heldOut', scoreGate(heldOut)),
      ...Object.assign(
        {},
        ...GATE_LANGUAGES.map((language) =>
          named(language, scoreGate(inLanguage(judged, language))),
        ),
      ),
    },
    tables: [
      toTable('The gate on messages that its rules were tuned on', developed),
      toTable('The gate on messages held out', heldOut),
      toUnseenTable(unseen),
      toSectionTable(judged),
      ...(options.explain ? [toMissesTable(developed)] : []),
    ],
    floors: [
      atLeast('precision', all.precision, PRECISION_MIN),
      atLeast('recall', all.recall, RECALL_MIN),
    ],
  }
}

export async function readMessages(): Promise<readonly LabelledMessage[]> {
  const perLanguage = await Promise.all(GATE_LANGUAGES.map(readLanguage))
  return perLanguage.flat()
}

async function readLanguage(language: GateLanguage): Promise<readonly LabelledMessage[]> {
  const lines = await readLabels<Line>(FOLDER, `${language}.jsonl`)
  return lines.map(({ text, entities = [], expected }, index) => {
    return {
      text,
      language,
      entities,
      expected: typeof expected === 'string' ? [expected] : expected,
      isHeldOut: index % HELD_OUT_EVERY === HELD_OUT_EVERY - 1,
    }
  })
}

function judge(message: LabelledMessage): Judged {
  return {
    ...message,
    section: classifyMessage(message.text, { entities: message.entities }).section,
  }
}

/** `precision` and `recall` measure opening, `sectionAccuracy` the whole decision. */
function scoreGate(judged: readonly Judged[]): Score {
  const opened = judged.filter(({ section }) => section !== 'none')
  const wanted = judged.filter(({ expected }) => !expected.includes('none'))
  const both = opened.filter(({ expected }) => !expected.includes('none'))
  const right = judged.filter(isRight)
  return {
    messages: judged.length,
    precision: ratio(both.length, opened.length),
    recall: ratio(both.length, wanted.length),
    sectionAccuracy: ratio(right.length, judged.length),
  }
}

function isRight({ expected, section }: Judged): boolean {
  return expected.includes(section)
}

function inLanguage(judged: readonly Judged[], language: GateLanguage): readonly Judged[] {
  return judged.filter((each) => each.language === language)
}

function named(name: string, score: Score): Record<string, number> {
  return Object.fromEntries(Object.entries(score).map(([key, value]) => [`${key}.${name}`, value]))
}

function toTable(title: string, judged: readonly Judged[]): Table {
  const rows = [
    ...GATE_LANGUAGES.map((language) => [language, inLanguage(judged, language)] as const),
    ['all', judged] as const,
  ]
  return {
    title,
    columns: ['language', 'messages', 'precision', 'recall', 'section accuracy'],
    rows: rows.map(([name, some]) => {
      const { messages, precision, recall, sectionAccuracy } = scoreGate(some)
      return [name, messages, precision, recall, sectionAccuracy]
    }),
  }
}

function toUnseenTable(messages: readonly UnseenMessage[]): Table {
  const rows = [...GATE_LANGUAGES, null].map((language) => {
    const some = messages.filter(({ lang }) => language === null || lang === language)
    const [needing, others] = (['memory', 'none'] as const).map((kind) =>
      some.filter(({ expected }) => expected === kind),
    )
    const isOpen = ({ text }: UnseenMessage) =>
      classifyMessage(text, { entities: [] }).section !== 'none'
    return [
      language ?? 'all',
      ...countOf(needing ?? [], isOpen),
      ...countOf(others ?? [], (each) => !isOpen(each)),
    ]
  })
  return {
    title: 'Unseen messages, without known names',
    columns: ['language', 'need memory', 'opened', 'need none', 'silent'],
    rows,
  }
}

function countOf<T>(all: readonly T[], test: (each: T) => boolean): [number, number] {
  return [all.length, all.filter(test).length]
}

function toSectionTable(judged: readonly Judged[]): Table {
  const sections: readonly GateSection[] = ['identity', 'pinned', 'episode', 'transcript', 'none']
  return {
    title: 'Sections, by the one that serves a message best',
    columns: ['section', 'messages', 'section accuracy'],
    rows: sections.map((section) => {
      const some = judged.filter(({ expected }) => expected[0] === section)
      return [section, some.length, scoreGate(some).sectionAccuracy]
    }),
  }
}

function toMissesTable(judged: readonly Judged[]): Table {
  return {
    title: 'Misses among the messages that may be tuned on',
    columns: ['language', 'expected', 'answered', 'text'],
    rows: judged
      .filter((each) => !isRight(each))
      .map(({ language, expected, section, text }) => [
        language,
        expected.join(' or '),
        section,
        text.replace(/\n/gu, '⏎').slice(0, 160),
      ]),
  }
}
