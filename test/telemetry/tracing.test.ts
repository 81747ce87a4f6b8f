import { context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import {
  createOtelTracing,
  runInTrace,
  startOtlpExporter,
} from '../../src/telemetry/otel-tracing.ts'
import type { OtlpExporter, OtlpExporterOptions } from '../../src/telemetry/otlp-exporter.ts'
import { createRecordingTracer, type EndedSpan } from '../../src/telemetry/span-recorder.ts'
import { SPANS, type SpanAttributes, type SpanName } from '../../src/telemetry/telemetry.ts'
import { attributesOf, type Collector, openCollector } from './collector.ts'

const QUESTION = 'where do I keep the spare key?'
const ANSWER = 'The spare key is under the third pot.'
const FACTS: SpanAttributes = { owner: 'ada', session: 'chat 7', query: QUESTION }
const FOUND: SpanAttributes = {
  memories: 2,
  contents: () => [
    { id: 'mem_1', content: ANSWER, score: 0.5 },
    { id: 'mem_2', content: 'x'.repeat(10_000) },
  ],
}

afterEach(() => {
  trace.disable()
  context.disable()
})

describe('without a provider', () => {
  it('[TE7] the work is done, and its outcome is its own', async () => {
    const { span } = createOtelTracing({ version: '1', captureContent: true })
    let isAsked = false
    const contents = () => {
      isAsked = true
      return []
    }
    const outcome = await span('search_memory', FACTS, async (note) => {
      note({ contents })
      return 'done'
    })
    expect(outcome).toBe('done')
    expect(isAsked).toBe(false)
    const error = new AppError('busy', 'not now')
    await expect(span('search_memory', FACTS, () => Promise.reject(error))).rejects.toBe(error)
    expect(runInTrace('00-nonsense', () => 'done')).toBe('done')
  })
})

describe('with the provider of the host', () => {
  it('[TE7] it gets our spans, and no exporter takes its place', async () => {
    const { span } = createOtelTracing({ version: '1' })
    const ended: EndedSpan[] = []
    const tracer = createRecordingTracer((each) => ended.push(each))
    trace.setGlobalTracerProvider({ getTracer: () => tracer })
    const collector = await openCollector()
    try {
      const exporter = await startOtlpExporter({ endpoint: collector.url, version: '1' })
      expect(exporter.isActive).toBe(false)
      await span('upsert_memory', FACTS, async () => 'done')
      await exporter.flush()
      await exporter.close()
      await span('delete_memory', FACTS, async () => 'done')
      expect(ended.map(({ name }) => name)).toEqual(['upsert_memory', 'delete_memory'])
      expect(collector.requests).toEqual([])
    } finally {
      await collector.close()
    }
  })
})

describe('with our exporter', () => {
  let collector: Collector
  let exporters: OtlpExporter[] = []

  beforeEach(async () => {
    collector = await openCollector()
  })

  afterEach(async () => {
    for (const exporter of exporters) await exporter.close()
    exporters = []
    await collector.close()
  })

  async function start(more: Partial<OtlpExporterOptions> = {}): Promise<OtlpExporter> {
    const exporter = await startOtlpExporter({ endpoint: collector.url, version: '1.2.3', ...more })
    exporters.push(exporter)
    expect(exporter.isActive).toBe(true)
    return exporter
  }

  it('[TE6] spans are named and described as the conventions for memory want it', async () => {
    const exporter = await start({ headers: { 'x-tenant': 'a' }, serviceName: 'memory of ada' })
    const { span } = createOtelTracing({ version: '1.2.3' })
    for (const name of Object.keys(SPANS) as SpanName[]) {
      await span(name, { ...FACTS, memory: 'mem_7' }, async (note) => note(FOUND))
    }
    await exporter.flush()
    const [request] = collector.requests
    expect(request?.path).toBe('/v1/traces')
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-tenant': 'a' })
    expect(request?.text).toContain('{"stringValue":"memory of ada"}')
    expect(collector.spans().map(({ name }) => name)).toEqual(Object.keys(SPANS))
    for (const sent of collector.spans()) {
      expect(attributesOf(sent)).toEqual({
        'gen_ai.operation.name': sent.name,
        'gen_ai.memory.store.id': 'ada',
        'gen_ai.conversation.id': 'chat 7',
        'gen_ai.memory.record.id': 'mem_7',
        'gen_ai.memory.record.count': '2',
      })
      expect(sent.traceId).toMatch(/^[0-9a-f]{32}$/)
      expect(sent.spanId).toMatch(/^[0-9a-f]{16}$/)
      expect(sent.kind).toBe(SpanKind.INTERNAL + 1)
      expect(sent.status).toEqual({})
      expect(BigInt(sent.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(sent.startTimeUnixNano))
    }
    expect(request?.text).not.toContain('spare key')
  })

  it('[TE6] includes texts only when configured, and truncates them', async () => {
    const exporter = await start()
    const { span } = createOtelTracing({ version: '1', captureContent: true })
    await span('search_memory', FACTS, async (note) => note(FOUND))
    await exporter.flush()
    const attributes = attributesOf(collector.spans()[0])
    expect(attributes['gen_ai.memory.query.text']).toBe(QUESTION)
    expect(JSON.parse(String(attributes['gen_ai.memory.records']))).toEqual([
      { id: 'mem_1', content: ANSWER, score: 0.5 },
      { id: 'mem_2', content: 'x'.repeat(2_000) },
    ])
  })

  it('[TE6] reports a failure by its code only, and omits invalid names', async () => {
    const exporter = await start()
    const { span } = createOtelTracing({ version: '1' })
    const odd = { owner: { secret: ANSWER }, session: 7 } as unknown as SpanAttributes // not yet checked
    const failing = span('update_memory', odd, () => Promise.reject(new Error(ANSWER)))
    await expect(failing).rejects.toThrow(ANSWER)
    await exporter.flush()
    const [sent] = collector.spans()
    expect(sent?.status).toEqual({ code: 2 })
    expect(attributesOf(sent)).toEqual({
      'gen_ai.operation.name': 'update_memory',
      'error.type': 'internal',
    })
    expect(collector.requests[0]?.text).not.toContain('third pot')
  })

  it('[TE6] spans find their parents, also one in another process', async () => {
    const exporter = await start()
    const { span } = createOtelTracing({ version: '1' })
    const caller = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
    await runInTrace(caller, () =>
      span('upsert_memory', {}, async () => {
        await new Promise((resolve) => setImmediate(resolve))
        return span('search_memory', {}, async () => {})
      }),
    )
    await exporter.flush()
    const [inner, outer] = collector.spans()
    expect(outer).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) })
    expect(inner).toMatchObject({ traceId: 'a'.repeat(32), parentSpanId: outer?.spanId })
  })

  it('[TE6] a trace that its caller does not record is not recorded here either', async () => {
    const exporter = await start()
    const { span } = createOtelTracing({ version: '1' })
    const unwanted = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`
    await runInTrace(unwanted, () => span('search_memory', {}, async () => {}))
    for (const nonsense of [undefined, '', ANSWER, `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`]) {
      await runInTrace(nonsense, () => span('search_memory', {}, async () => {}))
    }
    await exporter.flush()
    expect(collector.spans().map(({ parentSpanId }) => parentSpanId)).toEqual(
      Array(4).fill(undefined),
    )
  })

  it('[TE8] sends spans in batches, periodically, and the rest on close', async () => {
    const exporter = await start({ batchIntervalMs: 1 })
    const { span } = createOtelTracing({ version: '1' })
    await span('search_memory', {}, async () => {})
    while (collector.spans().length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    for (let count = 0; count < 1_200; count++) await span('search_memory', {}, async () => {})
    await exporter.close()
    await exporter.close()
    expect(collector.spans()).toHaveLength(1_201)
    expect(new Set(collector.spans().map(({ spanId }) => spanId)).size).toBe(1_201)
    expect(Math.max(...collector.requests.map(({ spans }) => spans.length))).toBeLessThanOrEqual(
      512,
    )
    await span('search_memory', {}, async () => {})
    expect(collector.spans()).toHaveLength(1_201)
  })

  it('[TE8] retries a busy collector with the same spans', async () => {
    const lost: [number, string][] = []
    const onLost = (spans: number, because: string) => lost.push([spans, because])
    const exporter = await start({ onLost })
    const { span } = createOtelTracing({ version: '1' })
    await span('search_memory', {}, async () => {})
    for (const status of [429, 502, 503, 504]) {
      collector.answerWith(status, { 'retry-after': '3600' })
      await exporter.flush()
    }
    collector.answerWith(200)
    await exporter.flush()
    await exporter.flush()
    expect(collector.requests).toHaveLength(5)
    expect(new Set(collector.spans().map(({ spanId }) => spanId)).size).toBe(1)
    expect(lost).toEqual([])
  })

  it('[TE8] drops and reports what a collector refuses, and follows no redirects', async () => {
    const lost: [number, string][] = []
    const elsewhere = await openCollector()
    try {
      const exporter = await start({ onLost: (spans, because) => lost.push([spans, because]) })
      const { span } = createOtelTracing({ version: '1' })
      await span('search_memory', {}, async () => {})
      collector.answerWith(400)
      await exporter.flush()
      await span('search_memory', {}, async () => {})
      collector.answerWith(307, { location: elsewhere.url })
      await exporter.flush()
      await exporter.flush()
      expect(lost).toEqual([
        [1, '400'],
        [1, '307'],
      ])
      expect(elsewhere.requests).toEqual([])
    } finally {
      await elsewhere.close()
    }
  })

  it('[TE8] loses only spans when a collector hangs or is unreachable', async () => {
    const lost: [number, string][] = []
    const onLost = (spans: number, because: string) => lost.push([spans, because])
    collector.answerWith(null)
    const exporter = await start({ timeoutMs: 5, onLost })
    const { span } = createOtelTracing({ version: '1' })
    for (let count = 0; count < 5_000; count++) {
      expect(await span('search_memory', {}, async () => count)).toBe(count)
    }
    await exporter.flush()
    await exporter.close()
    const [overflow, rest] = [total(lost, 'queue full'), total(lost, 'closed')]
    expect(overflow).toBeGreaterThan(0)
    expect(overflow + rest).toBe(5_000)
  })

  it('[TE8] an address that is none is refused when the exporter starts', async () => {
    for (const endpoint of ['collector', 'ftp://x', 'http://ada:pw@localhost', 'http://x?key=1']) {
      await expect(startOtlpExporter({ endpoint, version: '1' })).rejects.toMatchObject({
        code: 'invalid_input',
      })
    }
    const exporter = await start({ endpoint: `${collector.url}/otlp/v1/traces/` })
    await createOtelTracing({ version: '1' }).span('search_memory', {}, async () => {})
    await exporter.flush()
    expect(collector.requests[0]?.path).toBe('/otlp/v1/traces')
  })
})

describe('our tracer', () => {
  it('[TE8] implements the contract of the API', () => {
    const ended: EndedSpan[] = []
    const tracer = createRecordingTracer((span) => ended.push(span))
    const outcome = tracer.startActiveSpan('one', (span) => {
      span
        .updateName('two')
        .setAttribute('n', 1)
        .setAttributes({ list: ['a'], none: undefined })
      span.addEvent('x').addLink({ context: span.spanContext() }).addLinks([])
      span.recordException(new TypeError(ANSWER))
      expect(span.isRecording()).toBe(true)
      span.end()
      span.end()
      expect(span.isRecording()).toBe(false)
      return 'done'
    })
    tracer.startActiveSpan('three', { kind: SpanKind.CLIENT }, ROOT_CONTEXT, (span) => span.end())
    tracer.startActiveSpan('four', { root: true }, (span) => span.end())
    expect(outcome).toBe('done')
    expect(ended.map(({ name, kind }) => [name, kind])).toEqual([
      ['two', SpanKind.INTERNAL],
      ['three', SpanKind.CLIENT],
      ['four', SpanKind.INTERNAL],
    ])
    expect([...(ended[0]?.attributes ?? [])]).toEqual([
      ['n', 1],
      ['list', ['a']],
      ['error.type', 'TypeError'],
    ])
  })
})

function total(lost: readonly (readonly [number, string])[], because: string): number {
  return lost.filter(([, why]) => why === because).reduce((sum, [spans]) => sum + spans, 0)
}
