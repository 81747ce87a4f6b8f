/**
 * What a model is to be given for a message: one way for the gateway and for programs that ask their model themselves.
 *
 *   always   who the person is
 *   decide   what kind of memories the message needs, as the setting `relevanceGateMode` says
 *   look     for memories of that kind, or for what was said
 *   fit      what of it the budget has room for
 */

import { memoryIdsIn } from '../../domain/context-block.ts'
import type { Memory } from '../../domain/memory.ts'
import { Slots } from '../../lib/semaphore.ts'
import { withinTime } from '../../lib/timeout.ts'
import { Gatekeeper } from '../gate/gate-runner.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import { type FittedBlock, fitBlock } from './block-composer.ts'
import { type Found, look, NOTHING } from './context-retrieval.ts'
import { alwaysSaid, episodesAtHand, namesKnown, overridesAtHand } from './identity-section.ts'
import { pointOf } from './message-focus.ts'
import type { Message, Reader, Reading, ReadingParts } from './types.ts'
import type { Home } from './user-cache.ts'

/** Lookups that run at once. */
const LOOKUPS_MAX = 4

/** Beyond this a lookup is taken for hung, and others have their turn. */
const TURN_MS_MAX = 10_000

/** Of what is left of the time: a model that decides must leave enough to find something. */
const MODEL_SHARE = 0.5

const NOTHING_SHOWN: ReadonlySet<string> = new Set()

export function createReader({ ports, recall, modelFor, countUse }: ReadingParts): Reader {
  const overrides = overridesAtHand(ports)
  const episodes = episodesAtHand(ports)
  const gatekeeper = new Gatekeeper({ clock: ports.clock, modelFor })
  const slots = new Slots(LOOKUPS_MAX, 'lifo')

  const decide = ({ home, text, settings, leftMs, signal }: Message, identity: readonly Memory[]) =>
    gatekeeper.decide({
      owner: home.owner,
      message: text,
      settings,
      names: () => namesKnown(episodes, home, identity),
      modelMs: () => Math.max(1, Math.floor(leftMs() * MODEL_SHARE)),
      signal,
    })
  /**
   * Few at a time, and none for a request that has gone on without: a server that is asked too much would otherwise do
   * more and more for nobody.
   */
  const lookUp = (message: Message, section: ReceiptGate['section']): Promise<Found> =>
    slots.use(message.signal, async () => {
      const found = await withinTime(TURN_MS_MAX, () => look({ ports, recall }, message, section))
      if (found.kind === 'failed') throw found.error
      return found.result
    })

  /** Some may come from shared memory, which is another owner's. What is always given is not counted. */
  const noteUses = ({ owner, user }: Home, { content, identity }: FittedBlock) => {
    const pieces = content.pieces.filter(({ document }) => !identity.includes(document))
    for (const each of new Set(pieces.map(({ document }) => document.place.owner))) {
      const own = pieces.filter(({ document }) => document.place.owner === each)
      const ids = memoryIdsIn({ pieces: own })
      if (ids.length > 0) countUse(each === owner ? { owner, user } : { owner: each }, ids)
    }
  }

  return {
    read: async (message) => {
      const { home, at, settings, degraded, budget, countTokens, limit, looking } = message
      const identity = await alwaysSaid(overrides, home, at).catch(() => {
        degraded.add('identity')
        return []
      })
      const gate = await decide(message, identity)
      const found = await orNothing(message, identity, () => lookUp(message, gate.section))
      const block = fitBlock(
        {
          today: at,
          identity,
          documents: found.documents,
          question: [pointOf(message.text), ...(message.context ?? [])].join('\n'),
          shown: message.shown ?? NOTHING_SHOWN,
          excerptCharacters: settings.excerptCharacters,
          ...(limit === undefined ? {} : { limit }),
        },
        budget,
        countTokens,
      )
      if (typeof block !== 'string' && looking?.purpose !== 'search') noteUses(home, block)
      return { gate, recalled: found.recalled, block: told(block, gate) }
    },
    changed: (changes) => {
      overrides.changed(changes)
      episodes.changed(changes)
    },
    forget: (owners) => {
      overrides.forget(owners)
      episodes.forget(owners)
    },
    letGo: () => {
      overrides.clear()
      episodes.clear()
    },
    close: () => gatekeeper.close(),
  }
}

function told(block: ReturnType<typeof fitBlock>, { section }: ReceiptGate): Reading['block'] {
  if (block === 'no-room') return 'no-budget'
  if (block !== 'nothing') return block
  return section === 'none' ? 'not-needed' : 'nothing-relevant'
}

/** Where nothing can be found because something fails, who the person is still helps. */
async function orNothing(
  { signal, degraded }: Message,
  identity: readonly Memory[],
  find: () => Promise<Found>,
): Promise<Found> {
  try {
    return await find()
  } catch (thrown) {
    if (identity.length === 0 || signal.aborted) throw thrown
    degraded.add('recall')
    return NOTHING
  }
}
