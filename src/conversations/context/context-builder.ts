/**
 * What a model is to be given for a message: one way for the gateway and for programs that ask their model themselves.
 *
 *   always   who the person is
 *   decide   what kind of memories the message needs, as the setting `relevanceGateMode` says
 *   look     for memories of that kind, or for what was said
 *   fit      what of it the budget has room for
 */

import { getMemoryIds } from '../../domain/context-block.ts'
import type { Memory } from '../../domain/memory.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { GateRunner } from '../gate/gate-runner.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import { type ContextBlock, composeBlock } from './block-composer.ts'
import { type ContextDocuments, NO_DOCUMENTS, retrieveContext } from './context-retrieval.ts'
import {
  collectKnownNames,
  createEpisodeCache,
  createIdentityCache,
  getIdentityMemories,
} from './identity-section.ts'
import { extractFocus } from './message-focus.ts'
import type {
  ContextBuilder,
  ContextBuilderDependencies,
  ContextRequest,
  ContextResult,
} from './types.ts'
import type { UserScope } from './user-cache.ts'

/** Lookups that run at once. */
const LOOKUPS_MAX = 4

/** Beyond this a lookup is taken for hung, and others have their turn. */
const TURN_MS_MAX = 10_000

/** Of what is left of the time: a model that decides must leave enough to find something. */
const MODEL_SHARE = 0.5

const NOTHING_SHOWN: ReadonlySet<string> = new Set()

export function createContextBuilder({
  ports,
  recall,
  modelFor,
  countUse,
}: ContextBuilderDependencies): ContextBuilder {
  const overrides = createIdentityCache(ports)
  const episodes = createEpisodeCache(ports)
  const gatekeeper = new GateRunner({ clock: ports.clock, modelFor })
  const slots = new Semaphore(LOOKUPS_MAX, 'lifo')

  const decide = (
    { home, text, settings, getRemainingMs: leftMs, signal }: ContextRequest,
    identity: readonly Memory[],
  ) =>
    gatekeeper.decide({
      owner: home.owner,
      message: text,
      settings,
      names: () => collectKnownNames(episodes, home, identity),
      modelMs: () => Math.max(1, Math.floor(leftMs() * MODEL_SHARE)),
      signal,
    })
  /**
   * Few at a time, and none for a request that has gone on without: a server that is asked too much would otherwise do
   * more and more for nobody.
   */
  const lookUp = (
    message: ContextRequest,
    section: ReceiptGate['section'],
  ): Promise<ContextDocuments> =>
    slots.run(message.signal, async () => {
      const found = await withTimeout(TURN_MS_MAX, () =>
        retrieveContext({ ports, recall }, message, section),
      )
      if (found.kind === 'failed') throw found.error
      return found.result
    })

  /** Some may come from shared memory, which is another owner's. What is always given is not counted. */
  const noteUses = ({ owner, user }: UserScope, { content, identity }: ContextBlock) => {
    const pieces = content.lines.filter(({ document }) => !identity.includes(document))
    for (const each of new Set(pieces.map(({ document }) => document.place.owner))) {
      const own = pieces.filter(({ document }) => document.place.owner === each)
      const ids = getMemoryIds({ lines: own })
      if (ids.length > 0) countUse(each === owner ? { owner, user } : { owner: each }, ids)
    }
  }

  return {
    buildContext: async (message) => {
      const {
        home,
        at,
        settings,
        degraded,
        budget,
        countTokens,
        limit,
        recallOptions: looking,
      } = message
      const identity = await getIdentityMemories(overrides, home, at).catch(() => {
        degraded.add('identity')
        return []
      })
      const gate = await decide(message, identity)
      const found = await orNoDocuments(message, identity, () => lookUp(message, gate.section))
      const block = composeBlock(
        {
          today: at,
          identity,
          documents: found.documents,
          question: [extractFocus(message.text), ...(message.context ?? [])].join('\n'),
          shown: message.shown ?? NOTHING_SHOWN,
          excerptCharacters: settings['gateway.excerptCharactersMax'],
          ...(limit === undefined ? {} : { limit }),
        },
        budget,
        countTokens,
      )
      if (typeof block !== 'string' && looking?.purpose !== 'search') noteUses(home, block)
      return { gate, recalled: found.recalled, block: toContextBlock(block, gate) }
    },
    onCommit: (changes) => {
      overrides.changed(changes)
      episodes.changed(changes)
    },
    invalidate: (owners) => {
      overrides.forget(owners)
      episodes.forget(owners)
    },
    purgeCaches: () => {
      overrides.clear()
      episodes.clear()
    },
    close: () => gatekeeper.close(),
  }
}

function toContextBlock(
  block: ReturnType<typeof composeBlock>,
  { section }: ReceiptGate,
): ContextResult['block'] {
  if (block === 'no-room') return 'no-budget'
  if (block !== 'nothing') return block
  return section === 'none' ? 'not-needed' : 'no-relevant-memories'
}

/** Where nothing can be found because something fails, who the person is still helps. */
async function orNoDocuments(
  { signal, degraded }: ContextRequest,
  identity: readonly Memory[],
  find: () => Promise<ContextDocuments>,
): Promise<ContextDocuments> {
  try {
    return await find()
  } catch (thrown) {
    if (identity.length === 0 || signal.aborted) throw thrown
    degraded.add('recall')
    return NO_DOCUMENTS
  }
}
