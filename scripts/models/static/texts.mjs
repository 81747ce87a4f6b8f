/** The texts the vectors are learnt from. Most are short, because the teacher's time is what costs. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pick, randomSource, shuffled } from './random.mjs'
import { makeTalk, withSpeaker } from './talk.mjs'

const SEED = 20
const CHARACTERS_MIN = 12
const CHARACTERS_MAX = 400
const PARAGRAPH_CHARACTERS_MIN = 250
const PARAGRAPH_CHARACTERS_MAX = 900
const PARTS_OF_SPEECH = ['noun', 'verb', 'adj', 'adv']
/** Which of WordNet's fields of meaning fill which slot of made-up talk. */
const SLOT_FIELDS = {
  act: '04',
  animal: '05',
  thing: '06',
  idea: '10',
  feeling: '12',
  food: '13',
  place: '15',
  person: '18',
  plant: '20',
  state: '26',
  adjective: '00',
}

/**
 * Texts of two kinds: those that people wrote, and made-up talk. How many of each sort says `counts`. `wordnet` is a
 * folder with WordNet's `data.*` files, `prose` a list of text or Markdown files or folders of them.
 */
export function gatherTexts({ wordnet, prose, isKnownWord, counts }) {
  const random = randomSource(SEED)
  const entries = PARTS_OF_SPEECH.flatMap((part) => readEntries(wordnet, part))
  const known = entries.filter(({ words }) => words.some(isKnownWord))
  const examples = entries.flatMap((entry) => entry.examples).filter(isUsable)
  const meanings = known
    .map(({ words, meaning }) =>
      random() < 0.7 ? `${pick(random, words.filter(isKnownWord))}: ${meaning}` : meaning,
    )
    .filter(isUsable)
  const paragraphs = prose.flatMap(paragraphsBelow)
  const sentences = paragraphs.flatMap(sentencesOf)

  const some = (list, count) => shuffled(random, [...new Set(list)]).slice(0, count)
  const written = [
    ...some(examples, counts.examples).map((text) =>
      random() < 0.5 ? withSpeaker(random, text) : text,
    ),
    ...some(meanings, counts.meanings),
    ...some(sentences, counts.sentences),
    ...some(paragraphs.filter(isLong), counts.paragraphs),
  ]
  const slots = wordsForSlots(entries, isKnownWord)
  const talk = Array.from({ length: counts.talk }, () => makeTalk(random, slots))
  return { written: [...new Set(written)], talk: [...new Set(talk)] }
}

/** One line of WordNet's data is: number, field of meaning, part of speech, words, links | meaning; "example"; … */
function readEntries(folder, part) {
  const lines = readFileSync(join(folder, `data.${part}`), 'utf8').split('\n')
  return lines
    .filter((line) => /^\d{8} /.test(line))
    .map((line) => {
      const [head, gloss = ''] = line.split(' | ')
      const fields = head.split(' ')
      const words = Array.from({ length: Number.parseInt(fields[3], 16) }, (_, at) =>
        fields[4 + 2 * at].replace(/\(\w+\)$/, '').replaceAll('_', ' '),
      )
      const examples = [...gloss.matchAll(/"([^"]+)"/g)].map((match) => match[1])
      const meaning = gloss.replace(/[;,]?\s*"[^"]*"[^;]*/g, '').trim()
      return { field: fields[1], words, meaning, examples }
    })
}

/** Places have names of their own, so they are compared in small letters and kept as they are written. */
function wordsForSlots(entries, isKnownWord) {
  return Object.fromEntries(
    Object.entries(SLOT_FIELDS).map(([slot, field]) => [
      slot,
      [
        ...new Set(
          entries
            .filter((entry) => entry.field === field)
            .map(({ words: [first] }) => first)
            .filter((word) => isKnownWord(word.toLowerCase())),
        ),
      ],
    ]),
  )
}

function paragraphsBelow(path) {
  if (statSync(path).isDirectory()) {
    return readdirSync(path)
      .sort()
      .flatMap((name) => paragraphsBelow(join(path, name)))
  }
  if (!/\.(md|txt)$/.test(path)) return []
  return readFileSync(path, 'utf8')
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .replace(/```[\s\S]*?```|\{\{[^}]*\}\}|<[^>]*>/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .replace(/[`*_#>|]+/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .filter(isProse)
}

function sentencesOf(paragraph) {
  return paragraph
    .split(/(?<=[.!?])\s+(?=[A-Z"])/)
    .filter((sentence) => isUsable(sentence) && isProse(sentence))
}

/** Neither a heading nor a line of a table. */
function isProse(text) {
  return /^[A-Z"].*[a-z][.!?]"?$/.test(text)
}

function isLong(paragraph) {
  return paragraph.length > PARAGRAPH_CHARACTERS_MIN && paragraph.length < PARAGRAPH_CHARACTERS_MAX
}

function isUsable(text) {
  return (
    text.length >= CHARACTERS_MIN && text.length <= CHARACTERS_MAX && text.split(' ').length >= 3
  )
}
