import { register } from 'prom-client'
import { expect, it } from 'vitest'
import { createCompositeTelemetry } from '../../src/telemetry/composite-telemetry.ts'
import { createPrometheusMetrics } from '../../src/telemetry/prometheus-metrics.ts'
import { COUNTERS, HISTOGRAMS, NOOP_TELEMETRY } from '../../src/telemetry/telemetry.ts'

it('[TE4] exposes the counters and histograms of the table in the Prometheus format', async () => {
  const metrics = createPrometheusMetrics()
  metrics.count('recollect_http_requests_total', { method: 'GET', route: '/', status: '200' })
  metrics.count('recollect_http_requests_total', { method: 'GET', route: '/', status: '200' }, 2)
  metrics.count('recollect_injected_tokens_total', {}, 40)
  metrics.observe('recollect_recall_seconds', 0.003, { strategy: 'hybrid' })
  const text = await metrics.text()
  expect(metrics.contentType).toContain('text/plain')
  expect(text).toContain('recollect_http_requests_total{method="GET",route="/",status="200"} 3\n')
  expect(text).toContain('recollect_injected_tokens_total 40\n')
  expect(text).toContain('recollect_recall_seconds_bucket{le="0.005",strategy="hybrid"} 1\n')
  expect(text).toContain('recollect_recall_seconds_count{strategy="hybrid"} 1\n')
  for (const name of [...Object.keys(COUNTERS), ...Object.keys(HISTOGRAMS)]) {
    expect(text).toContain(`# HELP ${name} `)
  }
})

it('[TE4] counts two engines of one process separately, and apart from the metrics of the host', async () => {
  const [first, second] = [createPrometheusMetrics(), createPrometheusMetrics()]
  first.count('recollect_recalls_abstained_total', {})
  expect(await second.text()).toContain('recollect_recalls_abstained_total 0\n')
  expect(await register.metrics()).not.toContain('recollect')
})

it('[TE4] labels are those of the table, and endless values of one don’t fill the memory', async () => {
  const metrics = createPrometheusMetrics()
  const stray = { operation: 'a'.repeat(500), outcome: 'ok', content: 'tea' }
  metrics.count('recollect_operations_total', stray)
  for (let number = 0; number < 5_000; number++) {
    metrics.count('recollect_operations_total', { operation: `made up ${number}`, outcome: 'ok' })
  }
  const text = await metrics.text()
  expect(text).not.toContain('tea')
  expect(text).not.toContain('a'.repeat(101))
  expect(text).toContain('recollect_operations_total{operation="other",outcome="other"} 3001\n')
  expect(text.match(/^recollect_operations_total\{/gm)).toHaveLength(2_001)
})

it('[TE4] numbers that make no sense are passed over', async () => {
  const metrics = createPrometheusMetrics()
  for (const by of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    metrics.count('recollect_contexts_injected_total', {}, by)
    metrics.observe('recollect_job_seconds', by === -1 ? Number.NaN : by, { job: 'x' })
  }
  expect(await metrics.text()).toContain('recollect_contexts_injected_total 0\n')
})

it('[TE4] includes process metrics on request', async () => {
  expect(await createPrometheusMetrics().text()).not.toContain('process_cpu')
  expect(await createPrometheusMetrics({ process: true }).text()).toContain(
    'process_cpu_seconds_total ',
  )
})

it('[TE5] reads gauges at every scrape, never from a cache', async () => {
  let memories = 0
  const metrics = createPrometheusMetrics({
    gauges: async () => {
      memories++
      if (memories === 3) throw new Error('gone')
      return [
        { name: 'recollect_memories', labels: {}, value: memories },
        { name: 'recollect_degraded', labels: { reason: 'store_busy' }, value: 1 },
      ]
    },
  })
  expect(await metrics.text()).toContain('recollect_memories 1\n')
  const second = await metrics.text()
  expect(second).toContain('recollect_memories 2\n')
  expect(second).toContain('recollect_degraded{reason="store_busy"} 1\n')
  expect(second.match(/^# HELP recollect_memories /gm)).toHaveLength(1)
  const third = await metrics.text()
  expect(third).not.toMatch(/^recollect_memories /m)
  expect(third).toContain('recollect_contexts_injected_total 0\n')
})

it('[TE5] exposes metrics while the store hangs', async () => {
  const metrics = createPrometheusMetrics({
    gauges: () => new Promise(() => {}),
    gaugeTimeoutMs: 1,
  })
  expect(await metrics.text()).toContain('recollect_contexts_injected_total 0\n')
})

it('[TE4] parts that are left out are silent', async () => {
  expect(createCompositeTelemetry({})).toBe(NOOP_TELEMETRY)
  const metrics = createPrometheusMetrics()
  const telemetry = createCompositeTelemetry({ metrics })
  telemetry.log('error', 'job_finished', { error: new Error('x') })
  telemetry.count('recollect_contexts_injected_total', {})
  expect(await telemetry.span('search_memory', {}, async () => 'done')).toBe('done')
  expect(await NOOP_TELEMETRY.span('search_memory', {}, async () => 'done')).toBe('done')
  expect(await metrics.text()).toContain('recollect_contexts_injected_total 1\n')
  const before = telemetry.monotonicSeconds()
  expect(telemetry.monotonicSeconds()).toBeGreaterThanOrEqual(before)
})
