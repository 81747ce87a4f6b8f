/** Combines telemetry parts. Missing parts do nothing. */

import type { JsonLog } from './json-log.ts'
import type { OtelTracing } from './otel-tracing.ts'
import type { PrometheusMetrics } from './prometheus-metrics.ts'
import { NOOP_TELEMETRY, type Telemetry } from './telemetry.ts'

export type TelemetryParts = {
  readonly log?: JsonLog
  readonly metrics?: PrometheusMetrics
  readonly tracing?: OtelTracing
}

export function createCompositeTelemetry({ log, metrics, tracing }: TelemetryParts): Telemetry {
  if (log === undefined && metrics === undefined && tracing === undefined) return NOOP_TELEMETRY
  return {
    log: log?.write ?? NOOP_TELEMETRY.log,
    count: metrics?.count ?? NOOP_TELEMETRY.count,
    observe: metrics?.observe ?? NOOP_TELEMETRY.observe,
    span: tracing?.span ?? NOOP_TELEMETRY.span,
    monotonicSeconds: () => performance.now() / 1_000,
  }
}
