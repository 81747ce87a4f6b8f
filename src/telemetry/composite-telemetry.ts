/** Telemetry made of its parts. Whichever part is left out stays silent. */

import type { Log } from './json-log.ts'
import type { Tracing } from './otel-tracing.ts'
import type { Metrics } from './prometheus-metrics.ts'
import { SILENT, type Telemetry } from './telemetry.ts'

export type TelemetryParts = {
  readonly log?: Log
  readonly metrics?: Metrics
  readonly tracing?: Tracing
}

export function createTelemetry({ log, metrics, tracing }: TelemetryParts): Telemetry {
  if (log === undefined && metrics === undefined && tracing === undefined) return SILENT
  return {
    log: log?.write ?? SILENT.log,
    count: metrics?.count ?? SILENT.count,
    observe: metrics?.observe ?? SILENT.observe,
    span: tracing?.span ?? SILENT.span,
    seconds: () => performance.now() / 1_000,
  }
}
