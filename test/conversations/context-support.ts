/** Somebody who asks a model, and what it was given. */

import type { Receipt } from '../../src/conversations/receipts/receipt.ts'
import type { ScopeInput } from '../../src/domain/scope.ts'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { DraftInput } from '../../src/memory/draft.ts'
import type { LanguageModel } from '../../src/models/language-model.ts'
import type { Store } from '../../src/storage/store.ts'
import {
  ADA,
  type OpenStore,
  openConversations,
  type RequestFields,
} from './conversations-support.ts'

export const SMALL_TALK = 'How tall is Everest?'

export const ABOUT_DOG = 'What is my dog called?'

export const LAST_WEEK = 'What did we decide about the Lisbon trip?'

export const DOG: DraftInput = { content: 'The dog of the user is called Rex' }

export const EPISODE: DraftInput = {
  content: 'The user and the assistant planned the trip to Lisbon with the dog called Rex.',
  type: 'episodic',
  category: 'episode',
  entities: ['Lisbon', 'Tomasz'],
  metadata: { decisions: ['Go to Lisbon by train'] },
}

export const who = (content: string, fields: Partial<DraftInput> = {}): DraftInput => ({
  content,
  category: 'identity',
  pinned: true,
  ...fields,
})

export type Opened = Awaited<ReturnType<typeof openReading>>

export async function openReading(
  open: OpenStore,
  settings: SettingValues = {},
  parts: { readonly languageModel?: LanguageModel; readonly store?: Store } = {},
) {
  const opened = await openConversations(open, { settings, ...parts })
  const { engine, client } = opened
  return {
    ...opened,
    /** The lines of the block that a message gets, without the fence; empty where it gets none. */
    lines: async (message: string, fields: RequestFields = {}): Promise<readonly string[]> => {
      const { block } = await client.ask([message], 'Hm.', fields)
      return block?.split('\n').slice(1, -1) ?? []
    },
    receipt: async (): Promise<Receipt> => {
      const { rows } = await engine.conversations.receipts.list(ADA, { limit: 1 })
      if (rows[0] === undefined) throw new Error('There is no receipt.')
      return rows[0]
    },
  }
}

export const remember = async (
  engine: Engine,
  drafts: readonly DraftInput[],
  scope: ScopeInput = ADA,
) => {
  const ids: string[] = []
  for (const draft of drafts) ids.push((await engine.remember(scope, draft)).memory.id)
  return ids
}

export async function told({ lines }: Opened, message: string): Promise<string> {
  return (await lines(message)).slice(1).join('\n')
}
