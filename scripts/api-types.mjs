/**
 * Writes what the server says of itself, `/openapi.json`, as TypeScript types for the Studio.
 *
 *   node scripts/api-types.mjs            writes studio/src/api/types.ts
 *   node scripts/api-types.mjs --check    fails when that file is not what would be written
 *
 * With an address, as http://127.0.0.1:20128, the server there is asked; without, one is started from what is built.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const TARGET = join(ROOT, 'studio/src/api/types.ts')

/** The types of a whole description, in the shape that `openapi-fetch` reads. */
export function typesOf(api) {
  const schemas = Object.entries(api.components.schemas)
  return `/** Made from the server's own description by scripts/api-types.mjs. Do not edit. */
${schemas.map(([name, schema]) => `export type ${name} = ${typeOf(schema)}\n`).join('\n')}
export interface components {
  schemas: ${shape(schemas.map(([name]) => property(name, name)))}
}

export interface paths ${shape(
    Object.entries(api.paths).map(([path, methods]) => property(path, pathType(methods))),
  )}
`
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch']

function pathType(methods) {
  return shape(
    METHODS.map((method) =>
      method in methods ? property(method, operationType(methods[method])) : `${method}?: never`,
    ),
  )
}

function operationType({ parameters = [], requestBody, responses }) {
  const body = requestBody?.content?.['application/json']?.schema
  return shape([
    property(
      'parameters',
      shape(['query', 'path', 'header'].map((place) => parametersIn(place, parameters))),
    ),
    body === undefined
      ? 'requestBody?: never'
      : `requestBody${requestBody.required ? '' : '?'}: { content: { 'application/json': ${typeOf(body)} } }`,
    property('responses', shape(Object.entries(responses).map(responseType))),
  ])
}

function parametersIn(place, parameters) {
  const own = parameters.filter((parameter) => parameter.in === place)
  if (own.length === 0) return `${place}?: never`
  const isNeeded = own.some(({ required }) => required)
  return `${place}${isNeeded ? '' : '?'}: ${shape(own.map(({ name, required, schema }) => property(name, typeOf(schema), !required)))}`
}

function responseType([status, answer]) {
  if ('$ref' in answer) {
    return property(status, `{ content: { 'application/json': Error } }`)
  }
  const [type, content] = Object.entries(answer.content ?? {})[0] ?? []
  if (type === undefined) return property(status, '{ content?: never }')
  const body = type === 'application/json' ? typeOf(content.schema ?? {}) : 'string'
  return property(status, `{ content: { '${type}': ${body} } }`)
}

function typeOf(schema) {
  if (schema === true || schema === undefined) return 'unknown'
  if (schema.$ref !== undefined) {
    return schema.$ref.split('/').at(-1)
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return union(either.map(typeOf))
  if (schema.allOf !== undefined) return schema.allOf.map(typeOf).join(' & ')
  if (Array.isArray(schema.type))
    return union(schema.type.map((type) => typeOf({ ...schema, type })))
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
      return `${bracketed(typeOf(schema.items))}[]`
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
  if (additionalProperties === undefined || additionalProperties === false) return shape(named)
  const other = `{ [name: string]: ${typeOf(additionalProperties)} }`
  return named.length === 0 ? other : `${shape(named)} & ${other}`
}

function union(types) {
  return [...new Set(types)].join(' | ')
}

function bracketed(type) {
  return /[|&]/.test(type) ? `(${type})` : type
}

function property(name, type, isOptional = false) {
  return `${/^([A-Za-z_]\w*|\d+)$/.test(name) ? name : JSON.stringify(name)}${isOptional ? '?' : ''}: ${type}`
}

function shape(properties) {
  return `{\n${properties.join('\n')}\n}`
}

async function descriptionAt(address) {
  return (await fetch(`${address}/openapi.json`)).json()
}

/** As a server says it that is only started for this. */
async function description() {
  const data = mkdtempSync(join(tmpdir(), 'recollect-types-'))
  const args = [join(ROOT, 'dist/app/cli-main.js'), 'serve', '--data', data, '--port', '0']
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const address = await new Promise((resolve, reject) => {
      let told = ''
      server.on('exit', () => reject(new Error(`The server has ended: ${told}`)))
      server.stdout.on('data', (bytes) => {
        told += bytes
        const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(told) ?? []
        if (found !== undefined) resolve(found)
      })
    })
    return await descriptionAt(address)
  } finally {
    server.kill()
    rmSync(data, { recursive: true, force: true })
  }
}

function formatted(text) {
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'node_modules/@biomejs/biome/bin/biome'), 'format', '--stdin-file-path=types.ts'],
    { input: text, encoding: 'utf8', cwd: ROOT, maxBuffer: 64_000_000 },
  )
  if (status !== 0) throw new Error(stderr)
  return stdout
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const address = process.argv.slice(2).find((word) => word.startsWith('http'))
  const told = address === undefined ? description() : descriptionAt(address)
  const made = formatted(typesOf(await told))
  if (!process.argv.includes('--check')) writeFileSync(TARGET, made)
  else if (readFileSync(TARGET, 'utf8') !== made) {
    process.stderr.write(
      'studio/src/api/types.ts is not up to date: run `node scripts/api-types.mjs`.\n',
    )
    process.exit(1)
  }
}
