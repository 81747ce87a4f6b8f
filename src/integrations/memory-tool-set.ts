/** Memory as tools for models: what they are called, what they take and what they do. Frameworks wrap them. */
import { z } from 'zod'
import { type MemoryScope, openMemory } from './memory-access.ts'

export type MemoryTool<Input extends z.ZodObject = z.ZodObject> = {
  readonly name: string
  readonly description: string
  readonly input: Input
  run(input: z.output<Input>): Promise<object>
}

const SEARCH_LIMIT = 8

const searchInput = z.object({ query: z.string().describe('What to look for, in words.') })
const saveInput = z.object({
  content: z.string().describe('One self-contained statement, such as "Ada is allergic to nuts".'),
})
const forgetInput = z.object({ id: z.string().describe('The id that memory_search returned.') })

/** The tools of one scope. What they save is recorded as written by a tool. */
export function createMemoryTools(scope: MemoryScope) {
  const access = openMemory(scope)
  const search: MemoryTool<typeof searchInput> = {
    name: 'memory_search',
    description:
      'Search what is remembered from earlier conversations: facts, preferences, decisions, people, dates. An empty list means that nothing is known.',
    input: searchInput,
    run: async ({ query }) => {
      const found = await access.recall({ text: query, limit: SEARCH_LIMIT })
      return {
        memories: found.map(({ id, type, content, createdAt }) => ({
          ...{ id, type, content },
          date: createdAt.toISOString().slice(0, 10),
        })),
      }
    },
  }
  const save: MemoryTool<typeof saveInput> = {
    name: 'memory_save',
    description:
      'Save a fact worth keeping for later conversations: a preference, decision, name, date or correction. One statement per call.',
    input: saveInput,
    run: async ({ content }) => {
      const { outcome, item } = await access.remember({
        ...{ content, source: 'tool' },
        trust: 'assistant',
      })
      return { outcome, id: item.id }
    },
  }
  const forget: MemoryTool<typeof forgetInput> = {
    name: 'memory_forget',
    description: 'Forget a memory that is wrong or that the user wants to be forgotten.',
    input: forgetInput,
    run: async ({ id }) => {
      await access.forget(id)
      return { forgotten: id }
    },
  }
  return { memory_search: search, memory_save: save, memory_forget: forget } as const
}
