/** Routes of the server itself: health, metrics, login sessions, OpenAPI, and the home page. */
import { z } from 'zod'
import { ROLES } from '../../domain/access.ts'
import { describeHealth, HEALTH_REASONS, type Health } from '../../engine/health.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { lazy } from '../../lib/single-flight.ts'
import { withTimeout } from '../../lib/timeout.ts'
import { assertAccess, canReachOwner, hasAccess } from '../operations/authorization.ts'
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
import { renderApiReference } from './pages/api-reference.ts'
import { createDocsRoutes } from './pages/docs-site.ts'
import { renderHomePage } from './pages/home-page.ts'
import { createStudioRoutes } from './pages/studio-assets.ts'
import type { BuiltinRoute, ServerContext } from './request-context.ts'
import { type Authenticator, type Principal, toKeyCaller } from './security/authentication.ts'
import { isLoopback, isSecure } from './security/host-validation.ts'
import {
  expiredSessionCookie,
  readSessionCookie,
  sessionCookie,
} from './security/login-sessions.ts'
import type { HttpServerOptions } from './server-options.ts'

export const SIGN_IN_PATH = '/studio/sign-in'

export type BuiltinRouteOptions = Pick<
  HttpServerOptions,
  | 'isTls'
  | 'trustProxy'
  | 'allowedHosts'
  | 'metrics'
  | 'hasPublicMetrics'
  | 'studioFolder'
  | 'docsFolder'
  | 'mounts'
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
/** Time limit for the write that tells whether a store has recovered. */
const WRITE_PROBE_MS = 2_000

const readiness = z.object({
  status: z.enum(['ok', 'degraded', 'unavailable']),
  version: z.string(),
  reasons: z.array(z.string()).describe('Problems; with details for superadmins.'),
  codes: z.array(z.string()),
})

const identitySchema = z.object({
  key: z.string().nullable().describe('The id of the key.'),
  role: z.enum(ROLES),
  home: z.string(),
  actsFor: z.array(z.string()),
  expiresAt: z.string().nullable().describe('When the login session expires; null without one.'),
})

const sessionInput = z.strictObject({
  key: z.string().min(1).max(200).describe('An API key, such as rc_….'),
})

