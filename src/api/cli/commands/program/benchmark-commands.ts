/** Benchmarks and evals, which require a clone of the repository. */
import { AppError } from '../../../../lib/errors.ts'
import { defineCommand, type Invocation } from '../../command.ts'

export const evalCommand = defineCommand({
  name: 'eval',
  group: 'Administration',
  summary: 'Run retrieval and extraction evals (in a clone of the repository).',
  details: 'Arguments after `--` are passed to the tool: `recollect eval patterns -- --explain`.',
  arguments: [{ name: 'set', help: 'Which one, and what is for the tool.', isRepeated: true }],
  options: {},
  examples: ['recollect eval patterns', 'recollect eval own -- --explain'],
  isLocalOnly: true,
  run: (call) => runTool(call, 'eval'),
})

export const benchCommand = defineCommand({
  name: 'bench',
  group: 'Administration',
  summary: 'Run performance benchmarks (in a clone of the repository).',
  details: 'Arguments after `--` are passed to the tool: `recollect bench recall -- --scale 10`.',
  arguments: [{ name: 'what', help: 'Which one, and what is for the tool.', isRepeated: true }],
  options: {},
  examples: ['recollect bench store', 'recollect bench recall'],
  isLocalOnly: true,
  run: (call) => runTool(call, 'bench'),
})

async function runTool(call: Invocation, name: 'eval' | 'bench') {
  const exit = await call.host.runTool(name, [
    ...call.positionals,
    ...(call.isJson ? ['--json'] : []),
  ])
  if (exit === null) {
    throw new AppError(
      'missing_part',
      `\`${name}\` belongs to the repository of Recollect and is not part of the package. In a clone, run \`npm run ${name}\`.`,
    )
  }
  return exit === 0 ? null : { json: { exit }, text: '', exitCode: exit }
}
