/** The `help` and `version` commands. */

import { findClosestMatch } from '../../../../lib/closest-match.ts'
import { type Command, defineCommand, UsageError } from '../../command.ts'
import { renderCommandHelp, renderOverview } from '../../output/help-text.ts'

/** Gets the command table as an argument, because it is part of it. */
export function createHelpCommand(commands: () => readonly Command[]): Command {
  return defineCommand({
    name: 'help',
    group: 'Administration',
    summary: 'Show help for all commands, or for one.',
    arguments: [{ name: 'command', help: 'The command to explain.' }],
    options: {},
    examples: ['recollect help', 'recollect help add'],
    async run(call) {
      const [name] = call.positionals
      if (name === undefined) {
        const json = { commands: commands().map(described) }
        return { json, text: renderOverview(commands(), call.style) }
      }
      const command = commands().find((candidate) => candidate.name === name)
      if (command === undefined) {
        const meant = findClosestMatch(
          name,
          commands().map((candidate) => candidate.name),
        )
        const suggestion = meant === null ? '' : ` Did you mean \`${meant}\`?`
        throw new UsageError(`Unknown command "${name.slice(0, 40)}".${suggestion}`)
      }
      return { json: described(command), text: renderCommandHelp(command, call.style) }
    },
  })
}

export const versionCommand = defineCommand({
  name: 'version',
  group: 'Administration',
  summary: 'Print the version.',
  arguments: [],
  options: {},
  examples: ['recollect version'],
  async run({ host }) {
    return { json: { version: host.version }, text: `recollect ${host.version}` }
  },
})

function described({ run: _, ...described }: Command) {
  return described
}
