/**
 * `memory_get` reads memories and conversation turns, because `memory_search` returns ids of both.
 */
import { isTurnId } from '../../domain/search-document.ts'
import { getTurn } from '../operations/conversations/session-operations.ts'
import { getMemory } from '../operations/memories/memory-operations.ts'
import { performOperation } from '../operations/operation.ts'
import { outputSchemaOf, type Tool, type ToolFields } from './tool.ts'

/** Exactly one of the two exists. */
const output = getMemory.output.partial().extend(getTurn.output.partial().shape)

export function addTurnLookup(own: Tool): Tool {
  return {
    ...own,
    outputSchema: outputSchemaOf(output),
    call: async (context, input) => {
      const { id } = input
      const namesTurn = typeof id === 'string' && isTurnId(id)
      // The tool itself refuses fields that a model may not set.
      const isKnown = Object.keys(input).every(
        (field) => field in Object(own.inputSchema.properties),
      )
      if (!namesTurn || !isKnown) return own.call(context, input)
      return (await performOperation(getTurn, context, input)) as ToolFields // outputs are objects
    },
  }
}
