/**
 * Generates the TypeScript types of the REST API from the OpenAPI document (`/openapi.json`): for `recollect/client`
 * `src/client/api-types.ts`, for the Studio `studio/src/api/types.ts`.
 *
 *   node scripts/api-types.mjs              bundles the server from its sources, reads its document, writes the files
 *   node scripts/api-types.mjs <url>        reads the document of a running server, such as http://127.0.0.1:20128
 *   node scripts/api-types.mjs --check      exits with 1 if a file differs from the document
 *
 * `ready.mjs` runs it before it compiles; the files are not in version control. `openapi-typescript` requires
 * TypeScript 5 as a peer dependency, and this project compiles with TypeScript 7.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'vite'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const TARGETS = [
  ['src/client/api-types.ts', renderClientTypes],
  ['studio/src/api/types.ts', renderTypes],
]
/** Inside of the package, where Node finds the dependencies. */
const BUNDLE = join(ROOT, '.cache/api-document')

/** Renders the types of an OpenAPI document in the shape that `openapi-fetch` expects. */
export function renderTypes(api) {
  const schemas = Object.keys(api.components.schemas)
  return `${renderSchemas(api)}
export interface components {
${indent(`schemas: ${object(schemas.map((name) => property(name, name)))}`)}
}

export interface paths ${object(
    Object.entries(api.paths).map(([path, methods]) => property(path, pathType(methods))),
  )}
`
}

/** One input and one output for each operation, and the table of routes by which a client sends them. */
function renderClientTypes(api) {
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { operationId }]) => isClientOperation(operationId))
      .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const routes = operations.map(
    ({ path, method, operation }) =>
      `  '${operation.operationId}': { method: '${method}', path: '${path}', isRepeatable: ${isRepeatable(method, operation)} },`,
  )
  return `${renderSchemas(api)}
export interface Operations ${object(operations.map(clientOperation))}

export type Route = { readonly method: string; readonly path: string; readonly isRepeatable: boolean }

/** Method and path of each operation, and whether a client may send it again after a failure. */
export const ROUTES: { readonly [Name in keyof Operations]: Route } = {
${routes.join('\n')}
}
`
}

function renderSchemas(api) {
  const types = Object.entries(api.components.schemas).map(
    ([name, schema]) => `export type ${name} = ${typeOf(schema)}\n`,
  )
  return `/** Generated from /openapi.json by scripts/api-types.mjs. Do not edit. */\n${types.join('\n')}`
}

/** Reads, and writes that the server does once for each idempotency key. */
function isRepeatable(method, { parameters = [] }) {
  return method === 'GET' || parameters.some(({ name }) => name === 'Idempotency-Key')
}

/** Routes of the server itself are not operations, and PATCH repeats PUT. */
function isClientOperation(operationId) {
  return !operationId.startsWith('server.') && !operationId.endsWith('.patch')
}

function clientOperation({
  operation: { operationId, summary, parameters = [], requestBody, responses },
}) {
  const fields = parameters
    .filter((parameter) => parameter.in !== 'header')
    .map(({ name, required, schema }) => property(name, typeOf(schema), required !== true))
  const body = requestBody?.content?.['application/json']?.schema
  const inputs = [
    ...(fields.length > 0 ? [object(fields)] : []),
    ...(body === undefined ? [] : [typeOf(body)]),
  ]
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const [type, content] = Object.entries(answer?.content ?? {})[0] ?? []
  const output = type === 'application/json' ? typeOf(content.schema ?? {}) : 'string'
  const members = [
    property('input', inputs.length === 0 ? '{ [name: string]: never }' : inputs.join(' & ')),
    property('output', output),
  ]
  return `/** ${summary} */\n${property(operationId, object(members))}`
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch']

function pathType(methods) {
  return object(
    METHODS.map((method) =>
      method in methods ? property(method, operationType(methods[method])) : `${method}?: never`,
    ),
  )
}

function operationType({ parameters = [], requestBody, responses }) {
  const body = requestBody?.content?.['application/json']?.schema
  return object([
    property(
      'parameters',
      object(['query', 'path', 'header'].map((location) => parametersIn(location, parameters))),
    ),
    body === undefined
      ? 'requestBody?: never'
      : `requestBody${requestBody.required ? '' : '?'}: { content: { 'application/json': ${typeOf(body)} } }`,
    property('responses', object(Object.entries(responses).map(responseType))),
  ])
}

function parametersIn(location, parameters) {
  const matching = parameters.filter((parameter) => parameter.in === location)
  if (matching.length === 0) return `${location}?: never`
  const isRequired = matching.some(({ required }) => required)
  return `${location}${isRequired ? '' : '?'}: ${object(matching.map(({ name, required, schema }) => property(name, typeOf(schema), !required)))}`
}

function responseType([status, response]) {
  if ('$ref' in response) {
    return property(status, `{ content: { 'application/json': Error } }`)
  }
  const [type, content] = Object.entries(response.content ?? {})[0] ?? []
  if (type === undefined) return property(status, '{ content?: never }')
  const body = type === 'application/json' ? typeOf(content.schema ?? {}) : 'string'
  return property(status, `{ content: { '${type}': ${body} } }`)
}

function typeOf(schema) {
  if (schema === true || schema === undefined) return 'unknown'
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  const alternatives = schema.anyOf ?? schema.oneOf
  if (alternatives !== undefined) return union(alternatives.map(typeOf))
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' & ')
  if (Array.isArray(schema.type)) {
    return union(schema.type.map((type) => typeOf({ ...schema, type })))
  }
  switch (schema.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      return `${parenthesize(typeOf(schema.items))}[]`
    case 'object':
      return objectType(schema)
    default:
      return 'unknown'
  }
}

