/** Memories as resources of the protocol, and prompts that ask for them. */
import {
  type GetPromptResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server'
import { toAppError } from '../../lib/errors.ts'
import { recallForPrompt } from '../operations/conversations/hook-operations.ts'
import { listMemories } from '../operations/memories/memory-list-operations.ts'
import { getMemory } from '../operations/memories/memory-operations.ts'
import { type OperationContext, performOperation } from '../operations/operation.ts'

const URI = /^recollect:\/\/memory\/([\w-]{1,200})$/
const PAGE_MEMORIES = 50
const NAME_CHARACTERS = 80
const TEXT_TYPE = 'text/plain'

export function toMemoryUri(id: string): string {
  return `recollect://memory/${id}`
}

export const RESOURCE_TEMPLATES = [
  {
    name: 'memory',
    uriTemplate: 'recollect://memory/{id}',
    description: 'One memory, by its id.',
    mimeType: TEXT_TYPE,
  },
]

/** A page of memories, the newest first. */
export async function listResources(context: OperationContext, cursor: string | undefined) {
  const page = await performOperation(listMemories, context, {
    limit: PAGE_MEMORIES,
    ...(cursor === undefined ? {} : { after: cursor }),
  })
  const { data, next } = listMemories.output.parse(page)
  return {
    resources: data.map(({ id, content, updatedAt }) => ({
      uri: toMemoryUri(id),
      name: content.slice(0, NAME_CHARACTERS),
      mimeType: TEXT_TYPE,
      annotations: { lastModified: updatedAt },
    })),
    ...(next === null ? {} : { nextCursor: next }),
  }
}

export async function readResource(
  context: OperationContext,
  uri: string,
): Promise<ReadResourceResult> {
  const [, id] = URI.exec(uri) ?? []
  if (id === undefined) throw createMissingError(uri)
  try {
    const { memory } = getMemory.output.parse(await performOperation(getMemory, context, { id }))
    return { contents: [{ uri, mimeType: TEXT_TYPE, text: memory.content }] }
  } catch (thrown) {
    if (toAppError(thrown).code === 'not_found') throw createMissingError(uri)
    throw thrown
  }
}

function createMissingError(uri: string): ProtocolError {
  const message = `Resource not found: "${uri.slice(0, 200)}".`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}

export const PROMPTS = [
  {
    name: 'about-me',
    title: 'What do you know about me?',
    description: 'Tells what is remembered about the user.',
    arguments: [{ name: 'topic', description: 'Only what concerns this.', required: false }],
  },
]

/** The question, with what memory has for it. */
export async function getPrompt(
  context: OperationContext,
  name: string,
  args: { readonly [name: string]: string } = {},
): Promise<GetPromptResult> {
  if (name !== 'about-me') {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown prompt "${name.slice(0, 80)}".`,
    )
  }
  const { topic } = args
  const question =
    topic === undefined || topic.trim() === ''
      ? 'What do you know about me?'
      : `What do you know about me and ${topic.trim()}?`
  const known = await describeKnown(context, topic)
  const text = `${question} Answer from these memories, and say so when there are none.\n\n${known}`
  return { messages: [{ role: 'user', content: { type: 'text', text } }] }
}

async function describeKnown(
  context: OperationContext,
  topic: string | undefined,
): Promise<string> {
  if (topic !== undefined && topic.trim().length > 4) {
    const found = await performOperation(recallForPrompt, context, { prompt: topic })
    return recallForPrompt.output.parse(found).block || 'No memories.'
  }
  const { data } = listMemories.output.parse(
    await performOperation(listMemories, context, { limit: PAGE_MEMORIES }),
  )
  return data.map(({ content }) => `- ${content}`).join('\n') || 'No memories.'
}
