import { z } from 'zod'
import { getTurnRole, isMemoryDocument, isTurnDocument } from '../../../domain/search-document.ts'
import { isoTime, toWireMemory, wireMemory } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

export const recallForPrompt = defineOperation({
  name: 'hook.recall',
  summary: 'Builds the context block to prepend to a prompt.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, prompt: z.string().max(200000) }),
  output: z.object({
    block: z.string().describe('Empty without relevant memories.'),
    memories: z.array(wireMemory).describe('The memories in the block, in its order.'),
    turns: z
      .array(
        z.object({
          id: z.string(),
          role: z.string(),
          sessionId: z.string(),
          createdAt: z.string(),
        }),
      )
      .describe('Turns of earlier conversations that the block quotes.'),
    skipped: z
      .enum(['off', 'short'])
      .nullable()
      .describe(
        'Why recall was skipped: `hooks.recallEnabled` is off, or the prompt is too short.',
      ),
  }),
  http: { method: 'POST', path: '/api/hooks/recall' },
  run: async (context, { prompt, ...input }) => {
    const found = await context.engine.conversations.recallForPrompt(
      resolveScope(context, input, 'read'),
      prompt,
    )
    const { block, memories, skipped } = found
    return {
      block,
      memories: memories.filter(isMemoryDocument).map(toWireMemory),
      turns: memories.filter(isTurnDocument).map((turn) => ({
        id: turn.id as string,
        role: getTurnRole(turn) ?? 'user',
        sessionId: turn.place.session ?? '',
        createdAt: isoTime(turn.createdAt),
      })),
      skipped,
    }
  },
})

export const captureMessages = defineOperation({
  name: 'hook.capture',
  summary: 'Stores user messages that match the capture rules, where `hooks.captureEnabled` is on.',
  access: 'write',
  input: z.strictObject({
    ...scopeFields,
    messages: z
      .array(
        z.object({
          role: z.string().max(100),
          content: z
            .union([
              z.string().max(1000000),
              z.array(z.looseObject({ type: z.string().max(100) })).max(1000),
              z.null(),
            ])
            .describe('Text, or content parts, of which only text is read.'),
        }),
      )
      .max(1000),
  }),
  output: z.object({
    captured: z.array(wireMemory),
    ignored: z.int().describe('User messages that match no capture rule.'),
    skipped: z
      .enum(['off'])
      .nullable()
      .describe('`hooks.captureEnabled` is off; no message was examined.'),
  }),
  http: { method: 'POST', path: '/api/hooks/capture' },
  targets: ({ captured }) => captured.map(({ id }) => id),
  run: async (context, { messages, ...input }) => {
    const scope = resolveScope(context, input, 'write')
    const { captured, ignored, skipped } = await context.engine.conversations.captureMessages(
      scope,
      messages,
    )
    return { captured: captured.map(({ memory }) => toWireMemory(memory)), ignored, skipped }
  },
})
