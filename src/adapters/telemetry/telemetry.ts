/** Telemetry made of its parts. Whichever part is left out stays silent. */
import { SILENT, type Telemetry } from '../../ports/telemetry.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Tracing } from './tracing.ts'

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
