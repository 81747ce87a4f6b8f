/** Routes of the server itself: health, metrics, login sessions, OpenAPI, and the home page. */
import { z } from 'zod'
import { ROLES } from '../../domain/access.ts'
import { describeHealth, HEALTH_REASONS, type Health } from '../../engine/health.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { lazy } from '../../lib/single-flight.ts'
import { assertAccess, hasAccess } from '../operations/authorization.ts'
import { isoTime } from '../operations/memory-schema.ts'
import { streamChanges } from './messages/change-stream.ts'
import { readJsonBody } from './messages/request-body.ts'
import {
  createStaticResponder,
  HTML_TYPE,
  JSON_TYPE,
  send,
  sendEmpty,
  sendJson,
} from './messages/response.ts'
import { describeApi } from './openapi.ts'
import { renderDocsPage } from './pages/docs-page.ts'
import { renderHomePage } from './pages/home-page.ts'
import { createStudioRoutes } from './pages/studio-assets.ts'
import type { ServerContext } from './request-context.ts'
import type { BuiltinRoute } from './route.ts'
import { type Authenticator, type Principal, toKeyCaller } from './security/authentication.ts'
import { isSecure } from './security/host-validation.ts'
import {
  expiredSessionCookie,
  readSessionCookie,
  sessionCookie,
} from './security/login-sessions.ts'
import type { HttpServerOptions } from './server-options.ts'

export type BuiltinRouteOptions = Pick<
  HttpServerOptions,
  'isTls' | 'trustProxy' | 'allowedHosts' | 'metrics' | 'hasPublicMetrics' | 'studioFolder'
