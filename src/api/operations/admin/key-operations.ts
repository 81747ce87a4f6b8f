/** Operations on API keys, owners and the audit log. */
import { z } from 'zod'
import { type ApiKey, KEY_WRITERS, ROLES } from '../../../domain/access.ts'
import { isoTime, timeField } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveOwner, scopeFields } from '../scope-fields.ts'

const nothing = z.strictObject({})
const nullableText = z.string().nullable()

const wireKey = z
  .object({
    id: z.string(),
    name: z.string(),
    role: z.enum(ROLES),
    writesAs: z
      .enum(KEY_WRITERS)
      .describe('Whose words the key writes. A model’s never replace what a person stated.'),
    home: z.string(),
    actsFor: z.array(z.string()),
    isManagement: z.boolean(),
    createdAt: z.string(),
    expiresAt: nullableText,
    lastUsedAt: nullableText,
  })
  .meta({ id: 'Key' })

function toWireKey({ hash: _h, version: _v, ...key }: ApiKey): z.output<typeof wireKey> {
  return {
    ...key,
    actsFor: [...key.actsFor],
    createdAt: isoTime(key.createdAt),
    expiresAt: isoTime(key.expiresAt),
    lastUsedAt: isoTime(key.lastUsedAt),
  }
}

export const listKeys = defineOperation({
  name: 'key.list',
  summary: 'Lists API keys, without secrets.',
  access: 'manage',
  input: nothing,
  output: z.object({ keys: z.array(wireKey) }),
  http: { method: 'GET', path: '/api/keys' },
  cli: 'keys',
  run: async ({ engine }) => ({ keys: (await engine.admin.keys.list()).map(toWireKey) }),
})

export const createKey = defineOperation({
  name: 'key.create',
  summary: 'Creates an API key. The secret is returned once and cannot be retrieved later.',
  access: 'manage',
  isSecret: true,
  input: z.strictObject({
    name: z.string().min(1).max(100).describe('A name that states the purpose of the key.'),
    home: z.string().min(1).max(200).describe('The owner of requests that name none.'),
    actsFor: z
      .array(z.string().min(1).max(200))
      .max(100)
      .optional()
      .describe('Further owners that the key may access. `*`: every owner, also new ones.'),
    role: z.enum(ROLES).default('user'),
    writesAs: z
      .enum(KEY_WRITERS)
      .optional()
      .describe('Default: `model` for the role agent, otherwise `person`.'),
    expiresAt: timeField.nullable().optional(),
  }),
  output: z.object({ key: wireKey, secret: z.string() }),
  http: { method: 'POST', path: '/api/keys', status: 201 },
  cli: 'keys',
  targets: ({ key }) => [key.id],
  run: async ({ engine }, { name, home, actsFor, role, writesAs, expiresAt }) => {
    const { key, secret } = await engine.admin.keys.create({
      name,
      defaultOwner: home,
      role,
      ...(writesAs === undefined ? {} : { writesAs }),
      actsFor: actsFor ?? [],
      expiresAt: expiresAt ?? null,
    })
    return { key: toWireKey(key), secret }
  },
})

export const revokeKey = defineOperation({
  name: 'key.revoke',
  summary: 'Revokes a key with immediate effect.',
  access: 'manage',
  isDestructive: true,
  input: z.strictObject({ id: z.string().min(1).max(100) }),
  output: z.object({ key: wireKey }),
  http: { method: 'DELETE', path: '/api/keys/{id}' },
  cli: 'keys',
  targets: ({ key }) => [key.id],
  run: async ({ engine }, { id }) => ({ key: toWireKey(await engine.admin.keys.revoke(id)) }),
})

export const listOwners = defineOperation({
  name: 'owner.list',
  summary:
    'Lists owners with counts of memories and turns; for superadmins all of them, for others their own.',
  access: 'read',
  input: nothing,
  output: z.object({
    owners: z.array(
      z.object({
        owner: z.string(),
        user: z.string().nullable(),
        memories: z.int().describe('Including those in the trash.'),
        turns: z.int().describe('Conversation turns.'),
      }),
    ),
  }),
  http: { method: 'GET', path: '/api/owners' },
  cli: 'owners',
  run: async ({ engine, caller }) => {
    const reachable = new Set([caller.home, ...caller.actsFor])
    const places = await engine.admin.listPlaces()
    return {
      owners: places
        .filter(({ owner }) => caller.role === 'superadmin' || reachable.has(owner))
        .map((place) => ({ ...place })),
    }
  },
})

export const eraseOwner = defineOperation({
  name: 'owner.erase',
  summary: 'Erases an owner permanently: memories, history, conversations, settings, keys.',
  access: 'manage',
  isDestructive: true,
  input: z.strictObject({
    owner: z.string().min(1).max(200),
    dryRun: z.boolean().optional().describe('Only counts.'),
  }),
  output: z.object({ rows: z.record(z.string(), z.int()), dryRun: z.boolean() }),
  http: { method: 'DELETE', path: '/api/owners/{owner}' },
  cli: 'owners',
  targets: (_, { owner }) => [String(owner)],
  run: async ({ engine }, { owner, dryRun = false }) => ({
    rows: (await engine.admin.eraseOwner(owner, { dryRun })).rows,
    dryRun,
  }),
})

export const listAudit = defineOperation({
  name: 'audit.list',
  summary: 'The audit log, newest first.',
  access: 'manage',
  input: z.strictObject({
    owner: scopeFields.owner,
    actor: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('The id of a key, or `none` for local access.'),
    operation: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe('For example `memory.forget`, or `memory` for all operations on memories.'),
    target: z.string().min(1).max(200).optional().describe('The id of the affected resource.'),
    from: timeField.optional(),
    before: timeField.optional(),
    limit: z.int().min(1).max(1_000).default(50),
    after: z.string().max(200).optional(),
  }),
  output: z.object({
    entries: z.array(
      z.object({
        id: z.string(),
        at: z.string(),
        actor: nullableText,
        operation: z.string(),
        owner: z.string(),
        targets: z.array(z.string()),
        targetCount: z.int(),
      }),
    ),
    next: nullableText,
  }),
  http: { method: 'GET', path: '/api/audit' },
  cli: 'audit',
  run: async (context, { owner, actor, operation, target, from, before, limit, after }) => {
    if (owner !== undefined) resolveOwner(context, { owner }, 'manage')
    const { rows, next } = await context.engine.admin.audit.list({
      limit,
      ...(owner === undefined ? {} : { owner }),
      ...(actor === undefined ? {} : { actor: actor === 'none' ? null : actor }),
      ...(operation === undefined ? {} : { operation }),
      ...(target === undefined ? {} : { target }),
      ...(from === undefined ? {} : { from }),
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    })
    const entries = rows.map((entry) => ({
      ...entry,
      at: isoTime(entry.at),
      targets: [...entry.targets],
    }))
    return { entries, next }
  },
})
