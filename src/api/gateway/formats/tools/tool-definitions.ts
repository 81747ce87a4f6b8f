/** The memory tools as offered to models. */
import type { Json, JsonObject } from '../../../../lib/json.ts'

export const MEMORY_TOOL_NAMES = [
  'memory_search',
  'memory_save',
  'memory_update',
  'memory_forget',
] as const

export type MemoryToolName = (typeof MEMORY_TOOL_NAMES)[number]

export type MemoryTool = {
  readonly name: MemoryToolName
  readonly description: string
  /** A JSON schema of features that every provider supports. All fields are required. */
  readonly parameters: JsonObject
}

const ID = 'The id of a memory, as memory_search gives it.'

export const MEMORY_TOOLS: readonly MemoryTool[] = [
  {
    name: 'memory_search',
    description:
      'Look in long-term memory for what is known about the user: preferences, people, dates, decisions, earlier conversations. Answers with at most five memories and quotes of earlier conversations (source conversation), which have no id; an empty list means that nothing is known.',
    parameters: fields({ query: 'What to look for, in a few words or as a question.' }),
  },
  {
    name: 'memory_save',
    description:
      'Save a fact worth knowing in later conversations, when the user asks for it or says something lasting about themselves. One statement per call that can be understood on its own.',
    parameters: fields({ content: 'The statement.' }),
  },
  {
    name: 'memory_update',
    description:
      'Correct a memory that is wrong or outdated. The former wording stays in its history.',
    parameters: fields({ id: ID, content: 'The whole statement as it is now.' }),
  },
  {
    name: 'memory_forget',
    description: 'Forget one memory, only when the user asks for it.',
    parameters: fields({ id: ID }),
  },
]

function fields(descriptions: Readonly<Record<string, string>>): JsonObject {
  const properties = Object.entries(descriptions).map(([name, description]): [string, Json] => [
    name,
    { type: 'string', description },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: Object.keys(descriptions),
  }
}