> & {
  readonly context: ServerContext
  readonly authentication: Authenticator
  readonly clock: Clock
  readonly isStopping: () => boolean
  /** Aborts when the server starts to shut down. */
  readonly stopping: AbortSignal
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The status is cached for this long: it can be requested without a key. */
const HEALTH_FRESH_MS = 1_000

const readiness = z.object({
  status: z.enum(['ok', 'degraded', 'unavailable']),
  version: z.string(),
  reasons: z.array(z.string()).describe('What is amiss; why it is, for superadmins.'),
  codes: z.array(z.string()),
})

const who = z.object({
  key: z.string().nullable().describe('The id of the key.'),
  role: z.enum(ROLES),
  home: z.string(),
  actsFor: z.array(z.string()),
  expiresAt: z.string().nullable().describe('When the session ends; null without one.'),
})

const sessionInput = z.strictObject({ key: z.string().min(1).max(200).describe('As rc_….') })

export function createBuiltinRoutes(options: BuiltinRouteOptions): readonly BuiltinRoute[] {
  return [
    ...healthRoutes(options),
    ...sessionRoutes(options),
    ...pages(options),
    ...eventRoutes(options),
    ...metricsRoutes(options),
  ]
}

function healthRoutes({
  context: { engine, version },
  clock,
  isStopping,
}: BuiltinRouteOptions): readonly BuiltinRoute[] {
  let latest: { readonly health: Promise<Health>; readonly at: number } | null = null
  const examine = async () =>
    describeHealth(await engine.status().catch((error: unknown) => toAppError(error)))
  const health = (): Promise<Health> => {
    const now = clock.now()
    if (latest === null || now - latest.at >= HEALTH_FRESH_MS) {
      latest = { health: examine(), at: now }
    }
    return latest.health
  }
  return [
    {
      method: 'GET',
      path: '/health/live',
      summary: 'Whether the process answers. Looks at nothing.',
      access: 'open',
      answers: { 200: z.object({ status: z.literal('ok') }) },
      handle: ({ request, response }) => sendJson(request, response, 200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/health/ready',
      summary: 'Whether memories can be read and written, and what does not work.',
      access: 'optional',
      answers: { 200: readiness, 503: readiness },
      handle: async ({ request, response, principal: identity }) => {
        const { state, codes, reasons } = isStopping() ? describeStopping() : await health()
        // Reasons may contain file and host names.
        const isTrusted = identity !== null && hasAccess(identity.caller, 'manage')
        await sendJson(request, response, state === 'unavailable' ? 503 : 200, {
          status: state,
          version,
          reasons: isTrusted ? reasons : codes.map((code) => HEALTH_REASONS[code]),
          codes,
        })
      },
    },
  ]
}

function describeStopping(): Health {
  return { state: 'unavailable', reasons: [HEALTH_REASONS.stopping], codes: ['stopping'] }
}

function sessionRoutes(options: BuiltinRouteOptions): readonly BuiltinRoute[] {
  const { authentication } = options
  const { sessions } = authentication
  const path = '/api/session'
  return [
    {
      method: 'POST',
      path,
      summary: 'Opens a session for a browser: a key in, a cookie out.',
      access: 'open',
      input: sessionInput,
      answers: { 200: who },
      handle: async ({ request, response, address, signal }) => {
        const given = sessionInput.safeParse(await readJsonBody(request))
        if (!given.success) {
          const message =
            'key is the key to open a session with, as rc_…, and nothing else is taken.'
          throw new AppError('invalid_input', message, { field: 'key' })
        }
        const key = await authentication.verify(given.data.key, address, signal)
        const { id, session } = await sessions.open(key.id)
        response.setHeader('set-cookie', sessionCookie(id, isSecure(options, request)))
        const identity = {
          caller: toKeyCaller(key),
          isSession: true,
          sessionExpiresAt: session.expiresAt,
        }
        await sendJson(request, response, 200, describeIdentity(identity))
      },
    },
    {
      method: 'GET',
      path,
      summary: 'Who one is.',
      access: 'key',
      answers: { 200: who },
      handle: ({ request, response, principal: identity }) =>
        sendJson(request, response, 200, describeIdentity(requirePrincipal(identity))),
    },
    {
      method: 'DELETE',
      path,
      summary: 'Ends the session.',
      access: 'key',
      answers: { 204: null },
      handle: async ({ request, response }) => {
        const cookie = readSessionCookie(request.headers.cookie)
        if (cookie !== null) await sessions.close(cookie)
        response.setHeader('set-cookie', expiredSessionCookie(isSecure(options, request)))
        sendEmpty(response, 204)
      },
    },
  ]
}

function describeIdentity({ caller, sessionExpiresAt }: Principal): z.output<typeof who> {
  const { key, role, home, actsFor } = caller
  return {
    key,
    role,
    home,
    actsFor: [...actsFor],
    expiresAt: sessionExpiresAt === undefined ? null : isoTime(sessionExpiresAt),
  }
}

function requirePrincipal(identity: Principal | null): Principal {
  if (identity === null) throw new AppError('unauthenticated', 'This needs a key.')
  return identity
}

function pages(options: BuiltinRouteOptions): readonly BuiltinRoute[] {
  const { version } = options.context
  const api = lazy(() => describeApi(version, createBuiltinRoutes(options)))
  const description = lazy(() => createStaticResponder(JSON_TYPE, `${JSON.stringify(api())}\n`))
  const docs = lazy(() => createStaticResponder(HTML_TYPE, renderDocsPage(api())))
  const studio = options.studioFolder === undefined ? [] : createStudioRoutes(options.studioFolder)
  return [
    ...(studio.length > 0 ? studio : [plainPage(options)]),
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This description, for programs.',
      access: 'open',
      answers: { 200: z.record(z.string(), z.json()) },
      handle: ({ request, response }) => description()(request, response),
    },
    {
      method: 'GET',
      path: '/docs',
      summary: 'This description, for people.',
      access: 'open',
      answers: { 200: 'text/html' },
      handle: ({ request, response }) => docs()(request, response),
    },
  ]
}

/** The Studio is not built. */
function plainPage({ context: { engine, version } }: BuiltinRouteOptions): BuiltinRoute {
  return {
    method: 'GET',
    path: '/',
    summary: 'A page that says what is running; with a key, also how much is remembered.',
    access: 'optional',
    answers: { 200: 'text/html' },
    handle: async ({ request, response, principal: identity }) => {
      const overview = identity === null ? null : await homePageData(engine, identity)
      await send(request, response, 200, HTML_TYPE, renderHomePage(version, overview))
    },
  }
}

function eventRoutes({
  context,
  authentication,
  stopping,
}: BuiltinRouteOptions): readonly BuiltinRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/events',
      summary: 'Tells what kinds of things change, as they do: server-sent events.',
      access: 'key',
      answers: { 200: 'text/event-stream' },
      handle: ({ request, response, principal: identity, address, signal }) => {
        const { caller } = requirePrincipal(identity)
        const isWelcome = async () =>
          caller.key === null || (await authentication.identify(request, address, signal)) !== null
        return streamChanges({
          engine: context.engine,
          response,
          caller,
          isAuthorized: isWelcome,
          signals: [signal, stopping],
        })
      },
    },
  ]
}

async function homePageData(engine: ServerContext['engine'], { caller }: Principal) {
  const [status, places] = await Promise.all([engine.status(), engine.admin.listPlaces()])
  const isAll = hasAccess(caller, 'manage')
  const reached = new Set([caller.home, ...caller.actsFor])
  return {
    store: `${status.kind}, schema ${status.schemaVersion}`,
    places: places.filter(({ owner, memories }) => memories > 0 && (isAll || reached.has(owner))),
  }
}

function metricsRoutes({
  metrics,
  hasPublicMetrics: hasOpenMetrics,
}: BuiltinRouteOptions): readonly BuiltinRoute[] {
  if (metrics === undefined) return []
  return [
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the text form of Prometheus, for superadmins.',
      access: hasOpenMetrics === true ? 'open' : 'key',
      answers: { 200: 'text/plain' },
      handle: async ({ request, response, principal: identity }) => {
        if (hasOpenMetrics !== true) assertAccess(requirePrincipal(identity).caller, 'manage')
        await send(request, response, 200, METRICS_TYPE, await metrics())
      },
    },
  ]
}
