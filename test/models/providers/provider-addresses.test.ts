/** Which addresses providers may have: as they are written, and as names turn out to be. */
import type { LookupAddress } from 'node:dns'
import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../src/lib/errors.ts'
import { classifyAddress, parseProviderAddress } from '../../../src/models/providers/ssrf-guard.ts'
import { cleanUpAfterEach, provider, request, serve, textOf, upstream } from './upstream-support.ts'

cleanUpAfterEach()

describe('literal addresses', () => {
  it.each([
    ...['169.254.169.254', '169.254.0.1', '0.0.0.0', '0.1.2.3', '100.100.100.200', '224.0.0.1'],
    ...['255.255.255.255', '240.0.0.1', '168.63.129.16', '192.0.0.192'],
    ...['2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '0xa9.0xfe.43518', '169.254.43518', '0'],
    ...['[fe80::1]', '[febf::1]', '[ff02::1]', '[::]', '[fd00:ec2::254]', '[fd20:ce::254]'],
    ...['[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]', '[::169.254.169.254]', '[::ffff:0:0]'],
    ...['[0:0:0:0:0:ffff:a9fe:a9fe]', '[64:ff9b::169.254.169.254]', '[64:ff9b:1::a9fe:a9fe]'],
    ...['[2002:a9fe:a9fe::1]', '[2001:0:4136:e378:8000:63bf:5601:5601]', '[::ffff:0:a9fe:a9fe]'],
    ...['metadata.google.internal', 'METADATA.google.internal.', 'metadata', 'instance-data'],
    '１６９.254.169.254',
  ])('[PV12] %s is refused in any spelling', (host) => {
    for (const url of [`http://${host}/latest`, `https://${host}:8080/v1`]) {
      expect(faultOf(() => parseProviderAddress({ name: 'cloud', baseUrl: url }))).toMatchObject({
        code: 'invalid_input',
        facts: { provider: 'cloud' },
      })
    }
  })

  it.each([
    ...['http://user:secret@api.example.com/v1', 'http://user@api.example.com', 'ftp://a.example'],
    ...['file:///etc/passwd', 'api.example.com', 'http://', ''],
  ])('[PV12] %s is no base URL', (baseUrl) => {
    const fault = faultOf(() => parseProviderAddress({ name: 'odd', baseUrl }))
    expect(fault.code).toBe('invalid_input')
    expect(fault.message).not.toContain('secret')
  })

  it.each([
    ['8.8.8.8', 'public'],
    ['169.253.255.255', 'public'],
    ['172.32.0.1', 'public'],
    ['2606:4700::1', 'public'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['10.0.0.1', 'private'],
    ['127.0.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['::1', 'private'],
    ['fd12:3456::1', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['64:ff9b::7f00:1', 'private'],
    ['2002:0a00:0001::', 'private'],
    ['fe80::1%eth0', 'refused'],
    ['not an address', 'refused'],
  ] as const)('[PV12] %s is %s', (address, reach) => {
    expect(classifyAddress(address)).toBe(reach)
  })
})

describe('names', () => {
  it('[PV13] one that turns out to be private is refused, says how to allow it, and no byte is sent', async () => {
    const { asked, port } = await listener()
    const to = provider(`http://models.example.com:${port}/v1`)
    const fault = await sending(to, [{ address: '127.0.0.1', family: 4 }])
    expect(fault).toMatchObject({ code: 'unavailable', facts: { host: 'models.example.com' } })
    expect(fault?.message).toContain('"private": true')
    expect(asked()).toBe(0)
  })

  it('[PV13] one with a single bad address among good ones is refused', async () => {
    const to = provider('https://models.example.com/v1')
    const fault = await sending(to, [
      { address: '93.184.216.34', family: 4 },
      { address: '10.0.0.7', family: 4 },
    ])
    expect(fault).toMatchObject({ code: 'unavailable', facts: { retryable: false } })
  })

  it('[PV13] one that was good is checked again when it is resolved again', async () => {
    const { port, url } = await listener()
    const answers = ['127.0.0.1', '169.254.169.254']
    const sender = upstream({
      resolve: (_, done) => done(null, [{ address: answers.shift() ?? '0.0.0.0', family: 4 }]),
    })
    const to = provider(`http://models.example.com:${port}/v1`, { isPrivate: true })
    // The server closes the connection, so that the next request resolves the name anew.
    expect(await textOf(await sender.send(request(to)))).toBe(url)
    await expect(sender.send(request(to))).rejects.toMatchObject({ code: 'unavailable' })
    expect(answers).toEqual([])
  })

  it.each([
    { name: 'localhost', isPrivate: false },
    { name: 'vllm', isPrivate: false },
    { name: 'my.localhost', isPrivate: false },
    { name: 'gpu.corp.example', isPrivate: true },
  ])('[PV13] $name may be private', async ({ name, isPrivate }) => {
    const { port, url } = await listener()
    const sender = upstream({
      resolve: (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    })
    const to = provider(`http://${name}:${port}/v1`, { isPrivate })
    expect(await textOf(await sender.send(request(to)))).toBe(url)
  })

  it.each(['169.254.169.254', 'fe80::1', '::ffff:169.254.169.254', '0.0.0.0'])(
    '[PV12] no configuration opens the way to %s',
    async (address) => {
      const to = provider('http://metadata-host:80/v1', { isPrivate: true })
      const fault = await sending(to, [{ address, family: address.includes(':') ? 6 : 4 }])
      expect(fault).toMatchObject({ code: 'unavailable' })
    },
  )

  it('[PV12] a literal is refused at the time of sending too', async () => {
    const to = provider('http://169.254.169.254/v1', { isPrivate: true })
    await expect(upstream().send(request(to))).rejects.toMatchObject({ code: 'invalid_input' })
  })
})

async function sending(
  to: ReturnType<typeof provider>,
  addresses: readonly LookupAddress[],
): Promise<AppError | null> {
  const sender = upstream({ resolve: (_, done) => done(null, addresses) })
  return sender.send(request(to)).then(
    () => null,
    (error: AppError) => error,
  )
}

/** A server that says its own address and closes the connection. */
async function listener() {
  let count = 0
  const server = await serve((_, response) => {
    count++
    response.setHeader('connection', 'close').end(server.url)
  })
  return { ...server, asked: () => count }
}

function faultOf(act: () => unknown): AppError {
  try {
    act()
  } catch (thrown) {
    return thrown as AppError // what is thrown is looked at by the caller
  }
  throw new Error('nothing was refused')
}
