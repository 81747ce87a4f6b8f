/** Asks the user before a tool deletes permanently or clears everything, where the client can ask. */
import {
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
} from '@modelcontextprotocol/server'
import type { Tool, ToolFields } from './tool.ts'

const QUESTION = 'delete'
const INPUT_CHARACTERS = 300

/** What to answer instead of calling the tool; null when it may be called. */
export function confirmDelete(
  tool: Tool,
  input: ToolFields,
  capabilities: ClientCapabilities | undefined,
  responses: ToolFields | undefined,
): InputRequiredResult | CallToolResult | null {
  const risk = tool.describeRisk(input)
  if (risk === null || !canAsk(capabilities)) return null
  const answer = inputResponse(responses, QUESTION)
  if (answer.kind !== 'elicit') return ask(tool, input, risk)
  if (answer.action === 'accept' && answer.content?.confirm === true) return null
  const text = 'The user did not confirm this: nothing was deleted. Do not try again unless asked.'
  return { content: [{ type: 'text', text }], isError: true }
}

/** Clients of the first revisions with the capability announce it without modes and mean forms. */
function canAsk(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {}
  if (elicitation === undefined) return false
  return elicitation.form !== undefined || elicitation.url === undefined
}

function ask({ name }: Tool, input: ToolFields, risk: string): InputRequiredResult {
  const given = JSON.stringify(input).slice(0, INPUT_CHARACTERS)
  return inputRequired({
    inputRequests: {
      [QUESTION]: inputRequired.elicit({
        message: `${risk} Continue? (${name} ${given})`,
        requestedSchema: {
          type: 'object',
          properties: { confirm: { type: 'boolean', title: 'Delete', default: false } },
          required: ['confirm'],
        },
      }),
    },
  })
}
