/** The API reference as a page without scripts. The documentation site has one that sends requests. */

import type { JsonSchema } from '../messages/request-input.ts'
import type { ApiDescription, ApiOperation } from '../openapi.ts'
import { escapeHtml, renderHtmlPage } from './html.ts'

type Described = {
  readonly method: string
  readonly path: string
  readonly operation: ApiOperation
}

export function renderApiReference(api: ApiDescription): string {
  const all = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )
  const tags = [...new Set(all.flatMap(({ operation }) => operation.tags))]
  const sections = tags.map((tag) => {
    const entries = all.filter(({ operation }) => operation.tags.includes(tag))
    return `<h2 id="${escapeHtml(tag)}">${escapeHtml(tag)}</h2>\n${entries.map(renderEntry).join('\n')}`
  })
  return renderHtmlPage(
    'Recollect over HTTP',
    `<h1>Recollect over HTTP <small>${escapeHtml(api.info.version)}</small></h1>
<p>${escapeHtml(api.info.description)}</p>
<pre>curl -H "Authorization: Bearer rc_…" http://127.0.0.1:20128/api/memory</pre>
<p><a href="/docs">Documentation</a>. For programs: <a href="/openapi.json">/openapi.json</a>. Sections: ${tags
      .map((tag) => `<a href="#${escapeHtml(tag)}">${escapeHtml(tag)}</a>`)
      .join(', ')}.</p>
${sections.join('\n')}
<h2 id="schemas">Schemas</h2>
${Object.entries(api.components.schemas).map(renderSchema).join('\n')}`,
  )
}

function renderEntry({ method, path, operation }: Described): string {
  const { summary, description, parameters = [], requestBody, responses } = operation
  const inBody = Object.entries(requestBody?.content ?? {}).flatMap(([type, { schema = {} }]) =>
    schema.properties === undefined
      ? [row('body', type, String(schema.description ?? ''), false)]
      : fieldRows(schema),
  )
  const fields = [
    ...parameters.map((parameter) =>
      row(
        `${parameter.name} (${parameter.in})`,
        shapeOf(parameter.schema),
        parameter.description ?? '',
        parameter.required === true,
      ),
    ),
    ...inBody,
  ]
  const answers = Object.entries(responses).map(([status, answer]) => {
    const content = 'content' in answer ? Object.entries(answer.content ?? {}) : []
    const shapes = content.map(([type, { schema = {} }]) => `${type}: ${shapeOf(schema)}`)
    return row(status, shapes.join(', ') || ('$ref' in answer ? 'Error' : '–'), '', false)
  })
  return `<details><summary><b>${method}</b> <code>${escapeHtml(path)}</code><span>${escapeHtml(summary)}</span></summary>
${description === undefined ? '' : `<p>${escapeHtml(description)}</p>`}
${fields.length === 0 ? '' : table(['Field', 'Shape', 'Meaning'], fields)}
${table(['Status', 'Answer', ''], answers)}
</details>`
}

function renderSchema([name, schema]: [string, JsonSchema]): string {
  const rows = fieldRows(schema)
  return `<details id="schema-${escapeHtml(name)}"><summary><b>${escapeHtml(name)}</b></summary>
${rows.length === 0 ? `<p><code>${escapeHtml(shapeOf(schema))}</code></p>` : table(['Field', 'Shape', 'Meaning'], rows)}
</details>`
}

function fieldRows(schema: JsonSchema): readonly string[] {
  const required = (schema.required ?? []) as readonly string[]
  return Object.entries((schema.properties ?? {}) as { readonly [name: string]: JsonSchema }).map(
    ([name, each]) =>
      row(name, shapeOf(each), String(each.description ?? ''), required.includes(name)),
  )
}

function row(name: string, shape: string, meaning: string, isRequired: boolean): string {
  return `<tr><td><code>${escapeHtml(name)}</code>${isRequired ? ' *' : ''}</td><td>${escapeHtml(shape)}</td><td>${escapeHtml(meaning)}</td></tr>`
}

function table(head: readonly string[], rows: readonly string[]): string {
  return `<table><thead><tr>${head.map((cell) => `<th>${cell}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`
}

/** A one-line summary of a schema. */
function shapeOf(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) ?? ''
  const alternatives = (schema.anyOf ?? schema.oneOf) as readonly JsonSchema[] | undefined
  if (alternatives !== undefined) return [...new Set(alternatives.map(shapeOf))].join(' or ')
  if (Array.isArray(schema.enum)) return schema.enum.map(String).join(' | ')
  if (schema.const !== undefined) return String(schema.const)
  if (schema.type === 'array') return `list of ${shapeOf((schema.items ?? {}) as JsonSchema)}`
  const type = [schema.type].flat().join(' or ')
  return type === '' ? 'anything' : `${type}${rangeOf(schema)}`
}

function rangeOf({ minimum, maximum, maxLength }: JsonSchema): string {
  const isBounded = [minimum, maximum].some(
    (bound) => typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER,
  )
  if (isBounded) return `, ${String(minimum ?? '…')} to ${String(maximum ?? '…')}`
  return maxLength === undefined ? '' : `, at most ${String(maxLength)} characters`
}