function objectType({ properties = {}, required = [], additionalProperties }) {
  const named = Object.entries(properties).map(([name, schema]) => {
    const type = property(name, typeOf(schema), !required.includes(name))
    return schema.description === undefined
      ? type
      : `/** ${schema.description.replaceAll('*/', '')} */\n${type}`
  })
  if (additionalProperties === undefined || additionalProperties === false) return object(named)
  const rest = `{ [name: string]: ${typeOf(additionalProperties)} }`
  return named.length === 0 ? rest : `${object(named)} & ${rest}`
}

function union(types) {
  return [...new Set(types)].join(' | ')
}

function parenthesize(type) {
  return /[|&]/.test(type) ? `(${type})` : type
}

function property(name, type, isOptional = false) {
  return `${/^([A-Za-z_]\w*|\d+)$/.test(name) ? name : JSON.stringify(name)}${isOptional ? '?' : ''}: ${type}`
}

function object(properties) {
  return `{\n${properties.map(indent).join('\n')}\n}`
}

function indent(text) {
  return text.replace(/^/gm, '  ')
}

async function fetchDocument(url) {
  return (await fetch(`${url}/openapi.json`)).json()
}

/** Bundles the server, because this runs before the compiler, and asks one with nothing stored. */
async function readOwnDocument() {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    build: {
      ssr: true,
      target: 'node20',
      outDir: BUNDLE,
      emptyOutDir: true,
      minify: false,
      rolldownOptions: {
        input: { index: join(ROOT, 'src/index.ts'), server: join(ROOT, 'src/server.ts') },
      },
    },
  })
  try {
    const load = (name) => import(pathToFileURL(join(BUNDLE, `${name}.js`)).href)
    const [{ createEngine }, { startServer }] = await Promise.all([load('index'), load('server')])
    const engine = await createEngine({ embedding: false })
    const server = await startServer({
      engine,
      port: 0,
      backgroundJobs: false,
      metrics: async () => '',
    })
    try {
      return await fetchDocument(server.url)
    } finally {
      await server.close()
      await engine.close()
    }
  } finally {
    rmSync(BUNDLE, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const url = process.argv.slice(2).find((argument) => argument.startsWith('http'))
  const described = await (url === undefined ? readOwnDocument() : fetchDocument(url))
  // Paths of the gateway have the types of the providers.
  const paths = Object.entries(described.paths).filter(([path]) => !/^\/v1(?:beta)?\//.test(path))
  const api = { ...described, paths: Object.fromEntries(paths) }
  const outdated = TARGETS.filter(([path, render]) => {
    const target = join(ROOT, path)
    const types = render(api)
    if (existsSync(target) && readFileSync(target, 'utf8') === types) return false
    if (process.argv.includes('--check')) return true
    // An unchanged file keeps its time, so that nothing is rebuilt that depends on it.
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, types)
    return false
  })
  if (outdated.length > 0) {
    const names = outdated.map(([path]) => path).join(', ')
    process.stderr.write(`Out of date: ${names}. Run \`node scripts/api-types.mjs\`.\n`)
    process.exit(1)
  }
}