export function createBuiltinRoutes(options: BuiltinRouteOptions): readonly BuiltinRoute[] {
  return [
    ...healthRoutes(options),
    ...sessionRoutes(options),
    signInLinkRoute(options),
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
  const readStatus = () => engine.status().catch((error: unknown) => toAppError(error))
  const readHealth = async () => {
    const status = await readStatus()
    if (status instanceof AppError || status.writeFailure === null) return describeHealth(status)
    // Nothing else may be written that would show a recovery.
    await withTimeout(WRITE_PROBE_MS, () => engine.admin.testWrite())
    return describeHealth(await readStatus())
  }
  const health = (): Promise<Health> => {
    const now = clock.now()
    if (latest === null || now - latest.at >= HEALTH_FRESH_MS) {
      latest = { health: readHealth(), at: now }
    }
    return latest.health
  }
  return [
    {
      method: 'GET',
      path: '/health/live',
      summary: 'Liveness: whether the process responds. Checks nothing else.',
      access: 'open',
      answers: { 200: z.object({ status: z.literal('ok') }) },
      handle: ({ request, response }) => sendJson(request, response, 200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/health/ready',
      summary: 'Readiness: whether memories can be read and written, with problems.',
      access: 'optional',
      answers: { 200: readiness, 503: readiness },
      handle: async ({ request, response, principal }) => {
        const { state, codes, reasons } = isStopping() ? describeStopping() : await health()
        // Reasons may contain file and host names.
        const isTrusted = principal !== null && hasAccess(principal.caller, 'manage')
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
      summary: 'Opens a browser login session: exchanges an API key for a cookie.',
      access: 'open',
      input: sessionInput,
      answers: { 200: identitySchema },
      handle: async ({ request, response, address, signal }) => {
        const parsed = sessionInput.safeParse(await readJsonBody(request))
        if (!parsed.success) {
          const message = '`key` must be an API key such as rc_…; no other field is accepted.'
          throw new AppError('invalid_input', message, { field: 'key' })
        }
        const key = await authentication.verify(parsed.data.key, address, signal)
        const { id, session } = await sessions.open(key.id)
        response.setHeader('set-cookie', sessionCookie(id, isSecure(options, request)))
        const principal = {
          caller: toKeyCaller(key),
          isSession: true,
          sessionExpiresAt: session.expiresAt,
        }
        await sendJson(request, response, 200, describeIdentity(principal))
      },
    },
    {
      method: 'GET',
      path,
      summary: 'The authenticated caller.',
      access: 'key',
      answers: { 200: identitySchema },
      handle: ({ request, response, principal }) =>
        sendJson(request, response, 200, describeIdentity(requirePrincipal(principal))),
    },
    {
      method: 'DELETE',
      path,
      summary: 'Closes the login session.',
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

/** Opens a session with a token of `SignInTokens`. The link is printed in a terminal, so it works on the same machine only. */
function signInLinkRoute(options: BuiltinRouteOptions): BuiltinRoute {
  const { sessions, signInTokens } = options.authentication
  return {
    method: 'GET',
    path: SIGN_IN_PATH,
    summary:
      'Opens a browser login session with the one-time token that the server prints when it starts.',
    access: 'open',
    isUndocumented: true,
    answers: { 303: null },
    handle: async ({ request, response }) => {
      const token = new URL(request.url ?? '/', 'http://localhost').searchParams.get('token')
      const isLocal = isLoopback((request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''))
      const key = token !== null && isLocal ? signInTokens.redeem(token) : null
      if (key !== null) {
        const { id } = await sessions.open(key)
        response.setHeader('set-cookie', sessionCookie(id, isSecure(options, request)))
      }
      // Without a valid token the Studio asks for a key.
      response.setHeader('location', '/')
      sendEmpty(response, 303)
    },
  }
}

function describeIdentity({
  caller,
  sessionExpiresAt,
}: Principal): z.output<typeof identitySchema> {
  const { key, role, home, actsFor } = caller
  return {
    key,
    role,
    home,
    actsFor: [...actsFor],
    expiresAt: sessionExpiresAt === undefined ? null : isoTime(sessionExpiresAt),
  }
}

function requirePrincipal(principal: Principal | null): Principal {
  if (principal === null) throw new AppError('unauthenticated', 'An API key is required.')
  return principal
}

function pages(options: BuiltinRouteOptions): readonly BuiltinRoute[] {
  const { version } = options.context
  const api = lazy(() =>
    describeApi(
      version,
      createBuiltinRoutes(options),
      options.mounts?.flatMap(({ paths = [] }) => paths),
    ),
  )
  const description = lazy(() => createStaticResponder(JSON_TYPE, `${JSON.stringify(api())}\n`))
  const reference = lazy(() => createStaticResponder(HTML_TYPE, renderApiReference(api())))
  const studio = options.studioFolder === undefined ? [] : createStudioRoutes(options.studioFolder)
  return [
    ...(studio.length > 0 ? studio : [homePageRoute(options)]),
    createRedirect('/studio', '/'),
    createRedirect('/studio/', '/'),
    {
      method: 'GET',
      path: '/openapi.json',
      summary: 'This API as an OpenAPI description.',
      access: 'open',
      answers: { 200: z.record(z.string(), z.json()) },
      handle: ({ request, response }) => description()(request, response),
    },
    {
      method: 'GET',
      path: '/docs/api',
      summary: 'The API reference as a page.',
      access: 'open',
      answers: { 200: 'text/html' },
      handle: ({ request, response }) => reference()(request, response),
    },
    ...createDocsRoutes(options.docsFolder),
  ]
}

function createRedirect(path: string, location: string): BuiltinRoute {
  return {
    method: 'GET',
    path,
    summary: `Redirects to ${location}.`,
    access: 'open',
    isUndocumented: true,
    answers: { 303: null },
    handle: async ({ response }) => {
      response.setHeader('location', location)
      sendEmpty(response, 303)
    },
  }
}

/** The Studio is not built. */
function homePageRoute({ context: { engine, version } }: BuiltinRouteOptions): BuiltinRoute {
  return {
    method: 'GET',
    path: '/',
    summary: 'A status page; with a key, including memory counts.',
    access: 'optional',
    answers: { 200: 'text/html' },
    handle: async ({ request, response, principal }) => {
      const overview = principal === null ? null : await homePageData(engine, principal)
      await send(request, response, 200, HTML_TYPE, renderHomePage(version, overview))
    },
  }
}

function eventRoutes({
  context,
  authentication,
  clock,
  stopping,
}: BuiltinRouteOptions): readonly BuiltinRoute[] {
  return [
    {
      method: 'GET',
      path: '/api/events',
      summary:
        'Server-sent events that name the kinds of data that changed, optionally of one `owner` (query).',
      access: 'key',
      answers: { 200: 'text/event-stream' },
      handle: async ({ request, response, principal: authenticated, query, signal }) => {
        const principal = requirePrincipal(authenticated)
        const { caller } = principal
        const owner = new URLSearchParams(query).get('owner')
        if (owner !== null && !canReachOwner(caller, owner, 'read')) {
          throw new AppError('not_found', 'Owner not found.', { field: 'owner' })
        }
        await streamChanges({
          ...{ engine: context.engine, response, caller, owner },
          isAuthorized: () => authentication.isStillValid(request, principal),
          onKeysChanged: (listener) => authentication.onKeysChanged(listener),
          expiresInMs: timeToExpiry(principal, clock.now()),
          signals: [signal, stopping],
        })
      },
    },
  ]
}

/** The longest time that a timer can wait; a stream does not last that long. */
const TIMER_MS_MAX = 2_147_483_647

function timeToExpiry({ sessionExpiresAt, keyExpiresAt }: Principal, now: number): number | null {
  const ends = [sessionExpiresAt, keyExpiresAt].filter((at): at is number => typeof at === 'number')
  const leftMs = Math.min(...ends) - now
  return leftMs > TIMER_MS_MAX ? null : Math.max(0, leftMs)
}

async function homePageData(engine: ServerContext['engine'], { caller }: Principal) {
  const [status, places] = await Promise.all([engine.status(), engine.admin.listPlaces()])
  const reachesAll = hasAccess(caller, 'manage')
  return {
    store: `${status.kind}, schema ${status.schemaVersion}`,
    places: places.filter(
      ({ owner, memories }) => memories > 0 && (reachesAll || canReachOwner(caller, owner, 'read')),
    ),
  }
}

function metricsRoutes({
  metrics,
  hasPublicMetrics,
}: BuiltinRouteOptions): readonly BuiltinRoute[] {
  if (metrics === undefined) return []
  return [
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the Prometheus text format; superadmins only.',
      access: hasPublicMetrics === true ? 'open' : 'key',
      answers: { 200: 'text/plain' },
      handle: async ({ request, response, principal }) => {
        if (hasPublicMetrics !== true) assertAccess(requirePrincipal(principal).caller, 'manage')
        await send(request, response, 200, METRICS_TYPE, await metrics())
      },
    },
  ]
}
