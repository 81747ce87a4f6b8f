/** Anthropic's memory tool, served from an owner's workspace: one operation takes any of its commands. */
import { z } from 'zod'
import { createMemoryTool, type MemoryToolHandlers } from '../../../files/memory-tool.ts'
import { omitUndefined } from '../../../lib/object.ts'
import { defineOperation } from '../operation.ts'
import { scopeFields } from '../scope-fields.ts'
import { resolveOwnerFiles } from './file-operations.ts'

const COMMANDS = ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] as const
const TEXT_CHARACTERS = 10_000_000

const { owner, apiKeyId } = scopeFields
const path = z.string().max(4_000).optional()
const text = z.string().max(TEXT_CHARACTERS).optional()

export const useMemoryTool = defineOperation({
  name: 'files.memoryTool',
  summary:
    'Does a command of Anthropic’s memory tool (memory_20250818) in memory/ of the workspace.',
  access: 'write',
  isDestructive: true,
  input: z.strictObject({
    ...{ owner, apiKeyId },
    command: z.enum(COMMANDS),
    path: path.describe('Under /memories; of all commands but rename.'),
    view_range: z
      .array(z.int())
      .max(2)
      .optional()
      .describe('Of view: first and last line; -1: to the end.'),
    file_text: text.describe('Of create.'),
    old_str: text.describe('Of str_replace.'),
    new_str: text.describe('Of str_replace.'),
    insert_line: z.int().optional().describe('Of insert: after which line; 0: before the first.'),
    insert_text: text.describe('Of insert.'),
    old_path: path.describe('Of rename.'),
    new_path: path.describe('Of rename.'),
  }),
  output: z.object({ content: z.string().describe('What the model is to read.') }),
  http: { method: 'POST', path: '/api/files/memory-tool' },
  targets: (_, { command, path: at, old_path, new_path }) =>
    command === 'view' ? [] : [at, old_path, new_path].filter((each) => each !== undefined),
  run: async (context, { owner: named, apiKeyId: other, command, ...given }) => {
    const of = resolveOwnerFiles(context, { owner: named, apiKeyId: other }, 'write')
    const handlers: MemoryToolHandlers = createMemoryTool(await of.files.workspace(of.owner))
    // The tool looks at each field itself, and answers in words that models know.
    const content = await handlers[command]({ command, ...omitUndefined(given) } as never)
    if (command !== 'view') of.files.touch(of.owner)
    return { content }
  },
})
