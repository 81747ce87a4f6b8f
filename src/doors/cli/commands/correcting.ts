/** Commands that change what is remembered: edit, switch off, forget, bring back, erase, take back. */
import { AppError } from '../../../core/errors.ts'
import type { Memory } from '../../../core/memory.ts'
import { SETTINGS } from '../../../core/settings.ts'
import type { Engine } from '../../../engine/engine.ts'
import {
  type Answer,
  type Call,
  defineCommand,
  onlyWord,
  throwIfStopped,
  UsageError,
  withEngine,
} from '../command.ts'
import { memoryJson } from '../json.ts'
import { DESCRIBING_OPTIONS, describedBy, wholeOf } from '../memory-fields.ts'
import { count, memories } from '../render.ts'
import { readText } from '../text-input.ts'

const VERSION_MAX = Number.MAX_SAFE_INTEGER

const ID = { name: 'id', help: 'Which memory.', isRequired: true } as const
const IDS = { name: 'id', help: 'Which memories.', isRepeated: true } as const

export const edit = defineCommand({
  name: 'edit',
  group: 'Correcting',
  summary: 'Change a memory; what is not named stays as it is.',
  details:
    'The earlier version stays in the history. `--metadata` and `--entity` replace what was there.',
  arguments: [ID],
  options: {
    content: { kind: 'value', value: 'text', help: 'What it says now, or - for standard input.' },
    ...DESCRIBING_OPTIONS,
    unpin: { kind: 'flag', help: 'Take the pin off.' },
    'no-key': { kind: 'flag', help: 'Take its key away.' },
    'no-expiry': { kind: 'flag', help: 'Let it never expire.' },
    'if-version': { kind: 'value', value: 'n', help: 'Only if it is still at this version.' },
  },
  examples: [
    'recollect edit mem_01kabc… --content "I prefer green tea."',
    'recollect edit mem_01kabc… --importance 9 --no-expiry',
  ],
  async run(call) {
    const { given } = call
    refuseBoth(given.pin && given.unpin, '--pin', '--unpin')
    refuseBoth(given.key !== undefined && given['no-key'], '--key', '--no-key')
    refuseBoth(given.expires !== undefined && given['no-expiry'], '--expires', '--no-expiry')
    const version = given['if-version']
    const options =
      version === undefined ? {} : { version: wholeOf('if-version', version, 1, VERSION_MAX) }
    const described = {
      ...describedBy(call),
      ...(given.unpin ? { pinned: false } : {}),
      ...(given['no-key'] ? { key: null } : {}),
      ...(given['no-expiry'] ? { expiresAt: null } : {}),
    }
    if (given.content === undefined && Object.keys(described).length === 0) {
      throw new UsageError(
        'There is nothing to change.',
        'Run `recollect help edit` for what can be.',
      )
    }
    const content = given.content === '-' ? await readText(call) : given.content
    const changes = content === undefined ? described : { ...described, content }
    const memory = await change(call, (engine, id) =>
      engine.edit(call.setup().scope, id, changes, options),
    )
    return changed(call, memory, `Changed ${memory.id} to version ${memory.version}`)
  },
})

function refuseBoth(areBoth: boolean, one: string, other: string): void {
  if (areBoth) throw new UsageError(`${one} and ${other} contradict each other. Give one of them.`)
}

export const disable = defineCommand({
  name: 'disable',
  group: 'Correcting',
  summary: 'Keep a memory out of searches without forgetting it.',
  arguments: [ID],
  options: {},
  examples: ['recollect disable mem_01kabc…'],
  async run(call) {
    const memory = await change(call, (engine, id) => engine.disable(call.setup().scope, id))
    return changed(call, memory, `Disabled ${memory.id}`)
  },
})

export const restore = defineCommand({
  name: 'restore',
  group: 'Correcting',
  summary: 'Bring back a memory that was forgotten, disabled or replaced.',
  arguments: [ID],
  options: {
    version: {
      kind: 'value',
      value: 'n',
      help: 'Also let it say again what it said in this version.',
    },
  },
  examples: ['recollect restore mem_01kabc…', 'recollect restore mem_01kabc… --version 2'],
  async run(call) {
    const { version } = call.given
    const options =
      version === undefined ? {} : { version: wholeOf('version', version, 1, VERSION_MAX) }
    const memory = await change(call, (engine, id) =>
      engine.restore(call.setup().scope, id, options),
    )
    return changed(call, memory, `Restored ${memory.id}`)
  },
})

function change(call: Call, work: (engine: Engine, id: string) => Promise<Memory>) {
  return withEngine(call, { create: false }, (engine) => work(engine, onlyWord(call)))
}

function changed(call: Call, memory: Memory, what: string): Answer {
  const undo = call.again(`undo ${memory.change}`)
  return { json: memoryJson(memory), text: `${what} (undo: ${undo})` }
}

export const undo = defineCommand({
  name: 'undo',
  group: 'Correcting',
  summary: 'Take back everything one change did.',
  details: 'Later changes to the same memory stay: only what they left untouched is taken back.',
  arguments: [
    { name: 'change', help: 'The id of the change, as `history` shows it.', isRequired: true },
  ],
  options: {},
  examples: ['recollect undo chg_01kabc…'],
  async run(call) {
    const undone = await withEngine(call, { create: false }, (engine) =>
      engine.undo(call.setup().scope, onlyWord(call)),
    )
    const lines = undone.memories.map(({ id, status }) =>
      status === 'forgotten' ? `  ${id} is in the bin` : `  ${id} is as it was before`,
    )
    const kept = undone.kept.map((field) => `  ${field} was changed since and stays`)
    return {
      json: { memories: undone.memories.map(memoryJson), kept: undone.kept },
      text: [`Took back ${onlyWord(call)}:`, ...lines, ...kept].join('\n'),
    }
  },
})

