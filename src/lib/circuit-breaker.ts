/**
 * Circuit breakers, one for each model: one that fails again and again is left in peace for a while, and then asked once
 * to see whether it is well.
 */

import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'

export type BreakerOptions = {
  /** Failures in a row. */
  readonly failuresMax?: number
  readonly openMs?: number
}

type Circuit = {
  failures: number
  /** Null when it is closed, as it should be. */
  openedAt: number | null
  /** Whether somebody is finding out if the model is well. */
  isTried: boolean
}

const FAILURES_MAX = 5
const OPEN_MS = 60_000
const MODELS_MAX = 1_000

export class CircuitBreakers {
  readonly #clock: Clock
  readonly #failuresMax: number
  readonly #openMs: number
  readonly #circuits = new Map<string, Circuit>()

  constructor(clock: Clock, { failuresMax = FAILURES_MAX, openMs = OPEN_MS }: BreakerOptions = {}) {
    this.#clock = clock
    this.#failuresMax = failuresMax
    this.#openMs = openMs
  }

  /** Until when the model is not asked; null when it is. */
  openUntil(model: string): number | null {
    const circuit = this.#circuits.get(model)
    if (circuit === undefined || circuit.openedAt === null) return null
    const now = this.#clock.now()
    const until = circuit.openedAt + this.#openMs
    // A clock that was set back must not keep it open.
    if (now < circuit.openedAt || now >= until) return circuit.isTried ? now + this.#openMs : null
    return until
  }

  async run<Result>(model: string, work: () => Promise<Result>): Promise<Result> {
    const until = this.openUntil(model)
    if (until !== null) throw createOpenCircuitError(model, until)
    const circuit = this.#circuit(model)
    const isTrial = circuit.openedAt !== null
    if (isTrial) circuit.isTried = true
    try {
      const result = await work()
      closeCircuit(circuit)
      return result
    } catch (thrown) {
      this.#note(circuit, thrown)
      throw thrown
    } finally {
      if (isTrial) circuit.isTried = false
    }
  }

  #note(circuit: Circuit, thrown: unknown): void {
    const code = thrown instanceof AppError ? thrown.code : 'internal'
    if (code === 'cancelled') return // which says nothing about the model
    if (code === 'invalid_input' || code === 'not_found') {
      closeCircuit(circuit) // whoever refuses what it was sent is there and answers
      return
    }
    circuit.failures++
    if (circuit.failures >= this.#failuresMax) circuit.openedAt = this.#clock.now()
  }

  #circuit(model: string): Circuit {
    const known = this.#circuits.get(model)
    if (known !== undefined) return known
    if (this.#circuits.size >= MODELS_MAX) this.#circuits.clear()
    const circuit: Circuit = { failures: 0, openedAt: null, isTried: false }
    this.#circuits.set(model, circuit)
    return circuit
  }
}

function closeCircuit(circuit: Circuit): void {
  circuit.failures = 0
  circuit.openedAt = null
}

function createOpenCircuitError(model: string, until: number): AppError {
  const at = new Date(until).toISOString()
  const message = `The model ${model.slice(0, MODEL_CHARACTERS_SHOWN)} failed several times in a row and is not asked until ${at}.`
  return new AppError('unavailable', message, { until })
}
const MODEL_CHARACTERS_SHOWN = 200
