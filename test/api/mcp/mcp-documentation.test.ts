/** docs/guides/mcp.md tells the tools and clients that there are. Run vitest with -u to renew the tables. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CLIENTS, clientNames, configPath } from '../../../src/api/mcp/clients/client-config.ts'
import { compatibilityTools } from '../../../src/api/mcp/compatibility/index.ts'
import { EXTENDED_OPERATIONS, toMcpBinding } from '../../../src/api/mcp/extended-tools.ts'
import { OPERATIONS } from '../../../src/api/operations/index.ts'

const PATH = 'docs/guides/mcp.md'

it('[MC1] docs/guides/mcp.md documents every tool and every client', async () => {
  const clients = clientNames().map((name) =>
    row([
      CLIENTS[name].title,
      `\`${name}\``,
      `\`${configPath(name, 'linux', '~')}\``,
      `\`${configPath(name, 'darwin', '~')}\``,
      `\`${configPath(name, 'win32', '%USERPROFILE%')}\``,
    ]),
  )
  const tools = OPERATIONS.flatMap(({ mcp, access }) =>
    mcp === undefined
      ? []
      : [row([`\`${mcp.tool}\``, access, mcp.description, mcp.fields.join(', ')])],
  )
  const others = compatibilityTools().map(({ name, access, description }) =>
    row([`\`${name}\``, access, description]),
  )
  const further = EXTENDED_OPERATIONS.map((operation) => {
    const { tool, description, fields } = toMcpBinding(operation)
    return row([`\`${tool}\``, operation.access, description, fields.join(', ')])
  })
  const text = [
    ['| client | name |', clients],
    ['| tool | access |', tools],
    ['| further tool | access |', further],
    ['| also offered | access |', others],
  ].reduce((page, [head, rows]) => withRows(page, String(head), rows as readonly string[]), read())
  await expect(text).toMatchFileSnapshot(`../../../${PATH}`)
})

function read(): string {
  return readFileSync(PATH, 'utf8')
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** The page with these rows in the table that begins so. */
function withRows(page: string, head: string, rows: readonly string[]): string {
  const lines = page.split('\n')
  const begin = lines.findIndex((line) => line.startsWith(head)) + 2
  if (begin < 2) throw new Error(`${PATH} has no table that begins with ${head}`)
  const end = lines.findIndex((line, at) => at >= begin && !line.startsWith('|'))
  return [...lines.slice(0, begin), ...rows, ...lines.slice(end)].join('\n')
}