const YES = { yes: { kind: 'flag', help: 'Do not ask.' } } as const

export const forget = defineCommand({
  name: 'forget',
  group: 'Correcting',
  summary: 'Put memories into the bin, from where they can be restored.',
  details:
    'What was said before the forgetting does not come back by itself, not even from work under way. With ' +
    '`--erase` the memories are removed for good instead, and nothing can bring them back.',
  arguments: [{ ...IDS, isRequired: true }],
  options: { erase: { kind: 'flag', help: 'Remove them for good.' }, ...YES },
  examples: ['recollect forget mem_01kabc…', 'recollect forget mem_01kabc… --erase --yes'],
  async run(call) {
    if (call.given.erase) return eraseEach(call, call.words)
    return withEngine(call, { create: false }, async (engine) => {
      const { scope } = call.setup()
      await requireAll(call, engine, call.words)
      const forgotten: Memory[] = []
      for (const id of call.words) {
        throwIfStopped(call, `Stopped; forgot ${forgotten.length} of ${call.words.length}.`)
        forgotten.push(await engine.forget(scope, id))
      }
      const lines = forgotten.map(
        ({ id }) => `Forgot ${id} (bring it back: ${call.again(`restore ${id}`)})`,
      )
      return { json: { memories: forgotten.map(memoryJson) }, text: lines.join('\n') }
    })
  },
})

export const erase = defineCommand({
  name: 'erase',
  group: 'Correcting',
  summary: 'Remove memories with their history for good.',
  details:
    'Either the memories named, or with `--bin` everything that has been forgotten for long enough. It asks on a ' +
    'terminal; elsewhere it needs `--yes`.',
  arguments: [IDS],
  options: {
    bin: { kind: 'flag', help: 'Empty the bin instead.' },
    days: {
      kind: 'value',
      value: 'n',
      help: `Only what was forgotten that many days ago. Default: ${SETTINGS.binDays.default}.`,
    },
    ...YES,
  },
  examples: ['recollect erase mem_01kabc…', 'recollect erase --bin --days 0 --yes'],
  async run(call) {
    const { bin, days } = call.given
    if (bin && call.words.length > 0) throw new UsageError('Give ids or --bin, not both.')
    if (!bin && days !== undefined) throw new UsageError('--days goes with --bin.')
    if (!bin && call.words.length === 0) {
      throw new UsageError(
        '`erase` needs an <id>, or --bin.',
        'Usage: recollect erase <id>… | --bin',
      )
    }
    return bin ? emptyBin(call, days) : eraseEach(call, call.words)
  },
})

type Sure = Call<typeof YES>

async function eraseEach(call: Sure, ids: readonly string[]): Promise<Answer> {
  return withEngine(call, { create: false }, async (engine) => {
    await requireAll(call, engine, ids)
    await makeSure(call, `Erase ${memories(ids.length)} with all history? It can't be undone.`)
    const total = { memories: 0, revisions: 0 }
    for (const id of new Set(ids)) {
      throwIfStopped(call, `Stopped; erased ${total.memories} of ${ids.length}.`)
      const erased = await engine.erase(call.setup().scope, id)
      total.memories += erased.memories
      total.revisions += erased.revisions
    }
    return { json: total, text: erasedText(total) }
  })
}

async function emptyBin(call: Sure, days: string | undefined): Promise<Answer> {
  const options = days === undefined ? {} : { days: wholeOf('days', days, 0, SETTINGS.binDays.max) }
  const age = options.days ?? call.setup().settings.binDays ?? SETTINGS.binDays.default
  return withEngine(call, { create: false }, async (engine) => {
    const which =
      age === 0 ? 'everything in the bin' : `what was forgotten ${count(age, 'day')} ago or earlier`
    await makeSure(call, `Erase ${which}? It can't be undone.`)
    const erased = await engine.emptyBin(call.setup().scope, options)
    const text = erased.memories === 0 ? 'Nothing in the bin is that old.' : erasedText(erased)
    return { json: erased, text: age === 0 && erased.memories === 0 ? 'The bin is empty.' : text }
  })
}

function erasedText(erased: { readonly memories: number; readonly revisions: number }): string {
  const history = erased.revisions === 0 ? '' : ` and ${count(erased.revisions, 'earlier version')}`
  return `Erased ${memories(erased.memories)}${history} for good.`
}

/** All or none: an id that isn't there must not be noticed halfway through. */
async function requireAll(call: Call, engine: Engine, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    if ((await engine.get(call.setup().scope, id)) !== null) continue
    throw new AppError('not_found', `There is no memory ${id} here. Nothing was changed.`, { id })
  }
}

async function makeSure(call: Sure, question: string): Promise<void> {
  if (call.given.yes) return
  if (!call.host.stdin.isTerminal || !call.host.stderr.isTerminal) {
    throw new UsageError('This removes memories for good and nobody can be asked. Give --yes.')
  }
  if (!(await call.host.confirm(question))) {
    throw new AppError('cancelled', 'Nothing was erased.')
  }
}
