/**
 * Generates the TypeScript types of the REST API for the Studio from the OpenAPI document (`/openapi.json`).
 *
 *   node scripts/api-types.mjs              starts the built server, reads its document, writes studio/src/api/types.ts
 *   node scripts/api-types.mjs <url>        reads the document of a running server, such as http://127.0.0.1:20128
 *   node scripts/api-types.mjs --check      exits with 1 if the file differs from the document
 *
 * The build runs it after the server is compiled; the file is not in version control. `openapi-typescript` requires
 * TypeScript 5 as a peer dependency, and this project compiles with TypeScript 7.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const SERVER = join(ROOT, 'dist/app/cli-main.js')
const TARGET = join(ROOT, 'studio/src/api/types.ts')
const START_TIMEOUT_MS = 60_000

/** Renders the types of an OpenAPI document in the shape that `openapi-fetch` expects. */
export function renderTypes(api) {
  const schemas = Object.entries(api.components.schemas)
  return `/** Generated from /openapi.json by scripts/api-types.mjs. Do not edit. */
${schemas.map(([name, schema]) => `export type ${name} = ${typeOf(schema)}\n`).join('\n')}
export interface components {
${indent(`schemas: ${object(schemas.map(([name]) => property(name, name)))}`)}
}

export interface paths ${object(
    Object.entries(api.paths).map(([path, methods]) => property(path, pathType(methods))),
  )}
`
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

/** Reads the document of a server that runs on an empty data folder and a free port for this call only. */
async function readOwnDocument() {
  if (!existsSync(SERVER)) {
    throw new Error('dist/ is missing. Run `npm run build` to compile the server first.')
  }
  const data = mkdtempSync(join(tmpdir(), 'recollect-types-'))
  const args = [SERVER, 'serve', '--data', data, '--port', '0']
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  try {
    return await fetchDocument(await readUrl(server))
  } finally {
    server.kill()
    rmSync(data, { recursive: true, force: true })
  }
}

/** Resolves with the URL that the server prints when it is ready. */
function readUrl(server) {
  return new Promise((resolve, reject) => {
    let output = ''
    const timer = setTimeout(
      () => reject(new Error(`The server did not start within ${START_TIMEOUT_MS} ms:\n${output}`)),
      START_TIMEOUT_MS,
    )
    server.on('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`The server exited with code ${code}:\n${output}`))
    })
    server.stderr.on('data', (bytes) => {
      output += bytes
    })
    server.stdout.on('data', (bytes) => {
      output += bytes
      const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const url = process.argv.slice(2).find((argument) => argument.startsWith('http'))
  const types = renderTypes(await (url === undefined ? readOwnDocument() : fetchDocument(url)))
  const isCurrent = existsSync(TARGET) && readFileSync(TARGET, 'utf8') === types
  if (process.argv.includes('--check')) {
    if (!isCurrent) {
      process.stderr.write(
        'studio/src/api/types.ts is out of date: run `node scripts/api-types.mjs`.\n',
      )
      process.exit(1)
    }
  } else if (!isCurrent) {
    // An unchanged file keeps its time, so that the Studio is only rebuilt when the API has changed.
    writeFileSync(TARGET, types)
  }
}
