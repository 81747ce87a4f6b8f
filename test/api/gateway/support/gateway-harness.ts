/** A client's surroundings: the scripted upstream alone, or with a gateway before it. */
import { expect, onTestFinished } from 'vitest'
import type { Engine } from '../../../../src/engine/engine.ts'
import { startGateway } from './gateway-host.ts'
import { openUpstream, type Received, type Upstream } from './scripted-upstream.ts'
import { PATHS } from './wire-format.ts'

/** `direct`: without a gateway, which shows that the upstream is what the client expects. */
export const MODES = ['direct', 'memory off', 'memory on'] as const
export type Mode = (typeof MODES)[number]

export const OWNER = 'ada'
export const FACT = 'My favourite tea is jasmine from Fuzhou'
export const QUESTION = 'Which tea is my favourite?'
export const MEMORY_HEADER = 'x-recollect-memory'
export const FENCE = '<recollect-memory'
/** The smallest picture there is: one pixel. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export type Setup = {
  readonly mode: Mode
  readonly upstream: Upstream
  /** With `/v1`. */
  readonly baseUrl: string
  /** Without it. */
  readonly url: string
  readonly key: string
  readonly engine: Engine | null
}

type GatewayOptions = Omit<Parameters<typeof startGateway>[0], 'upstreamUrl' | 'providers'> & {
  /** Given where upstream is. */
  readonly providers?: (upstreamUrl: string) => object
}

/** Everything a test needs for one client, closed when the test is over. */
export async function setUp(mode: Mode, options: GatewayOptions = {}): Promise<Setup> {
  const upstream = await openUpstream()
  onTestFinished(() => upstream.close())
  if (mode === 'direct') {
    const { url } = upstream
    return { mode, upstream, url, baseUrl: `${url}/v1`, key: 'sk-upstream', engine: null }
  }
  const { providers, ...rest } = options
  const settings = {
    'gateway.enabled': mode === 'memory on',
    // No test may depend on how busy the machine is.
    'gateway.contextTimeoutMs': 30_000,
    ...options.settings,
  }
  const { url, engine } = await startGateway({
    upstreamUrl: upstream.url,
    ...rest,
    ...(providers === undefined ? {} : { providers: providers(upstream.url) }),
    settings,
  })
  const key = await keyFor(engine)
  if (mode === 'memory on') await engine.remember({ owner: OWNER }, { content: FACT })
  return { mode, upstream, url, baseUrl: `${url}/v1`, key, engine }
}

/** The setup of a test that has no direct mode. */
export type GatewaySetup = Setup & { readonly engine: Engine }

export async function setUpGateway(
  mode: Exclude<Mode, 'direct'> = 'memory on',
  options: GatewayOptions = {},
): Promise<GatewaySetup> {
  const setup = await setUp(mode, options)
  if (setup.engine === null) throw new Error('There is no gateway in this mode.')
  return { ...setup, engine: setup.engine }
}

export async function keyFor(engine: Engine, home = OWNER): Promise<string> {
  const made = await engine.admin.keys.create({
    name: `agent of ${home}`,
    defaultOwner: home,
    role: 'agent',
  })
  return made.secret
}

/**
 * What upstream received holds the memory exactly when it should, once, and only the person's last words were changed;
 * and the answer's headers tell.
 */
export function expectMemory(
  { mode }: Setup,
  received: Received,
  headers: Headers | Readonly<Record<string, string>> | null = null,
): void {
  expect(occurrences(received.text, FENCE)).toBe(mode === 'memory on' ? 1 : 0)
  expect(occurrences(received.text, 'jasmine from Fuzhou')).toBe(mode === 'memory on' ? 1 : 0)
  if (mode !== 'direct') {
    // The provider's own key, and nothing of ours.
    const { authorization, 'x-api-key': apiKey } = received.headers
    const isAnthropic = received.path.startsWith(PATHS.messages)
    expect(authorization).toBe(isAnthropic ? undefined : 'Bearer sk-upstream')
    expect(apiKey).toBe(isAnthropic ? 'sk-ant-upstream' : undefined)
    expect(received.rawHeaders.join('\n')).not.toMatch(/rc_[0-9a-z]+_|x-recollect/i)
  }
  if (headers === null) return
  const told = headers instanceof Headers ? headers.get(MEMORY_HEADER) : headers[MEMORY_HEADER]
  if (mode === 'direct') expect(told ?? null).toBeNull()
  else if (mode === 'memory off') expect(told).toMatch(/^skipped; reason=off\b/)
  else expect(told).toMatch(/^injected; count=1; tokens=\d+; receipt=rcp_\w+$/)
}

/** Leaves before a call that doesn't stream is answered, and waits until upstream knows. */
export async function expectLeft(
  { upstream }: Setup,
  ask: (signal: AbortSignal) => PromiseLike<unknown>,
): Promise<void> {
  upstream.queue({ trouble: { after: 'headers', what: 'hang' } })
  const leaving = new AbortController()
  const asking = Promise.resolve(ask(leaving.signal))
  await Promise.race([upstream.request(1), asking])
  leaving.abort()
  await expect(asking).rejects.toThrow()
  expect(await upstream.last().ended).toBe('left')
}

export function occurrences(text: string, part: string): number {
  return text.split(part).length - 1
}

/** Waits for something that happens in the background, without saying how long that takes. */
export async function eventually<T>(
  what: () => T | Promise<T>,
  isReached: (value: T) => boolean,
): Promise<T> {
  for (;;) {
    const value = await what()
    if (isReached(value)) return value
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A fetch that keeps the headers of the last answer, for clients that hide them. */
export function listeningFetch(): { readonly fetch: typeof fetch; headers(): Headers } {
  let seen = new Headers()
  return {
    fetch: async (...args: Parameters<typeof fetch>) => {
      const response = await fetch(...args)
      seen = response.headers
      return response
    },
    headers: () => seen,
  }
}
