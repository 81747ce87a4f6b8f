/**
 * References to state that a provider keeps: ids that a response hands out and that a later request sends back. Under one
 * account at the provider, whoever knows such an id reaches what it stands for.
 */
import type { ApiFormat } from '../../../domain/model-call.ts'
import { filterObjects, isObject, type Json, type JsonObject } from '../../../lib/json.ts'
import { parseEventData } from './answer-text.ts'
import { readField } from './gemini-generate-content.ts'

export type ProviderReference = {
  readonly id: string
  /** The field of the request, as its API spells it. */
  readonly field: string
}

/** The references in a request, in order. */
export function listReferences(format: ApiFormat, body: JsonObject): readonly ProviderReference[] {
  const references: ProviderReference[] = []
  REQUEST_READERS[format](body, (field, id) => {
    if (typeof id === 'string' && id !== '') references.push({ id, field })
  })
  return references
}

/** The lists of a request whose elements may refer to state of the provider. */
const REFERRING_LISTS: Readonly<Record<ApiFormat, readonly string[]>> = {
  chat: ['messages'],
  responses: ['input', 'tools'],
  messages: ['messages'],
  gemini: ['contents'],
}

/** Says of elements of a list in a request whether they refer to state of the provider; null where they never do. */
export function refersToStateOf(
  format: ApiFormat,
): (list: string) => ((element: Json) => boolean) | null {
  return (list) =>
    REFERRING_LISTS[format].includes(list)
      ? (element) => listReferences(format, { [list]: [element] }).length > 0
      : null
}

type AddReference = (field: string, id: Json | undefined) => void

const REQUEST_READERS: Readonly<Record<ApiFormat, (body: JsonObject, add: AddReference) => void>> =
  {
    chat: ({ messages }, add) => {
      for (const [index, message] of filterObjects(messages).entries()) {
        const at = `messages[${index}]`
        if (isObject(message.audio)) add(`${at}.audio.id`, message.audio.id)
        for (const { file } of filterObjects(message.content)) {
          if (isObject(file)) add(`${at}.content.file.file_id`, file.file_id)
        }
      }
    },
    responses: (body, add) => {
      const { conversation, input, tools } = body
      add('previous_response_id', body.previous_response_id)
      add('conversation', isObject(conversation) ? conversation.id : conversation)
      for (const [index, item] of filterObjects(input).entries()) {
        const at = `input[${index}]`
        if (isStoredItem(item)) add(`${at}.id`, item.id)
        for (const list of [item.content, item.output]) {
          for (const part of filterObjects(list)) add(`${at}.content.file_id`, part.file_id)
        }
        add(`${at}.container_id`, item.container_id)
      }
      for (const [index, tool] of filterObjects(tools).entries()) {
        addToolReferences(tool, `tools[${index}]`, add)
      }
    },
    gemini: (body, add) => {
      add('cachedContent', readField(body, 'cachedContent'))
      for (const [index, { parts }] of filterObjects(body.contents).entries()) {
        for (const part of isObject(parts) ? [parts] : filterObjects(parts)) {
          const file = readField(part, 'fileData')
          const uri = isObject(file) ? readField(file, 'fileUri') : undefined
          const [id] = GEMINI_FILE.exec(typeof uri === 'string' ? uri : '') ?? []
          add(`contents[${index}].parts.fileData.fileUri`, id)
        }
      }
    },
    messages: ({ thread, container, messages }, add) => {
      if (isObject(thread)) {
        add('thread.previous_message_id', thread.previous_message_id)
        add('thread.id', thread.id)
      }
      add('container', isObject(container) ? container.id : container)
      for (const [index, { content }] of filterObjects(messages).entries()) {
        addFileSources(content, `messages.${index}.content`, add)
      }
    },
  }

/** A file at the provider; other addresses name nothing that belongs to the account. */
const GEMINI_FILE = /(?<=^(?:https:\/\/[^/]+\/v1(?:beta)?\/)?)files\/[\w-]{1,200}$/

/** Whether the provider reads an item from its store: the item says nothing itself. */
function isStoredItem({ type, encrypted_content: encrypted, content }: JsonObject): boolean {
  if (type === 'item_reference') return true
  return type === 'reasoning' && encrypted == null && content == null
}

