/** Anthropic's memory tool on an owner's workspace: one operation for all its commands. */
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
    "Runs a command of Anthropic's memory tool (memory_20250818) in memory/ of the workspace.",
  access: 'write',
  isDestructive: true,
  input: z.strictObject({
    ...{ owner, apiKeyId },
    command: z.enum(COMMANDS),
    path: path.describe('A path under /memories; all commands except rename.'),
    view_range: z
      .array(z.int())
      .max(2)
      .optional()
      .describe('view: first and last line; -1 for the end.'),
    file_text: text.describe('Of create.'),
    old_str: text.describe('Of str_replace.'),
    new_str: text.describe('Of str_replace.'),
    insert_line: z
      .int()
      .optional()
      .describe('insert: the line after which to insert; 0 for the beginning.'),
    insert_text: text.describe('Of insert.'),
    old_path: path.describe('Of rename.'),
    new_path: path.describe('Of rename.'),
  }),
  output: z.object({ content: z.string().describe('The tool result for the model.') }),
  http: { method: 'POST', path: '/api/files/memory-tool' },
  targets: (_, { command, path: at, old_path, new_path }) =>
    command === 'view' ? [] : [at, old_path, new_path].filter((each) => each !== undefined),
  run: async (context, { owner: named, apiKeyId: other, command, ...given }) => {
    const of = resolveOwnerFiles(context, { owner: named, apiKeyId: other }, 'write')
    const handlers: MemoryToolHandlers = createMemoryTool(await of.files.workspace(of.owner))
    // The tool validates its fields itself and answers in the wording that models expect.
    const content = await handlers[command]({ command, ...omitUndefined(given) } as never)
    if (command !== 'view') of.files.markDirty(of.owner)
    return { content }
  },
})