function addToolReferences(tool: JsonObject, at: string, add: AddReference): void {
  const { container, vector_store_ids: stores } = tool
  add(`${at}.container`, container)
  if (isObject(container)) addAll(container.file_ids, `${at}.container.file_ids`, add)
  addAll(stores, `${at}.vector_store_ids`, add)
}

function addAll(ids: Json | undefined, field: string, add: AddReference): void {
  if (Array.isArray(ids)) for (const id of ids as readonly Json[]) add(field, id)
}

/** Files in blocks, also in those that are results of tools. */
function addFileSources(content: Json | undefined, at: string, add: AddReference): void {
  const pending = [...filterObjects(content)]
  for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
    add(`${at}.file_id`, block.file_id)
    if (isObject(block.source)) add(`${at}.source.file_id`, block.source.file_id)
    pending.push(...filterObjects(block.content))
  }
}

/** Whether the provider keeps state for the request, so that its response hands out ids to refer to later. */
export function keepsState(format: ApiFormat, body: JsonObject): boolean {
  switch (format) {
    case 'chat':
      return isObject(body.audio)
    case 'responses':
      return body.store !== false
    case 'gemini':
      return false
    case 'messages':
      return (
        body.thread != null ||
        body.container != null ||
        filterObjects(body.tools).some(({ type }) => String(type).startsWith('code_execution'))
      )
  }
}

/** The ids that a response hands out, read from a whole body. */
export function listIssuedIds(format: ApiFormat, body: JsonObject): readonly string[] {
  return ISSUED_READERS[format](body).filter((id): id is string => typeof id === 'string')
}

/** The same of one event of a stream. Most events are deltas, which hand out nothing and are not parsed. */
export function listIssuedIdsOfEvent(format: ApiFormat, data: string): readonly string[] {
  if (!MAY_ISSUE[format].test(data.slice(0, EVENT_HEAD_CHARACTERS))) return []
  const event = parseEventData(data)
  if (event === null) return []
  const bodies = [event, event.response, event.message, event.delta].filter(isObject)
  const items = format === 'responses' && isObject(event.item) ? listItemIds(event.item) : []
  const ids = bodies.flatMap((body) => ISSUED_READERS[format](body))
  return [...ids, ...items].filter((id): id is string => typeof id === 'string')
}

const EVENT_HEAD_CHARACTERS = 400

const MAY_ISSUE: Readonly<Record<ApiFormat, RegExp>> = {
  chat: /"audio"/,
  responses: /"response\.(?:created|completed|incomplete|failed|output_item\.)/,
  messages: /"message_(?:start|delta)"/,
  gemini: /(?!)/,
}

const ISSUED_READERS: Readonly<
  Record<ApiFormat, (body: JsonObject) => readonly (Json | undefined)[]>
> = {
  chat: ({ choices }) =>
    filterObjects(choices)
      .flatMap(({ message, delta }) => [message, delta].filter(isObject))
      .map(({ audio }) => (isObject(audio) ? audio.id : undefined)),
  responses: ({ id, conversation, output }) => [
    id,
    isObject(conversation) ? conversation.id : undefined,
    ...filterObjects(output).flatMap(listItemIds),
  ],
  gemini: () => [],
  messages: ({ id, container, content }) => [
    id,
    isObject(container) ? container.id : undefined,
    ...listFileIds(content),
  ],
}

function listItemIds(item: JsonObject): readonly (Json | undefined)[] {
  const created = filterObjects(item.content)
    .flatMap(({ annotations }) => filterObjects(annotations))
    .filter(({ type }) => type === 'container_file_citation')
  return [item.id, item.container_id, ...created.map(({ file_id: file }) => file)]
}

/** Files that hosted tools created, at any depth of the results. */
function listFileIds(content: Json | undefined): readonly (Json | undefined)[] {
  const found: (Json | undefined)[] = []
  const pending = [...filterObjects(content)]
  for (let block = pending.pop(); block !== undefined; block = pending.pop()) {
    found.push(block.file_id)
    pending.push(...[block.content].flat().filter(isObject))
  }
  return found
}
